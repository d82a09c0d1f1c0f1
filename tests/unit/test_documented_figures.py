"""What docs/wlan.md and docs/files.md state of the recorded experiments is what they give."""

from __future__ import annotations

from documented import DOCS, missing, with_recorded
from motecrypt.results import Results
from motecrypt.results.experiments import recorded
from motecrypt.studies import study
from motecrypt.studies.facts import Comparison
from motecrypt.studies.pico import files, remains
from motecrypt.studies.rc4d import sketches as rc4d_sketches
from motecrypt.studies.wlan import hypotheses, plan
from motecrypt.studies.wlan.tables import impossible


def _rows(results: Results) -> dict[str, Comparison]:
    return {row.id: row for row in study("wlan").comparisons(results)}


def _number(row: Comparison) -> float:
    assert isinstance(row.measured, float), row.id
    return row.measured


def _added(*rows: Comparison) -> str:
    """What each adds, in per cent."""
    *first, last = (f"{100 * (_number(row) - 1):.1f}" for row in rows)
    return f"{', '.join(first)} and {last}"


def test_the_page_of_wlan_states_what_comes_out(results: Results) -> None:
    rows, printed = _rows(with_recorded(results, "wlan")), plan.durations()
    hexadecimal = _number(rows["wlan-claim-doubles-hex"])
    doubled = [printed[d, "AES", "adhoc_open"] / printed[d, "none", "adhoc_open"] for d in plan.TABLES]
    through = [printed[d, "none", "bss_open"] / printed[d, "none", "adhoc_open"] for d in plan.TABLES]
    poor = [printed[d, "none", "adhoc_poor"] / printed[d, "none", "adhoc_open"] for d in plan.TABLES]
    security = [
        rows[f"wlan-claim-security-{name}"]
        for name in ("adhoc-wep", "infrastructure-ccmp", "infrastructure-tkip")
    ]
    said = [float(row.published or 0) - 1 for row in (security[0], security[2])]
    points = [_number(rows[f"wlan-claim-access-point-{phy}"]) for phy in "bg"]
    walls = [_number(rows[f"wlan-claim-poor-walls-{decibel:g}"]) for decibel in plan.WALLS]
    assert (
        missing(
            "wlan.md",
            f"{plan.DATA['text']:,} bytes become {plan.sent_bytes('text', 'AES'):,}",
            f"the paper has {min(doubled):.2f} to {max(doubled):.2f} for AES",
            f"Hexadecimal output would explain it ({hexadecimal:.2f} times, measured)",
            f"{len(impossible(printed))} durations are less than they can be",
            f"cost {_added(*security)} % of time; the paper has {100 * said[0]:.1f} % for WEP and "
            f"{100 * said[1]:.0f} % for TKIP",
            f"costs {points[0]:.2f} times in 802.11b and {points[1]:.2f} times in 802.11g; the paper has "
            f"{min(through):.2f} to {max(through):.2f}",
            f"costs {walls[0]:.1f}, {walls[1]:.1f} or {walls[2]:.1f} times with no, one or two light walls; "
            f"the paper's {min(poor):.2f} to {max(poor):.2f}",
        )
        == []
    )


def test_what_is_left_as_noise_is_the_spread_of_the_recorded_transfers(results: Results) -> None:
    from motecrypt.catalog import Catalog

    stored = plan.Stored(with_recorded(results, "wlan"), Catalog.load())
    widest = dict.fromkeys(plan.NOISE, 0.0)
    for question in plan.transfers():
        found = stored.seconds(question)
        assert found is not None
        spread = (found.high - found.low) / found.mean
        widest[question.signal] = max(widest[question.signal], spread)
    good, poor = (100 * widest[signal] for signal in ("good", "poor"))
    assert all(widest[signal] <= noise < widest[signal] + 0.04 for signal, noise in plan.NOISE.items())
    noise = [100 * plan.NOISE[signal] for signal in ("good", "poor")]
    assert (
        missing(
            "wlan.md",
            f"Up to {noise[0]:.0f} % with a good signal and {noise[1]:.0f} % with a poor one is left as "
            "noise: "
            f"our runs of one transfer differ by {good:.1f} and {poor:.0f} %.",
        )
        == []
    )


def test_the_page_of_files_states_what_comes_out(results: Results) -> None:
    stored = files.StoredFiles(with_recorded(results, "pico"))
    lines, apart = [], []
    for size, job in files.printed_jobs().items():
        for direction in files.DIRECTIONS:
            said, ours = files.printed()[size, direction], stored.total_ms(job, direction)
            assert ours is not None
            parts = stored.parts_ms(job, direction)
            shown = [f"{parts[part]:.1f}" for part in ("key", "cipher", "mac", "files", "storage")]
            lines.append(f"| {size} bytes, {direction} | {said:.0f} | {ours:.1f} | {' | '.join(shown)} |")
            apart.append(said - ours)
    small, large = files.printed_jobs()[630], files.swept_jobs()[256 << 10]
    setup, whole, answer = stored.parts_ms(small, "encrypt")["setup"], {}, stored.outcome(large)
    assert answer is not None
    for direction in files.DIRECTIONS:
        hash_ms = stored.parts_ms(small, direction)["key"] / small.rounds
        most = answer.run(direction).time_us / 1000 + (small.rounds - large.rounds) * hash_ms
        whole[direction] = most / (stored.total_ms(small, direction) or 0)
    (times,) = {f"{ratio:.1f}" for ratio in whole.values()}
    assert (
        missing(
            "files.md",
            *lines,
            f"is not the AES context ({setup:.2f} ms)",
            f"A file of 256 KB takes only {times} times as long as one of 630 bytes",
            f"**The remaining difference** is {min(apart):.0f} to {max(apart):.0f} ms",
        )
        == []
    )


def test_the_page_of_files_states_what_remains_in_the_flash(results: Results) -> None:
    answer = remains.QUESTION.answer(with_recorded(results, "pico"))
    assert answer is not None
    (pieces,) = {row.pieces for row in answer.rows}
    found = {row.step: row.found for row in answer.rows}
    assert [found[step] for step in ("encrypted", "emptied", "overwritten")] == [pieces] * 3
    assert (
        missing(
            "files.md",
            f"all {pieces} are there after encryption, after the plaintext's file was emptied, and after it "
            "was overwritten",
            "After the used blocks were erased and the ciphertext was written again, "
            f"{found['erased']} are there",
            f"is refused leaves {found['refused']} of them",
        )
        == []
    )


def test_what_is_timed_on_a_host_has_a_date() -> None:
    """A figure of the machine cannot be repeated by a test: the page says when and where it was timed."""
    page = (DOCS / "wlan.md").read_text(encoding="utf-8")
    assert "what was timed on a host is of 2026-11-23, on an AMD EPYC guest" in " ".join(page.split())
    assert recorded.read(recorded.file_of("wlan")), "transfers are recorded"


def test_a_changed_figure_is_missing() -> None:
    page = (DOCS / "files.md").read_text(encoding="utf-8")
    assert "| 630 bytes, encrypt | 2343 | 2298.6 |" in page
    assert missing("files.md", "| 630 bytes, encrypt | 2343 | 2298.7 |") == [
        "| 630 bytes, encrypt | 2343 | 2298.7 |"
    ]


def test_the_page_of_wlan_states_what_the_hypotheses_explain() -> None:
    by_name = {record["assumed"]: record for record in hypotheses.table()}
    four = hypotheses.HEX_OF_FOUR
    hexadecimal, named = by_name[four.title], by_name[hypotheses.NAMED.title]
    none = by_name[hypotheses.Assumptions().title]
    base64 = by_name[hypotheses.Assumptions("base64", four.encoded).title]
    most = max(record["seconds_explained"] for record in by_name.values())
    told = (
        f"explains {hexadecimal['encrypted_explained']} of the {named['encrypted_cells']} ratios to "
        f"plaintext; no encoding {none['encrypted_explained']}, Base64 {base64['encrypted_explained']}.",
        f"explains {named['plain_explained']} of the {named['plain_cells']} ratios between columns, with "
        f"802.11b {hexadecimal['plain_explained']}.",
        f"No set explains more than {most} of the {named['seconds_cells']} times in seconds.",
    )
    assert missing("wlan.md", *told) == []


def test_the_page_of_fidelity_states_what_is_recorded_of_the_sketches(results: Results) -> None:
    times = [
        row for row in study("rc4d").comparisons(results) if row.column == "time" and row.kind == "figure"
    ]
    near = sum(row.verdict == "matches" for row in times)
    exact = ("RC4", "RC4 (opt)", "RC4 k (opt)")
    pairs = [(_number(row), row.published) for name in exact for row in times if row.row == name]
    (first, printed), *others = [(f"{own:g}", f"{said:g}") for own, said in pairs]
    told = [f"print {first} ms (he printed {printed})", *(f"{own} ({said})" for own, said in others)]
    told += [
        f"{near} of his {len(times)} printed times are within 5 %.",
        rc4d_sketches.provenance()["recorded"],
    ]
    kipe = [f"{rc4d_sketches.recorded()[f'rc4d-kipe-{style}'].time_ms:g}" for style in ("plain", "opt")]
    assert missing("fidelity.md", *told, f"print {' and '.join(kipe)} ms here") == []
    farther = {row.row.removesuffix(" (opt)") for row in times if row.verdict != "matches"}
    assert farther == {"AES", "RC4 k", "RC4D kipe"}, "the page names these"
