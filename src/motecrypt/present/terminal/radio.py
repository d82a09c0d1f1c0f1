"""What passed between virtual radios, as lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any


def lines(
    ports: Sequence[Mapping[str, Any]], network: Mapping[str, Any] | None, pacing: Mapping[str, float]
) -> Iterator[str]:
    """What passed, a line for each port, the channel and the pace."""
    for end, port in enumerate(ports):
        yield _port(end, port) if network else _packets(end, port)
    if network and network["latency_us"] is not None:
        late = network["latency_us"]
        yield (
            f"channel (modelled): goodput {network['goodput_bps']:.1f} bit/s, "
            f"fairness {network['fairness']:.3f}, "
            f"latency {late['p50'] / 1000:.1f} ms (median), {late['p99'] / 1000:.1f} ms (99th percentile), "
            f"{late['max'] / 1000:.1f} ms (most)"
        )
    if pacing["deliveries"]:
        yield (
            f"pace: {pacing['deliveries']} deliveries late by {pacing['median_us']} us (median), "
            f"{pacing['p99_us']} us (99th percentile), {pacing['max_us']} us (most)"
        )
    if pacing["overrun_bytes"]:
        yield f"{pacing['overrun_bytes']} bytes were dropped because no program read them"


def _packets(end: int, tally: Mapping[str, Any]) -> str:
    return (
        f"from port {end}: {tally['sent']} packets sent, {tally['delivered']} delivered, "
        f"{tally['lost']} lost, {tally['unheard']} unheard, {tally['duplicated']} doubled, "
        f"{tally['reordered']} overtaken, {tally['air_time_us'] / 1000:.1f} ms on the air (modelled)"
    )


def _port(end: int, port: Mapping[str, Any]) -> str:
    return (
        f"port {end}: {port['sent']} packets sent, {port['waited']} waited, {port['given_up']} given up, "
        f"reached {port['reached']} of {port['wanted']}; {port['received']} received, "
        f"{port['captured']} captured, {port['collided']} collided, {port['deaf']} while sending, "
        f"{port['faint']} too faint, {port['lost']} lost"
    )
