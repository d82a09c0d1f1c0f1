"""A house rule: what is computed, read or built once and then kept is named here, so that it stays so."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "motecrypt"

KEPT = {
    "advise/exchange.py: exchange",
    "advise/gather.py: supplies",
    "advise/link_data.py: link_facts",
    "advise/protection.py: resistances",
    "audits/runs/__init__.py: _code",
    "bench/keys.py: _oracle_hash",
    "bench/passes.py: _expected",
    "bench/publickey.py: _cases",
    "catalog/__init__.py: _load",
    "catalog/accelerators.py: accelerators",
    "catalog/oracles.py: _oracle_module",
    "catalog/processors.py: _kept",
    "catalog/publickey_oracles.py: _module",
    "cluster/copies.py: running_copy",
    "cluster/worker.py: _site",
    "experiments/crowd.py: _code_hash",
    "emulate/avr_names.py: register_names",
    "export/examples.py: all_examples",
    "studies/rf/alternatives.py: alternatives",
    "experiments/call_sequence.py: _code_hash",
    "experiments/features.py: _code_hash",
    "experiments/link_cost.py: _code_hash",
    "experiments/host_speed.py: _adapter",
    "experiments/host_speed.py: expected_digest",
    "experiments/host_speed.py: _pattern_digest",
    "experiments/host_speed.py: library_version",
    "experiments/transfer_wlan.py: _source_hash",
    "experiments/transfer_wlan.py: program",
    "export/library.py: _environment",
    "hardware/bounds.py: recorded_residuals",
    "hardware/rows.py: _shortest",
    "hardware/rows.py: rows",
    "hardware/rows.py: settings",
    "findings/answers.py: _hints",
    "leakage/targets.py: _ascon_values",
    "leakage/targets.py: aes_inverse_sbox",
    "leakage/targets.py: aes_round_keys",
    "leakage/targets.py: aes_sbox",
    "leakage/targets.py: targets",
    "link/lengths.py: link_lengths",
    "findings/pico_file.py: storage_times",
    "publickey/rows.py: _kept",
    "radios/catalog.py: _radios",
    "results/columns.py: columns",
    "results/schema.py: statements",
    "runners/host.py: _described",
    "runners/host.py: _processor",
    "setup/kits.py: kits",
    "setup/systems.py: systems",
    "studies/pico/figures.py: printed",
    "studies/pico/figures.py: printed_ciphertexts",
    "studies/rc4d/figures.py: printed",
    "studies/rc4d/sketches.py: _recorded",
    "studies/rf/printed.py: rows",
    "studies/wlan/hypotheses.py: _air_seconds",
    "studies/wlan/plan.py: published",
    "toolchain/debian.py: listed",
    "toolchain/drivers.py: driver",
    "toolchain/drivers.py: driver_identity",
    "toolchain/includes.py: _read_once",
    "toolchain/includes.py: _resolved",
    "toolchain/link.py: link_library",
    "toolchain/link.py: open_library",
    "toolchain/native.py: _library",
    "toolchain/libraries.py: library",
    "toolchain/objects.py: _text",
    "toolchain/pinned.py: architecture",
    "toolchain/toolchain.py: identity",
    "toolchain/toolchain.py: installed_file",
    "toolchain/toolchain.py: runtime",
    "wlan/parameters.py: _document",
    "wlan/tkip.py: _mixing_table",
    "wlan/tkip.py: mix_phase1",
}


def cached() -> Iterator[tuple[str, str]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text()
        if "@cache" not in text and "@lru_cache" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef):
                for decorator in map(ast.unparse, node.decorator_list):
                    if decorator.partition("(")[0] in ("cache", "lru_cache"):
                        yield f"{path.relative_to(PACKAGE).as_posix()}: {node.name}", decorator


def test_what_costs_much_is_kept() -> None:
    found = list(cached())
    assert {where for where, _ in found} == KEPT
    assert not [where for where, decorator in found if "maxsize=0" in decorator]
