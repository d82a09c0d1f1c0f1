"""Virtual serial radios, in real time, that any program can use."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from motecrypt.air.radios import Channel, Radio, RadioNetwork, RadioPair
from motecrypt.air.radios.levels import read_levels
from motecrypt.base.errors import InputError
from motecrypt.link.ports.signals import Stop
from motecrypt.simulate.ports.bridge import VirtualBridge
from motecrypt.simulate.ports.virtual import VirtualRadios

MODELLED = ("seconds", "goodput_bps", "fairness", "latency_us", "air_time_us")


@dataclass(frozen=True)
class RadiosRequest:
    """Radios on one channel.

    Attributes
    ----------
    radio : of `load_radio`. channel : loss, flipped bits and more, with the seed of all random numbers.
    nodes : ports on one channel, with collisions; None: two that never collide.
    levels : with `nodes`, a file with their levels or positions, and loss for each pair.
    links : names for the ports, one each; or one, for NAME0, NAME1 and so on.
    """

    radio: Radio
    channel: Channel = field(default_factory=Channel)
    nodes: int | None = None
    levels: Path | None = None
    links: Sequence[Path] = ()

    def joined(self) -> RadioPair | RadioNetwork:
        """The model of the radios."""
        if self.nodes is None:
            if self.levels is not None:
                raise InputError("--levels: needs --nodes; two ports without it always have equal levels")
            return RadioPair(self.radio, self.channel)
        levels = None if self.levels is None else read_levels(self.levels, self.nodes)
        return RadioNetwork(self.radio, self.nodes, self.channel, levels)

    def bridges(self, count: int) -> Sequence[VirtualBridge]:
        """Before radios with packets."""
        low, high = (int(self.radio.value(f"packet_bytes_{end}")) for end in ("min", "max"))
        return [VirtualBridge(self.radio.name, low, min(high, 255)) for _ in range(count)]

    def names(self) -> Sequence[Path]:
        """The names of all ports, or none."""
        links, nodes = self.links, self.nodes
        if nodes is None:
            if len(links) not in (0, 2):
                raise InputError("--link: give it twice, once for each port, or not at all")
        elif len(links) == 1:
            return [links[0].with_name(f"{links[0].name}{number}") for number in range(nodes)]
        elif len(links) not in (0, nodes):
            raise InputError(f"--link: give it {nodes} times, or once (for NAME0 and up), or not at all")
        return links


@dataclass(frozen=True)
class RadiosResult:
    """What passed.

    Attributes
    ----------
    ports : counts of each port; of two radios those of the packets that it sent.
    network : of many radios, the rates of their channel.
    pacing : how late bytes were against the model, in us.
    """

    ports: Sequence[Mapping[str, Any]]
    network: Mapping[str, Any] | None
    pacing: Mapping[str, float]

    def document(self) -> dict[str, Any]:
        """The same as JSON; times and rates of the radio's model are "modelled_..."."""
        ports = [modelled(port) for port in self.ports]
        if self.network is None:
            return {"pacing": self.pacing, "packets": ports}
        return {"pacing": self.pacing, "network": modelled(self.network), "ports": ports}


def modelled(record: Mapping[str, Any]) -> dict[str, Any]:
    """The record with the names of figures that are the model's; counts of its packets stay."""
    return {f"modelled_{name}" if name in MODELLED else name: value for name, value in record.items()}


def virtual_radios(
    request: RadiosRequest,
    ready: Callable[[Sequence[str]], None],
    seconds: float | None = None,
    stop: Stop | None = None,
) -> RadiosResult:
    """Join virtual serial ports by radios for these `seconds`, or until `stop` is asked.

    `ready` gets the names of the ports. InputError for numbers and names that cannot be.
    """
    stop = stop or Stop()
    joined, links = request.joined(), request.names()
    ports = request.nodes or 2
    radios = VirtualRadios(joined, ports, [] if request.radio.is_serial else request.bridges(ports))
    made: list[Path] = []
    try:
        for link, port in zip(links, radios.ports, strict=False):
            _link(link, port)
            made.append(link)
        ready([str(link) for link in made] or radios.ports)
        radios.run(lambda: stop.asked, stop.fileno(), seconds)
    finally:
        for link in made:
            link.unlink(missing_ok=True)
        radios.close()
    pacing = radios.pacing.summary()
    if isinstance(joined, RadioPair):
        return RadiosResult([asdict(joined.tally(end)) for end in (0, 1)], None, pacing)
    return RadiosResult([joined.port_summary(end) for end in range(joined.nodes)], joined.summary(), pacing)


def _link(link: Path, port: str) -> None:
    try:
        if link.is_symlink():
            link.unlink()
        link.symlink_to(port)
    except OSError as error:
        raise InputError(f"--link {link}: {error.strerror}; choose another name") from None
