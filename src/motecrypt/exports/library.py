"""One export: which implementation, all its files, and the folder they are written to.

A view over the catalogue, the build's own list of files and figures; it measures nothing.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from motecrypt import __version__
from motecrypt.base.errors import InputError
from motecrypt.base.model import Cell, Cipher, Implementation, Measurement
from motecrypt.base.text import printable
from motecrypt.build.toolchain import BuildRequest
from motecrypt.catalog import Catalog
from motecrypt.catalog.oracles import oracle
from motecrypt.catalog.typed import is_own
from motecrypt.exports.cautions import cautions
from motecrypt.exports.checks import check_address, check_export, check_placement
from motecrypt.exports.commands import export_command
from motecrypt.exports.examples import EXAMPLES
from motecrypt.exports.figures import ExportFigures, exported_figures, exported_name, figure_cells
from motecrypt.exports.folder import write_folder
from motecrypt.exports.sources import CONFIG, exported_sources
from motecrypt.exports.targets import TARGETS, Target
from motecrypt.exports.timing import constant, places
from motecrypt.results import Results

TEMPLATES = Path(__file__).resolve().parent / "templates"
EVERYWHERE = {"README.md": "README.md", "LICENSE": "LICENSE"}


@dataclass(frozen=True)
class KnownAnswer:
    """The message of the examples, and its ciphertext by an independent implementation."""

    key: bytes
    nonce: bytes
    ad: bytes
    message: bytes
    ciphertext: bytes
    tag: bytes


@dataclass(frozen=True)
class Export:
    """An export before it is written: names and files, and what of its figures is missing."""

    name: str
    prefix: str
    class_name: str
    cipher: Cipher
    body: Implementation
    files: dict[str, bytes]
    figures: ExportFigures
    about: dict[str, Any]

    def write(self, folder: Path) -> None:
        """Write the checked folder; InputError where it must not be replaced or cannot be written."""
        write_folder(folder, self.files, self.about, check_export)


def choose(
    catalog: Catalog, cipher: Cipher, target: Target, variant: str | None, placement: str = ""
) -> Implementation:
    """The variant named, or the one that is best on the target's core with its tables in that place (in any).

    Those whose time does not depend on secrets count before the others, if there are any. The best are
    marked in the ciphers' descriptors (`best_on`): those with the fewest cycles, among those that need no
    compiler flags of their own. A test compares the marks with the measured figures.

    Raises
    ------
    InputError
        When there is none of that name, or none for that core; the message names those there are.
    """
    bodies = [i for i in catalog.implementations if i.cipher == cipher.name and i.library == "motecrypt"]
    there = [body for body in bodies if body.runs_on(target.core)]
    if variant is not None:
        there = [body for body in there if variant in (body.variant, body.name)]
        if any(body.cipher == cipher.name and body.variant == variant for body in catalog.protected):
            raise InputError(
                f"--variant '{variant}': a protected variant needs a secret seed in each device and is not "
                "exported; copy its sources as docs/protection.md describes"
            )
        if not there:
            known = ", ".join(body.variant for body in bodies if body.runs_on(target.core)) or "none"
            raise InputError(
                f"--variant '{variant}': {cipher.name} has none of that name for {target.title} "
                f"(core {target.core}); available: {known}"
            )
    if not there:
        raise InputError(f"{cipher.name}: no implementation for {target.title} (core {target.core})")
    placed = [body for body in there if not placement or placement in body.placements] or there
    if variant is None:
        even = [
            body
            for body in placed
            if any(
                constant(catalog, target, body, one)
                for one in _asked_places(catalog, target, body, placement)
            )
        ]
        placed = even or placed
    best = [body for body in placed if body.best_on_core(target.core)]
    return (best or placed)[0]


def _asked_places(catalog: Catalog, target: Target, body: Implementation, placement: str) -> Sequence[str]:
    return [placement] if placement else places(catalog, target, body)


def known_answer(cipher: Cipher) -> KnownAnswer:
    """Plain inputs for the examples, and the oracle's answer to them."""
    bits = cipher.key_bits[0]
    rule = cipher.message
    length = next((n for n in (20, 24, 32) if rule.allows(n)), None)
    if length is None:
        length = next(n for n in range(max(1, rule.min), rule.max + 1) if rule.allows(n))
    key = bytes(range(bits // 8))
    nonce = bytes((0x40 + i) % 256 for i in range(cipher.nonce_bytes))
    ad = b"node" if cipher.associated_data else b""
    message = (b"A reading: 21.5 degrees. " * (length // 25 + 1))[:length]
    ciphertext, tag = oracle(cipher)(key, nonce, ad, message)
    return KnownAnswer(key, nonce, ad, message, ciphertext, tag)


# Long: all names that the templates use, in one table.
def plan(
    catalog: Catalog,
    target: Target,
    cipher: Cipher,
    body: Implementation,
    results: Results,
    *,
    placement: str = "flash",
    url: str = "",
    measured: Mapping[Cell, Measurement] | None = None,
) -> Export:
    """All files of an export.

    Parameters
    ----------
    results, measured
        Where its figures are stored, and those that were found by their content just now, which count first.

    Raises
    ------
    InputError
        When the implementation does not take that placement, or a file of it cannot be exported.
    """
    device = catalog.device(target.device)
    check_placement(placement, device, body)
    check_address(url, "--url")
    # A folder of the user's own may say anything: no word of it ends a comment or begins a line.
    told = replace(
        cipher,
        title=_line(cipher.title),
        security_reason=_line(cipher.security_reason),
        security_source=_line(cipher.security_source),
    )
    slug = "-".join([cipher.name, body.variant, *([] if placement == "flash" else [placement])])
    words = [word for word in re.split(r"[^A-Za-z0-9]+", slug) if word]
    if not all(re.fullmatch(r"[A-Za-z0-9._-]+", name) for name in (cipher.name, body.variant)):
        raise InputError(f"{cipher.name}/{body.variant}: an exported name has letters, digits and ._- only")
    folder = "_".join(["mc", *words]).lower()
    prefix = f"{folder}_"
    class_name = "Mc" + "".join(word.capitalize() for word in words)
    copied = exported_sources(BuildRequest(device, body, placement), prefix)
    asked = _asked(cipher)
    wanted = figure_cells(catalog, body, placement, device)
    figures = exported_figures(wanted, body, results, asked, measured)
    named = {"target": target.name, "cipher": cipher.name, "variant": body.variant, "placement": placement}
    if target.named_device:
        named["device"] = exported_name(device)
    context = {
        **_cipher_words(told, body),
        "target": target,
        "tool": f"motecrypt {__version__}",
        "version": __version__,
        "name": f"motecrypt-{'-'.join(words).lower()}",
        "variant": body.variant,
        "placement": placement,
        "folder": folder,
        "prefix": prefix,
        "class_name": class_name,
        "config": CONFIG,
        "headers": copied.headers,
        "compiled": copied.compiled,
        "compiler": device.compiler.command,
        "machine_flags": [*device.compiler.machine_flags],
        "flags": [*device.compiler.flags, *body.c_flags],
        "lost_flags": () if target.takes_flags else body.c_flags,
        "architectures": "avr" if all(core.startswith("avr") for core in body.cores) else "*",
        "answer": known_answer(cipher),
        "figures": figures,
        "cautions": cautions(catalog, target, cipher, body, placement, asked),
        "url": url,
        "own": cipher.folder.name if is_own(cipher.folder) else "",
        "command": export_command({**named, "cipher": asked}, url),
    }
    inside = f"{target.sources}/{folder}"
    files = {f"{inside}/{name}": text.encode() for name, text in copied.files.items()}
    render = Renderer(target)
    files[f"{target.sources}/{folder}.h"] = render("interface.h", context)
    for path, template in EVERYWHERE.items():
        files[path] = render(template, context)
    for file in target.files:
        if not file.kinds or cipher.kind in file.kinds:
            files[file.path.replace("{class}", class_name)] = render(file.template, context)
    about = {"motecrypt": __version__, **named, "prefix": prefix}
    return Export(str(context["name"]), prefix, class_name, told, body, files, figures, about)


def _asked(cipher: Cipher) -> str:
    """How a command names a cipher: a folder of the user's own as if it were in the current one."""
    return f"./{cipher.folder.name}/{cipher.name}" if is_own(cipher.folder) else cipher.name


def _cipher_words(cipher: Cipher, body: Implementation) -> dict[str, Any]:
    """What the templates say of a cipher, and how its calls look."""
    nonce, tag, ad = bool(cipher.nonce_bytes), bool(cipher.tag_bytes), cipher.associated_data
    reason = cipher.security_reason or "it is not rated"
    return {
        "cipher": cipher,
        "broken": cipher.security == "broken",
        "security": {
            "level": cipher.security,
            "reason": reason,
            "source": cipher.security_source,
            "lines": textwrap.wrap(_sentence(reason), 108, break_on_hyphens=False),
        },
        "key_bytes": max(body.key_bits) // 8,
        "key_text": f"a key of {' or '.join(str(bits // 8) for bits in body.key_bits)} bytes",
        "message_text": _message_text(cipher),
        "nonce_argument": ", const uint8_t *nonce" if nonce else "",
        "nonce_value": ", nonce" if nonce else "",
        "ad_argument": ", const uint8_t *ad = NULL, size_t adBytes = 0" if ad else "",
        "ad_plain_argument": ", const uint8_t *ad, size_t adBytes" if ad else "",
        "ad_value": ", ad, adBytes" if ad else "",
        "call": {
            "nonce": ", nonce" if nonce else "",
            "tag": ", tag" if tag else "",
            "ad": ", ad, sizeof ad" if ad else "",
        },
    }


def _message_text(cipher: Cipher) -> str:
    rule = cipher.message
    if rule.multiple > 1:
        return f"messages of whole blocks of {rule.multiple} bytes"
    return f"messages from {rule.min} bytes on" if rule.min else "messages of any length"


def _line(text: str) -> str:
    return " ".join(printable(text).split()).replace("*/", "* /").replace("/*", "/ *").replace("\\", "/")


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")


def _c_bytes(data: bytes) -> str:
    rows = [", ".join(f"0x{byte:02x}" for byte in data[at : at + 12]) for at in range(0, len(data), 12)]
    return ",\n    ".join(rows) if len(rows) < 2 else "\n    " + ",\n    ".join(rows) + "\n"


class Renderer:
    """Fills templates: a target's own, or those that several share."""

    def __init__(self, target: Target) -> None:
        self._target = target

    def __call__(self, template: str, context: dict[str, Any]) -> bytes:
        names = [f"{self._target.name}/{template}.j2", f"{template}.j2"]
        text: str = environment(TARGETS, TEMPLATES, EXAMPLES).select_template(names).render(context)
        return text.encode()


@lru_cache(maxsize=2)
def environment(*folders: Path) -> Any:
    """The language of templates in these folders; imported only where something is rendered."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    # Plain text and C, never a page: nothing is to be escaped for HTML.
    made = Environment(
        loader=FileSystemLoader(folders),
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters |= {"c_bytes": _c_bytes, "sentence": _sentence, "json": _json}
    return made


def _json(value: object) -> str:
    return json.dumps(value)
