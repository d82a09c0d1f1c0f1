"""Figures on pages that follow from data files, recorded figures or kept cycles are the pages' own.

test_documented_figures.py and contract/test_documented_pico.py compare those of recorded experiments.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_readme import FIGURES

from documented import DOCS, missing, with_recorded
from motecrypt import __version__
from motecrypt.adviser.api import battery_part, regulator_part
from motecrypt.adviser.costs import usable_fraction
from motecrypt.adviser.link_data import link_facts
from motecrypt.adviser.records.stored import read_rows
from motecrypt.catalog import DATA, Catalog
from motecrypt.results import Results
from motecrypt.studies.pico import files
from motecrypt.studies.rc4d import figures, sketches

ROOT = DOCS.parent
CYCLES = Path(__file__).parents[1] / "golden" / "cycles"
FASTER_MS = 1.0  # the clock of a sketch, millis()


def _current(device: str, state: str, of: str) -> float:
    found = Catalog.load().device(device).current(state, of)
    assert found is not None
    return found.milliamperes


def test_the_page_of_advice_states_the_currents_of_the_devices() -> None:
    awake, asleep = (f"{_current('uno', state, 'board'):.1f} mA" for state in ("active", "sleep"))
    chip, down = _current("uno", "active", "chip"), 1000 * _current("uno", "sleep", "chip")
    assert (
        missing(
            "advise.md",
            f"(an UNO R3: {awake} awake, {asleep} asleep)",
            f"({chip:.1f} mA, {down:.1f} µA)",
            f"at 3.3 V: {_current('pico', 'sleep', 'chip'):.1f} mA asleep",
            f"board's {_current('pico', 'active', 'board'):.1f} mA are the only known upper bound",
            f"`switch` (buck-boost, {1000 * regulator_part('switch').quiescent_ma:.0f} µA quiescent current)",
            f"`nano` (buck-boost, {1e6 * regulator_part('nano').quiescent_ma:.0f} nA)",
        )
        == []
    )


def test_the_page_of_advice_states_the_share_of_a_battery_that_an_uno_can_use() -> None:
    volts = Catalog.load().device("uno").volts_min
    share = usable_fraction(battery_part("3xAA"), volts)
    told = f"stay above the {volts:g} V of an UNO at 16 MHz for only {100 * share:.0f} % of their charge"
    assert missing("advise.md", told) == []


def test_the_page_of_advice_states_the_links_rules_and_the_storages_times() -> None:
    link, catalog = link_facts(), Catalog.load()
    storage = tomllib.loads((DATA / "storage.toml").read_text(encoding="utf-8"))
    held = {name: catalog.device(name).bench["message"] for name in ("uno", "pico")}
    page_ms, sector_ms = storage["flash"]["program_page_us"] / 1000, storage["flash"]["erase_4k_ms"]
    fast, slow = (storage[name]["spi_hz"] / 1e6 for name in ("sd", "sd-slow"))
    assert (
        missing(
            "advise.md",
            f"with the link's {link.short_overhead_bytes} bytes is sent as a short packet",
            f"and every {link.long_every}nd message without an answer, is sent in long form",
            f"answered after a start and then once in {link.short_after_answer + 1} messages",
            f"after {link.answer_ms} ms (over a slow radio, after the time of four packets), at most ten",
            f"once in {link.claim_sent} messages ({link.save_bytes_changed} bytes change",
            f"{page_ms:g} ms for each page of 256 bytes that it is in, and n / 4,096 of erasing a sector "
            f"({sector_ms} ms)",
            f"transfer at {fast:g} or {slow:g} MHz, and {storage['sd']['write_us'] / 1000:g} ms",
            f"up to {held['uno']} bytes on an UNO and {held['pico']:,} on a Pico",
        )
        == []
    )
    assert link.tries == 10


def test_the_page_of_fidelity_states_what_the_authors_sketches_print() -> None:
    own = sketches.recorded()
    rows = [row for row in figures.printed() if sketches.sketch_of(row) in own]
    apart = {sketches.sketch_of(row): own[sketches.sketch_of(row)].time_ms / row.time_ms - 1 for row in rows}
    exact = [row for row in rows if abs(own[sketches.sketch_of(row)].time_ms - row.time_ms) <= FASTER_MS]
    told = [f"{own[sketches.sketch_of(row)].time_ms:.0f}" for row in exact]
    printed = [f"{row.time_ms:.0f}" for row in exact]
    slow = [own[f"rc4d-kipe-{style}"].time_ms for style in ("plain", "opt")]
    said = {sketches.sketch_of(row): row.time_ms for row in rows}
    others = [abs(share) for name, share in apart.items() if "kipe" not in name]
    aes = {f"{100 * share:.0f}" for name, share in apart.items() if name.startswith("aes")}
    assert (
        missing(
            "fidelity.md",
            f"print {told[0]} ms (he printed {printed[0]}), {told[1]} ({printed[1]}) and {told[2]} "
            f"({printed[2]}). These three",
            f"{sum(abs(share) <= 0.05 for share in apart.values())} of his {len(rows)} printed times are "
            f"within 5 %. AES ({aes.pop()} % more), RC4 k plain ({100 * apart['rc4-k-plain']:.0f} % more)",
            f"print {slow[0]:.0f} and {slow[1]:.0f} ms here. He printed {said['rc4d-kipe-plain']:.0f} and "
            f"{said['rc4d-kipe-opt']:.0f} (ours is {-100 * apart['rc4d-kipe-plain']:.0f} % less), while his "
            f"other sketches agree within 0 to {100 * max(others):.0f} %",
            f"recorded on {sketches.provenance()['recorded']}",
        )
        == []
    )
    assert len(exact) == 3 and not aes


def test_the_page_of_fidelity_states_how_near_whole_files_are(results: Results) -> None:
    stored = files.StoredFiles(with_recorded(results, "pico"))
    below = []
    for size, job in files.printed_jobs().items():
        for direction in files.DIRECTIONS:
            ours = stored.total_ms(job, direction)
            assert ours is not None
            below.append(100 * (1 - ours / files.printed()[size, direction]))
    share = f"{min(below):.0f} to {max(below):.0f} %"
    told = f"Our times of whole files are {share} below the published ones"
    assert missing("fidelity.md", told, f"published times of whole files | {share} lower") == []


def test_the_pages_state_what_another_compiler_changes() -> None:
    old, new = (json.loads((CYCLES / f"uno-gcc-{name}.json").read_text()) for name in ("5.4", "14.2"))

    def more(variant: str) -> str:
        cell = f"motecrypt/{variant} encrypt 128 48"
        return f"{100 * abs(new['aes128-ecb'][cell] / old['aes128-ecb'][cell] - 1):.0f} %"

    told = (
        f"`fast` is {more('fast')} slower with GCC 14 than with GCC 5.4, and `small` {more('small')} faster"
    )
    assert missing("toolchains.md", told) == []


def test_the_readme_states_what_another_compiler_changes() -> None:
    """Its example's cycles: the second number of a line for set-up, the first for the others."""
    shown = re.findall(r"(setup|encrypt|decrypt) +16  flash +([0-9,]+) ", (ROOT / "README.md").read_text())
    more = []
    for operation, cycles in shown:
        other = FIGURES["14.2"]["aes128-ccm8", operation][cycles]
        more.append(100 * (int(other.replace(",", "")) / int(cycles.replace(",", "")) - 1))
    assert len(more) == 3
    assert (
        missing("../README.md", f"(Debian 13) takes {min(more):.0f} to {max(more):.0f} % more cycles here")
        == []
    )


def test_the_pages_of_an_avr_state_our_assemblys_cycles() -> None:
    (row,) = (
        row
        for row in read_rows()
        if (row.device, row.cipher, row.implementation) == ("uno", "aes128-ccm8", "motecrypt/avr")
    )
    told = f"our assembly, encrypts 16 bytes in {row.encrypt_cycles[0]:,} cycles on the UNO"
    assert missing("fidelity.md", told) == []


def test_the_page_of_files_states_the_share_of_the_hashes(results: Results) -> None:
    stored = files.StoredFiles(with_recorded(results, "pico"))
    shares = []
    for job in files.printed_jobs().values():
        for direction in files.DIRECTIONS:
            whole = stored.total_ms(job, direction)
            assert whole is not None
            shares.append(100 * stored.parts_ms(job, direction)["key"] / whole)
    told = f"the 8192 hashes before it: {min(shares):.0f} to {max(shares):.0f} % of the time"
    assert missing("files.md", told) == []


# --- words ------------------------------------------------------------------------------------------------

#: What nobody can keep: there are differences of unknown cause, and models have assumptions.
PROMISES = (
    r"reasons? for every difference",
    r"every difference is explained",
    r"cycle[- ]accurate",
    r"[Nn]othing is fitted",
    r"[Nn]o parameter is fitted",
)


def _texts() -> Iterator[Path]:
    yield from sorted(DOCS.glob("*.md"))
    for name in ("README.md", "CITATION.cff", "pyproject.toml", "CHANGELOG.md"):
        yield ROOT / name


@pytest.mark.parametrize("path", list(_texts()), ids=lambda path: path.name)
def test_no_page_promises_what_is_not_so(path: Path) -> None:
    text = " ".join(path.read_text(encoding="utf-8").split())
    assert [promise for promise in PROMISES if re.search(promise, text)] == []


def _releases(root: Path) -> list[tuple[str, str]]:
    """Version and date, or "unreleased", in the changelog's first heading and in the citation."""
    citation = (root / "CITATION.cff").read_text(encoding="utf-8")
    heading = re.search(r"(?m)^## (\S+) \((.+)\)$", (root / "CHANGELOG.md").read_text(encoding="utf-8"))
    version = re.search(r"(?m)^version: (.+)$", citation)
    released = re.search(r"(?m)^date-released: (.+)$", citation)
    assert heading is not None and version is not None
    return [(heading[1], heading[2]), (version[1], released[1] if released else "unreleased")]


def test_the_citation_and_the_changelog_agree() -> None:
    changelog, citation = _releases(ROOT)
    assert changelog == citation and citation[0] == __version__


def test_a_release_dates_both(tmp_path: Path) -> None:
    (tmp_path / ".ci").mkdir()
    for name in (".ci/changes", "CITATION.cff", "CHANGELOG.md"):
        shutil.copy(ROOT / name, tmp_path / name)
    for version, date in (("7.8.9", "2030-01-31"), ("7.9.0", "2030-02-01")):
        (tmp_path / "changes" / "all").mkdir(parents=True, exist_ok=True)
        (tmp_path / "changes" / "all" / "a.md").write_text("Something is new.\n")
        command = [sys.executable, "-P", str(tmp_path / ".ci" / "changes"), "fold", version, date]
        subprocess.run(command, check=True, capture_output=True, timeout=60)
        assert _releases(tmp_path) == [(version, date)] * 2
