"""How the parts of an audit are run and what they keep, with simulators and tools made up here."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from subjects import CATALOG, subject

from motecrypt.attack.audits import timing as judge
from motecrypt.attack.audits.oracle import Part, Rejected
from motecrypt.attack.audits.taint import Sighting
from motecrypt.attack.audits.timing import Split, Trace
from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.base.process import Outcome
from motecrypt.build.toolchain import BuildError
from motecrypt.build.toolchain.native import BadTag
from motecrypt.measuring.audits import (
    AuditRun,
    Subject,
    Unavailable,
    _native,
    measured,
    not_applicable,
    part_names,
    taint,
    timing,
    wep,
)
from motecrypt.results import Results
from motecrypt.results.experiments.audit import AuditQuestion, implementation
from motecrypt.simulate.runners import Options, Region

# --- asking and keeping ------------------------------------------------------------------------------------


def test_a_part_is_run_once_and_kept_with_all_that_it_depends_on(
    results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[Subject] = []

    def run(given: Subject, part: str, into: Results) -> Part:
        ran.append(given)
        return Part(part, "t", "v", "good", ("s",), {"n": 1})

    monkeypatch.setattr(measured, "run", run)
    monkeypatch.setattr(measured, "identity", lambda given, part: {"build": "b"})
    clock = iter([10.0, 12.34567, 20.0])
    monkeypatch.setattr("motecrypt.measuring.audits.perf_counter", lambda: next(clock))
    wanted, said = AuditRun("rc4", "diffusion", seed=5, quick=True), []
    found = wanted.ensure(results, said.append)
    assert said == ["rc4: diffusion"]
    assert found.outcome == {
        **Part("diffusion", "t", "v", "good", ("s",), {"n": 1}).as_json(),
        "elapsed_s": 2.346,
    }
    asked = {"cipher": "rc4", "implementation": ran[0].implementation.name, "part": "diffusion"}
    asked |= {"seed": 5, "quick": True}
    inputs = dict(found.inputs)
    assert len(inputs.pop("code")) == 16 and inputs == {**asked, "build": "b"} and wanted.asked() == asked
    assert (ran[0].seed, ran[0].quick, ran[0].device) == (5, True, None)
    assert wanted.ensure(results).outcome == found.outcome and len(ran) == 1
    answer = wanted.answer(results)
    assert answer is not None and (answer.title, answer.weight) == ("t", "good")
    assert replace(wanted, seed=6).answer(results) is None
    assert AuditQuestion.of(wanted).find(results) is not None


@pytest.mark.parametrize("error", [Unavailable, BuildError])
def test_what_cannot_run_is_not_kept(
    error: type[Exception], results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> Part:
        raise error("no tool")

    monkeypatch.setattr(measured, "identity", lambda *_: {})
    monkeypatch.setattr(measured, "run", refuse)
    found = AuditRun("rc4", "diffusion").ensure(results).outcome
    assert (found["weight"], found["sentences"]) == ("skipped", ["no tool"])
    assert results.experiments("audit") == []


def test_parts_are_offered_in_their_order() -> None:
    rc4 = CATALOG.cipher("rc4")
    assert part_names(rc4, ("uno", "pico")) == [
        *("diffusion", "determinism", "integrity", "statistics"),
        *("attack:keystream-reuse", "attack:rc4-broadcast"),
        *("timing:uno", "timing:pico", "taint", "attack:wep-capture"),
        *("power:uno", "power:pico"),
    ]
    simulated = [d.name for d in CATALOG.devices.values() if d.simulated]
    assert [p for p in part_names(rc4) if p.startswith("timing:")] == [f"timing:{n}" for n in simulated]
    others = not_applicable(rc4)
    assert others["attack:cbc-padding-oracle"] and "attack:rc4-broadcast" not in others
    assert not_applicable(CATALOG.cipher("rc4d"))["attack:wep-capture"] == "RC4, on which WEP is based"
    assert (wep.names(CATALOG.cipher("rc4d"), ()), wep.others(rc4)) == ([], {})
    with pytest.raises(
        InputError, match=r"^the audit of rc4 has no part 'x'; it has: diffusion, .*, taint, "
    ):
        AuditRun("rc4", "x")._request(lambda *_: None)
    with pytest.raises(Unavailable, match=r"^does not apply to rc4: it needs CBC"):
        AuditRun("rc4", "attack:cbc-padding-oracle")._request(lambda *_: None)


def test_a_variant_is_named_or_the_first() -> None:
    rc4d = CATALOG.cipher("rc4d")
    bodies = CATALOG.implementations_of("rc4d", "host", ("motecrypt",))
    assert implementation(CATALOG, rc4d, None) == bodies[0]
    for body in bodies:
        assert implementation(CATALOG, rc4d, body.variant) == implementation(CATALOG, rc4d, body.name) == body
    with pytest.raises(InputError, match=rf"no variant 'x' to audit; available: {bodies[0].variant}, "):
        implementation(CATALOG, rc4d, "x")


def test_a_key_is_set_when_another_one_is_used() -> None:
    done: list[Any] = []

    class Native:
        def setup(self, key: bytes) -> None:
            done.append(key)

        def encrypt(self, *given: bytes) -> tuple[bytes, bytes]:
            return b"".join(given), b"tag"

        def decrypt(self, ciphertext: bytes, nonce: bytes, ad: bytes, tag: bytes) -> bytes:
            if tag != b"tag":
                raise BadTag
            return ciphertext + nonce + ad

    access = _native.NativeAccess(Native())  # type: ignore[arg-type]
    one, two = access.keyed(b"1"), access.keyed(b"2")
    assert one.encrypt(b"m", b"n", b"a") == (b"mna", b"tag") and one.encrypt(b"m") == (b"m", b"tag")
    assert two.decrypt(b"c", b"n", b"a", b"tag") == b"cna"
    with pytest.raises(Rejected):
        one.decrypt(b"c")
    assert done == [b"1", b"2", b"1"]


# --- timing ------------------------------------------------------------------------------------------------

UNO, PICO = CATALOG.device("uno"), CATALOG.device("pico")
CCM = CATALOG.cipher("aes128-ccm8")
FIRMWARE = SimpleNamespace(elf=Path("f.elf"), data_end=0x1234)


def bed(device: Any = UNO, cache: str = "none") -> timing._Bed:
    return timing._Bed(subject(), device, FIRMWARE, cache, 16)  # type: ignore[arg-type]


def test_a_region_of_memory_is_named() -> None:
    assert [bed().memory_of(a) for a in (0, 0xFFFF, 0x10000, 0x10001)] == ["ram", "ram", "flash", "flash"]
    assert [bed(PICO).memory_of(a) for a in (0x20000000, 0x10000000)] == ["ram", "flash"]


def test_a_row_tells_the_verdict_and_the_range(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing, "_located", lambda device, firmware, found: [len(found)])
    body = subject().implementation
    cell = timing.Cell("uno", body, "encrypt", 128, 16, 0, "flash", "none")
    made = bed().row(cell, "wrong tag", [9, 5, 7], 3, ())
    assert made == {
        "variant": body.variant,
        "placement": "flash",
        "cache": "none",
        "operation": "wrong tag",
        "verdict": "cycles vary",
        "cycles_min": 5,
        "cycles_max": 9,
        "inputs": 3,
        "splits": [0],
    }
    read = (Split(2, "address", "flash"),)
    assert (
        bed(cache="cold").row(cell, "encrypt", [5, 9], 2, read)["verdict"] == "addresses only, cached flash"
    )
    assert bed().row(cell, "encrypt", [5, 5], 2, read)["verdict"] == "addresses only, no cache"


class Told:
    """A client and its session in one: what was asked of a firmware, and the given regions."""

    def __init__(self, regions: list[Region], status: str = "bad tag", dump: str = "") -> None:
        self.asked: list[Any] = []
        self.opened: list[Options] = []
        self._regions, self._status, self._dump = regions, status, dump

    def open_session(self, device: object, elf: Path, data_end: int, options: Options) -> Any:
        assert (elf, data_end) == (FIRMWARE.elf, FIRMWARE.data_end)
        self.opened.append(options)
        if options.dump is not None:
            options.dump.write_text(self._dump)
        return contextlib.nullcontext(self)

    def regions(self) -> list[Region]:
        return self._regions

    def run(self, operation: str, repetitions: int, tag_bytes: int) -> Any:
        self.asked.append((operation, repetitions, tag_bytes))
        return SimpleNamespace(status=self._status, tag=bytes(range(8)), output=b"sealed")

    def __getattr__(self, name: str) -> Any:
        return lambda *given: self.asked.append((name, *given))


def played(monkeypatch: pytest.MonkeyPatch, told: Told) -> Told:
    monkeypatch.setattr(timing, "runner_of", lambda name: told)
    monkeypatch.setattr(timing, "Client", lambda session, timeout_s: told)
    return told


def test_wrong_tags_are_wrong_at_one_byte_each(monkeypatch: pytest.MonkeyPatch) -> None:
    same = [Region(c, trace="t") for c in (1, 2, 50, 50, 50, 50)]
    told = played(monkeypatch, Told(same))
    assert bed().wrong_tags() == ([50] * 4, [])
    assert told.opened == [Options(trace=True, cache="none", dump=None)]
    names = [call[0] for call in told.asked]
    assert names[:6] == ["wait_ready", "set_nonce", "set_key", "set_message", "setup", "encrypt"]
    assert [len(call[1]) for call in told.asked[1:4]] == [CCM.nonce_bytes, 16, 16]
    tags = [call[1] for call in told.asked if call[0] == "set_tag"]
    wrong = [[at for at in range(8) if tag[at] != at] for tag in tags]
    assert wrong == [[0], [7], [3], [1]] and tags[1][7] == 7 ^ 0xFF
    assert told.asked[6:9] == [("set_message", b"sealed"), ("set_tag", tags[0]), ("decrypt", 1, 8)]
    assert told.asked[4:6] == [("setup", 1, 8), ("encrypt", 1, 8)]
    again = played(monkeypatch, Told(same))
    bed().wrong_tags()
    assert again.asked == told.asked  # drawn from the seed


def test_traces_that_part_are_dumped(monkeypatch: pytest.MonkeyPatch) -> None:
    none = judge.NO_ADDRESS
    runs = [f"0 {none}\n2 {none}\n", f"0 {none}\n4 {none}\n"]
    regions = [f"8 {none}\n", f"8 {none}\n9 {none}\n", runs[1], runs[0], runs[0], runs[0]]
    dump = "".join(f"{region}end\n" for region in regions)
    for cycles, traces in (((50, 50, 51, 50), "tttt"), ((50,) * 4, "ttut")):
        ran = [Region(c, trace=t) for c, t in zip((1, 2, *cycles), "xy" + traces, strict=True)]
        told = played(monkeypatch, Told(ran, dump=dump))
        seen, traces = bed(cache="cold").wrong_tags()
        assert seen == list(cycles)
        assert judge.splits(traces, lambda address: "ram") == (Split(0, "branch"),)
        assert [(o.trace, o.cache, o.dump is not None) for o in told.opened] == [
            (True, "cold", False),
            (True, "cold", True),
        ]


def test_a_wrong_tag_must_be_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    played(monkeypatch, Told([], status="ok"))
    with pytest.raises(MotecryptError, match=r"^aes128-ccm8: a wrong tag was answered with 'ok'$"):
        bed().wrong_tags()


def test_traces_over_random_keys_and_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    none = judge.NO_ADDRESS
    dump = "".join(f"{n:x} {none}\n{n + 1:x} {none}\nend\n" for n in range(9))
    told = played(monkeypatch, Told([], dump=dump))
    found = bed().traces(["encrypt"])
    assert found == {"encrypt": [Trace({n: [f"{n + 1:x}"]}, {}, 2) for n in (1, 4, 7)]}
    names = [call[0] for call in told.asked]
    assert names == [
        "wait_ready",
        "set_nonce",
        *(["set_key", "set_message", "setup", "encrypt", "decrypt"] * 3),
    ]
    keys = [call[1] for call in told.asked if call[0] == "set_key"]
    messages = [call[1] for call in told.asked if call[0] == "set_message"]
    assert len({*keys}) == 3 == len({*messages}) and {len(k) for k in keys + messages} == {16}
    assert told.asked[4] == ("setup", 1, 8)
    assert list(bed().traces(["encrypt", "decrypt"])) == ["encrypt", "decrypt"]
    bare = timing._Bed(subject("aes128-ecb"), UNO, FIRMWARE, "none", 16)  # type: ignore[arg-type]
    ecb = played(monkeypatch, Told([], dump=dump))
    bare.traces(["setup"])
    assert ecb.asked[0] == ("wait_ready",) and ecb.asked[1][0] == "set_key"


def test_cycles_over_random_keys_and_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    regions = [Region(100 * (at % 3) + at // 3) for at in range(3 * timing.SPREAD_QUICK)]
    told = played(monkeypatch, Told(regions))
    quick = replace(bed(), subject=replace(subject(), quick=True))
    assert quick.spreads(["encrypt"]) == {"encrypt": [100 + n for n in range(timing.SPREAD_QUICK)]}
    keys = [call[1] for call in told.asked if call[0] == "set_key"]
    assert len({*keys}) == timing.SPREAD_QUICK == 64
    assert bed().spreads([]) == {} and timing.SPREAD == 256


def located(device: Any, firmware: Any, found: Sequence[Split]) -> list[dict[str, Any]]:
    return [{"kind": one.kind, "line": "a.c:1", "pcs": [one.pc]} for one in found]


def test_rows_come_from_the_benchs_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    given = subject(device="uno")
    body, asked = given.implementation, []

    def stored(cells: Any, results: object, catalog: object) -> dict[Any, Any]:
        asked.extend(cells)
        varies = {"encrypt": True}
        return {
            c: SimpleNamespace(
                status=status,
                reason="no room",
                operation=c.operation,
                cycles_min=least,
                cycles_max=12,
                inputs=32,
                timing_varies=varies.get(c.operation, False),
            )
            for c in cells
        }

    status, least = "ok", 10
    monkeypatch.setattr(timing.bench, "ensure", stored)
    monkeypatch.setattr(timing, "build", lambda request: FIRMWARE)
    traced: list[Any] = []
    split = [Trace({0: ["2"]}, {}, 2), Trace({0: ["4"]}, {}, 2)]
    monkeypatch.setattr(timing._Bed, "traces", lambda self, of: traced.append(of) or {"encrypt": split})
    monkeypatch.setattr(timing._Bed, "wrong_tags", lambda self: ([7, 8, 9], []))
    spread: list[Any] = []
    monkeypatch.setattr(
        timing._Bed, "spreads", lambda self, of: spread.append(of) or {key: [11, 10, 11] for key in of}
    )
    monkeypatch.setattr(timing, "_located", located)
    rows = timing._rows(given, UNO, body, "flash", 16, None)  # type: ignore[arg-type]
    assert [(c.operation, c.key_bits, c.message_bytes, c.ad_bytes, c.cache) for c in asked] == [
        (operation, 128, 16, 0, UNO.placements["flash"].caches[-1]) for operation in body.operations
    ]
    assert traced == [["encrypt"]] and spread == [list(body.operations)]
    assert [r["spread"] for r in rows[:-1]] == [[[10, 1], [11, 2]]] * len(body.operations)
    assert rows[-1]["spread"] == [[7, 1], [8, 1], [9, 1]]
    drawn = {"kind": "branch", "line": "a.c:1", "first": 0, "sequences": ((2,), (4,))}
    assert [r.get("partings") for r in rows if r["operation"] == "encrypt"] == [[drawn]]
    assert not any("partings" in r for r in rows if r["operation"] != "encrypt")
    assert [
        (r["operation"], r["cycles_min"], r["cycles_max"], r["inputs"], len(r["splits"])) for r in rows
    ] == [
        *((o, 10, 12, 32, int(o == "encrypt")) for o in body.operations),
        ("wrong tag", 7, 9, 3, 0),
    ]
    plain = subject("aes128-ecb", "uno")
    rows = timing._rows(plain, UNO, plain.implementation, "flash", 16, None)  # type: ignore[arg-type]
    assert [r["operation"] for r in rows] == list(plain.implementation.operations)
    least = 0
    rows = timing._rows(plain, UNO, plain.implementation, "flash", 16, None)  # type: ignore[arg-type]
    assert {(r["cycles_min"], r["cycles_max"]) for r in rows} == {(0, 12)}
    status = "fault"
    with pytest.raises(Unavailable, match=r"^no room$"):
        timing._rows(given, UNO, body, "flash", 16, None)  # type: ignore[arg-type]
    with pytest.raises(Unavailable, match=r"^it does not take a key of 128 bits$"):
        timing._rows(given, UNO, replace(body, key_bits=(256,)), "flash", 16, None)  # type: ignore[arg-type]


def made_row(
    variant: str, operation: str, verdict: str, low: int = 5, high: int = 5, **more: Any
) -> dict[str, Any]:
    row = {"variant": variant, "placement": "flash", "cache": "none", "operation": operation}
    return {**row, "verdict": verdict, "cycles_min": low, "cycles_max": high, "splits": [], **more}


def test_the_audited_variants_worst_row_is_the_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    given = subject("rc4d", "uno")
    bodies = timing.bodies_on(given, UNO)
    assert bodies[0] == given.implementation and len(bodies) == len(set(bodies)) > 2
    monkeypatch.setattr(timing, "have", lambda tool_set: True)

    def rows(given: Subject, device: Any, body: Any, placement: str, n: int, results: Any) -> list[Any]:
        assert n == 16
        if body == bodies[1]:
            raise Unavailable("too large")
        verdicts = (
            ("constant", "branches, equal cycles") if body == bodies[0] else ("cycles vary", "constant")
        )
        return [
            made_row(body.variant, o, v, placement=placement)
            for o, v in zip(("encrypt", "decrypt"), verdicts, strict=True)
        ]

    monkeypatch.setattr(timing, "_rows", rows)
    part = timing.run(given, "timing:uno", None)  # type: ignore[arg-type]
    assert (part.name, part.title, part.verdict, part.weight) == (
        *("timing:uno", "Timing on uno", "branches, equal cycles", "note"),
    )
    assert part.data["message_bytes"] == 16 and len(part.data["rows"]) == 2 * (len(bodies) - 1)

    def fail(*_: object) -> list[Any]:
        raise Unavailable("no")

    monkeypatch.setattr(timing, "_rows", fail)
    with pytest.raises(
        Unavailable, match=rf"^no variant runs on uno: {bodies[0].variant} \(\w+\) did not run: no"
    ):
        timing.run(given, "timing:uno", None)  # type: ignore[arg-type]


def test_which_devices_and_places_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Unavailable, match="the part 'taint' looks at the host"):
        timing.simulated_device(subject(device="host"))
    monkeypatch.setattr(timing, "have", lambda tool_set: tool_set != UNO.tool_set)
    with pytest.raises(
        Unavailable, match=r"^the tools for uno are missing; 'motecrypt audit aes128-ccm8 --device uno'"
    ):
        timing.simulated_device(subject(device="uno"))
    monkeypatch.setattr(timing, "have", lambda tool_set: True)
    assert timing.simulated_device(subject(device="uno")) == UNO
    body = subject().implementation
    assert timing.placements_of(replace(body, placements=()), PICO) == ["flash"]
    assert timing.placements_of(replace(body, placements=("ram", "flash")), PICO) == [
        name for name in PICO.placements if name in ("ram", "flash")
    ]
    assert timing.placements_of(replace(body, placements=("nowhere",)), PICO) == [next(iter(PICO.placements))]
    monkeypatch.setattr(timing, "key_of", lambda request: (request.implementation.name, request.placement))
    monkeypatch.setattr(
        timing, "runner_of", lambda name: SimpleNamespace(identity=lambda device: f"of {device.name}")
    )
    made = timing.identity(subject(device="uno"), "timing:uno")
    assert made["device"] == "uno" and made["runner"] == "of uno"
    assert made["builds"][0] == (body.name, "flash") and len(made["builds"]) == sum(
        len(timing.placements_of(body, UNO)) for body in timing.bodies_on(subject(), UNO)
    )
    assert timing.names(CCM, ["a", "b"]) == ["timing:a", "timing:b"] and timing.others(CCM) == {}
    bare = replace(subject(), catalog=replace(CATALOG, implementations=()))
    with pytest.raises(Unavailable, match=r"^aes128-ccm8: none of our variants runs on uno$"):
        timing.bodies_on(bare, UNO)


def test_splits_are_placed_at_their_source_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    said = "main\n./a/x.c:3 (discriminator 2)\nmemcpy\n??:?\nmain\nb.c:9\n"

    def run(command: Any) -> Outcome:
        asked.append(command)
        return answer

    monkeypatch.setattr(timing.process, "run", run)
    answer = Outcome(0, said, "")
    found = [
        Split(0x20, "branch"),
        Split(0x10, "address", "ram"),
        Split(0x30, "branch"),
        Split(0x20, "address", "ram"),
    ]
    lines = timing.source_lines(UNO, FIRMWARE, [0x10, 0x20, 0x30])  # type: ignore[arg-type]
    assert lines == {
        0x10: ("main", "a/x.c:3"),
        0x20: ("memcpy", "memcpy (library code)"),
        0x30: ("main", "b.c:9"),
    }
    assert asked == [["avr-addr2line", "-f", "-e", FIRMWARE.elf, "0x10", "0x20", "0x30"]]
    told = timing._located(UNO, FIRMWARE, [*found, Split(0x20, "branch")])  # type: ignore[arg-type]
    assert told[0] == {
        "kind": "branch",
        "memory": "",
        "function": "memcpy",
        "line": "memcpy (library code)",
        "pcs": [0x20, 0x20],
    }
    assert [(row["kind"], row["line"], row["pcs"]) for row in told[1:]] == [
        ("address", "a/x.c:3", [0x10]),
        ("branch", "b.c:9", [0x30]),
        ("address", "memcpy (library code)", [0x20]),
    ]
    assert timing.source_lines(UNO, FIRMWARE, []) == {} and timing._located(UNO, FIRMWARE, []) == []  # type: ignore[arg-type]
    for told_of in (Outcome(1, said, ""), Outcome(0, "main\n", "")):
        answer = told_of
        assert timing.source_lines(UNO, FIRMWARE, [5, 6, 7]) == {n: ("", hex(n)) for n in (5, 6, 7)}  # type: ignore[arg-type]


def test_sentences_name_who_and_where() -> None:
    split = {"kind": "branch", "line": "a.c:4"}
    rows = [
        made_row("one", "encrypt", "constant"),
        made_row("one", "decrypt", "constant"),
        made_row("two", "encrypt", "cycles vary", 1000, 3000, splits=[split]),
        made_row("two", "decrypt", "cycles vary", 5, 1500),
        made_row("six", "decrypt", "cycles vary", 5, 6, placement="ram", cache="cold"),
        made_row("six", "encrypt", "constant", placement="ram", cache="cold"),
        made_row("ten", "encrypt", "constant"),
    ]
    good, bad = timing._sentences(rows)
    assert good == (
        "No branch and no address depends on key or message: one, ten in flash; "
        "six encrypt in ram with a cold cache."
    )
    assert bad == (
        "The time taken depends on secrets: two in flash; six decrypt in ram with a cold cache; "
        "most in two encrypt, 1,000 to 3,000 cycles. Traces part: branch at a.c:4."
    )
    rows = [
        made_row("x", o, "cycles vary" if o != "setup" else "constant")
        for o in ("setup", "encrypt", "decrypt")
    ]
    assert "x encrypt and decrypt in flash" in timing._sentences(rows)[1]


# --- taint -------------------------------------------------------------------------------------------------


def test_the_worst_place_of_each_variant_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    given = subject("aes128-ccm8")
    bodies = taint._bodies(given)
    assert bodies[0] == given.implementation and len(bodies) > 1
    assert taint._request(given, bodies[0]).implementation == bodies[0]
    asked: list[Any] = []
    branch, table = Sighting("branch", "f", "x.c:7", 8), Sighting("address", "g", "y.c:9", 3)
    tag = Sighting("branch", "v", "t.c:1", 1)

    def sightings(library: Any, cipher: Any, n: int) -> dict[str, list[Sighting]]:
        asked.append((library, cipher.name, n))
        first = library == bodies[0].variant
        return {"encrypt": [table] if first else [branch], "decrypt": [tag], "refuse": [tag]}

    monkeypatch.setattr(taint, "build", lambda request: SimpleNamespace(elf=request.implementation.variant))
    monkeypatch.setattr(taint, "sightings", sightings)
    part = taint.run(given, "taint", None)  # type: ignore[arg-type]
    assert asked == [(body.variant, "aes128-ccm8", 33) for body in bodies]
    assert (part.verdict, part.weight, part.data["message_bytes"]) == ("secrets choose addresses", "note", 33)
    assert part.data["rows"][0] == {
        "variant": bodies[0].variant,
        "verdict": "secrets choose addresses",
        "sightings": [{"kind": "address", "function": "g", "line": "y.c:9", "times": 3}],
        "outcome_of_tag_check": [{"kind": "branch", "function": "v", "line": "t.c:1", "times": 1}],
    }
    assert part.sentences == (
        f"Addresses depend on secrets (tables): harmless without a cache, not here or in XIP flash: "
        f"{bodies[0].variant}. Seen: address at y.c:9.",
        f"Branches depend on secrets: {', '.join(b.variant for b in bodies[1:])}. Seen: branch at x.c:7.",
    )
    assert taint.names(CCM, ()) == ["taint"] and taint.others(CCM) == {}


def test_valgrinds_command_and_identity(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    answer = [0]

    def run(command: list[Any]) -> Outcome:
        asked.append(command)
        report = next(part for part in command if str(part).startswith("--xml-file="))
        Path(str(report).removeprefix("--xml-file=")).write_text("<o></o>")
        return Outcome(answer[0], "", "error: killed")

    monkeypatch.setattr(taint.process, "run", run)
    monkeypatch.setattr(taint, "driver", lambda name: Path(name))
    assert taint.sightings(Path("lib.so"), CCM, 33) == {"encrypt": [], "decrypt": [], "refuse": []}
    command = asked[0]
    assert command[:2] == ["valgrind", "--tool=memcheck"]
    assert command[-7:] == ["taint", "lib.so", "16", str(CCM.nonce_bytes), "5", "33", "8"]
    taint.sightings(Path("lib.so"), CATALOG.cipher("aes128-ecb"), 32)
    assert asked[1][-5:] == ["16", "0", "0", "32", "0"]
    answer[0] = 1
    with pytest.raises(Unavailable, match=r"^under valgrind: error: killed$"):
        taint.sightings(Path("lib.so"), CCM, 33)
    monkeypatch.setattr(taint, "have", lambda tool_set: tool_set == "taint")
    monkeypatch.setattr(taint, "key_of", lambda request: request.implementation.variant)
    monkeypatch.setattr(taint, "tool_identity", lambda name: f"{name} 3")
    monkeypatch.setattr(taint, "driver_identity", lambda name: "0123456789abcdef")
    assert taint.identity(subject(), "taint") == {
        "builds": [body.variant for body in taint._bodies(subject())],
        "runner": "valgrind 3 0123456789ab",
    }
    monkeypatch.setattr(taint, "have", lambda tool_set: False)
    with pytest.raises(Unavailable, match=r"^valgrind is missing: apt-get"):
        taint.identity(subject(), "taint")


def test_reports_without_frames_or_lines() -> None:
    report = """<o><error><unique>c</unique><kind>InvalidRead</kind></error>
    <error><unique>a</unique><kind>UninitValue</kind></error>
    <error><unique>b</unique><kind>UninitCondition</kind><stack><frame><fn>f</fn></frame></stack></error>
    <error><kind>UninitValue</kind><stack><frame><fn>taint_refuse</fn><dir>d</dir><file>x.c</file><line>2</line>
    </frame></stack></error>
    <errorcounts><pair><count>3</count><unique>b</unique></pair><pair><count>2</count><unique>b</unique></pair>
    </errorcounts></o>"""
    assert taint.read_report(report) == {
        "encrypt": [Sighting("address", "", "?", 1), Sighting("branch", "f", "f:?", 3)],
        "decrypt": [],
        "refuse": [Sighting("address", "taint_refuse", "d/x.c:2", 1)],
    }
