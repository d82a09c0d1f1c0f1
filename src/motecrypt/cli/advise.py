"""motecrypt advise: which cipher for this device, radio, battery and budget."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from motecrypt.adviser import api as advise
from motecrypt.adviser import protection
from motecrypt.adviser.hardware_notes import hardware_note
from motecrypt.adviser.shown import plural
from motecrypt.air.radios import load_radio
from motecrypt.app.advise import AdviseRequest, NodeStorage, advise_plan, plan
from motecrypt.base.errors import InputError
from motecrypt.cli._choices import completes
from motecrypt.cli._output import (
    db_option,
    open_results,
    print_json,
    print_note,
    print_words,
    progress,
    show,
    table_options,
    typed_with,
)
from motecrypt.cli._request import jobs_option
from motecrypt.present.terminal.advice import answered_view, asked_text, excluded_view, refused_view

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
    help="Its radio ('motecrypt list radios'), or a file.",
)
@click.option(
    "--storage",
    "storage_name",
    help="Instead of a radio: what it stores its records in: eeprom, flash, sd or sd-slow.",
)
@click.option(
    "--storage-ma",
    "storage_ma",
    metavar="WRITING[,IDLE]",
    help="With --storage: the current of the chip or card in mA; not counted if not given.",
)
@click.option("--packet-bytes", type=int, help="Its packet length (default: the radio's own).")
@click.option("--bytes", type=click.IntRange(1, advise.BYTES_MAX), required=True, help="Of a message.")
@click.option("--every", required=True, help="Time between messages: 500ms, 10s, 5min, 1h, 1d.")
@click.option("--battery", required=True, help="3xAA, CR2032, 4xAA-NiMH, or 1200mAh,3.7V.")
@click.option(
    "--regulator", default=_USUAL["regulator"], show_default=True, help="none, linear, switch or nano."
)
@click.option(
    "--flash", default=_USUAL["flash"], help="Flash the cipher may take: 4096 or 4k (1k is 1,024 bytes)."
)
@click.option("--ram", default=_USUAL["ram"], help="RAM it may take with its stack: 512 or 1k.")
@click.option("--latency", default=_USUAL["latency"], help="Time to encrypt and deliver a message: 50ms.")
@click.option(
    "--overhead", default=_USUAL["overhead"], help="Bytes it may add to a message: tag, counter, padding."
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
    type=click.IntRange(0, advise.BYTES_MAX),
    default=_USUAL["answer"],
    show_default=True,
    help="Bytes of a message received for each one sent.",
)
@click.option(
    "--need",
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
@click.option("--all", "whole", is_flag=True, help="Print every rank and every note.")
@click.option("--keys", is_flag=True, help="How the node gets its keys: what each way costs and protects.")
@click.option("--why-not", is_flag=True, help="Print what is not ranked, grouped by reason.")
@jobs_option
@db_option
@table_options
def command(
    device_name: str,
    radio_name: str | None,
    storage_name: str | None,
    storage_ma: str | None,
    packet_bytes: int | None,
    ciphers: Sequence[str],
    libraries: Sequence[str],
    top: int,
    whole: bool,
    keys: bool,
    why_not: bool,
    jobs: int | None,
    db: Path | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Say which cipher to use on a device, over a radio, on a battery and within a budget.

    The first five lines are the answer. The best few follow; --all prints every rank with its reason and
    every note, --why-not what is not ranked. What is missing is measured first. Ranks go by security
    status, then by energy for each message. Broken ciphers are never ranked.

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
    storage = _storage(radio_name, storage_name, storage_ma)
    asked, resists = _needs(given["need"], stored=storage is not None)
    fields = {name: given[name.replace("-", "_")] for name in ("bytes", "every", "battery", *_USUAL)}
    question, supply = advise.asked_in({**fields, "need": asked})
    to = storage or load_radio(radio_name or "", packet_bytes)
    made = plan(AdviseRequest(device_name, question, supply, to, ciphers, libraries, resists, keys))
    with open_results(db) as results, progress("measuring") as report:
        found = advise_plan(made, results, jobs, report)
    print_note(found.note)
    answer, setting, step = found.answer, made.setting, found.export_step()
    first = answer.entries[0] if answer.entries else None
    if as_json:
        print_json({**found.document(), "next": step.command or None})
    elif found.keys and first:
        from motecrypt.present.terminal.keys import keys_view  # with data that --help does not need

        show(*keys_view(asked_text(setting), first, found.keys, made.chosen.device))
    else:
        if first:
            command = step.command or typed_with("--json" if whole else "--all")
            show(
                *answered_view(setting, answer, command, None if whole else top, (step.instead, step.refused))
            )
            if made.node.hardware and not whole:
                print_words(hardware_note(made.node.hardware, first))
        else:
            show(*refused_view(setting, answer))
        if why_not:
            show(*excluded_view(answer.exclusions))
        elif answer.exclusions:
            print_words(f"{plural(len(answer.exclusions), 'candidate')} excluded; reasons: --why-not")
    if not first:
        raise InputError(answer.notes[0])


def _storage(radio_name: str | None, name: str | None, currents: str | None) -> NodeStorage | None:
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
    write_ma, idle_ma = (None, None) if currents is None else advise.currents_ma(currents)
    return NodeStorage(name, write_ma, idle_ma)


_OF_RADIOS = {
    "radio_name": "--radio",
    "packet_bytes": "--packet-bytes",
    "delivery": "--delivery",
    "loss": "--loss",
    "answer": "--answer",
}


def _needs(text: str, stored: bool) -> tuple[list[str], bool]:
    """The needs with those that are usual with them, and whether power resistance is one.

    A storage cannot refuse an old copy of itself, so by default its records need no protection against that.
    """
    words = [word.strip() for word in text.split(",") if word.strip()]
    others, resists = [word for word in words if word != protection.NEED], protection.NEED in words
    if stored and click.get_current_context().get_parameter_source("need") is ParameterSource.DEFAULT:
        return ["confidentiality", "integrity"], False
    if words and (stored or resists) and set(others) <= {"constant-time"}:
        others += ["confidentiality", "integrity"]
    return others, resists
