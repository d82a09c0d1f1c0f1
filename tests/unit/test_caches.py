"""A house rule: what is computed, read or built once and then kept is named here, so that it stays so."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from lint.sources import everything

KEPT = {
    "catalog/recorded_rows.py: _hints",
    "adviser/exchange.py: exchange",
    "adviser/gather.py: supplies",
    "adviser/link_data.py: link_facts",
    "adviser/protection.py: resistances",
    "measuring/audits/__init__.py: _code",
    "measuring/bench/keys.py: _oracle_hash",
    "measuring/bench/passes.py: _expected",
    "measuring/bench/publickey.py: _cases",
    "catalog/__init__.py: _load",
    "catalog/accelerators.py: accelerators",
    "catalog/oracles.py: _oracle_module",
    "catalog/processors.py: _kept",
    "catalog/publickey_oracles.py: _module",
    "measuring/cluster/copies.py: running_copy",
    "measuring/cluster/worker.py: _site",
    "measuring/experiments/crowd.py: _code_hash",
    "base/descriptor.py: _this_module",
    "simulate/emulate/avr_names.py: register_names",
    "exports/examples.py: all_examples",
    "studies/rf/alternatives.py: alternatives",
    "measuring/experiments/call_sequence.py: _code_hash",
    "measuring/experiments/features.py: _code_hash",
    "measuring/experiments/link_cost.py: _code_hash",
    "measuring/experiments/host_speed.py: _adapter",
    "measuring/experiments/host_speed.py: expected_digest",
    "measuring/experiments/host_speed.py: _pattern_digest",
    "measuring/experiments/host_speed.py: library_version",
    "measuring/experiments/transfer_wlan.py: _source_hash",
    "measuring/experiments/transfer_wlan.py: program",
    "exports/library.py: environment",
    "adviser/hardware/bounds.py: recorded_bounds",
    "adviser/hardware/recorded.py: recorded_residuals",
    "adviser/hardware/rows.py: _shortest",
    "adviser/hardware/rows.py: rows",
    "adviser/hardware/rows.py: settings",
    "results/experiments/answers.py: _hints",
    "attack/leakage/targets.py: _ascon_values",
    "attack/leakage/targets.py: aes_inverse_sbox",
    "attack/leakage/targets.py: aes_round_keys",
    "attack/leakage/targets.py: aes_sbox",
    "attack/leakage/targets.py: targets",
    "link/lengths.py: link_lengths",
    "results/experiments/pico_file.py: storage_times",
    "adviser/publickey/rows.py: _kept",
    "adviser/publickey/rows.py: kept_rows",
    "present/report/page.py: _environment",
    "air/radios/catalog.py: _radios",
    "present/report/translate.py: javascript",
    "present/report/translate_source.py: is_module",
    "present/report/translate_source.py: read_module",
    "results/columns.py: columns",
    "results/schema.py: statements",
    "simulate/runners/host.py: _described",
    "simulate/runners/host.py: _processor",
    "build/setup/tool_sets.py: tool_sets",
    "build/setup/systems.py: systems",
    "studies/pico/figures.py: printed",
    "studies/pico/figures.py: printed_ciphertexts",
    "studies/rc4d/figures.py: printed",
    "studies/rc4d/sketches.py: _recorded",
    "studies/rf/printed.py: rows",
    "studies/words.py: words",
    "studies/wlan/hypotheses.py: _air_seconds",
    "studies/wlan/plan.py: published",
    "build/toolchain/debian.py: listed",
    "build/toolchain/drivers.py: driver",
    "build/toolchain/drivers.py: driver_identity",
    "build/toolchain/includes.py: _names_in",
    "build/toolchain/includes.py: _read_once",
    "build/toolchain/includes.py: _resolved",
    "build/toolchain/includes.py: _resolved_folder",
    "link/native.py: link_library",
    "link/native.py: open_library",
    "link/prebuilt.py: prebuilt_core",
    "build/toolchain/native.py: _library",
    "build/toolchain/libraries.py: library",
    "build/toolchain/objects.py: _text",
    "build/toolchain/pinned.py: architecture",
    "build/toolchain/toolchain.py: identity",
    "build/toolchain/toolchain.py: installed_file",
    "build/toolchain/toolchain.py: runtime",
    "air/wlan/parameters.py: _document",
    "air/wlan/tkip.py: _mixing_table",
    "air/wlan/tkip.py: mix_phase1",
}


def cached() -> Iterator[tuple[str, str]]:
    for source in everything():
        if "@cache" not in source.text and "@lru_cache" not in source.text:
            continue
        for node in source.nodes:
            if isinstance(node, ast.FunctionDef):
                for decorator in map(ast.unparse, node.decorator_list):
                    if decorator.partition("(")[0] in ("cache", "lru_cache"):
                        yield f"{source.place.as_posix()}: {node.name}", decorator


def test_what_costs_much_is_kept() -> None:
    found = list(cached())
    assert {where for where, _ in found} == KEPT
    assert not [where for where, decorator in found if "maxsize=0" in decorator]


#: What a process remembers next to its caches, and why it may: each is written by its own module alone.
REMEMBERED = {
    "build/setup/shortages.py: _noted": "told once, at the end of the command",
    "build/setup/tool_sets.py: _done": "asked for once",
    "build/setup/tool_sets.py: _failed": "tried once",
    "build/setup/tool_sets.py: _unreached": "tried once",
    "build/toolchain/libraries.py: _failed": "tried once",
    "build/toolchain/objects.py: _making": "made by one thread",
    "build/toolchain/pinned.py: _failed": "tried once",
    "build/toolchain/pinned.py: _locks": "unpacked by one thread",
    "build/toolchain/pinned.py: _whole": "read once",
    "build/toolchain/sources.py: _failed": "tried once",
    "measuring/bench/passes.py: _overheads": "measured once",
    "simulate/runners/board.py: _flashed": "flashed once",
}


def changeable(source: str) -> Iterator[str]:
    """Names of a module that begin empty and are filled while it runs."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            made = ast.unparse(node.value)
            empty = made in ("{}", "[]", "set()", "dict()", "list()") or made.startswith(
                ("defaultdict(", "deque(", "WeakKeyDictionary(", "WeakValueDictionary(", "Counter()")
            )
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (ast.unparse(target) for target in targets if empty)


def test_nothing_else_is_remembered_in_secret() -> None:
    found = {
        f"{source.place.as_posix()}: {name}" for source in everything() for name in changeable(source.text)
    }
    assert found == set(REMEMBERED)
    assert not [
        source.place for source in everything() if any(isinstance(n, ast.Global) for n in source.nodes)
    ]


def test_every_way_to_remember_is_seen() -> None:
    ways = "a = {}\nb: set[int] = set()\nc = defaultdict(list)\nd = [1]\nE = ('x',)\nf = deque(maxlen=3)\n"
    assert list(changeable(ways)) == ["a", "b", "c", "f"]
