"""Questions as results files keep them: an answer stored under one is found by every later version."""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import asdict, replace
from typing import Any

import pytest

from motecrypt.base.errors import InputError
from motecrypt.base.model import ExperimentResult
from motecrypt.catalog import Catalog
from motecrypt.results import experiments
from motecrypt.results.experiments import ExperimentQuestion, host_speed
from motecrypt.results.experiments.audit import AuditQuestion, implementation
from motecrypt.results.experiments.call_sequence import CallQuestion
from motecrypt.results.experiments.crowd import CrowdQuestion
from motecrypt.results.experiments.data_types import DataTypesQuestion
from motecrypt.results.experiments.features import FeatureQuestion
from motecrypt.results.experiments.file_sizes import EncodingQuestion, SizeQuestion
from motecrypt.results.experiments.hardware import HardwareQuestion
from motecrypt.results.experiments.host_speed import SpeedPoint, SpeedQuestion, SpeedRow
from motecrypt.results.experiments.link_cost import LinkCostQuestion
from motecrypt.results.experiments.passwords import PasswordQuestion
from motecrypt.results.experiments.pico_file import FileQuestion
from motecrypt.results.experiments.radio_transfer import TransferQuestion
from motecrypt.results.experiments.recorded import read
from motecrypt.results.experiments.remains import RemainsQuestion
from motecrypt.results.experiments.second_core import SecondCoreQuestion
from motecrypt.results.experiments.serial_write import SerialWriteQuestion
from motecrypt.results.experiments.sketch import SketchQuestion
from motecrypt.results.experiments.wlan_transfer import Spread, WlanQuestion, WlanTransfer, answer_of

CATALOG = Catalog.load()

#: Each with nothing said that has a default: its kind, its version, and what is stored of it.
QUESTIONS: list[tuple[ExperimentQuestion, str, dict[str, Any]]] = [
    (
        AuditQuestion("rc4", "determinism"),
        "audit",
        {
            "cipher": "rc4",
            "implementation": "motecrypt/plain",
            "part": "determinism",
            "seed": 1,
            "quick": False,
        },
    ),
    (
        CallQuestion("pico", "l", "c", "rc4", "00", "01", "02", "encrypt"),
        "call-sequence",
        {
            "device": "pico",
            "library": "l",
            "configuration": "c",
            "cipher": "rc4",
            "key": "00",
            "nonce": "01",
            "message": "02",
            "operation": "encrypt",
        },
    ),
    (
        CrowdQuestion("srf", True, 7.0, ((2, 0.5), (1, 1.0)), 4.0),
        "radio crowd",
        {
            "radio": "srf",
            "confirmed": True,
            "spread_ms": 7.0,
            "networks": [[2, 0.5], [1, 1.0]],
            "seconds": 4.0,
        },
    ),
    (
        DataTypesQuestion("rc4", 128),
        "data-types",
        {
            "cipher": "rc4",
            "key_bits": 128,
            "rounds": 41,
            "kinds": ["text", "image", "audio", "video"],
            "piece_bytes": 65536,
            "samples": 1,
        },
    ),
    (
        SizeQuestion("rc6-cbc", 128, (64, 4096)),
        "file-sizes",
        {"cipher": "rc6-cbc", "key_bits": 128, "sizes": [64, 4096]},
    ),
    (RemainsQuestion(630, toolchain="t"), "plaintext-remains", {"size": 630, "rounds": 16}),
    (SecondCoreQuestion(), "second-core", {"strings": 1000, "lines": 100, "rounds": 8192}),
    (EncodingQuestion(), "encoding-times", {"rounds": 41}),
    (FeatureQuestion("rc4", "opt"), "features", {"cipher": "rc4", "variant": "opt", "seed": 1}),
    (
        SpeedQuestion((SpeedPoint("rc4", 128),)),
        "host-speed",
        {
            "points": [{"cipher": "rc4", "key_bits": 128, "rounds": 0}],
            "message_bytes": 32768,
            "rounds": 31,
            "operations": ["setup", "encrypt", "decrypt"],
            "libraries": ["cryptopp", "libtomcrypt", "openssl"],
        },
    ),
    (
        PasswordQuestion(),
        "password-derivation",
        {"rounds": 5, "hashes": 8192, "argon2id": [65536, 3, 4]},
    ),
    (
        FileQuestion(630),
        "pico-file",
        {
            "size": 630,
            "form": "published",
            "storage": "flash",
            "rounds": 8192,
            "c_library": "bytes",
            "cache": "kept",
        },
    ),
    (
        TransferQuestion("srf", (1, 2), (3.0,)),
        "radio transfer",
        {
            "radio": "srf",
            "message_bytes": [1, 2],
            "timeouts_ms": [3.0],
            "modes": ["T", "C", "P", "B", "safe"],
        },
    ),
    (
        WlanQuestion(9),
        "wlan-transfer",
        {
            "engine": "ns-3",
            "bytes": 9,
            "mode": "adhoc",
            "frame_bytes": 0,
            "phy": "b",
            "protocol": "tcp",
            "distance_m": 4.0,
            "walls_db": 0.0,
            "fading": False,
            "exponent": 3.0,
            "volts": 4.74,
            "milliampere": [284.0, 190.0, 156.0],
            "transmit_dbm": 15.0,
            "seeds": 3,
        },
    ),
    (HardwareQuestion("h0002", "stm32f4"), "hardware", {"row": "h0002", "device": "stm32f4"}),
    (SerialWriteQuestion((1, 9), 3), "serial-write", {"sizes": [1, 9], "rounds": 3}),
    (
        SketchQuestion("rc4d", "rc4-opt", "uno", "9ac7"),
        "sketch",
        {"study": "rc4d", "row": "rc4-opt", "device": "uno", "prints": "9ac7"},
    ),
    (
        LinkCostQuestion("uno", "aes128-ccm8", "tiny", "flash", "node.h", ("-Os",), 7, 12, True),
        "link-cost",
        {
            "device": "uno",
            "cipher": "aes128-ccm8",
            "variant": "tiny",
            "placement": "flash",
            "storage": "node.h",
            "flags": ["-Os"],
            "options": 7,
            "packet_bytes": 12,
            "fixed": True,
        },
    ),
]


def _questions() -> set[type[ExperimentQuestion]]:
    for module in pkgutil.iter_modules(experiments.__path__):
        importlib.import_module(f"{experiments.__name__}.{module.name}")
    return {
        cls for cls in ExperimentQuestion.__subclasses__() if cls.__module__.startswith(experiments.__name__)
    }


def test_every_question_is_among_these() -> None:
    assert _questions() == {type(question) for question, _, _ in QUESTIONS}


@pytest.mark.parametrize(("question", "kind", "asked"), QUESTIONS, ids=lambda value: str(value)[:20])
def test_a_question_is_stored_as_it_was(
    question: ExperimentQuestion, kind: str, asked: dict[str, Any]
) -> None:
    version = 2 if kind == "radio transfer" else 1
    assert (kind, version) == (question.KIND, question.VERSION)
    stored = question.asked()
    if isinstance(question, TransferQuestion | CrowdQuestion):
        assert stored.pop("figures")["serial_baud"] == 115200.0
    if isinstance(question, CrowdQuestion):
        assert stored.pop("sharing")["access"] == "listen"
    assert stored == asked


# --- which implementation an audit is of -------------------------------------------------------------------


def test_the_first_that_runs_on_the_host_is_audited_unless_one_is_named() -> None:
    cipher = CATALOG.cipher("rc4d")
    there = CATALOG.implementations_of("rc4d", "host", ("motecrypt",))
    assert len(there) > 2
    assert implementation(CATALOG, cipher, None) == there[0]
    for body in there:
        assert implementation(CATALOG, cipher, body.variant) == body
        assert implementation(CATALOG, cipher, f"motecrypt/{body.variant}") == body
    known = ", ".join(body.variant for body in there)
    with pytest.raises(InputError, match=rf"^rc4d: no variant 'x' to audit; available: {known}$"):
        implementation(CATALOG, cipher, "x")
    bare = replace(cipher, name="bare")
    with pytest.raises(InputError, match=r"^bare: no variant None to audit; no variant of ours runs on"):
        implementation(CATALOG, bare, None)


# --- how fast this computer is -----------------------------------------------------------------------------


def test_the_sources_six_ciphers_are_timed_in_every_mode_and_length() -> None:
    lengths = {"des": (64,), "3des": (192,), "rc2": (64, 128), "blowfish": (128, 448), "rc6": (128, 192, 256)}
    expected = {
        SpeedPoint(f"{family}-{mode}", bits)
        for mode in ("ecb", "cbc", "ctr")
        for family, keys in lengths.items()
        for bits in keys
    }
    expected |= {SpeedPoint(f"aes{n}-{mode}", n) for mode in ("ecb", "cbc", "ctr") for n in (128, 192, 256)}
    expected |= {SpeedPoint("rc6-ctr", 128, rounds) for rounds in (8, 12, 16, 24)}
    points = host_speed.standard_points()
    assert set(points) == expected and len(points) == len(expected)
    assert all(point.key_bits in CATALOG.cipher(point.cipher).key_bits for point in points)
    assert SpeedPoint("rc6-ecb", 128, 8) in host_speed.standard_points(("cbc", "ecb"))


def test_the_bounds_of_what_is_timed() -> None:
    assert SpeedPoint("rc4", 128) == SpeedPoint("rc4", 128, 0)
    usual = SpeedQuestion()
    assert (usual.message_bytes, usual.rounds) == (32768, 31) and usual.points == host_speed.standard_points()
    right = SpeedQuestion((), message_bytes=16, rounds=5)
    for fits in (right, replace(right, message_bytes=2**24), replace(right, rounds=4096)):
        fits.check()
    for size in (0, 8, 15, 17, 24, 2**24 + 16):
        with pytest.raises(
            InputError, match=rf"^{size} bytes: a multiple of 16 from 16 to 16,777,216 is timed$"
        ):
            replace(right, message_bytes=size).check()
    for rounds in (4, 4097):
        with pytest.raises(InputError, match=rf"^{rounds} rounds: 5 to 4096 make a figure$"):
            replace(right, rounds=rounds).check()
    for name in ("aaa", "nacl", "zzz"):
        with pytest.raises(
            InputError, match=f"^library '{name}': unknown here; choose from libtomcrypt, open"
        ):
            replace(right, libraries=("openssl", name)).check()


def _row(library: str, cycles: float, **changes: Any) -> SpeedRow:
    fixed = {"cipher": "rc4", "key_bits": 128, "rounds": 0, "operation": "encrypt", "bytes": 100}
    return SpeedRow(**{**fixed, "library": library, "cycles": cycles, "wall_ns": 50.0, **changes})


def test_rows_are_compared_with_our_best() -> None:
    ours = [_row("motecrypt/a", 30.0), _row("motecrypt/b", 20.0), _row("motecrypt", 25.0)]
    theirs = [_row("openssl", 10.0), _row("motecryptic/a", 1.0), _row("none", 0.0)]
    assert host_speed.best_of_ours([*theirs, *ours]) == ours[1]
    assert host_speed.best_of_ours(theirs) is None
    assert host_speed.ratio_to([*theirs, *ours], "openssl") == 2.0
    for rows, library in (([*theirs, *ours], "none"), ([*theirs, *ours], "cryptopp"), (theirs, "openssl")):
        assert host_speed.ratio_to(rows, library) is None
    setup = _row("openssl", 10.0, bytes=0)
    assert setup.cycles_per_byte is None
    assert theirs[0].cycles_per_byte == 0.1
    other = [
        _row("x", 1.0, **change) for change in ({"rounds": 8}, {"operation": "decrypt"}, {"key_bits": 64})
    ]
    assert host_speed.grouped([*ours, *other, setup]) == {
        ("rc4", 128, 0, "encrypt"): [*ours, setup],
        ("rc4", 128, 8, "encrypt"): [other[0]],
        ("rc4", 128, 0, "decrypt"): [other[1]],
        ("rc4", 64, 0, "encrypt"): [other[2]],
    }


# --- what is stored of a transfer --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("engine", "told"), [("closed form", "closed form"), ("ns-3", "ns-3"), ("z", "ns-3")]
)
def test_an_answer_names_its_engine(engine: str, told: str) -> None:
    spread = Spread(1.0, 1.0, 1.0, 0.0)
    outcome = asdict(WlanTransfer(spread, spread, spread, spread, spread, complete=True, delivered_bytes=1))
    found = answer_of(ExperimentResult("wlan-transfer", 1, {"engine": engine}, outcome))
    assert found is not None and found.engine == told


def test_of_a_recorded_answer_the_line_that_is_none_is_told(tmp_path: Any) -> None:
    path = tmp_path / "x.jsonl"
    good = (
        '{"kind": "k", "version": 1, "asked": {}, "made_at": "d", "outcome": {}, "motecrypt_version": "0"}\n'
    )
    path.write_text(good)
    assert [answer.experiment.kind for answer in read(path)] == ["k"]
    for bad in ("{", "[]", "{}", '{"asked": 3, "made_at": "d"}', '{"asked": {}, "made_at": "d"}'):
        path.write_text(good + bad)
        with pytest.raises(InputError, match=r"x\.jsonl, line 2: no recorded answer \("):
            read(path)
