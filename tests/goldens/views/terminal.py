"""What commands print of made-up results, as records: every column, cell and sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from goldens.text import digest, plain
from goldens.views.advice import ASKED, _candidates
from goldens.views.differences import _changed
from goldens.views.made_up import filled
from goldens.views.pages import _deep_profile, _history
from motecrypt.adviser import api as advise
from motecrypt.adviser.costs import Setting
from motecrypt.adviser.publickey.secrets import DEPENDS, TaintRow, TimingVerdict
from motecrypt.adviser.records.rows import rows_of as record_rows
from motecrypt.adviser.records.stored import RecordChange
from motecrypt.air.radios import load_radio
from motecrypt.air.radios.survey import survey
from motecrypt.attack.leakage.assessment import Leak, OrderTest
from motecrypt.attack.leakage.places import LeakPlace
from motecrypt.base.model import Measurement
from motecrypt.catalog import Catalog
from motecrypt.gate.judge import GateCheck, Judgement
from motecrypt.present.compare import ComparedFile, compare
from motecrypt.present.runs import leak, profile, stack
from motecrypt.present.terminal import advice as advice_view
from motecrypt.present.terminal import (
    airtime,
    audit,
    by_device,
    compared,
    gate,
    history,
    listed,
    measurements,
    progress,
    radio,
    records,
)
from motecrypt.simulate.callgraph.bounds import ProgramStack, StackBound
from motecrypt.simulate.emulate.profiling import LineCost
from page_data import made_audit, made_cipher


def terminal() -> dict[str, Any]:
    """Each view's blocks."""
    parts: Sequence[Callable[[], Iterator[tuple[str, Any]]]] = (
        _measurements,
        _advice,
        _lists,
        _comparisons,
        _radios,
        _audits,
        _gates,
        _runs,
        _progress,
    )
    return {name: _blocks(told) for part in parts for name, told in part()}


def _blocks(told: Any) -> list[Any]:
    """Blocks with the names of their kinds; a long table without what its digest covers."""
    return [
        [type(block).__name__, *plain(block).values()] if hasattr(block, "__dict__") else plain(block)
        for block in told
    ]


def _measured() -> list[Measurement]:
    """Encryption and decryption of some ciphers on two devices, with figures of every form."""
    some = filled("far").newest_measurements(cipher=("aes128-ccm8", "rc4d", "aes128-cbc", "des-cbc"))
    some = [m for m in some if m.message_bytes in (16, 48) and m.operation != "setup"]
    some = sorted(some, key=lambda m: tuple(map(str, m.identity)))[::5]
    return [_changed_form(m, number) for number, m in enumerate(some)]


def _changed_form(m: Measurement, number: int) -> Measurement:
    turn = number % 11
    if turn == 1:
        return replace(m, cache="cold")
    if turn == 2:
        return replace(m, cache="warm", placement="ram")
    if turn == 3:
        return replace(m, flags="-O3 -flto -g", flags_asked="-O3 -flto")
    if turn == 4:
        return replace(m, timing_varies=None, flash_bytes=None)
    if turn == 5 and m.status == "ok":
        return replace(m, timing_varies=True, cycles_min=m.cycles_median, cycles_max=m.cycles_median)
    if turn == 6 and m.status != "ok":
        return replace(m, status="crashed", extra={"failure": "stack"}, reason="it crashed")
    return replace(m, ad_bytes=8) if turn == 7 else m


def _public_keys() -> list[Measurement]:
    """Two operations of public-key algorithms, of which one is behind public code, and a failed one."""
    base = filled("near").newest_measurements(device="pico", cipher=("aes128-cbc",))[0]
    base = replace(base, tag_bytes=0, message_bytes=0, status="ok", reason="", placement="flash")
    made = []
    for number, (name, operation, cycles) in enumerate(
        (("x25519", "agree", 30_000_000), ("x25519", "keypair", 5_000), ("ed25519", "sign", 90_000_000))
    ):
        for cache in ("cold", "warm"):
            found = replace(
                base, cipher=name, operation=operation, cycles_median=cycles + number, key_bits=256
            )
            made.append(replace(found, cache=cache))
    return [*made, replace(made[0], library="other", cycles_median=29_000_000, flash_bytes=100)]


def _measurements() -> Iterator[tuple[str, Any]]:
    catalog, some = Catalog.load(), _measured()
    yield "measurements", measurements.measurements_view(some, catalog)
    yield "measurements, ranked", measurements.ranked_view(some, catalog)
    yield "measurements, none", measurements.measurements_view([], catalog)
    yield "measurements, one", measurements.ranked_view(some[:1], catalog)
    keys = _public_keys()
    yield "public keys", measurements.ranked_view(keys, catalog)
    documents = measurements.ranked_documents([*some[:9], *keys], catalog)
    yield (
        "measurements as documents",
        [[d["rank"], d["rank_of"], d["best"], digest(plain(d))] for d in documents],
    )
    best = [measurements.best_of(each, catalog) for each in (some, keys, some[3:4], [])]
    yield "best", [m and [m.device, m.cipher, m.implementation, m.operation] for m in best]
    other = [replace(m, toolchain="gcc-9", compiler="gcc 9", **_grown(m)) for m in some[:12]]
    yield "toolchains", measurements.compared_view([*some[:12], *other])
    pairs = [(some[0], some[1], 0.0123), (some[2], None, None), (some[3], some[4], -0.5)]
    yield "board", [*measurements.board_view("/dev/x", pairs), *measurements.board_view("/dev/y", [])]
    wrong = [m for m in some if m.status != "ok"]
    yield "sweep", [measurements.sweep_summary(some, (wrong * 9)[:n]) for n in (0, 1, 10, 11, 12)]
    for name, found in (("devices", some), ("devices, public keys", keys), ("devices, failed", wrong)):
        yield name, by_device.by_device_view(found, catalog)
        yield f"{name} as documents", [digest(plain(d)) for d in by_device.by_device_documents(found)]


def _grown(m: Measurement) -> dict[str, Any]:
    cycles = m.cycles_median
    return {"cycles_median": cycles and cycles + 17, "flash_bytes": (m.flash_bytes or 0) // 2 or None}


def _advice() -> Iterator[tuple[str, Any]]:
    for number in (0, 2, 6, 14, 30, 37):
        device_name, radio_name, battery, regulator, question = ASKED[number]
        device = advise.device_part(
            Catalog.load().devices[device_name], "chip" if number % 4 else "board", False
        )
        parts = (advise.radio_part(load_radio(radio_name)), advise.link_facts(), advise.battery_part(battery))
        setting = Setting(question, device, *parts, advise.regulator_part(regulator))
        others = [advise.regulator_part(name) for name in advise.regulator_names()]
        found = advise.advise(
            question, _candidates("near", device_name), device, *parts, setting.regulator, others, None
        )
        yield f"advice {number}, left out", advice_view.excluded_view(found.exclusions)
        if found.entries:
            for top in (None, 1, 3, 500):
                export = ("", "no C") if top == 1 else ("exports another", "")
                yield (
                    f"advice {number}, {top}",
                    advice_view.answered_view(setting, found, "next", top, export),
                )
            more = replace(found, warnings=("One.", "Two.", "Three."))
            yield f"advice {number}, warnings", advice_view.answered_view(setting, more, "", 2, ("", ""))[:2]
        yield f"advice {number}, refused", advice_view.refused_view(setting, found)


def _lists() -> Iterator[tuple[str, Any]]:
    catalog = Catalog.load()
    for kind in listed.KINDS:
        columns, rows = listed.rows_of(kind, catalog)
        view = listed.list_view(kind, columns, [])
        yield (
            f"list {kind}",
            [view, columns, len(rows), digest(plain(rows)), *plain(rows)[:: max(1, len(rows) // 5)]],
        )


def _comparisons() -> Iterator[tuple[str, Any]]:
    before = _measured()
    after = [_changed(m, number) for number, m in enumerate(before) if number % 31]
    files = (
        ComparedFile(Path("a.db"), 12, ("gcc 1", "gcc 2"), ("0.1", "0.2")),
        ComparedFile(Path("b.db"), 3, ("gcc 2",), ("0.2",)),
    )
    difference = compare(before[2:], after, 2.0)
    yield "compared", compared.compare_view(difference, files, False)
    yield "compared, all", compared.compare_view(difference, files, True)
    yield "compared, equal", compared.compare_view(compare(before, before), files, True)
    made = _history()
    yield "history", history.history_view(made, False, 2.0)
    yield "history, all", history.history_view(made, True, 50.0)
    yield "history as a document", [plain(history.history_document(made, 2.0))]
    rows = record_rows([replace(m, library="motecrypt" if n % 2 else "other") for n, m in enumerate(before)])
    yield "records", records.records_view(rows, Catalog.load().devices)
    changes = [RecordChange("uno", "a", "i", "cycles", "1", "2")]
    yield "records, changed", [records.changes_view(changes), records.changes_view([])]


def _radios() -> Iterator[tuple[str, Any]]:
    for name, lengths in (
        ("srf", range(1, 40)),
        ("lora", range(60, 61)),
        ("nrf24", (32, 64)),
        ("srf", (12, 24)),
    ):
        found = survey(load_radio(name), np.array(lengths, dtype=np.int64))
        for every in (False, True):
            yield f"airtime {name} {len(lengths)} {every}", [airtime.table(found, every)]
        yield f"airtime {name} {len(lengths)} drawn", [airtime.plot(found), digest(airtime.svg(found))]
    counts = {name: number for number, name in enumerate(_COUNTS, start=2)}
    late = {"p50": 1500, "p99": 23456, "max": 99999}
    pace = {"deliveries": 0, "median_us": 1, "p99_us": 2, "max_us": 3, "overrun_bytes": 0}
    network = {"latency_us": late, "goodput_bps": 123.456, "fairness": 0.98765}
    for nothing in (None, {"latency_us": None}, network):
        yield f"radio {nothing and nothing['latency_us']}", list(radio.lines([counts, counts], nothing, pace))
    yield "radio, late", list(radio.lines([], None, pace | {"deliveries": 4, "overrun_bytes": 5}))


_COUNTS = (
    *("sent", "delivered", "lost", "unheard", "duplicated", "reordered", "air_time_us", "waited", "given_up"),
    *("reached", "wanted", "received", "captured", "collided", "deaf", "faint"),
)


def _audits() -> Iterator[tuple[str, Any]]:
    parts = made_audit()
    weights = ("bad", "note", "good", "skipped", "bad", "good", "good")
    mixed = [(n, replace(a, weight=w)) for (n, a), w in zip(parts, weights, strict=True)]
    others = ("attack:one", "attack:two")
    for name, some in (("all", mixed), ("one", mixed[:1]), ("good", mixed[2:4]), ("none", [])):
        yield f"audit {name}", audit.audit_view(made_cipher(), some, "what", "bad", others, "next")
    bare = replace(made_cipher(), security_reason="")
    yield "audit of an unrated cipher", audit.audit_view(bare, mixed[1:], "what", "note", (), "")
    algorithm = next(iter(Catalog.load().public_keys.values()))
    rows = [
        TaintRow("a", "sign", "i", "v", ("one", "two"), 3, "host"),
        TaintRow("a", "agree", "j", "w", (), 0, ""),
    ]
    timing = [TimingVerdict("uno", "a", "sign", "i", verdict, 12345, "why") for verdict in DEPENDS]
    yield "secrets", audit.secrets_view(algorithm, rows, timing, [("Label", "text")])


def _gates() -> Iterator[tuple[str, Any]]:
    def check(number: int, rule: Any, base: float | None, value: float | None) -> GateCheck:
        causes = tuple(f"cause {n}" for n in range(number % 5))
        return GateCheck(
            f"b{number}", "uno", "cycles", rule, "at most", value, base, 5.0, False, "a reason", causes
        )

    checks = [
        check(n, *each)
        for n, each in enumerate(
            [
                ("growth", 100.0, 120.0),
                ("runs", 100.0, None),
                ("budget", None, 7.5),
                ("timing", 3.0, 3.0),
                ("runs", None, None),
            ]
        )
    ]
    several = [check(n, "growth", 1000.0, 1000.0 + n) for n in range(21)]
    for name, failed in (("some", checks), ("many", several), ("twenty", several[:20]), ("none", [])):
        judgement = Judgement(tuple(failed), (), 1234, 1200, ("a note",), ())
        yield f"gate {name}", gate.ci_view(judgement, "here", name != "many", ["a fact"])


def _runs() -> Iterator[tuple[str, Any]]:
    other = LeakPlace("b.c", 7, "g", 8, 9, "memory", "another", 2, 5.5)
    places = [
        LeakPlace("a.c", n, "f", 4 * n, n, "result", f"value {n}", 1000 * n, 9.87 - n / 9) for n in range(22)
    ]
    pairs = [replace(places[3], other=other)]
    orders = (
        OrderTest(1, 12345, 6.5, 23.45, tuple(Leak(n, "result", (7.0, -8.0)) for n in range(2))),
        OrderTest(2, 99, 5.25, 1.0, ()),
    )
    question = SimpleNamespace(model=SimpleNamespace(name="weight"))
    base = SimpleNamespace(
        instructions=(1500, 1500),
        orders=orders,
        snr=0.1,
        snr_most=0.12345,
        traces=20000,
        rare=0,
        least_class=1234,
        paths=1,
    )
    for verdict in ("leaks", "no claim", "no leak found", "path varies"):
        found: Any = SimpleNamespace(**vars(base) | {"verdict": verdict, "rare": 1200 * (verdict == "leaks")})
        shown = (places, pairs) if verdict == "leaks" else (places[:20], ())
        yield f"leak, {verdict}", leak.leak_view("f", found, question, shown, None)  # type: ignore[arg-type]
    varying: Any = SimpleNamespace(
        **vars(base) | {"verdict": "path varies", "instructions": (1, 2000), "orders": (), "paths": 3}
    )
    yield "leak, paths of several lengths", leak.leak_view("f", varying, question, (), "a.c:3")  # type: ignore[arg-type]
    control = SimpleNamespace(title="t", model="m", order=1, leaks=True)
    outcomes: list[Any] = [
        SimpleNamespace(control=control, found=True, place=places[1], passed=True),
        SimpleNamespace(
            control=SimpleNamespace(title="u", model="m", order=2, leaks=False),
            found=False,
            place=None,
            passed=False,
        ),
    ]
    yield "controls", leak.controls_view("Controls", outcomes, "taken")
    lines = tuple(LineCost(f"/deep/f{n}.c", n, 1000 * n, 5000 * n) for n in range(3))
    deep = replace(_deep_profile(), lines=lines)
    costs = [
        replace(
            cost, self_cycles_range=(1, 2345, 3) if n % 2 else None, stack_bytes=None if n == 3 else 1000 * n
        )
        for n, cost in enumerate(deep.functions)
    ]
    yield "profile", profile.profile_view(deep, costs, 9, 2, "a.elf")
    ended = replace(deep.ended, cycles=0, stack_reason="several stacks")
    plain_one = replace(deep, ended=ended, lines=(), symbols_found=True, calls_dropped=0, calls_shared=0)
    yield "profile, short", profile.profile_view(plain_one, costs[:1], 1, 4, "a.elf")
    yield "profile, functions alone", profile.profile_view(plain_one, [], 0, 0, "a.elf")
    bounds = [
        StackBound(
            f"f{n}",
            2 * n,
            1000 * n,
            2000 * n,
            tuple(f"p{k}" for k in range(n % 8)),
            (),
            (("a", "b"),) * (n % 3 == 1),
            ("p",) * (n % 5 == 1),
        )
        for n in range(32)
    ]
    seen = {2 * n: 1500 * n for n in range(0, 32, 3)}
    yield "stacks", stack.functions_view(bounds, seen, every=False)
    yield "stacks, all", stack.functions_view(bounds, seen, every=True)
    yield "stacks, thirty", stack.functions_view(bounds[:30], seen, every=False)
    whole = ProgramStack(1500, "irq", 300, True, "", 1800, False)
    for number, changes in enumerate(
        (
            {},
            {"room": 1799},
            {"bounded": False, "reason": "recursion"},
            {"several": True},
            {"room": None, "interrupt": "", "interrupt_bytes": 0},
            {"main": None},
        )
    ):
        yield f"program {number}", stack.program_view("Stack", replace(whole, **changes))


def _progress() -> Iterator[tuple[str, Any]]:
    """Lines as a clock continues: stages, tenths, silence, what runs."""
    now, told = [0.0], []
    lines = progress.Lines("work", lambda: now[0], lambda text: told.append(f"{now[0]:g} {text}"))
    reports = [
        (0, 0, "", 0.0),
        (0, 0, "", 59.0),
        (0, 0, "", 1.0),
        *((n, 25, f"part {n}", 3.0) for n in range(26)),
    ]
    reports += [
        (25, 25, "again", 61.0),
        (0, 9, "second", 1.0),
        (3, 9, "more", 40.0),
        (1, 9, "less", 2.0),
        (2, 2, "", 100.0),
    ]
    for number, (done, total, what, later) in enumerate(reports):
        now[0] += later
        lines.running([f"r{n}" for n in range(number % 6)])
        lines(done, total, what)
    yield "progress", told
    seconds = (0, 0.4, 1.5, 59.4, 59.5, 60, 89, 91, 3569, 3570, 3599, 3600, 7261, 86_400)
    yield "durations", [progress.duration(each) for each in seconds]
    stage = progress.Stage(lambda: now[0])
    yield "a new stage", [stage.done, stage.total, stage.what, stage.state(), stage.left_s, stage.names()]
