"""motecrypt advise: which cipher for this device, radio, battery and budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from motecrypt.adviser import api as advise
from motecrypt.adviser import protection
from motecrypt.adviser.hardware.bounds import bound_fields
from motecrypt.adviser.hardware_notes import hardware_document, hardware_note
from motecrypt.adviser.rank import ORDER
from motecrypt.air.radios import Radio, load_radio
from motecrypt.app.selection import select
from motecrypt.base.errors import InputError
from motecrypt.base.model import Device
from motecrypt.catalog import Catalog
from motecrypt.catalog.accelerators import accelerator_of
from motecrypt.cli._advice import asked_lengths, ensured, extended, wanted
from motecrypt.cli._advice_shown import asked_text, document, print_answered, print_excluded, print_refused
from motecrypt.cli._choices import completes
from motecrypt.cli._output import (
    db_option,
    open_results,
    print_json,
    print_words,
    progress,
    table_options,
)

TOP = 3
_USUAL = advise.USUAL


@click.command(epilog=f"Example: {advise.example_command()}")
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
    default=None,
    help="Its radio ('motecrypt list radios'), or a file.",
)
@click.option(
    "--storage",
    "storage_name",
    default=None,
    help="Instead of a radio: what it stores its records in: eeprom, flash, sd or sd-slow.",
)
@click.option(
    "--storage-ma",
    "storage_ma",
    default=None,
    metavar="WRITING[,IDLE]",
    help="With --storage: the current of the chip or card in mA; not counted if not given.",
)
@click.option("--packet-bytes", type=int, default=None, help="Its packet length (default: the radio's own).")
@click.option(
    "--bytes", "message_bytes", type=click.IntRange(1, advise.BYTES_MAX), required=True, help="Of a message."
)
@click.option("--every", "interval", required=True, help="Time between messages: 500ms, 10s, 5min, 1h, 1d.")
@click.option("--battery", "battery_name", required=True, help="3xAA, CR2032, 4xAA-NiMH, or 1200mAh,3.7V.")
@click.option(
    "--regulator", default=_USUAL["regulator"], show_default=True, help="none, linear, switch or nano."
)
@click.option(
    "--flash",
    default=_USUAL["flash"],
    help="Flash the cipher may take: 4096 or 4k (1k is 1,024 bytes).",
)
@click.option("--ram", default=_USUAL["ram"], help="RAM it may take with its stack: 512 or 1k.")
@click.option("--latency", default=_USUAL["latency"], help="Time to encrypt and deliver a message: 50ms.")
@click.option(
    "--overhead",
    default=_USUAL["overhead"],
    help="Bytes it may add to a message: tag, counter, padding.",
)
@click.option(
    "--delivery",
    type=click.Choice(advise.DELIVERIES),
    default=_USUAL["delivery"],
    show_default=True,
    help="Whether the gateway answers each message; a one-way node never listens.",
)
@click.option(
    "--loss",
    default=_USUAL["loss"],
    show_default=True,
    help=f"Packets lost in each direction, in per cent, up to {advise.LOSS_PERCENT_MAX}.",
)
@click.option(
    "--answer",
    "answer_bytes",
    type=click.IntRange(0, advise.BYTES_MAX),
    default=_USUAL["answer"],
    show_default=True,
    help="Bytes of a message received for each one sent.",
)
@click.option(
    "--need",
    "needs",
    default=",".join(_USUAL["need"]),
    show_default=True,
    help="Needed properties, separated by commas: confidentiality, integrity, replay, constant-time, "
    "power-resistance. Constant-time by itself is added to the default, and power-resistance by itself to "
    "confidentiality and integrity.",
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
@click.option(
    "--bare-chip",
    is_flag=True,
    default=_USUAL["bare-chip"],
    help="Currents of the chip alone, not of the stock board.",
)
@click.option(
    "--sleeps",
    is_flag=True,
    default=_USUAL["sleeps"],
    help="Count sleep between messages even if the exported example has none.",
)
@click.option("--top", type=click.IntRange(1, 1000), default=TOP, show_default=True, help="Ranks to print.")
@click.option("--all", "every", is_flag=True, help="Print every rank and every note.")
@click.option("--keys", is_flag=True, help="How the node gets its keys: what each way costs and protects.")
@click.option("--why-not", is_flag=True, help="Print what is not ranked, grouped by reason.")
@click.option(
    "--jobs", type=click.IntRange(1, 256), default=None, help="Number of firmwares to run at the same time."
)
@db_option
@table_options
def command(
    device_name: str,
    radio_name: str | None,
    storage_name: str | None,
    storage_ma: str | None,
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
    keys: bool,
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

    With --storage the node has no radio: each record is encrypted by the cipher alone and stored with its
    nonce and tag.

    With --need power-resistance only implementations with protection are ranked: by how many more simulated
    traces give their key than that of unprotected code, at a stated signal-to-noise ratio.

    With --keys the answer is how this node gets its keys: one key for all, one for each node, or a handshake
    with public keys once or daily, what each costs here, and what a captured node gives away.
    """
    if keys:
        from motecrypt.adviser.keys import KeyNode
        from motecrypt.cli import _advise_keys
    needs, resists = _resisting(needs)
    chosen = select(ciphers, libraries, [device_name])
    catalog, device = chosen.catalog, chosen.device
    storage = _storage(device, radio_name, storage_name, storage_ma)
    if keys and storage is not None:
        raise InputError(
            "--keys: a node with --storage has no radio to agree on keys over; omit one of the two"
        )
    radio = None
    if storage is not None:
        needs = _stored_needs(needs)
        node = advise.node_of(
            device, storage.as_radio(_record_bytes_max(catalog, message_bytes)), (), storage
        )
    else:
        radio = load_radio(radio_name or "")
        if packet_bytes is not None:
            radio = radio.with_figures(packet_bytes=packet_bytes)
        node = advise.node_of(device, advise.radio_part(radio), _example_sleeps(catalog, device))
    asked = advise.Asked(
        message_bytes=message_bytes,
        every=interval,
        battery=battery_name,
        regulator=regulator,
        flash=flash,
        ram=ram,
        latency=latency,
        overhead=overhead,
        delivery=delivery,
        loss=loss,
        answer_bytes=answer_bytes,
        needs=_needs(needs),
        bare_chip=bare_chip,
        sleeps=sleeps,
    )
    setting = advise.setting_of(node, asked)
    question, part, battery, between = setting.question, setting.device, setting.battery, setting.regulator
    weighed = replace(catalog, implementations=catalog.protected) if resists else catalog
    found = wanted(weighed, device, question, chosen.ciphers, chosen.libraries)
    if resists and not found:
        raise InputError(
            f"--need {protection.NEED}: no protected implementation fits {device.name} and these options; "
            "there are some of aes128-ccm4, -ccm8, -ccm16 and aes128-ctr for AVR, Cortex-M0 and M0+"
        )
    chosen.prove_own()
    with open_results(db) as results, progress("measuring") as report:
        candidates = ensured(found, results, weighed, device, jobs, report)
        operations = _advise_keys.key_rows(catalog, device, results) if keys else []
    lengths = asked_lengths(question)
    candidates = [extended(one, device, lengths) for one in candidates]
    answer = advise.answered(node, setting, candidates)
    if resists and answer.entries:
        answer = protection.by_resistance(answer, protection.resistances(), ORDER)
    hardware, first = accelerator_of(device.chip), answer.entries[0] if answer.entries else None
    plans = []
    if keys and first:
        keyed = KeyNode(question, part, node.radio, battery, between, answer.usable)
        plans = _advise_keys.plans_of(device, operations, keyed, first)
    step, refused, exported = _next_step(catalog, device, answer.entries, radio, question)
    if resists:
        refused = "store a secret seed in each device and copy the sources: docs/protection.md"
    if as_json:
        supplied = {
            "device": part.title,
            **bound_fields(device.name),
            **({"radio": radio.title} if radio else {"storage": storage and asdict(storage)}),
            "battery": _supply(battery),
            "regulator": between.name,
            "cipher_hardware": hardware_document(hardware, first),
            **({"power_resistance": protection.document(answer)} if resists else {}),
            **({"keys": _advise_keys.keys_document(plans)} if plans else {}),
        }
        print_json({**document(question, answer), **supplied, "next": step or None})
    else:
        parts = (part, f"over {radio.title}" if radio else f"to {node.radio.title}", battery, between)
        if plans and first:
            _advise_keys.print_keys(asked_text(question, parts), first, plans, device)
            return
        if answer.entries:
            print_answered(
                question, answer, parts, step, None if every else top, exported if step else refused
            )
            if first and node.hardware and not every:
                print_words(hardware_note(node.hardware, first))
        else:
            print_refused(question, answer, parts)
        if why_not:
            print_excluded(answer.exclusions)
        elif answer.exclusions:
            s = "s" if len(answer.exclusions) > 1 else ""
            print_words(f"{len(answer.exclusions)} candidate{s} excluded; reasons: --why-not")
    if not answer.entries:
        raise InputError(answer.notes[0])


def _next_step(
    catalog: Catalog,
    device: Device,
    entries: Sequence[advise.Entry],
    radio: Radio | None,
    question: advise.Question,
) -> tuple[str, str, str]:
    """The command that exports the first of the ranked that is ours, with the link for this radio where the
    link carries the messages; why there is none; and what it exports where that is not the first rank."""
    from motecrypt.exports import LinkRadio, next_link_step, next_step

    for entry in entries:
        one = entry.candidate
        named = (one.cipher, one.implementation, one.placement)
        if radio is None or not question.linked:
            step = next_step(catalog, device, *named)
        else:
            try:
                step = next_link_step(
                    catalog, device, *named, LinkRadio(radio, question.delivery == "one-way")
                )
            except InputError as error:
                why = f"ask with other packets or messages: the link cannot be exported for these ({error})"
                return "", why, ""
        if step:
            return step, "", _instead(device, entries[0], entry)
    return "", "none of the ranked implementations can be exported", ""


def _instead(device: Device, first: advise.Entry, taken: advise.Entry) -> str:
    """What the next step exports where it is not what is advised, and what that takes."""
    if taken is first:
        return ""
    one = first.candidate
    ours = one.implementation.startswith("motecrypt/")
    why = (
        f"the export for {device.title} is plain C, without assembly for its core"
        if ours
        else f"{one.implementation} is not ours to export"
    )
    return (
        f"This exports rank {taken.rank}, {taken.candidate.name}: {why}. Encrypting a message takes "
        f"{taken.costs.cycles:,.0f} cycles, {first.costs.cycles:,.0f} with rank 1."
    )


def _example_sleeps(catalog: Catalog, device: Device) -> tuple[str, ...]:
    """The radios with which the example that the next step exports sleeps."""
    from motecrypt.exports.targets import example_sleeps

    return example_sleeps(device, catalog)


def _storage(
    device: Device, radio_name: str | None, name: str | None, currents: str | None
) -> advise.StoragePart | None:
    """The storage that was named instead of a radio; None with a radio.

    Raises
    ------
    InputError
        Both or none of the two, or an option that a node without a radio has no use for.
    """
    if name is None:
        if currents is not None:
            raise InputError("--storage-ma: needs --storage")
        if radio_name is None:
            raise InputError("give the node's --radio, or --storage if it stores its data instead")
        return None
    for parameter, option in _OF_RADIOS.items():
        if click.get_current_context().get_parameter_source(parameter) is not ParameterSource.DEFAULT:
            raise InputError(f"{option}: a node with --storage has no radio; omit one of the two")
    from motecrypt.results.findings.pico_file import storage_times

    given = None if currents is None else advise.currents_ma(currents)
    return advise.storage_part(device, name, storage_times(), given)


_OF_RADIOS = {
    "radio_name": "--radio",
    "packet_bytes": "--packet-bytes",
    "delivery": "--delivery",
    "loss": "--loss",
    "answer_bytes": "--answer",
}


def _record_bytes_max(catalog: Catalog, message_bytes: int) -> int:
    """Bytes of the longest record: the data, padded, with the longest nonce and tag that there are."""
    return message_bytes + max(
        cipher.nonce_bytes + cipher.tag_bytes + cipher.message.min + cipher.message.multiple
        for cipher in catalog.ciphers.values()
    )


def _stored_needs(needs: str) -> str:
    """What stored records need by default: a storage cannot refuse an old copy of itself."""
    if click.get_current_context().get_parameter_source("needs") is ParameterSource.DEFAULT:
        return "confidentiality,integrity"
    if needs.strip() == "constant-time":
        return f"confidentiality,integrity,{needs}"
    if "replay" in needs:
        raise InputError(
            "--need replay: a storage cannot detect that it was replaced by an older copy; omit it"
        )
    return needs


def _resisting(needs: str) -> tuple[str, bool]:
    """The needs without power resistance, and whether it was among them."""
    words = [word.strip() for word in needs.split(",")]
    if protection.NEED not in words:
        return needs, False
    others = [word for word in words if word not in ("", protection.NEED)]
    if "replay" in others:
        raise InputError(
            f"--need {needs}: the secure link, which protects against replay, has no protected variant; "
            "omit replay"
        )
    if not set(others) - {"constant-time"}:
        others += ["confidentiality", "integrity"]
    return ",".join(others), True


def _needs(text: str) -> tuple[str, ...]:
    asked = [word.strip() for word in text.split(",") if word.strip()]
    for word in asked:
        if word not in advise.NEEDS:
            known = ", ".join((*advise.NEEDS, protection.NEED))
            raise InputError(f"--need '{word}': unknown; choose from {known}")
    return tuple(asked)


def _supply(battery: advise.BatteryPart) -> dict[str, Any]:
    return {key: getattr(battery, key) for key in ("name", "volts", "capacity_mah")}
