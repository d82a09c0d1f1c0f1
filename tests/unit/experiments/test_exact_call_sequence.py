"""Set-up and call of a library: what is stored of each step."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from motecrypt.base.errors import FailureKind, InputError
from motecrypt.base.frames import ProtocolError
from motecrypt.build.toolchain import BuildError
from motecrypt.measuring.experiments import call_sequence
from motecrypt.results import Results
from motecrypt.simulate.runners import Fault, Region

FIRST = [0x100, 0x102, 0x20, 0x102, 0x24, 0x102, 0x28, 0x100, 0x100]
SECOND = [0x104, 0x30, 0x102, 0x34, 0x102, 0x38]


def test_a_trace_is_read_by_regions() -> None:
    dump = "100 ffffffff\n102 20\n102 24\n102 28\n100 ffffffff\n100 ffffffff\nend\n"
    dump += "104 30\n102 34\n102 38\nend\n106 1\n"
    assert call_sequence._regions_of(dump) == [
        call_sequence._Traced({0x100, 0x102}, {0x20, 0x24, 0x28}, {0x100: 3, 0x102: 1}, FIRST),  # type: ignore[arg-type]
        call_sequence._Traced({0x104, 0x102}, {0x30, 0x34, 0x38}, {0x104: 1, 0x102: 1}, SECOND),  # type: ignore[arg-type]
    ]


CALL = call_sequence.CallSequence(
    *("pico", "motecrypt", "default", "aes128-cbc", bytes(range(16)).hex(), bytes(16).hex(), bytes(48).hex()),
    operation="encrypt",
)


def test_costs_are_less_those_of_measuring(monkeypatch: pytest.MonkeyPatch) -> None:
    firmware = {"empty": SimpleNamespace(name="empty"), "real": SimpleNamespace(name="real")}
    firmware["real"].total = SimpleNamespace(flash=4321)
    monkeypatch.setattr(
        call_sequence,
        "build",
        lambda request: firmware["empty" if request.implementation.cipher == "empty" else "real"],
    )
    misses = {"kept": 10, "cold": 20, "warm": 40}
    opened: list[tuple[str, str, bool]] = []

    def sequence(
        self: object, device: object, made: Any, options: Any, *, checked: bool = True
    ) -> tuple[Region, Region]:
        opened.append((made.name, options.cache, checked))
        extra = misses[options.cache]
        if made.name == "empty":
            return Region(7, extra={"cache_misses": 1}), Region(9, extra={"cache_misses": extra - 4})
        return Region(100, extra={"cache_misses": extra}), Region(300, extra={"cache_misses": extra + 1})

    monkeypatch.setattr(call_sequence.CallSequence, "_sequence", sequence)
    monkeypatch.setattr(call_sequence.CallSequence, "_profile", lambda *_: {"functions": []})
    assert CALL._run() == {
        "flash_bytes_of_firmware": 4321,
        "setup_misses_kept": 9,
        "call_misses_kept": 5,
        "setup_misses_cold": 19,
        "call_misses_cold": 5,
        "setup_core_cycles": 93,
        "call_core_cycles": 291,
        "functions": [],
    }
    assert opened == [
        (name, cache, name == "real") for cache in ("kept", "cold", "warm") for name in ("real", "empty")
    ]
    misses["kept"] = -50

    def fewer(self: object, device: object, made: Any, options: Any, **_: Any) -> tuple[Region, Region]:
        count = 5 if made.name == "empty" else 4
        return Region(1, extra={"cache_misses": count}), Region(1, extra={"cache_misses": count + 1})

    monkeypatch.setattr(call_sequence.CallSequence, "_sequence", fewer)
    assert CALL._run()["call_misses_kept"] == 0


def test_where_instructions_and_lines_lie(monkeypatch: pytest.MonkeyPatch) -> None:
    device, _ = CALL._subject()
    base = device.memory["flash"].address if hasattr(device.memory["flash"], "address") else 0x10000000
    line = int(device.simulator["flash_cache"]["line_bytes"])
    functions = {"low": base + 1, "high": base + 10 * line + 1, "sram": 0x20000001}
    monkeypatch.setattr(call_sequence, "symbols", lambda elf: functions)

    def sequence(self: object, device: object, made: Any, options: Any) -> tuple[Region, Region]:
        assert options.trace and options.cache == "none"
        setup = [(base, None), (base + 2, base + 20 * line), (base + 20 * line, 0x20000000)]
        call = [(base, None)] * 3 + [
            (base + 11 * line, base + 20 * line + 4),
            (base + 10 * line, base + 30 * line),
        ]
        call += [(base + 11 * line + 2, base + 11 * line), (0x20000000, base + 31 * line)]
        text = ""
        for region in (setup, call):
            text += (
                "".join(f"{pc:x} {'ffffffff' if a is None else format(a, 'x')}\n" for pc, a in region)
                + "end\n"
            )
        options.dump.write_text(text)
        return Region(0), Region(0)

    monkeypatch.setattr(call_sequence.CallSequence, "_sequence", sequence)
    found = CALL._profile(device, SimpleNamespace(elf=None))  # type: ignore[arg-type]
    # 2,048 other lines fill all sets. The set-up has lines 0 and 20 back; 10, 11, 30 and 31 are missed.
    after = dict(found.pop("misses_after"))
    assert list(after) == list(range(0, 2049, 128))
    assert [after[lines] for lines in (0, 1024, 1920, 2048)] == [0, 0, 0, 4]
    assert found == {
        "code_lines": 3,  # base, 10 and 11: SRAM has no lines
        "code_lines_new": 2,
        "table_lines": 3,  # 20, 30 and 31; the read of line 11 is of code
        "table_lines_new": 2,
        "functions": [["high", 0.571], ["low", 0.429]],
    }


class FakeClient:
    """The firmware's other end: keeps what it is asked, and answers with an output."""

    asked: ClassVar[list[Any]] = []
    output = b""

    def __init__(self, session: Any, timeout_s: float) -> None:
        self.asked[:] = [(session, timeout_s)]

    def run(self, *arguments: Any) -> SimpleNamespace:
        self.asked.append(("run", *arguments))
        return SimpleNamespace(output=self.output)

    def __getattr__(self, name: str) -> Any:
        return lambda *arguments: self.asked.append((name, *arguments))


def test_what_the_firmware_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Any] = []

    class Session:
        def __enter__(self) -> str:
            return self  # type: ignore[return-value]

        def __exit__(self, *_: object) -> None:
            opened.append("closed")

        def regions(self) -> list[Region]:
            return [Region(1), Region(2)]

    session = Session()
    runner = SimpleNamespace(open_session=lambda *a: opened.append(a) or session)
    monkeypatch.setattr(call_sequence, "runner_of", lambda name: runner)
    monkeypatch.setattr(call_sequence, "Client", FakeClient)
    device, _ = CALL._subject()
    firmware: Any = SimpleNamespace(elf="elf", data_end=77)
    from Crypto.Cipher import AES

    sealed = AES.new(bytes(range(16)), AES.MODE_CBC, bytes(16)).encrypt(bytes(48))
    decrypts = replace(CALL, operation="decrypt")
    for request, given, wanted in ((CALL, bytes(48), sealed), (decrypts, sealed, bytes(48))):
        for output, checked, right in (
            (wanted, True, True),
            (b"\0", True, False),
            (b"\xff" * 48, True, False),
            (b"", False, True),
        ):
            FakeClient.output = output
            options = call_sequence.Options(cache="cold")
            if right:
                made = request._sequence(device, firmware, options, checked=checked)
                assert made == (Region(1), Region(2))
            else:
                with pytest.raises(
                    ProtocolError, match=f"^{request.operation}: the output is not what the or"
                ):
                    request._sequence(device, firmware, options)
            assert FakeClient.asked == [
                (session, 60.0),
                ("wait_ready",),
                ("set_key", bytes(range(16))),
                ("set_nonce", bytes(16)),
                ("set_message", given),
                ("run", "setup", 1, 0),
                ("run", request.operation, 1, 0),
            ]
            assert opened == [(device, "elf", 77, options), "closed"]
            opened.clear()


@pytest.mark.parametrize("error", [BuildError, ProtocolError, Fault])
@pytest.mark.parametrize("transient", [False, True])
def test_a_failed_sequence_is_kept_unless_it_is_the_machines(
    error: Any, transient: bool, results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: object) -> None:
        raise error("no", transient=transient)

    monkeypatch.setattr(call_sequence, "key_of", lambda request: "a build")
    monkeypatch.setattr(call_sequence, "runner_of", lambda name: SimpleNamespace(identity=lambda device: "r"))
    monkeypatch.setattr(call_sequence.CallSequence, "_run", fail)
    assert CALL.ensure(results).outcome == {"failed": "no"}
    assert (CALL.find(results) is None) == transient


def test_where_nothing_at_all_builds_that_says_nothing_of_the_library(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(request: object) -> None:
        raise BuildError("no", kind=FailureKind.SILENT)

    monkeypatch.setattr(call_sequence, "build", refuse)
    with pytest.raises(BuildError, match=r"^no$") as refused:
        CALL._run()
    assert refused.value.transient and refused.value.kind is FailureKind.SILENT
    with pytest.raises(InputError, match=r"^none/default has no aes128-cbc for pico$"):
        replace(CALL, library="none")._subject()
    with pytest.raises(InputError, match=r"^motecrypt/other has no aes128-cbc for pico$"):
        replace(CALL, configuration="other")._subject()


def test_the_four_functions_with_the_most_instructions_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    device, _ = CALL._subject()
    base = 0x10000000
    monkeypatch.setattr(call_sequence, "symbols", lambda elf: {f"f{n}": base + 64 * n + 1 for n in range(6)})

    def sequence(self: object, device: object, made: Any, options: Any) -> tuple[Region, Region]:
        lines = [f"{base + 64 * n + 2 * k:x} ffffffff\n" for n in range(6) for k in range(n + 1)]
        options.dump.write_text("end\n" + "".join(lines) + f"{0x20000000:x} ffffffff\n" * 3 + "end\n")
        return Region(0), Region(0)

    monkeypatch.setattr(call_sequence.CallSequence, "_sequence", sequence)
    found = CALL._profile(device, SimpleNamespace(elf=None))  # type: ignore[arg-type]
    assert found["functions"] == [["f5", 0.375], ["f4", 0.208], ["f3", 0.167], ["f2", 0.125]]
    monkeypatch.setattr(call_sequence, "symbols", lambda elf: {"late": base + 64 * 5 + 1})
    assert CALL._profile(device, SimpleNamespace(elf=None))["functions"][0] == ["?", 0.625]  # type: ignore[arg-type]


def test_a_progress_line_and_what_is_stored(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_sequence, "key_of", lambda request: "a build")
    monkeypatch.setattr(call_sequence, "runner_of", lambda name: SimpleNamespace(identity=lambda device: "r"))
    monkeypatch.setattr(call_sequence.CallSequence, "_run", lambda self: {"failed": "x"})
    said: list[str] = []
    found = CALL.ensure(results, said.append)
    assert said == ["motecrypt aes128-cbc encrypt after its set-up"]
    assert found.inputs == {
        **CALL.asked(),
        "build": "a build",
        "runner": "r",
        "code": call_sequence._code_hash(),
    }
    assert len(call_sequence._code_hash()) == 16

    def refuse(request: object) -> str:
        raise BuildError("no compiler")

    monkeypatch.setattr(call_sequence, "key_of", refuse)
    assert CALL._inputs()["build"] == "unbuildable: no compiler"
