"""Secret taint on the host: every variant of ours under valgrind, key and message marked as undefined."""

from __future__ import annotations

import tempfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from motecrypt.attack.audits import taint
from motecrypt.attack.audits.oracle import Part, key_bytes, nearest_length
from motecrypt.attack.audits.taint import Sighting
from motecrypt.base import process
from motecrypt.base.model import Cipher, Implementation
from motecrypt.build.setup import have
from motecrypt.build.toolchain import BuildRequest, build, key_of
from motecrypt.build.toolchain.drivers import driver, driver_identity
from motecrypt.build.toolchain.toolchain import identity as tool_identity
from motecrypt.measuring.audits import Subject, Unavailable
from motecrypt.measuring.audits._places import sentence_case, tell_places
from motecrypt.results import Results

NAME = "taint"
TITLE = "Secret taint on the host"
OPERATIONS = ("encrypt", "decrypt", "refuse")


def names(cipher: Cipher, devices: Sequence[str]) -> list[str]:
    """The one part."""
    return [NAME]


def others(cipher: Cipher) -> dict[str, str]:
    """None: every cipher has this part."""
    return {}


def _bodies(subject: Subject) -> list[Implementation]:
    bodies = subject.catalog.implementations_of(subject.cipher.name, "host", ("motecrypt",))
    return sorted(bodies, key=lambda body: body != subject.implementation)


def _request(subject: Subject, body: Implementation) -> BuildRequest:
    host = subject.catalog.device("host")
    return BuildRequest(host, body, next(iter(host.placements)))


def identity(subject: Subject, part: str) -> dict[str, Any]:
    """The host builds of all variants, the driver and valgrind."""
    if not have("taint"):
        raise Unavailable("valgrind is missing: apt-get install --no-install-recommends valgrind")
    return {
        "builds": [key_of(_request(subject, body)) for body in _bodies(subject)],
        "runner": f"{tool_identity('valgrind')} {driver_identity('taint')[:12]}",
    }


def run(subject: Subject, part: str, results: Results) -> Part:
    """Follow the secrets through setup, encryption, decryption and a refusal."""
    cipher = subject.cipher
    n = nearest_length(cipher, 33)
    rows: list[dict[str, Any]] = []
    for body in _bodies(subject):
        library = build(_request(subject, body)).elf
        runs = sightings(library, cipher, n)
        verdict, found, excused = taint.judge(runs, bool(cipher.tag_bytes))
        rows.append(
            {
                "variant": body.variant,
                "verdict": verdict,
                "sightings": [asdict(sighting) for sighting in found],
                "outcome_of_tag_check": [asdict(sighting) for sighting in excused],
            }
        )
    verdict = rows[0]["verdict"]
    weight = taint.MEANING[verdict][0]
    return Part(NAME, TITLE, verdict, weight, tuple(_sentences(rows)), {"message_bytes": n, "rows": rows})


def _sentences(rows: Sequence[dict[str, Any]]) -> list[str]:
    """One sentence for each verdict that some variant got."""
    told = []
    for verdict, (_, meaning) in taint.MEANING.items():
        concerned = [row for row in rows if row["verdict"] == verdict]
        places = tell_places((s["kind"], s["line"]) for row in concerned for s in row["sightings"])
        if concerned:
            text = f"{sentence_case(meaning)}: {', '.join(row['variant'] for row in concerned)}."
            told.append(text + (f" Seen: {places}." if places else ""))
    return told


def sightings(library: Path, cipher: Cipher, n: int) -> dict[str, list[Sighting]]:
    """Run the cipher under memcheck and read its report."""
    ad_bytes = 5 if cipher.associated_data else 0
    sizes = (key_bytes(cipher), cipher.nonce_bytes, ad_bytes, n, cipher.tag_bytes)
    with tempfile.TemporaryDirectory(prefix="motecrypt-") as folder:
        report = Path(folder) / "report.xml"
        memcheck = ["valgrind", "--tool=memcheck", "-q", "--error-limit=no", "--leak-check=no"]
        memcheck += ["--num-callers=16", "--xml=yes", f"--xml-file={report}"]
        program = [str(driver("taint")), str(library), *(str(size) for size in sizes)]
        outcome = process.run(memcheck + program)
        if not outcome.ok:
            raise Unavailable(f"under valgrind: {outcome.first_error}")
        return read_report(report.read_text(encoding="utf-8", errors="replace"))


def read_report(text: str) -> dict[str, list[Sighting]]:
    """Read memcheck's XML: undefined values used in a branch or as an address, by operation."""
    root = ElementTree.fromstring(text)
    times: dict[str, int] = {}
    for pair in root.iter("pair"):
        unique, count = pair.findtext("unique", ""), pair.findtext("count", "1")
        times[unique] = max(times.get(unique, 0), int(count))
    found: dict[str, list[Sighting]] = {operation: [] for operation in OPERATIONS}
    for error in root.iter("error"):
        kind = error.findtext("kind", "")
        if kind not in ("UninitCondition", "UninitValue"):
            continue
        frame = _frame(error)
        found[_operation(error)].append(
            Sighting(
                kind="branch" if kind == "UninitCondition" else "address",
                function=frame.findtext("fn", "") if frame is not None else "",
                line=_line(frame),
                times=times.get(error.findtext("unique", ""), 1),
            )
        )
    return found


def _operation(error: ElementTree.Element) -> str:
    """Which of the driver's functions the stack leads through; memcheck may cut it: then the first."""
    functions = {frame.findtext("fn", "") for frame in error.iter("frame")}
    return next((name for name in OPERATIONS if f"taint_{name}" in functions), OPERATIONS[0])


def _frame(error: ElementTree.Element) -> ElementTree.Element | None:
    """The innermost frame with a source line (a libc routine has none: its caller counts)."""
    frames = list(error.iter("frame"))
    return next((frame for frame in frames if frame.find("line") is not None), frames[0] if frames else None)


def _line(frame: ElementTree.Element | None) -> str:
    if frame is None:
        return "?"
    folder = frame.findtext("dir", "").removeprefix("./")
    name = frame.findtext("file", frame.findtext("fn", "?"))
    return f"{folder + '/' if folder else ''}{name}:{frame.findtext('line', '?')}"
