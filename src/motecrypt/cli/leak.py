"""motecrypt leak: find the lines of a firmware whose current depends on its secrets."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from motecrypt.app.selection import select
from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.cli._firmware import device_option, input_option
from motecrypt.cli._output import print_json, print_next, progress, show, table_options, typed_with
from motecrypt.cli._request import FILE, PATH, FiniteRange, taken
from motecrypt.cli._unmodelled import show_used
from motecrypt.present.runs.capture import attack_view, capture_view
from motecrypt.present.runs.leak import control_document, controls_view, leak_view

if TYPE_CHECKING:
    from motecrypt.attack.leakage.models import Model

TRACE_FILES = (".npz", ".trs", ".npy", ".cwp")


def _pairs(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[int, int] | None:
    if value is None:
        return None
    first, dash, last = value.partition("-")
    if not (dash and first.isdecimal() and last.isdecimal()):
        raise InputError(f"--pairs {value}: give two numbers of instructions, such as 0-64")
    return int(first), int(last)


@click.command(epilog="Example: motecrypt leak firmware.elf --function encrypt --from masked_input")
@click.argument("firmware", type=PATH, metavar="FIRMWARE", required=False)
@device_option
@click.option("--cipher", metavar="NAME", help="In place of FIRMWARE: a cipher's benchmark firmware.")
@click.option("--variant", metavar="NAME", help="With --cipher: variant of our implementation.")
@click.option("--function", metavar="NAME", help="The function that is assessed: its first call.")
@click.option(
    "--from",
    "start",
    metavar="NAME",
    help="Function at which inputs are put into memory; the same if not given.",
)
@click.option(
    "--skip", type=click.IntRange(0), default=0, metavar="N", help="Leave out N instructions first."
)
@click.option("--instructions", type=click.IntRange(1), metavar="N", help="Assess at most N instructions.")
@click.option(
    "--vary",
    type=click.Choice(["input", "key"]),
    default="input",
    show_default=True,
    help="What is fixed in half of the traces and random in the others: leak_input or leak_key.",
)
@click.option(
    "--shared",
    multiple=True,
    metavar="NAME",
    help="A variable that takes two Boolean shares; may be repeated.",
)
@click.option(
    "--model",
    type=click.Choice(["both", "weight", "distance"]),
    default="both",
    show_default=True,
    help="What current shows: bits that are written, bits that change.",
)
@click.option(
    "--coefficients", type=FILE, help="A TOML file with a weight for each channel, in place of --model."
)
@click.option(
    "--pairs", callback=_pairs, metavar="A-B", help="Order 2: test all pairs of instructions A to B, too."
)
@click.option(
    "--traces", type=click.IntRange(1), default=20_000, show_default=True, help="Traces of both sets."
)
@click.option("--snr", type=float, default=0.1, show_default=True, help="SNR where a byte's weight shows.")
@click.option(
    "--seed",
    type=click.IntRange(0, (1 << 63) - 1),
    default=1,
    show_default=True,
    help="Draws inputs and noise.",
)
@click.option("--align", is_flag=True, help="Where the path varies, test the traces of the most common path.")
@click.option(
    "--save",
    type=PATH,
    help="Also write the first set's traces, without noise: NAME.npz, NAME.trs, or a folder.",
)
@click.option(
    "--attack",
    metavar="NAME",
    help="With traces as FIRMWARE: attack them, such as aes-encrypt-first; an unknown name lists all.",
)
@click.option(
    "--controls", is_flag=True, help="Check the assessment itself, with functions of known leakage."
)
@input_option
@click.option(
    "--max-seconds",
    type=FiniteRange(min=0, min_open=True),
    default=10.0,
    show_default=True,
    help="Simulated time within which the function has to be called.",
)
@table_options
def command(
    firmware: Path | None,
    device: str,
    model: str,
    coefficients: Path | None,
    pairs: tuple[int, int] | None,
    traces: int,
    seed: int,
    save: Path | None,
    attack: str | None,
    controls: bool,
    input_file: BinaryIO | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Record simulated power traces of a function of FIRMWARE and test whether they depend on its input.

    The firmware (.elf) has the arrays leak_input and, if it needs them, leak_key and leak_random;
    docs/leakage.md describes this harness. Traces with one fixed input are compared with traces of random
    inputs, in two independent sets. What leaks is reported with its source line and the values that meet.

    With --cipher, the window is the encryption of one message by one of ours, or with --vary key its key
    set-up; of a protected variant, what works on masked values there. FIRMWARE may also be traces:
    .npz, .trs, or a ChipWhisperer's project (.cwp) or folder of arrays.
    """
    if controls:
        _controls(device, traces, seed, as_json)
        return
    if firmware is not None and (firmware.is_dir() or firmware.suffix in TRACE_FILES):
        if attack is not None:
            _attack(firmware, attack, as_json)
        else:
            _capture(firmware, pairs, as_json)
        return
    if attack is not None:
        from motecrypt.attack.leakage.files import FORMS

        raise InputError(
            f"--attack: needs traces in place of FIRMWARE: {FORMS}; "
            "for our own ciphers use motecrypt audit CIPHER --part power"
        )
    from motecrypt.app.leak import LeakRequest, leak_plan, plan

    given |= {"firmware": firmware, "device": device, "input": input_file}
    given |= {"traces": traces, "seed": seed, "pairs": pairs, "model": _model(model, coefficients)}
    made = plan(taken(LeakRequest, given))
    with progress(f"recording {made.function}") as report:
        found = leak_plan(made, report)
    if save is not None:
        found.save(save)
    show_used(found.ended)
    if as_json:
        told = {"notes": found.ended.notes, "unmodelled": found.ended.unmodelled}
        print_json({**found.document(), **told})
        return
    show(*leak_view(made.function, found.found, made.question, found.places, found.parts_at))
    if found.found.verdict == "path varies":
        print_next(typed_with("--align"))
    elif not pairs and found.found.verdict == "no leak found":
        print_next(typed_with("--pairs", f"0-{min(64, found.found.instructions[0])}"))
    else:
        print_next(typed_with("--json"))


def _model(name: str, coefficients: Path | None) -> Model:
    from motecrypt.attack.leakage.models import MODELS, read_coefficients

    return MODELS[name] if coefficients is None else read_coefficients(coefficients)


def _attack(path: Path, attack: str, as_json: bool) -> None:
    from motecrypt.app.leak import attack_traces
    from motecrypt.attack.leakage.files import read_traces
    from motecrypt.attack.leakage.targets import target_named

    target, traces = target_named(attack), read_traces(path)
    found = attack_traces(traces, attack)
    if as_json:
        known = None if found.known is None else found.known.hex()
        keys = {"key": found.key.hex(), "known": known}
        print_json({"attack": attack, "model": traces.model, **asdict(found), **keys})
        return
    show(*attack_view(f"{target.title} in {path.name}", found))
    print_next(typed_with("--json"))


def _capture(path: Path, pairs: tuple[int, int] | None, as_json: bool) -> None:
    from motecrypt.attack.leakage.captures import assess_traces
    from motecrypt.attack.leakage.files import read_traces

    traces = read_traces(path)
    found = assess_traces(traces, pairs)
    if as_json:
        print_json({"traces": len(traces), **asdict(found)})
        return
    show(*capture_view(f"Leakage in {path.name}", found, len(traces), traces.samples.shape[1]))
    print_next(typed_with("--json"))


def _controls(device: str, traces: int, seed: int, as_json: bool) -> None:
    from motecrypt.app.leak import leak_controls

    with progress("controls") as report:
        outcomes = leak_controls(device, traces, seed, report)
    if as_json:
        print_json([control_document(outcome) for outcome in outcomes])
    else:
        name = select(devices=[device]).device.name
        show(*controls_view(f"Controls on {name}", outcomes, f"{traces:,} traces each, seed {seed}"))
        print_next(typed_with("--json"))
    wrong = [outcome.control.title for outcome in outcomes if not outcome.passed]
    if wrong:
        raise MotecryptError(f"controls failed: {', '.join(wrong)}; take more --traces, or report it")
