"""What ensure promises beyond one cell: tags are checked, differences contain the cipher alone, other
failures than the cipher's are not stored, and stopping keeps finished cells."""

from __future__ import annotations

import signal
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from motecrypt.base.errors import InputError
from motecrypt.base.model import Cell, Implementation, Measurement
from motecrypt.build.toolchain import BuildError, BuildRequest, build
from motecrypt.catalog import Catalog, empty_implementation
from motecrypt.measuring import bench
from motecrypt.measuring.bench import passes
from motecrypt.measuring.bench import task as task_module
from motecrypt.measuring.bench.crew import Crew
from motecrypt.measuring.bench.plan import Job
from motecrypt.results import Results
from motecrypt.simulate.runners import Fault
from motecrypt.simulate.runners.session import DriverSession, Region
from tool_sets import on_devices, skip_without

DATA = Path(__file__).resolve().parents[1] / "data"
CATALOG = Catalog.load(ciphers=[DATA / "faulty", DATA / "tags"])
DEVICES = on_devices(*map(CATALOG.device, ("uno", "pico", "host")))
"""One for each runner; test_devices.py has every device."""


def cells(device: str, cipher: str, length: int = 20, body: Implementation | None = None) -> list[Cell]:
    target = CATALOG.device(device)
    body = body or CATALOG.implementations_of(cipher, device)[0]
    return bench.cells_for(CATALOG, target, body, message_bytes=[length])


def measure(results: Results, device: str, cipher: str) -> list[Measurement]:
    return list(bench.ensure(cells(device, cipher), results, CATALOG).values())


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    ("cipher", "said"),
    [
        ("tags-sound", ""),
        ("tags-unchecked", "answered 'ok' for a tag with a bit flipped in byte 0"),
        ("tags-half-checked", "answered 'ok' for a tag with a bit flipped in byte 3"),
        ("tags-not-wiped", "left the plaintext"),
    ],
)
def test_a_wrong_tag_must_be_refused_and_nothing_shown(
    results: Results, device: str, cipher: str, said: str
) -> None:
    figures = measure(results, device, cipher)
    assert {m.status for m in figures} == {"wrong-output" if said else "ok"}
    assert all(said in m.reason for m in figures)


@pytest.mark.parametrize("operations", [("decrypt",), ("setup", "decrypt"), ("encrypt", "decrypt")])
def test_a_library_may_measure_some_operations_only(results: Results, operations: tuple[str, ...]) -> None:
    body = CATALOG.implementations_of("tags-sound", "uno")[0]
    some = replace(body, operations=operations)  # type: ignore[arg-type]
    figures = bench.ensure(cells("uno", "tags-sound", body=some), results, CATALOG).values()
    assert [(m.operation, m.status) for m in figures] == [(o, "ok") for o in operations]


@pytest.mark.parametrize("device", ["uno", "pico"])
def test_sending_a_tag_is_no_part_of_a_ciphers_flash(results: Results, device: str) -> None:
    """The benchmark firmware of an AEAD sends a tag: so must the one it is compared with."""
    target = CATALOG.device(device)
    skip_without(target.tool_set)
    body = CATALOG.implementations_of("tags-sound", device)[0]
    sized = build(BuildRequest(target, body, "flash"))
    with_tag = build(BuildRequest(target, empty_implementation(4), "flash"))
    assert with_tag.total.flash > build(BuildRequest(target, empty_implementation(), "flash")).total.flash
    figures = bench.ensure(cells(device, "tags-sound"), results, CATALOG)
    assert {m.flash_bytes for m in figures.values()} == {sized.total.flash - with_tag.total.flash}


@pytest.mark.parametrize("memory", ["ram", "flash"])
def test_a_firmware_fits_up_to_the_last_byte(results: Results, memory: str) -> None:
    target, body = CATALOG.device("uno"), CATALOG.implementations_of("faulty-not", "uno")[0]
    needed = getattr(build(BuildRequest(target, body, "flash")).total, memory)
    for size, status in ((needed, "ok"), (needed - 1, "does-not-fit")):
        smaller = {**target.memory, memory: replace(target.memory[memory], bytes=size)}
        catalog = replace(CATALOG, devices={**CATALOG.devices, "uno": replace(target, memory=smaller)})
        wanted = bench.cells_for(catalog, catalog.device("uno"), body, message_bytes=[20])
        figures = bench.ensure(wanted, results, catalog).values()
        assert {m.status for m in figures} == {status}
        assert status == "ok" or all(f"{needed:,} of {size:,} bytes" in m.reason for m in figures)


def test_of_many_inputs_the_deepest_stack_and_the_middle_cycles_count(
    results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each input's figures differ here, by what the runner says of it."""
    told = DriverSession.regions
    seen = iter(range(10**6))

    def varied(session: DriverSession) -> list[Region]:
        return [
            replace(
                region, cycles=region.cycles + 100 * (index := next(seen) % 7), stack_bytes=20 + 3 * index
            )
            for region in told(session)
        ]

    monkeypatch.setattr(DriverSession, "regions", varied)
    monkeypatch.setattr(passes, "_overheads", {})
    figures = measure(results, "uno", "faulty-not")
    assert {m.stack_bytes for m in figures} == {20 + 3 * 6}
    for m in figures:
        assert m.cycles_min is not None and m.cycles_max is not None and m.cycles_median is not None
        assert m.cycles_max - m.cycles_min == 600 and m.cycles_min < m.cycles_median < m.cycles_max


@pytest.mark.parametrize(
    "error",
    [
        BuildError("avr-gcc: killed after 120 s", transient=True),
        Fault("the simulator ended with -9", transient=True),
    ],
)
def test_what_says_nothing_of_the_cipher_is_tried_again(
    results: Results, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    with monkeypatch.context() as patched:
        patched.setattr(task_module, "build" if isinstance(error, BuildError) else "run_passes", fail)
        assert {m.status for m in measure(results, "uno", "faulty-not")} <= {"build-failed", "fault"}
    assert {m.status for m in measure(results, "uno", "faulty-not")} == {"ok"}


@pytest.mark.parametrize(("sent", "transient"), [(signal.SIGKILL, True), (signal.SIGSEGV, False)])
def test_a_simulator_that_someone_ended_is_no_fault_of_the_firmware(
    sent: signal.Signals, transient: bool
) -> None:
    with DriverSession(["sh", "-c", f"kill -{sent.value} $$"]) as session, pytest.raises(Fault) as told:
        session.read(time.monotonic() + 10)
    assert told.value.transient is transient


def test_a_source_changed_on_the_way_gives_no_figure(
    results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else figures of the old source would be stored under the new one's key."""
    made = task_module.build

    def changed(request: BuildRequest, key: str | None = None) -> object:
        return replace(made(request, key), key="of another source")

    monkeypatch.setattr(task_module, "build", changed)
    figures = measure(results, "uno", "faulty-not")
    assert {m.status for m in figures} == {"build-failed"}
    assert all("changed in the meantime" in m.reason and m.extra["transient"] for m in figures)


def test_stopping_is_prompt_and_keeps_what_is_done(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    started = threading.Event()
    ran = task_module.run_passes

    def slow(job: Job, *rest: object) -> object:
        if started.is_set():
            job.stop.wait(30)
        started.set()
        return ran(job, *rest)  # type: ignore[arg-type]

    def interrupted(crew: Crew, timeout_s: float) -> object:
        started.wait(30)
        raise KeyboardInterrupt
        yield

    monkeypatch.setattr(task_module, "run_passes", slow)
    monkeypatch.setattr(Crew, "ended", interrupted)
    target, body = CATALOG.device("uno"), CATALOG.implementations_of("faulty-not", "uno")[0]
    wanted = bench.cells_for(CATALOG, target, body, message_bytes=range(16, 80))
    with pytest.raises(KeyboardInterrupt):
        bench.ensure(wanted, results, CATALOG)
    kept = {m.message_bytes for m in results.measurements(status="ok")}
    assert len(kept) < 3
    if kept:
        assert min(kept) == 16


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("def encrypt(", "SyntaxError"),
        ("import nothing_of_that_name", "nothing_of_that_name"),
        ("decrypt = 1", "encrypt"),
        ("def encrypt(*a): raise KeyError('x')", "encrypt() failed for"),
        ("def encrypt(*a): return 1", "must return (ciphertext, tag)"),
        ("def encrypt(c, k, n, a, m): return m[:-1], b''", "19 bytes and a tag of 0"),
    ],
)
def test_an_oracle_that_cannot_answer_is_one_line(
    results: Results, tmp_path: Path, code: str, said: str
) -> None:
    for path in (DATA / "faulty").iterdir():
        if path.is_file():
            (tmp_path / path.name).write_text(path.read_text().replace("faulty-", "oracled-"))
    (tmp_path / "oracle.py").write_text(code)
    catalog = Catalog.load(ciphers=[tmp_path])
    body = catalog.implementations_of("oracled-not", "uno")[0]
    wanted = bench.cells_for(catalog, catalog.device("uno"), body, message_bytes=[20])
    with pytest.raises(InputError) as told:
        bench.ensure(wanted, results, catalog)
    assert said in str(told.value) and "oracle.py" in str(told.value)
    assert not results.measurements()
