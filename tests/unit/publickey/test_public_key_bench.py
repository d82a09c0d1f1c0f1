"""Public-key operations in the benchmark firmware: what is right is counted, what is wrong is a failure."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from motecrypt.base.errors import FailureKind, InputError
from motecrypt.base.model import Measurement, Operation
from motecrypt.build.toolchain.known_answers import WrongAnswer
from motecrypt.build.toolchain.public_key_answers import prove_public_key, run_natively
from motecrypt.catalog import Catalog
from motecrypt.catalog.publickey import PublicKeyAlgorithm
from motecrypt.catalog.publickey_oracles import PublicKeyOracle
from motecrypt.measuring import bench
from motecrypt.measuring.bench import publickey
from motecrypt.measuring.bench.plan import PUBLIC_KEY_CYCLES_MAX, public_key_device
from motecrypt.results import Results

TOY = Path(__file__).parents[3] / "examples" / "toydh"
SIGNATURE = """
title = "a sum for a signature"
source = "this test"

[[algorithm]]
name = "sum"
kind = "signature"
key_bits = 8
sizes = { seed = 2, secret = 2, public = 2, signature = 4 }

[[implementation]]
algorithms = ["sum"]
operations = ["keygen", "sign", "verify"]
sources = ["sum.c"]
"""
SUM = """
#include "publickey.h"
#include <string.h>
static uint8_t sum(const uint8_t *key, const uint8_t *message, size_t bytes) {
    uint8_t value = (uint8_t)(key[0] + key[1]);
    while (bytes--) {
        value = (uint8_t)(value + *message++);
    }
    return value;
}
uint8_t public_key_keygen(uint8_t *secret_key, uint8_t *public_key, const uint8_t *seed) {
    memcpy(secret_key, seed, 2);
    memcpy(public_key, seed, 2);
    return PUBLIC_KEY_OK;
}
uint8_t public_key_sign(uint8_t *signature, const uint8_t *secret_key, const uint8_t *message, size_t bytes) {
    memset(signature, sum(secret_key, message, bytes), 4);
    return PUBLIC_KEY_OK;
}
uint8_t public_key_verify(const uint8_t *public_key, const uint8_t *signature, const uint8_t *message,
                          size_t bytes) {
    uint8_t value = sum(public_key, message, bytes);
    return signature[0] == value && signature[2] == value ? PUBLIC_KEY_OK : PUBLIC_KEY_REFUSED;
}
"""
SUM_ORACLE = """
def keygen(name, seed):
    return seed, seed

def sign(name, secret, message):
    return bytes([(sum(secret) + sum(message)) % 256]) * 4
"""


def _measured(
    folder: Path, tmp_path: Path, device: str, *, message_bytes: tuple[int, ...] = (16,)
) -> dict[tuple[Operation, int], Measurement]:
    catalog = Catalog.load(public_keys=[folder])
    (name,) = (a.name for a in catalog.public_keys.values() if a.folder == folder.resolve())
    cells = [
        cell
        for body in catalog.public_key_implementations_of(name, device)
        for cell in bench.public_key_cells(catalog, catalog.device(device), body, message_bytes=message_bytes)
    ]
    with Results(tmp_path / "results.db") as results:
        measured = bench.ensure(cells, results, catalog)
        assert len(results.newest_measurements(cipher=name)) == len(cells)
    return {(cell.operation, cell.message_bytes): m for cell, m in measured.items()}


def _copy(tmp_path: Path, before: str = "", after: str = "") -> Path:
    folder = tmp_path / "toydh"
    shutil.copytree(TOY, folder)
    source = folder / "toydh.c"
    assert before in source.read_text()
    source.write_text(source.read_text().replace(before, after))
    return folder


def _signature(tmp_path: Path, source: str = SUM) -> Path:
    folder = tmp_path / "sum"
    folder.mkdir()
    (folder / "algorithm.toml").write_text(SIGNATURE)
    (folder / "sum.c").write_text(source)
    (folder / "oracle.py").write_text(SUM_ORACLE)
    return folder


@pytest.mark.parametrize("device", ["uno", "stm32f4", "host"])
def test_an_algorithm_of_the_users_own_is_measured(tmp_path: Path, device: str) -> None:
    found = _measured(TOY, tmp_path, device)
    assert set(found) == {("keygen", 0), ("agree", 0)}
    for (operation, _), m in found.items():
        assert (m.status, m.reason, m.operation, m.key_bits) == ("ok", "", operation, 31)
        assert m.cycles_median and m.cycles_median > 50 and m.inputs == 4
        assert m.flash_bytes and m.stack_bytes is not None
        assert m.ram_bytes is not None and m.ram_bytes < 100, "the benchmark's own buffers do not count"
    if device != "host":
        assert all(m.timing_varies for m in found.values()), "dividing takes longer for some numbers"


def test_a_wrong_result_is_a_failure(tmp_path: Path) -> None:
    found = _measured(_copy(tmp_path, "bit < 32", "bit < 31"), tmp_path, "stm32f4")
    for m in found.values():
        assert (m.status, m.cycles_median) == ("wrong-output", None)
        assert m.reason.startswith(f"{m.operation}: byte ") and m.extra["failure"] == FailureKind.WRONG_BYTES


def test_a_refusal_of_what_is_valid_is_a_failure(tmp_path: Path) -> None:
    m = _measured(_copy(tmp_path, "point == 0 ||", "point != 0 ||"), tmp_path, "host")[("agree", 0)]
    assert (m.status, m.extra["failure"]) == ("wrong-output", FailureKind.WRONG_STATUS)
    assert m.reason == "agree answered 'bad tag', the oracle 'ok'"


def test_a_signature_is_of_the_message_and_a_wrong_one_is_refused(tmp_path: Path) -> None:
    found = _measured(_signature(tmp_path), tmp_path, "host", message_bytes=(16, 64, 65))
    assert [key for key, m in found.items() if m.status == "ok"] == [
        *(("keygen", 0), ("sign", 16), ("sign", 64), ("verify", 16), ("verify", 64)),
    ]
    for operation in ("sign", "verify"):
        m = found[operation, 65]
        assert (m.status, m.shortfall and m.shortfall.missing) == ("does-not-fit", 1)


def test_a_verification_that_accepts_anything_is_a_failure(tmp_path: Path) -> None:
    trusting = SUM.replace("signature[0] == value && signature[2] == value", "signature[0] || value + 1")
    m = _measured(_signature(tmp_path, trusting), tmp_path, "host")[("verify", 16)]
    assert (m.status, m.extra["failure"]) == ("wrong-output", FailureKind.WRONG_TAG_ACCEPTED)
    assert m.reason == "verify answered 'ok', the oracle 'bad tag'"


def test_what_does_not_fit_says_by_how_much(tmp_path: Path) -> None:
    catalog = Catalog.load()
    device = catalog.device("uno")
    body = next(
        body
        for body in catalog.public_key_implementations_of("x25519", "uno", ["monocypher"])
        if body.operations == ("agree",)
    )
    (cell,) = bench.public_key_cells(catalog, device, body, message_bytes=())
    with Results(tmp_path / "results.db") as results:
        m = bench.ensure([cell], results, catalog)[cell]
    if m.extra.get("failure") == FailureKind.MISSING:
        pytest.skip(m.reason)
    assert m.status == "does-not-fit" and m.shortfall is not None
    assert (m.shortfall.memory, m.shortfall.available) == ("flash", 32768)
    assert 0 < m.shortfall.missing < 16384


def test_an_agreement_runs_on_a_chip(tmp_path: Path) -> None:
    catalog = Catalog.load()
    body = next(
        body
        for body in catalog.public_key_implementations_of("x25519", "stm32f4", ["bearssl"])
        if body.operations == ("agree",) and body.variant == "m31"
    )
    cells = bench.public_key_cells(catalog, catalog.device("stm32f4"), body, message_bytes=())
    with Results(tmp_path / "results.db") as results:
        (m,) = bench.ensure(cells, results, catalog).values()
    if m.extra.get("failure") == FailureKind.MISSING:
        pytest.skip(m.reason)
    assert m.status == "ok" and m.cycles_median is not None
    assert 1_000_000 < m.cycles_median < 10_000_000


def test_the_firmware_holds_what_goes_in_and_what_comes_out() -> None:
    catalog = Catalog.load(public_keys=[TOY])
    algorithm, device = catalog.public_key("x25519"), catalog.device("uno")
    bodies = {body.operations[0]: body for body in catalog.public_key_implementations_of("x25519", "uno")}
    changed = public_key_device(device, algorithm, bodies["keygen"])
    assert dict(changed.bench) == {"key": 16, "nonce": 1, "ad": 1, "message": 96}
    assert changed.simulator["max_cycles"] == PUBLIC_KEY_CYCLES_MAX
    toy = next(iter(catalog.public_key_implementations_of("toydh", "uno")))
    assert public_key_device(device, catalog.public_key("toydh"), toy).bench["message"] == 16
    signer = next(b for b in catalog.public_key_implementations_of("ed25519") if b.operations == ("sign",))
    changed = public_key_device(catalog.device("host"), catalog.public_key("ed25519"), signer)
    assert dict(changed.bench) == {"key": 16, "nonce": 1, "ad": 64, "message": 128}
    assert "max_cycles" not in changed.simulator


def test_inputs_have_secrets_of_few_and_of_many_ones() -> None:
    algorithm = Catalog.load().public_key("x25519")
    cases = publickey.cases_of(algorithm, "agree", 0)
    secrets = [case.given[:32] for case in cases]
    assert len(set(secrets)) == 4 and secrets[2] == bytes(31) + b"\1" and secrets[3] == b"\xff" * 31 + b"\xfe"
    assert len({case.given[32:] for case in cases}) == 4
    oracle = PublicKeyOracle(algorithm)
    assert all(case.expected == oracle.agree(case.given[:32], case.given[32:]) for case in cases)
    verified = publickey.cases_of(Catalog.load().public_key("ed25519"), "verify", 16)
    assert [case.valid for case in verified] == [True, True, True, True, False]
    assert all(len(case.message) == 16 for case in verified)


def test_known_answers_of_a_folder_are_run(tmp_path: Path) -> None:
    catalog = Catalog.load(public_keys=[TOY])
    assert prove_public_key(catalog, catalog.public_key("toydh")) == 3
    wrong = Catalog.load(public_keys=[_copy(tmp_path, "point >= PRIME", "point > PRIME")])
    with pytest.raises(
        WrongAnswer, match=r"vector 3 \(not a number.*refused, motecrypt agree gives 00000000"
    ):
        prove_public_key(wrong, wrong.public_key("toydh"))


def test_an_implementation_runs_on_this_computer() -> None:
    catalog = Catalog.load(public_keys=[TOY])
    algorithm = catalog.public_key("toydh")
    bodies = {body.operations[0]: body for body in catalog.public_key_implementations_of("toydh", "host")}
    assert run_natively(algorithm, bodies["agree"], bytes([0, 0, 0, 2, 0, 0, 0, 7])) == bytes([0, 0, 0, 49])
    assert run_natively(algorithm, bodies["agree"], bytes(8)) is None


def test_an_oracle_of_the_wrong_shape_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "toydh"
    shutil.copytree(TOY, folder)
    (folder / "oracle.py").write_text("def keygen(name, seed): return seed, seed[:3]\n")
    algorithm: PublicKeyAlgorithm = Catalog.load(public_keys=[folder]).public_key("toydh")
    oracle = PublicKeyOracle(algorithm)
    with pytest.raises(InputError, match=r"must return secret \(4 bytes\) and public \(4 bytes\) for toydh"):
        oracle.keygen(bytes(4))
    with pytest.raises(InputError, match="no function 'agree'"):
        oracle.agree(bytes(4), bytes(4))
