"""motecrypt advise: which cipher for this device, radio, battery and budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from motecrypt import advise
from motecrypt.advise.notes import days, number, percent
from motecrypt.catalog import Catalog
from motecrypt.cli._advice import ensured, wanted
from motecrypt.cli._output import (
    console,
    db_option,
    json_option,
    open_results,
    print_json,
    print_table,
    progress,
)
from motecrypt.cli._selection import select
from motecrypt.errors import InputError
from motecrypt.model import Device
from motecrypt.radios import Radio, load_radio


@click.command(
    epilog="Example: motecrypt advise --device uno --radio srf --bytes 20 --every 10s --battery 3xAA"
)
@click.option(
    "--device",
    "device_name",
    required=True,
    help="The mote ('motecrypt list devices'), or a folder of your own.",
)
@click.option("--radio", "radio_name", required=True, help="Its radio ('motecrypt list radios'), or a file.")
@click.option("--packet-bytes", type=int, default=None, help="Its packet length (default: the radio's own).")
@click.option("--bytes", "message_bytes", type=click.IntRange(1, 65535), required=True, help="Of a message.")
@click.option("--every", "interval", required=True, help="Time between messages: 500ms, 10s, 5min, 1h, 1d.")
@click.option("--battery", "battery_name", required=True, help="3xAA, CR2032, 4xAA-NiMH, or 1200mAh,3.7V.")
@click.option("--regulator", default="none", show_default=True, help="none, linear, switch or nano.")
@click.option("--flash", default=None, help="Flash the cipher may take: 4096 or 4k (1k is 1,024 bytes).")
@click.option("--ram", default=None, help="RAM it may take with its stack: 512 or 1k.")
@click.option("--latency", default=None, help="Time to encrypt and deliver a message: 50ms.")
@click.option("--overhead", default=None, help="Bytes it may add to a message: tag, counter, padding.")
@click.option(
    "--delivery",
    type=click.Choice(advise.DELIVERIES),
    default="unconfirmed",
    show_default=True,
    help="Whether the gateway answers each message; a one-way node never listens.",
)
@click.option(
    "--loss",
    default="0",
    show_default=True,
    help=f"Packets lost each way, in per cent, up to {advise.LOSS_PERCENT_MAX}.",
)
@click.option(
    "--answer",
    "answer_bytes",
    type=click.IntRange(0, 65535),
    default=0,
    show_default=True,
    help="Bytes of a message received for each one sent.",
)
@click.option(
    "--need",
    "needs",
    default=",".join(advise.USUAL_NEEDS),
    show_default=True,
    help="What is needed of confidentiality, integrity, replay, constant-time; separated by commas.",
)
@click.option(
    "--cipher", "ciphers", multiple=True, help="Weigh only these ciphers, families, or folders of your own."
)
@click.option("--library", "libraries", multiple=True, help="Weigh only implementations of these libraries.")
@click.option("--bare-chip", is_flag=True, help="Currents of the chip alone, not of the board as it is sold.")
@click.option(
    "--sleeps", is_flag=True, help="Count sleep between messages even if the exported example has none."
)
@click.option("--top", type=click.IntRange(1, 1000), default=10, show_default=True, help="Rows to print.")
@click.option("--jobs", type=click.IntRange(1, 256), default=None, help="Firmwares run side by side.")
@db_option
@json_option
def command(
    device_name: str,
    radio_name: str,
    packet_bytes: int | None,
    message_bytes: int,
    interval: str,
    battery_name: str,
    regulator: str,
    flash: str | None,
    ram: str | None,
    latency: str | None,
    overhead: str | None,
    delivery: str,
    loss: str,
    answer_bytes: int,
    needs: str,
    ciphers: Sequence[str],
    libraries: Sequence[str],
    bare_chip: bool,
    sleeps: bool,
    top: int,
    jobs: int | None,
    db: Path | None,
    as_json: bool,
) -> None:
    """Rank ciphers for a device, a radio, a battery and a budget, with a reason for every place.

    Measures what is missing, then ranks by security standing and by energy for each message. Broken
    ciphers are never ranked. What is needed by default is confidentiality, integrity and protection
    against replay: the secure link, with its packets, answers and repetitions. Without replay
    (--need confidentiality,integrity) each cipher is weighed alone, with its whole nonce on the air.
    """
    chosen = select(ciphers, libraries, [device_name])
    catalog, device = chosen.catalog, chosen.device
    radio = load_radio(radio_name)
    if packet_bytes is not None:
        radio = radio.with_figures(packet_bytes=packet_bytes)
    radio_facts, link = advise.radio_part(radio), advise.link_facts()
    sleeping = sleeps or advise.sleeps_with(radio_facts, _example_sleeps(catalog, device))
    part = advise.device_part(device, "chip" if bare_chip else "board", sleeping)
    chip = None
    if not bare_chip and advise.weighable(device, "chip"):
        chip = advise.device_part(device, "chip", sleeping)
    question = advise.Question(
        message_bytes=message_bytes,
        interval_s=advise.seconds(interval, "--every"),
        answer_bytes=answer_bytes,
        delivery=delivery,
        loss=advise.loss_share(loss, "--loss"),
        flash_max=None if flash is None else advise.whole_bytes(flash, "--flash"),
        ram_max=None if ram is None else advise.whole_bytes(ram, "--ram", "512"),
        latency_us_max=None if latency is None else advise.seconds(latency, "--latency", "50ms") * 1e6,
        overhead_max=None if overhead is None else advise.whole_bytes(overhead, "--overhead", "6"),
        needs=_needs(needs),
    )
    battery = advise.battery_part(battery_name)
    between = advise.regulator_part(regulator)
    for option, length in (("--bytes", message_bytes), ("--answer", answer_bytes)):
        if length > part.message_bytes_max:
            raise InputError(
                f"{option} {length}: the benchmark firmware on {device.name} holds messages of up to "
                f"{part.message_bytes_max} bytes; ask for a part of it"
            )
    refusal = advise.supply_refusal(part, battery, between)
    if refusal:
        raise InputError(f"--battery: {refusal}")
    refusal = advise.link_refusal(link, radio_facts, question)
    if refusal:
        raise InputError(refusal)
    found = wanted(catalog, device, question, chosen.ciphers, chosen.libraries)
    chosen.prove_own()
    with open_results(db) as results, progress("measuring") as report:
        candidates = ensured(found, results, catalog, device, jobs, report)
    others = [advise.regulator_part(name) for name in advise.regulator_names()]
    answer = advise.advise(question, candidates, part, radio_facts, link, battery, between, others, chip)
    step, said = _next_step(catalog, device, answer.entries, radio, question)
    if as_json:
        print_json({**_plain(question, answer), "next": step or None})
    else:
        _print(question, answer, (part, radio.title, battery, between), top)
        if said:
            console().print(said, markup=False, soft_wrap=True)
    if not answer.entries:
        raise InputError(answer.notes[0])


def _next_step(
    catalog: Catalog,
    device: Device,
    entries: Sequence[advise.Entry],
    radio: Radio,
    question: advise.Question,
) -> tuple[str, str]:
    """The command that exports the first of the ranked that is ours, and what is said of it: with the link
    for this radio where the link carries the messages."""
    from motecrypt.export import LinkRadio, next_link_step, next_step

    for entry in entries:
        one = entry.candidate
        named = (one.cipher, one.implementation, one.placement)
        if not question.linked:
            step, what = next_step(catalog, device, *named), "the code that was measured as a library"
        else:
            what = "the link with the code that was measured as a library"
            try:
                step = next_link_step(
                    catalog, device, *named, LinkRadio(radio, question.delivery == "one-way")
                )
            except InputError as error:
                return "", f"No library of the link for this: {error}"
        if step:
            return step, f"Next, {what}: {step}"
    return "", ""


def _example_sleeps(catalog: Catalog, device: Device) -> tuple[str, ...]:
    """The radios with which the example that the next step exports sleeps."""
    from motecrypt.export.targets import example_sleeps

    return example_sleeps(device, catalog)


def _needs(text: str) -> tuple[str, ...]:
    asked = [word.strip() for word in text.split(",") if word.strip()]
    for word in asked:
        if word not in advise.NEEDS:
            raise InputError(f"--need '{word}': unknown; choose of {', '.join(advise.NEEDS)}")
    return tuple(n for n in advise.NEEDS if n in asked)


def _plain(question: advise.Question, answer: advise.Advice) -> dict[str, Any]:
    """The answer as JSON: flat enough to be read without knowing the records."""

    def name(candidate: advise.Candidate) -> dict[str, Any]:
        keys = ("cipher", "implementation", "key_bits", "placement", "cache", "standing")
        return {key: getattr(candidate, key) for key in keys}

    def sizes(candidate: advise.Candidate) -> dict[str, Any]:
        return {key: getattr(candidate, key) for key in ("flash_bytes", "ram_bytes", "stack_bytes")}

    return {
        "question": asdict(question),
        "usable_charge": answer.usable,
        "plaintext": asdict(answer.plaintext) if answer.plaintext else None,
        "ranked": [
            {
                "rank": e.rank,
                **name(e.candidate),
                **sizes(e.candidate),
                **asdict(e.costs),
                "packets": e.costs.packets,
                "air_bytes": e.costs.air_bytes,
                "more_energy_percent": e.more_energy_percent,
                "timing_varies": e.candidate.timing_varies,
                "reason": e.reason,
            }
            for e in answer.entries
        ],
        "excluded": [
            {**name(e.candidate), "budgets": e.budgets, "reason": e.reason} for e in answer.exclusions
        ],
        "notes": answer.notes,
    }


COLUMNS = (
    *("", "cipher", "implementation", "tag", "flash", "RAM", "ms", "packets", "bytes", "µJ", "life"),
    *("of plain", "why"),
)


def _print(
    question: advise.Question,
    answer: advise.Advice,
    parts: tuple[advise.DeviceFacts, str, advise.BatteryPart, advise.RegulatorPart],
    top: int,
) -> None:
    device, radio, battery, between = parts
    through = "" if between.name == "none" else f" through {between.title}"
    title = (
        f"{question.message_bytes} bytes every {question.interval_s:g} s, {question.delivery}, from "
        f"{device.title} ({_OF[device.of]}) over {radio}, on "
        f"{battery.name} ({battery.volts:g} V, {number(battery.capacity_mah)} mAh){through}; needs "
        f"{', '.join(question.needs) or 'nothing'}"
    )
    out = console()
    if answer.entries:
        left = len(answer.entries) - top
        more = f"; {left} more: --top {len(answer.entries)}" if left > 0 else ""
        print_table(title, COLUMNS, [_row(e, answer) for e in answer.entries[:top]], _LEGEND + more)
    else:
        out.print(title, style="bold", markup=False)
    for note in answer.notes[0 if answer.entries else 1 :]:
        out.print(f"- {note}", markup=False)
    out.print()
    if answer.exclusions:
        print_table("Not ranked", ("ciphers", "implementations", "why"), _excluded(answer.exclusions))


_OF = {"board": "the board as it is sold", "chip": "the chip alone"}
_LEGEND = (
    "packets, bytes: of the usual message, handed to the radio; RAM: with the deepest stack; ms: encrypting; "
    "µJ: taken from the battery for one message and the time until the next; "
    "of plain: battery life beside that of plaintext"
)


def _row(entry: advise.Entry, answer: advise.Advice) -> list[object]:
    candidate, costs = entry.candidate, entry.costs
    place = "" if candidate.placement == "flash" else f", {candidate.placement}"
    plain = answer.plaintext.life_days if answer.plaintext else costs.life_days
    return [
        *(entry.rank, candidate.cipher, candidate.implementation + place, costs.tag_bytes),
        *(
            number(candidate.flash_taken),
            number(candidate.ram_taken),
            f"{costs.cpu_us / 1000:.2f}",
            costs.packets,
        ),
        *(costs.air_bytes, f"{costs.energy.total_uj:,.0f}", days(costs.life_days)),
        *(percent(costs.life_days / plain * 100), entry.reason),
    ]


def _excluded(exclusions: Sequence[advise.Exclusion]) -> list[list[object]]:
    """One row for each reason and set of ciphers, so that the list stays readable."""
    by_reason: dict[str, list[advise.Candidate]] = {}
    for exclusion in exclusions:
        by_reason.setdefault(exclusion.reason, []).append(exclusion.candidate)
    rows: list[list[object]] = []
    for reason, members in by_reason.items():
        ciphers = ", ".join(dict.fromkeys(c.cipher for c in members))
        rows.append([ciphers, len(members), reason])
    return rows
