"""Set-up and call as a program makes them: what the cache keeps in between, and failures as results."""

from __future__ import annotations

from dataclasses import replace

import pytest

from motecrypt.base.errors import InputError
from motecrypt.build.toolchain import BuildError, BuildRequest
from motecrypt.measuring.experiments import call_sequence
from motecrypt.measuring.experiments.call_sequence import CallSequence
from motecrypt.results import Results

REQUEST = CallSequence(
    device="pico",
    library="motecrypt",
    configuration="default",
    cipher="aes128-cbc",
    key=bytes(range(16)).hex(),
    nonce=bytes(16).hex(),
    message=bytes(48).hex(),
    operation="encrypt",
)


def test_a_call_finds_what_its_set_up_left(results: Results) -> None:
    for request in (REQUEST, replace(REQUEST, operation="decrypt")):
        found = request.ensure(results).outcome
        assert found["call_core_cycles"] > found["setup_core_cycles"] > 0
        assert 0 < found["call_misses_kept"] <= found["call_misses_cold"]
        assert found["code_lines_new"] <= found["code_lines"]
        assert found["table_lines_new"] < found["table_lines"], "the set-up reads the S-box"
        # Lines by the trace and misses by the cache: the same except for what the benchmark's call shares.
        lines = found["code_lines_new"] + found["table_lines_new"]
        assert abs(lines - found["call_misses_kept"]) <= 8
        shares = [share for _, share in found["functions"]]
        assert shares == sorted(shares, reverse=True) and 0 < sum(shares) <= 1.001


def test_it_is_run_once(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    first = REQUEST.ensure(results)
    monkeypatch.setattr(call_sequence, "build", None)
    assert REQUEST.ensure(results).outcome == first.outcome == REQUEST.find(results).outcome  # type: ignore[union-attr]


def test_a_wrong_output_is_no_figure(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_sequence, "oracle", lambda cipher: lambda *given: (bytes(48), b""))
    found = REQUEST.ensure(results).outcome
    assert found == {"failed": "encrypt: the output is not what the oracle gives"}


@pytest.mark.parametrize("transient", [False, True])
def test_a_failure_is_kept_unless_it_is_the_machines(
    transient: bool, results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(request: BuildRequest) -> None:
        if request.implementation.cipher != "empty":
            raise BuildError("aes.c:1: error: no", transient=transient)

    monkeypatch.setattr(call_sequence, "build", refuse)
    assert REQUEST.ensure(results).outcome == {"failed": "aes.c:1: error: no"}
    assert (REQUEST.find(results) is None) == transient


def test_a_compiler_that_builds_nothing_at_all_says_nothing_of_the_library(
    results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(request: BuildRequest) -> None:
        raise BuildError("error: no")

    monkeypatch.setattr(call_sequence, "build", refuse)
    assert REQUEST.ensure(results).outcome == {"failed": "error: no"}
    assert REQUEST.find(results) is None


def test_a_library_that_lacks_the_cipher_is_named(results: Results) -> None:
    with pytest.raises(InputError, match="monocypher/default has no aes128-cbc for pico"):
        replace(REQUEST, library="monocypher").ensure(results)
