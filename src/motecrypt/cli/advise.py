"""motecrypt advise: which cipher for this device, radio, battery and budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click

from motecrypt import advise
from motecrypt.advise.notes import days, number, percent, plural
from motecrypt.catalog import Catalog
from motecrypt.cli._advice import asked_lengths, ensured, extended, wanted
from motecrypt.cli._output import (
    console,
    db_option,
    open_results,
    print_answer,
    print_json,
    print_table,
    print_words,
    progress,
    table_options,
)
from motecrypt.cli._selection import completes, select
from motecrypt.errors import InputError
from motecrypt.model import Device
from motecrypt.radios import Radio, load_radio

TOP = 3


@click.command(
    epilog="Example: motecrypt advise --device uno --radio srf --bytes 20 --every 10s --battery 3xAA"
)
@click.option(
    "--device",
    "device_name",
    shell_complete=completes("devices"),
    required=True,
    help="The node's device ('motecrypt list devices'), or your own folder.",
)
@click.option(
    "--radio",
    "radio_name",
    shell_complete=completes("radios"),
    required=True,
    help="Its radio ('motecrypt list radios'), or a file.",
)
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
    help=f"Packets lost in each direction, in per cent, up to {advise.LOSS_PERCENT_MAX}.",
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
    help="Needed properties, separated by commas: confidentiality, integrity, replay, constant-time.",
)
@click.option(
    "--cipher",
    "ciphers",
    shell_complete=completes("ciphers"),
    multiple=True,
    help="Consider only these ciphers, families, or your own folders.",
)
@click.option(
    "--library",
    "libraries",
    shell_complete=completes("libraries"),
    multiple=True,
    help="Consider only implementations of these libraries.",
)
@click.option("--bare-chip", is_flag=True, help="Currents of the chip alone, not of the stock board.")
@click.option(
    "--sleeps", is_flag=True, help="Count sleep between messages even if the exported example has none."
)
@click.option("--top", type=click.IntRange(1, 1000), default=TOP, show_default=True, help="Ranks to print.")
@click.option("--all", "every", is_flag=True, help="Print every rank and every note.")
@click.option("--why-not", is_flag=True, help="Print what is not ranked, grouped by reason.")
@click.option(
    "--jobs", type=click.IntRange(1, 256), default=None, help="Number of firmwares to run at the same time."
)
@db_option
@table_options
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
    every: bool,
    why_not: bool,
    jobs: int | None,
    db: Path | None,
    as_json: bool,
) -> None:
    """Say which cipher to use on a device, over a radio, on a battery and within a budget.

    The first five lines are the answer. The best few follow; --all prints every rank with its reason and
    every note, --why-not what is not ranked. What is missing is measured first. Ranks go by security
    standing, then by energy for each message. Broken ciphers are never ranked.

    What is needed by default is confidentiality, integrity and protection against replay: the secure link,
    with its packets, answers and repetitions. Without replay (--need confidentiality,integrity) each cipher
    is considered alone, with its whole nonce on the air.
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
    lengths = asked_lengths(question)
    candidates = [extended(one, device, lengths) for one in candidates]
    others = [advise.regulator_part(name) for name in advise.regulator_names()]
    answer = advise.advise(question, candidates, part, radio_facts, link, battery, between, others, chip)
    said = advise.extension_note(part, lengths) if answer.entries else ""
    if said:
        answer = replace(answer, notes=(said, *answer.notes), warnings=(*answer.warnings, said))
    step, refused = _next_step(catalog, device, answer.entries, radio, question)
    if as_json:
        supplied = {
            "device": part.title,
            "radio": radio.title,
            "battery": _supply(battery),
            "regulator": between.name,
        }
        print_json({**_plain(question, answer), **supplied, "next": step or None})
    else:
        parts = (part, radio.title, battery, between)
        if answer.entries:
            _print(question, answer, parts, step or refused, None if every else top)
        else:
            _print_refused(question, answer, parts)
        if why_not:
            _print_excluded(answer.exclusions)
        elif answer.exclusions:
            print_words(f"{len(answer.exclusions)} not ranked, with reasons: --why-not")
    if not answer.entries:
        raise InputError(answer.notes[0])


def _next_step(
    catalog: Catalog,
    device: Device,
    entries: Sequence[advise.Entry],
    radio: Radio,
    question: advise.Question,
) -> tuple[str, str]:
    """The command that exports the first of the ranked that is ours, with the link for this radio where the
    link carries the messages; and why there is none."""
    from motecrypt.export import LinkRadio, next_link_step, next_step

    for entry in entries:
        one = entry.candidate
        named = (one.cipher, one.implementation, one.placement)
        if not question.linked:
            step = next_step(catalog, device, *named)
        else:
            try:
                step = next_link_step(
                    catalog, device, *named, LinkRadio(radio, question.delivery == "one-way")
                )
            except InputError as error:
                return "", f"No library of the link for this: {error}"
        if step:
            return step, ""
    return "", "No library for this: none of the ranked implementations can be exported"


def _example_sleeps(catalog: Catalog, device: Device) -> tuple[str, ...]:
    """The radios with which the example that the next step exports sleeps."""
    from motecrypt.export.targets import example_sleeps

    return example_sleeps(device, catalog)


def _needs(text: str) -> tuple[str, ...]:
    asked = [word.strip() for word in text.split(",") if word.strip()]
    for word in asked:
        if word not in advise.NEEDS:
            raise InputError(f"--need '{word}': unknown; choose from {', '.join(advise.NEEDS)}")
    return tuple(n for n in advise.NEEDS if n in asked)


def _supply(battery: advise.BatteryPart) -> dict[str, Any]:
    return {key: getattr(battery, key) for key in ("name", "volts", "capacity_mah")}


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
                "ram_with_stack_bytes": e.candidate.ram_taken,
                **asdict(e.costs),
                "packets": e.costs.packets,
                "air_bytes": e.costs.air_bytes,
                "more_energy_percent": e.more_energy_percent,
                "cpu_energy_percent": _cpu_percent(e),
                "life_percent_of_plaintext": _life_percent(e, answer),
                "timing_varies": e.candidate.timing_varies,
                "reason": e.reason,
            }
            for e in answer.entries
        ],
        "excluded": [
            {**name(e.candidate), "group": e.group, "budgets": e.budgets, "reason": e.reason}
            for e in answer.exclusions
        ],
        "notes": answer.notes,
        "warnings": answer.warnings,
    }


COLUMNS = (
    *("", "cipher", "implementation", "tag", "flash", "RAM", "ms", "packets", "bytes", "µJ", "life"),
    *("of unencrypted", "why"),
)
LEAST = ("bytes", "ms", "of unencrypted", "RAM", "flash", "tag", "implementation", "µJ")


Parts = tuple[advise.DeviceFacts, str, advise.BatteryPart, advise.RegulatorPart]


def _asked(question: advise.Question, parts: Parts) -> str:
    device, radio, battery, between = parts
    through = "" if between.name == "none" else f" through {between.title}"
    return (
        f"{question.message_bytes} bytes every {question.interval_s:g} s, {question.delivery}, from "
        f"{device.title} ({_OF[device.of]}) over {radio}, on "
        f"{battery.name} ({battery.volts:g} V, {number(battery.capacity_mah)} mAh){through}; needs "
        f"{', '.join(question.needs) or 'nothing'}"
    )


def _print(
    question: advise.Question, answer: advise.Advice, parts: Parts, step: str, top: int | None
) -> None:
    """The answer in five lines, then the best few; with `top` None all there is."""
    first, count = answer.entries[0], len(answer.entries)
    one, costs = first.candidate, first.costs
    others = len(answer.warnings) - 1
    warned = answer.warnings[0] if answer.warnings else "nothing that these models cover"
    if others > 0 and top is not None:
        warned += f" {plural(others, 'more warning')}: --all"
    varies = "; its time depends on the data" if one.timing_varies else ""
    print_answer(
        _asked(question, parts),
        (
            ("Use", f"{one.name}: {one.standing}{varies}"),
            (
                "Costs",
                f"{costs.cpu_us / 1000:.2f} ms and {plural(costs.packets, 'packet')} a message; "
                f"{number(one.flash_taken)} bytes of flash, {number(one.ram_taken)} of RAM; "
                f"{percent(_cpu_percent(first))} of the energy",
            ),
            (
                "Battery",
                f"{days(costs.life_days)}, {percent(_life_percent(first, answer))} of the battery life "
                "without encryption",
            ),
            ("Watch out", warned),
        ),
        step,
    )
    console().print()
    shown = answer.entries if top is None else answer.entries[:top]
    title = "All ranks" if len(shown) == count else f"The best {len(shown)} of {count}"
    print_table(title, COLUMNS, [_row(e, answer) for e in shown], _LEGEND if top is None else "", LEAST)
    if top is None:
        for note in answer.notes:
            print_words(f"- {note}")
        console().print()
        return
    ranks = f"{plural(count - len(shown), 'more rank')} and " if count > len(shown) else ""
    print_words(f"{ranks}{plural(len(answer.notes), 'note')}: --all")


def _print_refused(question: advise.Question, answer: advise.Advice, parts: Parts) -> None:
    """What was asked, where nothing fits; the error says the rest but for these notes."""
    print_words(_asked(question, parts), "bold")
    for note in answer.notes[1:]:
        print_words(f"- {note}")


def _cpu_percent(entry: advise.Entry) -> float:
    """The share of the energy that computing takes."""
    return entry.costs.energy.cpu_uj / entry.costs.energy.total_uj * 100


def _life_percent(entry: advise.Entry, answer: advise.Advice) -> float:
    """The battery life in per cent of the one without encryption."""
    plain = answer.plaintext.life_days if answer.plaintext else entry.costs.life_days
    return entry.costs.life_days / plain * 100


_OF = {"board": "the stock board", "chip": "the chip alone"}
_LEGEND = (
    "packets, bytes: of the usual message, passed to the radio; RAM: with the deepest stack; ms: encrypting; "
    "µJ: drawn from the battery for one message and the time until the next; "
    "of unencrypted: % of the battery life without encryption"
)


def _row(entry: advise.Entry, answer: advise.Advice) -> list[object]:
    candidate, costs = entry.candidate, entry.costs
    place = "" if candidate.placement == "flash" else f", {candidate.placement}"
    return [
        *(entry.rank, candidate.cipher, candidate.implementation + place, costs.tag_bytes),
        *(
            number(candidate.flash_taken),
            number(candidate.ram_taken),
            f"{costs.cpu_us / 1000:.2f}",
            costs.packets,
        ),
        *(costs.air_bytes, f"{costs.energy.total_uj:,.0f}", days(costs.life_days)),
        *(percent(_life_percent(entry, answer)), entry.reason),
    ]


_GROUPS = {
    "broken": "Not ranked: broken",
    "needs": "Not ranked: without a needed property",
    "failed": "Not ranked: no figures on this device",
    "budget": "Not ranked: over a budget",
}


def _print_excluded(exclusions: Sequence[advise.Exclusion]) -> None:
    """A table for each group; in it a row for each reason, with all it holds for."""
    for group in advise.EXCLUDED:
        by_reason: dict[str, list[advise.Candidate]] = {}
        for exclusion in exclusions:
            if exclusion.group == group:
                by_reason.setdefault(exclusion.reason, []).append(exclusion.candidate)
        if not by_reason:
            continue
        count = sum(map(len, by_reason.values()))
        if group in ("broken", "needs"):
            columns: tuple[str, ...] = ("ciphers", "implementations", "why")
            rows: list[list[object]] = [
                [", ".join(dict.fromkeys(c.cipher for c in members)), len(members), reason]
                for reason, members in by_reason.items()
            ]
        else:
            columns = ("implementation", "why")
            rows = [[", ".join(c.name for c in members), reason] for reason, members in by_reason.items()]
        print_table(f"{_GROUPS[group]} ({count})", columns, rows)
