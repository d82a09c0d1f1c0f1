"""The bench, step by step, on firmware made up here: its runs, and how a failure is reported."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from motecrypt.base.errors import FailureKind, InputError
from motecrypt.base.frames import ProtocolError
from motecrypt.base.model import Cell
from motecrypt.build.toolchain import BuildError, known_answers
from motecrypt.build.toolchain.known_answers import WrongAnswer
from motecrypt.build.toolchain.native import BadTag
from motecrypt.catalog import Catalog
from motecrypt.catalog.oracles import oracle
from motecrypt.measuring.bench import board, measure, passes, task
from motecrypt.measuring.bench.passes import Stopped, WrongOutput
from motecrypt.measuring.bench.plan import PUBLIC_KEY_CYCLES_MAX, Job
from motecrypt.measuring.bench.record import Trouble
from motecrypt.results import Results
from motecrypt.simulate.runners import Fault, Options, Region, Starts

CATALOG = Catalog.load()
UNO = CATALOG.device("uno")
CCM, CBC = CATALOG.cipher("aes128-ccm8"), CATALOG.cipher("aes128-cbc")
RUN = ("none", 128, 32, 0)


def job(cipher: Any = CCM, run: Any = ("none", 128, 32, 5), **changes: Any) -> Job:
    body = next(b for b in CATALOG.implementations_of(cipher.name, "uno") if b.library == "motecrypt")
    return replace(Job(UNO, cipher, body, "flash", (), (run,), threading.Event(), "key"), **changes)


class Engine:
    """A client and its session in one: encrypts as the oracle does, and writes down what it is asked."""

    cycles_exact = holds_input = True

    def __init__(
        self, cipher: Any = CCM, fail: Callable[[Options], Exception | None] = lambda _: None
    ) -> None:
        self.cipher, self.fail = cipher, fail
        self.encrypt = oracle(cipher)
        self.opened: list[Options] = []
        self.asked: list[str] = []
        self.given: dict[str, bytes] = {}
        self.made: dict[bytes, bytes] = {}
        self.accepts: set[int] = set()
        self.shows = self.extra_region = False
        self.painted = 0

    def open_session(self, device: object, elf: object, data_end: int, options: Options) -> Any:
        self.opened.append(options)
        error = self.fail(options)
        if error is not None:
            raise error
        return self

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None: ...

    restartable = False

    def restart(self) -> bool:
        return False

    def close(self) -> None: ...

    def __getattr__(self, name: str) -> Any:
        def take(*data: bytes) -> None:
            self.asked.append(name)
            if data:
                self.given[name.removeprefix("set_")] = data[0]

        return take

    def run(self, operation: str, repetitions: int, tag_bytes: int) -> Any:
        assert (repetitions, tag_bytes) == (1, self.cipher.tag_bytes)
        self.asked.append(operation)
        self.painted += 1
        given = {"nonce": b"", "ad": b"", **self.given}
        message = given["message"]
        status, output, tag = "ok", message, b""
        if operation == "encrypt":
            output, tag = self.encrypt(given["key"], given["nonce"], given["ad"], message)
            self.made[output] = message
            self.given["message"], self.given["tag"] = output, tag
        elif operation == "decrypt":
            output = self.made[message]
            right = self.encrypt(given["key"], given["nonce"], given["ad"], output)[1]
            wrong = [
                at for at, (a, b) in enumerate(zip(right, given.get("tag", right), strict=True)) if a != b
            ]
            if wrong and wrong[0] not in self.accepts:
                status, output = "bad tag", output if self.shows else bytes(len(output))
        return SimpleNamespace(status=status, output=output, tag=tag, painted_stack_bytes=self.painted)

    def regions(self) -> list[Region]:
        return [Region(1000 + self.painted, 30 + self.painted % 5, "t")] * (1 + self.extra_region)


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Engine]:
    def made(engine: Engine, while_tracing: bool = True) -> Engine:
        monkeypatch.setattr(passes, "runner_of", lambda name: engine)
        monkeypatch.setattr(passes, "Client", lambda session, timeout_s, together: engine)
        monkeypatch.setattr(passes, "counts_while_tracing", lambda device: while_tracing)
        zero = {o: Region(0) for o in ("setup", "encrypt", "decrypt")}
        monkeypatch.setattr(passes, "overhead_of", lambda *_: zero)
        return engine

    return made


FIRMWARE: Any = SimpleNamespace(elf=Path("f"), data_end=9, key="key")


def starts() -> Starts:
    return passes.starts_of(UNO, FIRMWARE)


def test_every_input_goes_through_set_up_encryption_and_decryption(played: Any) -> None:
    engine = played(Engine())
    figures = passes.run_passes(job(), starts(), "none", 128, 32, 5)
    once = ["set_key", "set_nonce", "set_ad", "set_message", "setup", "encrypt", "decrypt"]
    refused = ["set_message", "set_tag", "decrypt"]
    assert engine.asked == ["wait_ready", *(once * 32), *(refused * 2)]
    assert figures["setup"].painted_stack_bytes == 94 and figures["decrypt"].painted_stack_bytes == 96
    assert figures["encrypt"].stack_bytes == 34 and figures["encrypt"].timing_varies is True
    assert figures["setup"].cycles == tuple(1001 + 3 * n for n in range(32))


def test_what_a_cipher_does_not_have_is_not_set(played: Any) -> None:
    ecb = CATALOG.cipher("aes128-ecb")
    engine = played(Engine(ecb))
    passes.run_passes(job(ecb, RUN), starts(), "none", 128, 32, 0)
    assert engine.asked == ["wait_ready", *(["set_key", "set_message", "setup", "encrypt", "decrypt"] * 32)]


def test_an_implementation_that_only_decrypts_gets_ciphertexts(played: Any) -> None:
    engine = Engine()
    one = job()
    only = replace(one, implementation=replace(one.implementation, operations=("decrypt",)))
    for data, ciphertext, _ in passes._expected(CCM, 128, 32, 5):
        engine.made[ciphertext] = data.message
    figures = passes.run_passes(only, starts(), "none", 128, 32, 5) if played(engine) else {}
    once = ["set_key", "set_nonce", "set_ad", "set_message", "set_tag", "setup", "decrypt"]
    assert engine.asked[: 1 + len(once)] == ["wait_ready", *once] and list(figures) == ["decrypt"]
    assert len(figures["decrypt"].cycles) == 32


def test_which_runs_there_are(played: Any) -> None:
    plain = Options(cache="cold")
    traced, short = replace(plain, trace=True), Options(trace=True, cache="cold", max_cycles=20_000_000)
    engine = played(Engine())
    assert passes._counted_and_traced(job(CBC), starts(), (), "cold")[3] is True and engine.opened == [short]
    engine = played(Engine(), while_tracing=False)
    passes._counted_and_traced(job(CBC), starts(), (), "cold")
    assert engine.opened == [plain, traced]
    silent = Fault("long", kind=FailureKind.SILENT)
    engine = played(Engine(fail=lambda o: silent if o.max_cycles else None))
    passes._counted_and_traced(job(CBC), starts(), (), "cold")
    assert engine.opened == [short, plain, traced]
    engine = played(Engine(fail=lambda _: Fault("crash")))
    with pytest.raises(Fault, match="crash"):
        passes._counted_and_traced(job(CBC), starts(), (), "cold")
    assert engine.opened == [short]


def test_a_stack_that_ran_over_is_the_better_reason(played: Any) -> None:
    stack, wrong = Fault("stack", kind=FailureKind.STACK), WrongOutput("byte 3")
    for traced, expected in (
        (stack, "stack"),
        (Fault("crash"), "byte 3"),
        (None, "byte 3"),
        (wrong, "byte 3"),
    ):
        errors = {True: traced, False: wrong}
        engine = played(Engine(fail=lambda o, errors=errors: errors[o.trace]), while_tracing=False)  # type: ignore[misc]
        with pytest.raises((Fault, WrongOutput), match=expected):
            passes._counted_and_traced(job(CBC), starts(), (), "none")
        assert engine.opened[-1] == Options(trace=True, cache="none", max_cycles=20_000_000)
    engine = played(Engine(fail=lambda _: Fault("ended", transient=True)), while_tracing=False)
    with pytest.raises(Fault, match="ended"):
        passes._counted_and_traced(job(CBC), starts(), (), "none")
    assert len(engine.opened) == 1


def test_wrong_answers_are_named(played: Any) -> None:
    engine = played(Engine())
    engine.extra_region = True
    with pytest.raises(WrongOutput, match=r"^setup answered 'ok' for 32 bytes$") as caught:
        passes.run_passes(job(), starts(), "none", 128, 32, 5)
    assert caught.value.kind is FailureKind.WRONG_STATUS
    for byte in (0, 7):
        engine = played(Engine())
        engine.accepts = {byte}
        told = rf"^decrypt answered 'ok' for a tag with a bit flipped in byte {byte}$"
        with pytest.raises(WrongOutput, match=told) as caught:
            passes.run_passes(job(), starts(), "none", 128, 32, 5)
        assert caught.value.kind is FailureKind.WRONG_TAG_ACCEPTED
    for length, refused in ((8, True), (7, False)):
        engine = played(Engine())
        engine.shows = True
        with pytest.raises(WrongOutput, match="left the plaintext") if refused else contextlib.nullcontext():
            passes.run_passes(job(), starts(), "none", 128, length, 5)
    engine = played(Engine())
    real = engine.encrypt
    engine.encrypt = lambda *given: (real(*given)[0], bytes(8))
    with pytest.raises(WrongOutput, match=r"^byte 32 is 0x00, the oracle gives 0x"):
        passes.run_passes(job(), starts(), "none", 128, 32, 5)
    played(Engine())
    stopped = job()
    stopped.stop.set()
    with pytest.raises(Stopped):
        passes.run_passes(stopped, starts(), "none", 128, 32, 5)


def test_the_cost_of_measuring_is_the_least_of_five_with_the_empty_cipher(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[Any] = []
    cycles = iter([9, 8, 7, 8, 9, 5, 4, 3, 4, 5, 2, 3, 2, 3, 9])
    session = SimpleNamespace(holds_input=True, cycles_exact=True, regions=lambda: [Region(next(cycles))])

    class Asked:
        def __init__(self, session: object, timeout_s: float, together: bool) -> None: ...

        def __getattr__(self, name: str) -> Any:
            return lambda *given: asked.append((name, *given))

    def opened(device: object, elf: object, data_end: int, options: Options) -> Any:
        asked.append((elf, data_end, options))
        return contextlib.nullcontext(session)

    built: list[Any] = []
    monkeypatch.setattr(passes, "Client", Asked)
    monkeypatch.setattr(passes, "runner_of", lambda name: SimpleNamespace(open_session=opened))
    monkeypatch.setattr(passes, "build", lambda request, key: built.append((request, key)) or FIRMWARE)
    monkeypatch.setattr(passes, "key_of", lambda request: f"empty {request.implementation.cipher}")
    monkeypatch.setattr(passes, "counts_while_tracing", lambda device: True)
    monkeypatch.setattr(passes, "_overheads", {})
    found = passes.overhead_of(job(), "cold")
    assert {o: r.cycles for o, r in found.items()} == {"setup": 7, "encrypt": 3, "decrypt": 2}
    assert asked[0] == (FIRMWARE.elf, 9, Options(trace=True, cache="cold"))
    assert asked[1:5] == [
        ("wait_ready",),
        ("set_key", bytes(16)),
        ("set_message", bytes(16)),
        ("run", "setup", 1, 8),
    ]
    assert [call[1] for call in asked[4:]] == [o for o in ("setup", "encrypt", "decrypt") for _ in range(5)]
    assert built[0][1] == "empty empty" and built[0][0].placement == "flash"
    assert passes.overhead_of(job(), "cold") is found and len(built) == 1
    cycles = iter([1] * 30)
    assert (
        passes.overhead_of(job(), "none") is not found
        and passes.overhead_of(job(placement="ram"), "cold") is not found
    )


# --- jobs --------------------------------------------------------------------------------------------------


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A job's result for each operation, with builds and passes made up."""
    told: dict[str, Any] = {"base": FIRMWARE, "firmware": FIRMWARE, "passes": {}, "kept": []}

    def build(request: Any) -> Any:
        made = told["base" if request.implementation.cipher == "empty" else "firmware"]
        if isinstance(made, Exception):
            raise made
        return made

    def run_passes(*given: Any) -> Any:
        told["kept"].append(given[2:])
        if isinstance(told["passes"], Exception):
            raise told["passes"]
        return told["passes"]

    def keep(job: Job, cell: Cell, firmware: Any, base: Any, figures: Any, failed: Any) -> Any:
        return cell.operation, figures, failed

    monkeypatch.setattr(task, "build", build)
    monkeypatch.setattr(task, "run_passes", run_passes)
    monkeypatch.setattr(task, "measurement", keep)
    monkeypatch.setattr(task, "_misfit", lambda device, firmware: told.get("misfit"))
    return told


def outcome(one: Job) -> list[Any]:
    return list(task.Task(one).begin().values())


def test_each_operation_of_each_run_is_kept(measured: Any) -> None:
    measured["passes"] = {"encrypt": "figures"}
    one = job(runs=(RUN, ("cold", 192, 48, 3)))
    assert (
        outcome(one)
        == [(o, "figures" if o == "encrypt" else None, None) for o in one.implementation.operations] * 2
    )
    assert measured["kept"] == [RUN, ("cold", 192, 48, 3)]
    one.stop.set()
    assert outcome(one) == []


def test_what_fails_is_told_by_its_kind(measured: Any) -> None:
    crash, wrong = Fault("crash"), WrongOutput("byte 3")
    garbled, refused = ProtocolError("garbled"), BuildError("no adapter")
    for error, status, transient in (
        *((crash, "fault", False), (wrong, "wrong-output", False), (garbled, "fault", False)),
        (refused, "build-failed", False),
    ):
        measured["passes"] = error
        expected = Trouble.of(status, error, transient=transient) if transient else Trouble.of(status, error)
        assert {failed for _, _, failed in outcome(job())} == {expected}
    measured["passes"] = garbled
    onto = job(device=replace(UNO, runner="board"))
    assert {failed.transient for _, _, failed in outcome(onto)} == {True}
    measured["passes"] = Stopped()
    assert outcome(job()) == []


def test_builds_that_fail_are_told(measured: Any) -> None:
    measured["firmware"] = BuildError("x.c:1")
    assert {failed for _, _, failed in outcome(job())} == {Trouble.of("build-failed", measured["firmware"])}
    measured["base"] = BuildError("nothing builds")
    (failed,) = {failed for _, _, failed in outcome(job())}
    assert failed.transient and failed.reason == "nothing builds" and measured["kept"] == []
    measured["base"], measured["firmware"] = FIRMWARE, SimpleNamespace(key="other")
    (failed,) = {failed for _, _, failed in outcome(job())}
    assert (failed.reason, failed.transient, failed.kind) == (
        *("a source changed in the meantime: measure again", True, FailureKind.INTERRUPTED),
    )
    measured["firmware"] = FIRMWARE
    measured["misfit"] = Trouble("does-not-fit", "large", FailureKind.DOES_NOT_FIT)
    assert {failed for _, _, failed in outcome(job())} == {measured["misfit"]}
    measured["misfit"] = None
    (failed,) = {failed for _, _, failed in outcome(job(run=("none", 128, 10**6, 0)))}
    assert failed.status == "does-not-fit" and "a message of 1000000 bytes" in failed.reason


def test_a_board_beside_its_simulator() -> None:
    def beside(there: int | None, simulated: Any) -> float | None:
        of = SimpleNamespace(cycles_median=simulated) if simulated != "none" else None
        return board.BesideSimulated(SimpleNamespace(cycles_median=there), of).difference  # type: ignore[arg-type]

    assert beside(110, 100) == pytest.approx(0.1) and beside(50, 100) == -0.5
    assert [beside(None, 5), beside(5, None), beside(5, "none"), beside(5, 0)] == [None] * 4


def test_cells_go_to_the_board_but_cold_ones(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    body = job(CBC).implementation
    plain = Cell("uno", body, "encrypt", 128, 32)
    cells = [plain, replace(plain, cache="cold"), replace(plain, message_bytes=48)]
    asked: list[Any] = []

    def ensure(given: Any, into: Results, catalog: Catalog, **settings: Any) -> dict[Cell, Any]:
        asked.extend((list(given), settings))
        name = asked[0][0].device
        assert catalog.device(name).runner == "board" and into is results
        return {cell: cell.message_bytes for cell in asked[0]}

    monkeypatch.setattr(board.bench, "ensure", ensure)
    monkeypatch.setattr(Results, "newest", lambda self, wanted: {plain: "simulated"})
    found = board.measure_on_board(cells, "/dev/p", results, CATALOG)
    assert [(one.board, one.simulated) for one in found] == [(32, "simulated"), (48, None)]
    assert asked[1] == {"jobs": 1, "progress": None, "again": True}
    assert [cell.device for cell in asked[0]] == ["uno-board"] * 2
    for wrong in ([], [plain, replace(plain, device="pico")]):
        with pytest.raises(InputError, match=r"^--board: choose one --device; one board is at the port$"):
            board.measure_on_board(wrong, "/dev/p", results, CATALOG)


# --- known answers -----------------------------------------------------------------------------------------


class Native:
    """A variant as given: right, or wrong in one way."""

    def __init__(self, wrong: str = "") -> None:
        self.wrong = wrong
        self.implementation = SimpleNamespace(variant="v", key_bits=(128,))

    def setup(self, key: bytes) -> None:
        if self.wrong == "key" or (self.wrong == "short" and len(key) > 16):
            raise InputError("no such key")

    def encrypt(self, message: bytes, nonce: bytes, ad: bytes) -> tuple[bytes, bytes]:
        return message[::-1] + bytes(self.wrong == "long"), b"x" if self.wrong == "tag" else b"tag"

    def decrypt(self, ciphertext: bytes, nonce: bytes, ad: bytes, tag: bytes) -> bytes:
        if tag != b"tag" or self.wrong == "refuses":
            raise BadTag
        return b"?" if self.wrong == "message" else ciphertext[::-1]


def vector(**changes: Any) -> Any:
    usual: dict[str, Any] = {
        "key": bytes(16),
        "nonce": b"",
        "ad": b"",
        "message": bytes(range(40)),
        "tag": b"tag",
    }
    given = {**usual, "ciphertext": bytes(range(40))[::-1], "valid": True, "where": "f:1", **changes}
    return SimpleNamespace(**given)


def test_a_variant_must_give_every_answer() -> None:
    run = known_answers._run
    run(Native(), vector())  # type: ignore[arg-type]
    run(Native("short"), vector(key=bytes(24)))  # type: ignore[arg-type]
    run(Native(), vector(valid=False, tag=b"no"))  # type: ignore[arg-type]
    run(Native("key"), vector(valid=False))  # type: ignore[arg-type]
    for wrong, told in (
        ("key", r"f:1: variant 'v' refuses the key: no such key"),
        ("long", r"f:1: ciphertext from byte 40 on: expected nothing, variant 'v' gives 00"),
        ("tag", r"f:1: tag: expected 746167, variant 'v' gives 78"),
        ("refuses", r"f:1: variant 'v' refuses the tag when it decrypts"),
        (
            "message",
            r"f:1: decrypted message: expected 000102030405060708090a0b0c0d0e0f\.\.\., variant 'v' gives 3f",
        ),
    ):
        with pytest.raises(WrongAnswer, match=f"^{told}$"):
            run(Native(wrong), vector())  # type: ignore[arg-type]
    with pytest.raises(WrongAnswer, match=r"^f:1: variant 'v' accepts it, expected to be refused$"):
        run(Native(), vector(valid=False))  # type: ignore[arg-type]


def test_where_two_answers_part() -> None:
    def told(expected: bytes, got: bytes) -> str:
        with pytest.raises(WrongAnswer) as caught:
            known_answers._same(vector(), "n", "w", expected, got)
        return str(caught.value)

    known_answers._same(vector(), "n", "w", b"a", b"a")
    long = bytes(range(64))
    assert told(long, b"\1" + long[1:]).startswith("f:1: w: expected 000102")
    assert told(long, long[:15] + b"\xff" + long[16:]).startswith("f:1: w: expected 0001")
    assert told(long, long[:16] + b"\xff" + long[17:]) == (
        "f:1: w from byte 16 on: expected 101112131415161718191a1b1c1d1e1f..., "
        "n gives ff1112131415161718191a1b1c1d1e1f..."
    )
    assert told(long[:32], long[:31] + b"\0") == "f:1: w from byte 31 on: expected 1f, n gives 00"
    assert known_answers._shown(long[:16], 0) == long[:16].hex() and known_answers._shown(b"", 0) == "nothing"


def test_a_vectors_key_must_be_one_that_the_cipher_takes() -> None:
    check = known_answers._check_key
    only, range_of = replace(CBC, key_bits=(128, 256)), replace(CBC, key_bits_allowed=(40, 128))
    check(only, vector())  # type: ignore[arg-type]
    for length in (5, 16):
        check(range_of, vector(key=bytes(length)))  # type: ignore[arg-type]
    check(only, vector(key=bytes(3), valid=False))  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"^f:1: a key of 192 bits; aes128-cbc takes 128 or 256$"):
        check(only, vector(key=bytes(24)))  # type: ignore[arg-type]
    for length in (4, 17):
        with pytest.raises(
            InputError, match=rf"^f:1: a key of {8 * length} bits; aes128-cbc takes 40 to 128$"
        ):
            check(range_of, vector(key=bytes(length)))  # type: ignore[arg-type]


def test_all_vectors_go_through_the_oracle_and_every_variant(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    ran: list[Any] = []
    known = [vector(), vector(valid=False, ciphertext=b"no")]
    monkeypatch.setattr(known_answers, "vectors", lambda cipher: iter(known))
    monkeypatch.setattr(known_answers, "oracle", lambda cipher: lambda k, n, a, m: (m[::-1], b"tag"))
    monkeypatch.setattr(
        known_answers, "open_implementation", lambda cipher, body: opened.append(body.variant) or body.variant
    )
    monkeypatch.setattr(known_answers, "_run", lambda engine, one: ran.append((engine, one)))
    assert known_answers.prove(CATALOG, CBC) == 2
    variants = [body.variant for body in CATALOG.implementations_of("aes128-cbc", "host", ("motecrypt",))]
    assert opened == variants and ran == [(variant, one) for variant in variants for one in known]
    monkeypatch.setattr(known_answers, "oracle", lambda cipher: lambda k, n, a, m: (m, b"tag"))
    with pytest.raises(WrongAnswer, match=rf"^f:1: ciphertext: expected 2726.*{CBC.oracle} gives 0001"):
        known_answers.prove(CATALOG, CBC)


def test_how_many_jobs_are_done_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    simulated, native = job(), job(device=CATALOG.device("host"))
    for count, work, expected in (
        *((1, [simulated], 1), (2, [simulated], 3), (2, [simulated, native], 2), (5, [native], 5)),
    ):
        monkeypatch.setattr(measure, "processors", lambda count=count: count)
        assert measure._threads(work) == expected


def test_what_a_simulator_may_take_is_limited_by_its_cycles_first(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[float] = []
    monkeypatch.setattr(passes, "Client", lambda session, limit_s, together: given.append(limit_s))
    for exact in (True, False):
        passes.client_of(SimpleNamespace(cycles_exact=exact, holds_input=True))  # type: ignore[arg-type]
    assert given == [3600.0, 300.0]
    slowest = 12_000_000  # cycles in a second of processor time: a tenth of what any simulator reaches
    assert given[0] * slowest > PUBLIC_KEY_CYCLES_MAX
