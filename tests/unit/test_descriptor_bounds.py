"""The bounds of every number in a descriptor: the last one inside is taken, the next one outside refused."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from costs import ALL
from motecrypt.base.errors import InputError
from motecrypt.catalog import Catalog
from unit.test_descriptors import FILES, Changed, Where, documents, shape

NOTHING = 1e-9
LEAST: tuple[list[float], list[float]] = ([NOTHING], [0, -NOTHING])  # above 0
ANY: tuple[list[float], list[float]] = ([0], [-NOTHING])  # 0 or more
#: By runner, the descriptors of the devices that it runs.
SIMULATED = {
    runner: "({})/device.toml".format(
        "|".join(name for name, device in Catalog.load().devices.items() if device.runner == runner)
    )
    for runner in ("simavr", "arm", "riscv")
}
#: Which files, as a pattern, which key (its path joined by dots): values that are taken, values that are not.
BOUNDS: list[tuple[str, str, tuple[list[float], list[float]]]] = [
    ("device.toml", r"clock_hz", ([1, 10**11], [0, 10**11 + 1])),
    ("device.toml", r"supply\.volts.*", LEAST),
    ("device.toml", r"current\.\d+\.milliamperes", LEAST),
    ("device.toml", r"extra\.(wake|store_byte)_us", ANY),
    ("device.toml", r"bench\..*", ([1, 1 << 20], [0, (1 << 20) + 1])),
    ("device.toml", r"memory\..*\.(bytes|span)", ([1], [0])),
    ("device.toml", r"memory\..*\.address", ([0], [-1])),
    (SIMULATED["simavr"], r"simulator\.(mark|simulated)_address", ([0x20, 0x137], [0x1F, 0x138])),
    *(
        (SIMULATED[runner], r"simulator\.(vectors|.*_address|stack_limit)", ([0, 2**32 - 1], [-1, 2**32]))
        for runner in ("arm", "riscv")
    ),
    ("device.toml", r"simulator\.line_address", ([0, 0x20, 0x137], [-1, 0x1F, 0x138])),
    ("device.toml", r"simulator\.max_cycles", ([1], [0])),
    (SIMULATED["arm"], r"simulator\.(bus_.*_extra|io_port_saves|cycles\..*)", ([0, 1000], [-1, 1001])),
    (SIMULATED["riscv"], r"simulator\.cycles\.(.*_result|mispredicted|fetch_word)", ([0, 255], [-1, 256])),
    (SIMULATED["riscv"], r"simulator\.cycles\.fetch_ahead", ([0, 7], [-1, 8])),
    (
        SIMULATED["riscv"],
        r"simulator\.cycles\.(?!.*_result|mispredicted|fetch_).*",
        ([1, 255], [0, 256]),
    ),
    ("device.toml", r"simulator\.predictor\.btb", ([1, 64], [0, 65])),
    ("device.toml", r"simulator\.predictor\.bht", ([1, 1024], [0, 1025])),
    ("device.toml", r"simulator\.predictor\.ras", ([1, 16], [0, 17])),
    ("device.toml", r"simulator\.memory\.line_bytes", ([4, 256], [2, 512])),
    (
        "device.toml",
        r"simulator\.memory\.(wait_states|data_wait_states|ahead_delay|core_ahead_bytes|core_word_cycles)",
        ([0, 64], [-1, 65]),
    ),
    ("device.toml", r"simulator\.memory\.(reads_ahead|keeps_ahead|shared)", ([0, 1], [-1, 2])),
    ("device.toml", r"simulator\.memory\.(code|data)_lines", ([0], [-1, 2048])),
    ("device.toml", r"simulator\.memory\.(code|data)_ways", ([1], [0, 128])),
    ("device.toml", r"simulator\.flash_cache\..*", ([1, 1 << 24], [0, (1 << 24) + 1])),
    ("device.toml", r"simulator\.flash_read\.\d+\.clocks", ([1, 10_000], [0, 10_001])),
    ("device.toml", r"simulator\.flash_read\.\d+\.divider", ([1, 1000], [0, 1001])),
    ("cipher.toml", r"cipher\.\d+\.message\.(min|max)", ([0], [-1])),
    ("cipher.toml", r"cipher\.\d+\.message\.multiple", ([1], [0])),
    ("processors.toml", r".*\.(clock_hz|supply_v|current_ma)", LEAST),
    ("batteries.toml", r"cell\..*\.self_discharge_percent_per_year", ([0, 100], [-NOTHING, 100 + NOTHING])),
    ("batteries.toml", r"cell\..*\.shelf_years", ANY),
    ("link.toml", r"packets\..*", ([1, 255], [0, 256])),
    ("link.toml", r"rules\..*", ([1, 65535], [0, 65536])),
    ("link.toml", r"suite\..*\.(base|block|block_bytes|derive|prove)", ([1], [0])),
    ("batteries.toml", r"cell\..*\.(capacity_mah|volts.*|pulse_ma)", LEAST),
    ("batteries.toml", r"regulator\..*\.efficiency", ([NOTHING, 1], [0, 1 + NOTHING])),
    ("batteries.toml", r"regulator\..*\.(quiescent_ma|dropout_v|volts_in_min)", ANY),
    ("batteries.toml", r"regulator\..*\.volts_in_max", LEAST),
    ("wlan.toml", r"card\..*\.(volts|tx_ma|rx_ma)", LEAST),
    ("wlan.toml", r"card\..*\.idle_ma", ANY),
    ("wlan.toml", r"card\..*\.transmit_dbm", ([-50, 50], [-50 - NOTHING, 50 + NOTHING])),
    ("wlan.toml", r"card\..*\.sensitivity_dbm\..*", ([-150, 0], [-150 - NOTHING, NOTHING])),
    ("wlan.toml", r"signal\..*\.(distance_m|exponent)", LEAST),
    ("wlan.toml", r"signal\..*\.walls_db", ANY),
    ("alternatives.toml", r"alternative\..*\.head_bytes", ([1], [0])),
    ("alternatives.toml", r"alternative\..*\.block_bytes", ANY),
    ("rc4d_sketches.toml", r"sketch\..*\.flash_bytes", ([1], [0])),
    ("rc4d_sketches.toml", r"sketch\..*\.(time_ms|ram_bytes)", ANY),
    ("protection.toml", r"resistance\.\d+\.snr", LEAST),
    ("protection.toml", r"resistance\.\d+\.(experiments|most|traces)", ([1], [0])),
    ("hardware.toml", r"limits\.compilers", ([0, 1], [-NOTHING, 1 + NOTHING])),
    ("hardware.toml", r"memory\..*\.(median|percentile_95)", LEAST),
    ("handshakes.toml", r".*\.aes_blocks", ([0, 10**6], [-1, 10**6 + 1])),
    ("public_key/published.toml", r"published\.\d+\.cycles", ([1], [0])),
    ("records.toml", r"published\.\d+\.cycles", LEAST),
    ("records.toml", r"published\.\d+\.bytes", ([1], [0])),
    ("nRF51822.toml", r"(memory|vectors|registers)\.(.*\.)?address", ([0, 2**32 - 1], [-1, 2**32])),
    ("nRF51822.toml", r"memory\..*\.bytes", ([1], [0, 2**32 + 1])),
    ("nRF51822.toml", r"vectors\.first", ([0, 255], [-1, 256])),
    ("nRF51822.toml", r"clock\.hz_max", ([1], [0])),
    ("nRF51822.toml", r"clock\.hz_after_reset", ([1], [0, 10**12])),
    ("nrf52840.toml", r"block\.\d+\.published\.\d+\.value", LEAST),
    ("srf.toml", r"figure\..*\.value", ANY),
]


def _is(path: Path, file: str) -> bool:
    return re.search(f"/{file}$", str(path)) is not None


def _numbers(value: Any, where: Where = ()) -> list[Where]:
    """Where a document has numbers, lists of them left out."""
    if isinstance(value, dict):
        return [found for key, inner in value.items() for found in _numbers(inner, (*where, key))]
    if isinstance(value, list):
        return [found for n, inner in enumerate(value) for found in _numbers(inner, (*where, n))]
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return [where] if number and isinstance(where[-1], str) else []


@pytest.mark.parametrize("number", range(len(BOUNDS)))
def test_a_number_is_taken_up_to_its_bounds(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, pattern, (inside, outside) = BOUNDS[number]
    tried: set[Where] = set()
    for path in (path for path in FILES if _is(path, file)):
        meant = [w for w in _numbers(documents()[path]) if re.fullmatch(pattern, ".".join(map(str, w)))]
        if not ALL:  # one of each shape, of all files
            meant = list({shape(where): where for where in meant if shape(where) not in tried}.values())
        if not meant:
            continue
        changed = Changed(path, tmp_path, monkeypatch)
        for where in [*meant[:12], *meant[12:][-3:]]:
            tried.add(shape(where))
            complaint = rf"'{where[-1]}' is [-0-9.e]+;"
            for value in inside:
                try:
                    changed.read(where, lambda t, key, value=value: t.update({key: value}))
                except InputError as error:  # of another check, such as that of two numbers
                    assert not re.search(complaint, str(error)), where
            for value in outside:
                with pytest.raises(InputError, match=complaint):
                    changed.read(where, lambda t, key, value=value: t.update({key: value}))
    assert tried


def test_every_number_of_a_device_has_bounds() -> None:
    for path in (path for path in FILES if path.name == "device.toml"):
        for where in _numbers(documents()[path]):
            name = ".".join(map(str, where))
            fits = [pattern for file, pattern, _ in BOUNDS if _is(path, file) and re.fullmatch(pattern, name)]
            assert fits or path.parent.name == "host", (path, name)
