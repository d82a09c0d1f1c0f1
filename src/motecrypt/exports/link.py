"""One export of the secure link: its core, a cipher, storage and clock of the target, and examples.

As `library.py` for ciphers alone: a view over the catalogue and the build's own list of files.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from motecrypt import __version__
from motecrypt.base.errors import InputError
from motecrypt.base.model import Cipher, Device, Implementation
from motecrypt.build.toolchain import BuildRequest
from motecrypt.build.toolchain.firmware import CipherInputs, cipher_inputs
from motecrypt.catalog import FIRMWARE, Catalog, nearest
from motecrypt.exports.cautions import cautions
from motecrypt.exports.checks import check_address, check_placement
from motecrypt.exports.commands import LinkRadio, check_packets, link_command, radio_words
from motecrypt.exports.examples import Example
from motecrypt.exports.figures import ExportFigures, exported_name
from motecrypt.exports.library import EVERYWHERE, Export, Renderer, choose
from motecrypt.exports.link_node import ANSWER_MS, FixedRadio, link_options, node_inputs, suite_of
from motecrypt.exports.sources import CONFIG, exported_inputs
from motecrypt.exports.targets import Target, target
from motecrypt.exports.timing import place
from motecrypt.link.native import STORAGE_BYTES, Suite
from motecrypt.results.experiments.link_cost import (
    LinkCostAnswer,
    LinkCostFailure,
    LinkCostQuestion,
    LinkCosts,
)

_PACKET_BYTES = {"eeprom.h": 32}
"""The longest packet that examples have room for if no radio is named, by storage: an AVR has little RAM."""

_PACKET_BYTES_ELSEWHERE = 250
_SERIAL_BYTES = 12
_SIMULATED: dict[Suite, str] = {"aes128-ccm": "aes128-ccm8", "ascon-aead128": "ascon-aead128"}
_TITLES = {"aes128-ccm": "AES-128-CCM", "ascon-aead128": "Ascon-AEAD128"}


# Long: all names that the templates use, in one table.
def plan_link(
    catalog: Catalog,
    target: Target,
    cipher: Cipher,
    body: Implementation,
    *,
    placement: str = "flash",
    url: str = "",
    radio: LinkRadio | None = None,
    costs: tuple[LinkCostAnswer, str] | None = None,
) -> Export:
    """All files of an export of the link.

    Parameters
    ----------
    radio
        The one that it is for; None: any.
    costs
        The answer to `cost_question`, and its date; None where there is none.

    Raises
    ------
    InputError
        When the link has no such cipher, the implementation does not take that placement, or the packets are
        longer than an AVR holds.
    """
    suite = suite_of(cipher)
    device = catalog.device(target.device)
    check_placement(placement, device, body)
    check_address(url, "--url")
    fixed = radio.fixed if radio else None
    if fixed:
        check_packets(target, fixed.packet_bytes)
    names = [suite, body.variant, *([] if placement == "flash" else [placement])]
    if radio:
        names += [radio.radio.name, str(radio.radio.packet_bytes), *(["sends"] if radio.sends_only else [])]
    words = ["link", *(word for word in re.split(r"[^A-Za-z0-9]+", "-".join(names)) if word)]
    folder = "_".join(["mc", *words]).lower()
    prefix = f"{folder}_"
    class_name = "Mc" + "".join(word[:1].upper() + word[1:] for word in words)
    request = BuildRequest(device, body, placement)
    given = node_inputs(request, suite, fixed, target.link.storage, target.link.boards)
    copied = exported_inputs(given, ("node.h",), prefix)
    packet_bytes = (
        fixed.packet_bytes if fixed else _PACKET_BYTES.get(target.link.storage, _PACKET_BYTES_ELSEWHERE)
    )
    command = link_command(target, exported_name(device), cipher, body, placement, url, radio_words(radio))
    context: dict[str, Any] = {
        "target": target,
        "tool": f"motecrypt {__version__}",
        "version": __version__,
        "name": f"motecrypt-{'-'.join(words).lower()}",
        "suite": {"name": suite, "title": _TITLES[suite]},
        "cipher": cipher,
        "variant": body.variant,
        "cautions": cautions(catalog, target, cipher, body, placement, cipher.name),
        "folder": folder,
        "prefix": prefix,
        "class_name": class_name,
        "config": CONFIG,
        "headers": copied.headers,
        "compiled": copied.compiled,
        "compiler": device.compiler.command,
        "machine_flags": [*device.compiler.machine_flags],
        "flags": [*device.compiler.flags, *body.c_flags],
        "fixed": fixed,
        "packet_bytes": packet_bytes,
        "serial_bytes": fixed.packet_bytes if radio and fixed and radio.serial else _SERIAL_BYTES,
        "by_packets": radio is not None and not radio.serial,
        "wide_bytes": fixed.packet_bytes if fixed else _PACKET_BYTES_ELSEWHERE,
        "answer_ms": fixed.answer_ms if fixed else ANSWER_MS,
        "storage_bytes": STORAGE_BYTES,
        "costs": _told(costs, device, [*device.compiler.flags, *body.c_flags, *target.link.figure_flags]),
        "provision": _provision(target, radio),
        "radio_words": shlex.join(radio_words(radio)) or "--radio srf",
        "url": url,
        "own": "",
        "broken": False,
        "command": command,
        "examples": [example for example, _ in target.link.examples() if _fits(example, radio)],
    }
    render = Renderer(target)
    files = {f"{target.sources}/{folder}/{name}": text.encode() for name, text in copied.files.items()}
    files[f"{target.sources}/{folder}.h"] = render("link/interface.h", context)
    files["README.md"] = render("link/README.md", context)
    files["LICENSE"] = render(EVERYWHERE["LICENSE"], context)
    for file in target.link.files:
        files[file.path.replace("{class}", class_name)] = render(file.template, context)
    for example in context["examples"]:
        beside = _beside(catalog, target, example)
        files |= _example_files(target, example, render, context, beside)
    about = {
        "motecrypt": __version__,
        "target": target.name,
        **({"device": target.named_device} if target.named_device else {}),
        "cipher": cipher.name,
        "variant": body.variant,
        "placement": placement,
        "link": 2,
        "prefix": prefix,
    }
    return Export(str(context["name"]), prefix, class_name, cipher, body, files, ExportFigures(), about)


@dataclass(frozen=True)
class Sketch:
    """An exported example that a simulated UNO can run.

    Attributes
    ----------
    path : of its sketch, among the files of `library`.
    interval : whether the macro INTERVAL_MS sets how often it sends.
    context : whether its node needs an OSCORE context.
    """

    library: Export
    path: str
    interval: bool
    context: bool


def running_examples(catalog: Catalog) -> list[str]:
    """The examples that a simulated UNO can run, by name."""
    return [example.name for example, program in target("arduino", catalog).link.examples() if program.runs]


def plan_sketch(catalog: Catalog, suite: Suite, name: str) -> Sketch:
    """The Arduino library that `export arduino --link` writes for a suite, and one of its sketches.

    Raises
    ------
    InputError
        When there is no such example, or a simulated UNO cannot run it.
    """
    known = running_examples(catalog)
    if name not in known:
        raise InputError(f"--example: {nearest('example', name, known)}")
    meant = target("arduino", catalog)
    cipher = catalog.cipher(_SIMULATED[suite])
    body = choose(catalog, cipher, meant, None)
    library = plan_link(catalog, meant, cipher, body, placement=place(catalog, meant, body, None, ""))
    ((example, program),) = [found for found in meant.link.examples() if found[0].name == name]
    return Sketch(library, meant.link.example_paths(example)[0], program.interval, example.context)


def cost_question(
    catalog: Catalog,
    target: Target,
    cipher: Cipher,
    body: Implementation,
    placement: str,
    radio: LinkRadio | None,
) -> LinkCostQuestion:
    """What exactly this export takes of its device; for any radio: with a key block for a serial line."""
    device = catalog.device(target.device)
    fixed = radio.fixed if radio else FixedRadio(link_options(serial=True, sends_only=False), _SERIAL_BYTES)
    return LinkCostQuestion(
        device.name,
        cipher.name,
        body.variant,
        placement,
        target.link.storage,
        (*device.compiler.flags, *body.c_flags, *target.link.figure_flags),
        fixed.options,
        fixed.packet_bytes,
        radio is not None,
    )


def _told(
    costs: tuple[LinkCostAnswer, str] | None, device: Device, flags: list[str]
) -> dict[str, Any] | None:
    """What the README says of them: a row of sizes and one for each step, or a reason."""
    if costs is None:
        return None
    found, date = costs
    if not isinstance(found, LinkCosts):
        reason = found.failed if isinstance(found, LinkCostFailure) else ""
        return {"device": device.title, "reason": reason, "sizes": ()}
    reading = f"a reading of {found.reading_bytes} bytes in a short packet"
    steps = {
        f"send {reading}": found.send_cycles,
        f"take {reading}": found.receive_cycles,
        "refuse a forged short packet, and note it in storage": found.refuse_cycles,
        "extra cycles if another key was used last": found.derive_cycles,
        "start: read keys and counters": found.start_cycles,
    }
    sizes = (found.flash_bytes, found.ram_bytes, found.buffer_bytes, found.stack_bytes)
    return {
        "device": device.title,
        "sizes": [
            *(device.title, found.compiler, date, f"`{' '.join((*device.compiler.machine_flags, *flags))}`"),
            *(f"{size:,}" for size in sizes),
        ],
        "steps": [
            (name, f"{cycles:,}", f"{1e6 * cycles / device.clock_hz:,.0f}")
            for name, cycles in steps.items()
            if cycles is not None
        ],
    }


def _beside(catalog: Catalog, target: Target, example: Example) -> dict[str, bytes]:
    """The files next to an example's program."""
    if not example.cipher:
        return example.beside()
    cipher = catalog.cipher(example.cipher)
    body = choose(catalog, cipher, target, None)
    placement = place(catalog, target, body, None, "")
    given = cipher_inputs(BuildRequest(catalog.device(target.device), body, placement))
    own = [FIRMWARE.resolve() / source for source in example.sources]
    folders = dict.fromkeys(path.parent for path in own)
    together = CipherInputs(
        (*own, *given.sources), (*given.directories, *folders), (*given.defines, *example.defines)
    )
    return {
        name: text.encode() for name, text in exported_inputs(together, example.headers, "").files.items()
    }


def _example_files(
    target: Target,
    example: Example,
    render: Renderer,
    context: dict[str, Any],
    beside: Mapping[str, bytes],
) -> dict[str, bytes]:
    """An example's program, what its form of target wants around it, and its sources next to it."""
    (program, path), *others = zip(target.link.example, target.link.example_paths(example), strict=True)
    own = {**context, "example": example}
    files = {path: render(f"{example.name}/{program.template}", own)}
    files |= {place: render(file.template, own) for file, place in others}
    folder = PurePosixPath(path).parent
    return files | {str(folder / name): content for name, content in beside.items()}


def _fits(example: Example, radio: LinkRadio | None) -> bool:
    """Whether an example is for the radio: one for another radio would find no keys."""
    if radio is None:
        return True
    if example.any_radio or not example.radios:
        return not example.any_radio
    kind = "serial" if radio.serial else radio.radio.name
    return kind in example.radios and not (radio.sends_only and example.must_listen)


def _provision(target: Target, radio: LinkRadio | None) -> str:
    """The options of the README's `provision`, for the radio asked for."""
    if radio is None:
        return target.link.provision
    shown = shlex.split(target.link.provision)
    return shlex.join([*radio_words(radio), *shown[shown.index("--radio") + 2 :]])
