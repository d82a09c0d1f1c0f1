"""Our portable C next to LibTomCrypt on this computer, in turns in one process: at most 1.3 times its cycles.

For each of the six ciphers of the Wi-Fi study, every mode and direction; OpenSSL and Crypto++ are measured
next to it, with and without AES instructions. Every figure is the median of several repetitions, and so is
the ratio: a processor that changes its speed, or is shared, changes both sides of a repetition equally. Then
two speeds that have to differ: OpenSSL's AES without the instructions, and RC6 with fewer rounds. Ends with 1
when a cipher is slower than the limit or these do not differ, with 77 and a reason when LibTomCrypt is not
installed.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Sequence
from dataclasses import replace

from motecrypt.base.errors import InputError
from motecrypt.build.setup import need
from motecrypt.catalog import Catalog
from motecrypt.measuring.experiments.host_speed import HostSpeed, library_version
from motecrypt.results.experiments.host_speed import (
    LIBRARIES,
    NO_AES,
    SpeedPoint,
    SpeedRow,
    best_of_ours,
    ratio_to,
)
from motecrypt.simulate.runners import host

LIMIT = 1.3
REPEATED = 15
POINTS = (("aes128", 128), ("des", 64), ("3des", 192), ("rc2", 128), ("blowfish", 128), ("rc6", 128))
MODES = ("ecb", "cbc", "ctr")
REFERENCE = "libtomcrypt"
AES_LEAST = 1.3  # OpenSSL's AES decrypting in CBC: without its instructions to with them
ROUNDS_LEAST = 1.2  # RC6 with 20 rounds to 12
CANNOT_RUN = 77


def main() -> int:
    """Print one line a cipher, mode and direction, then the worst ratio a cipher."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bytes", type=int, default=16384, help="bytes encrypted in one go")
    parser.add_argument("--rounds", type=int, default=75, help="how often each is timed, in all")
    options = parser.parse_args()
    try:
        need("host", "host-libraries")
    except InputError as error:
        print(f"host_ciphers: {error}")
    versions = {name: library_version(name) for name in LIBRARIES}
    if versions[REFERENCE] is None:
        print("host_ciphers: cannot run, LibTomCrypt is missing (apt-get install libtomcrypt-dev)")
        return CANNOT_RUN
    print("cycles a byte;", ", ".join(version for version in versions.values() if version))
    others = (REFERENCE, "cryptopp", "openssl", NO_AES)
    print(
        f"{'':22}{'ours':>8}  {'variant':13}"
        + "".join(f"{name[:12]:>14}" for name in others)
        + f"{'ratio':>8}"
    )
    catalog = Catalog.load()
    worst: dict[str, float] = {}
    for family, bits in POINTS:
        for mode in MODES:
            point = SpeedPoint(f"{family}-{mode}", bits)
            rounds = max(5, options.rounds // REPEATED)
            speed = HostSpeed((point,), options.bytes, rounds, operations=("encrypt", "decrypt"))
            speed.check()
            repeated = [_rows(speed, catalog, point) for _ in range(REPEATED)]
            for operation in speed.operations:
                every = [[row for row in rows if row.operation == operation] for rows in repeated]
                ratios = [ratio for these in every if (ratio := ratio_to(these, REFERENCE)) is not None]
                these = _medians(every)
                ours = best_of_ours(these)
                if ours is None or not ratios:
                    print(f"host_ciphers: {point.cipher}: nothing to compare")
                    return 1
                ratio = statistics.median(ratios)
                beside = {row.library: row.cycles_per_byte for row in these}
                columns = "".join(_column(beside.get(name)) for name in others)
                variant = ours.library.partition("/")[2]
                print(
                    f"{point.cipher:14}{operation:8}{ours.cycles_per_byte:8.1f}  "
                    f"{variant:13}{columns}{ratio:8.2f}",
                    flush=True,
                )
                worst[family] = max(worst.get(family, 0.0), ratio)
    failed = [family for family, ratio in worst.items() if ratio > LIMIT]
    for family, ratio in worst.items():
        verdict = " FAILED" if family in failed else ""
        print(f"{family}: {ratio:.2f} times LibTomCrypt at worst (limit {LIMIT}){verdict}")
    return 1 if failed or not _differ(catalog, options.bytes, options.rounds) else 0


def _rows(speed: HostSpeed, catalog: Catalog, point: SpeedPoint) -> list[SpeedRow]:
    return [r for row in speed.time_point(catalog, point) if (r := SpeedRow.from_json(row))]


def _medians(every: Sequence[Sequence[SpeedRow]]) -> list[SpeedRow]:
    """One row for each library: the median of its cycles over all repetitions."""
    return [
        replace(rows[0], cycles=statistics.median(row.cycles for row in rows))
        for rows in zip(*every, strict=True)
    ]


def _differ(catalog: Catalog, message_bytes: int, rounds: int) -> bool:
    """Whether the switch for AES instructions switches and fewer rounds are fewer."""
    points = (
        SpeedPoint("aes128-cbc", 128),
        SpeedPoint("rc6-ctr", 128),
        SpeedPoint("rc6-ctr", 128, rounds=12),
    )
    speed = HostSpeed(points, message_bytes, rounds, operations=("decrypt",))
    aes, all_rounds, fewer = (_rows(speed, catalog, point) for point in points)
    differ = True
    cycles = {row.library: row.cycles for row in aes}
    if host.machine().aes_instructions and "openssl" in cycles:
        ratio = cycles[NO_AES] / cycles["openssl"]
        print(f"AES without instructions: {ratio:.1f} times with them (at least {AES_LEAST})")
        differ = ratio >= AES_LEAST
    slow, fast = best_of_ours(all_rounds), best_of_ours(fewer)
    if slow is None or fast is None:
        print("host_ciphers: rc6-ctr: nothing to compare")
        return False
    ratio = slow.cycles / fast.cycles
    print(f"RC6 with 20 rounds: {ratio:.2f} times 12 rounds (at least {ROUNDS_LEAST})")
    return differ and ratio >= ROUNDS_LEAST


def _column(figure: float | None) -> str:
    return f"{'-':>14}" if figure is None else f"{figure:14.1f}"


if __name__ == "__main__":
    sys.exit(main())
