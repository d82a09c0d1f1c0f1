"""Diffusion: how far one changed input bit reaches. Pure: takes a callable, returns figures.

For every bit of the input the function is evaluated twice, with and without that bit, over many random
inputs. What is kept is how often each output *byte* changed (a matrix of bits x bytes) and how often
each output *bit* did (for the worst position). The verdict is what the data guarantee for every input
position, not what the best one shows:

full    every input byte reaches every output byte, and flips about half of the bits there;
block   every input byte reaches at least the whole of one block, of a size found in the data;
none    anything less, though some positions may reach further (see `reach_bytes_max`).

Sources: the strict avalanche criterion of Webster and Tavares (CRYPTO '85); completeness of Kam and
Davida (1979).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import comb
from typing import Literal

from motecrypt.attack.audits.oracle import flip, randomness, xor

Transform = Callable[[bytes], bytes]
DiffusionVerdict = Literal["none", "block", "full"]

#: The mean share of flipped bits that still counts as about half.
HALF_LOW, HALF_HIGH = 0.35, 0.65
#: A byte counts as not reached when a random function would change it as rarely once in so many cases.
CHANCE = 1e-9


@dataclass(frozen=True)
class DiffusionMap:
    """Where one changed bit shows, for one input and one length.

    Attributes
    ----------
    input_name
        What was changed: plaintext, ciphertext, key, nonce.
    input_bytes, output_bytes
        Lengths in bytes.
    trials
        Random inputs; each was evaluated once per input bit.
    changed
        changed[bit][byte]: fraction of trials in which that output byte changed, 0 to 1.
    flips
        flips[bit][byte]: mean fraction of the 8 bits of that output byte that flipped, 0 to 1.
    worst_input_bit, worst_output_bit, worst_rate
        The pair of bits whose flip rate is furthest from one half.
    stuck_pairs
        Pairs of an input and an output bit where the one always or never flips the other. A random
        function has 2 in 2 ** trials of them.
    """

    input_name: str
    input_bytes: int
    output_bytes: int
    trials: int
    changed: tuple[tuple[float, ...], ...]
    flips: tuple[tuple[float, ...], ...]
    worst_input_bit: int
    worst_output_bit: int
    worst_rate: float
    stuck_pairs: int

    def byte_matrix(self) -> tuple[tuple[float, ...], ...]:
        """Return `changed` by input byte: for each input byte the *least* over its 8 bits."""
        return tuple(
            tuple(min(column) for column in zip(*self.changed[8 * i : 8 * i + 8], strict=True))
            for i in range(self.input_bytes)
        )

    def reach(self) -> tuple[frozenset[int], ...]:
        """Return for each input byte the set of output bytes that any of its bits ever changed."""
        return tuple(
            frozenset(
                j
                for j in range(self.output_bytes)
                if any(row[j] > 0 for row in self.changed[8 * i : 8 * i + 8])
            )
            for i in range(self.input_bytes)
        )

    @property
    def mean_changed(self) -> float:
        """Mean fraction of output bytes that one changed bit changes, 0 to 1."""
        return _mean(value for row in self.changed for value in row)

    @property
    def mean_flips(self) -> float:
        """Mean fraction of output bits that one changed bit flips; 0.5 for a random function."""
        return _mean(value for row in self.flips for value in row)

    @property
    def idle_bits(self) -> tuple[int, ...]:
        """Input bits that never changed anything, such as the parity bits of a DES key."""
        return tuple(bit for bit, row in enumerate(self.changed) if not any(row))


def measure(
    transform: Transform, input_bytes: int, seed: int, trials: int, input_name: str = "input"
) -> DiffusionMap:
    """Flip each input bit over random inputs and count what changes.

    Parameters
    ----------
    transform
        A deterministic function whose output length depends on the input length only.
    input_bytes
        Input length in bytes, 1 or more.
    seed
        Draws the random inputs.
    trials
        Random inputs, 1 to 255. The function is called trials * (1 + 8 * input_bytes) times.
    input_name
        What the input is, for reports.
    """
    if not 1 <= trials <= TRIALS_MAX:
        raise ValueError(f"{trials} trials: between 1 and {TRIALS_MAX}")
    random_bytes = randomness(seed, "diffusion", input_name, input_bytes).randbytes
    bits = 8 * input_bytes
    byte_sums, bit_sums = [0] * bits, [0] * bits
    output_bytes = 0
    for _ in range(trials):
        base = random_bytes(input_bytes)
        reference = transform(base)
        output_bytes = len(reference)
        for bit in range(bits):
            change = xor(transform(flip(base, bit)), reference)
            byte_sums[bit] += int.from_bytes(change.translate(_NONZERO), "little")
            bit_sums[bit] += int.from_bytes(b"".join([_LANES[value] for value in change]), "little")
    byte_counts = [total.to_bytes(output_bytes, "little") for total in byte_sums]
    bit_counts = [total.to_bytes(8 * output_bytes, "little") for total in bit_sums]
    return _map(input_name, input_bytes, output_bytes, trials, byte_counts, bit_counts)


def _map(
    input_name: str,
    input_bytes: int,
    output_bytes: int,
    trials: int,
    byte_counts: Sequence[bytes],
    bit_counts: Sequence[bytes],
) -> DiffusionMap:
    """Turn counts (one byte each, a row for each input bit) into shares."""
    worst = max(
        (
            (abs(count - trials / 2), bit, position)
            for bit, row in enumerate(bit_counts)
            for position, count in enumerate(row)
        ),
        default=(0.0, 0, 0),
    )
    return DiffusionMap(
        input_name=input_name,
        input_bytes=input_bytes,
        output_bytes=output_bytes,
        trials=trials,
        changed=tuple(tuple(count / trials for count in row) for row in byte_counts),
        flips=tuple(
            tuple(sum(row[8 * j : 8 * j + 8]) / (8 * trials) for j in range(output_bytes))
            for row in bit_counts
        ),
        worst_input_bit=worst[1],
        worst_output_bit=worst[2],
        worst_rate=bit_counts[worst[1]][worst[2]] / trials if output_bytes else 0.0,
        stuck_pairs=sum(row.count(0) + row.count(trials) for row in bit_counts),
    )


def verdict(found: DiffusionMap) -> DiffusionVerdict:
    """Return what one map guarantees: none, block or full (see the top of this file)."""
    if not found.output_bytes:
        return "none"
    enough = least_reached(found.trials)
    if all(value >= enough for row in found.changed for value in row):
        return "full" if HALF_LOW <= found.mean_flips <= HALF_HIGH else "none"
    return "block" if block_bytes(found) else "none"


def block_bytes(found: DiffusionMap) -> int:
    """Return the size of the blocks that diffusion fills, in bytes; 0 when it fills none.

    The largest size, of 4 bytes or more and below the length, such that every input byte reaches the whole
    of at least one aligned block of the output. (Of a whole message of one block it cannot be reported
    whether more would be reached.)
    """
    n = found.output_bytes
    enough = least_reached(found.trials)
    reached = [[value >= enough for value in row] for row in found.byte_matrix()]
    for size in range(n - 1, 3, -1):
        starts = range(0, n - size + 1, size)
        if all(any(all(row[at : at + size]) for at in starts) for row in reached):
            return size
    return 0


def least_reached(trials: int) -> float:
    """Return the share of trials in which a byte must have changed to count as reached.

    A random function leaves a byte as it was in one case of 256; the bound is where doing so more often
    has a chance below `CHANCE`.
    """
    tail, misses = 1.0, 0
    while tail > CHANCE and misses <= trials:
        tail -= comb(trials, misses) * (1 / 256) ** misses * (255 / 256) ** (trials - misses)
        misses += 1
    return max(trials - misses + 1, 1) / trials


def overall(maps: Sequence[DiffusionMap]) -> DiffusionVerdict:
    """Return the least verdict over all lengths of 2 bytes or more (over all, if there are no others)."""
    order: dict[DiffusionVerdict, int] = {"none": 0, "block": 1, "full": 2}
    counted = [found for found in maps if found.input_bytes >= 2] or list(maps)
    return min((verdict(found) for found in counted), key=order.__getitem__, default="none")


def diffusion_verdict(
    transform: Transform, lengths: Iterable[int], seed: int, trials: int = 64, input_name: str = "plaintext"
) -> tuple[DiffusionVerdict, tuple[DiffusionMap, ...]]:
    """Measure a function at several lengths and return the verdict with the maps it follows from.

    Parameters
    ----------
    transform
        Encryption (or decryption) under one key: bytes in, bytes out.
    lengths
        Message lengths in bytes. To distinguish a block cipher from full diffusion, at least one must span
        two blocks.
    seed, trials
        See `measure`.
    """
    maps = tuple(measure(transform, n, seed, trials, input_name) for n in lengths if n > 0)
    return overall(maps), maps


def _mean(values: Iterable[float]) -> float:
    total, count = 0.0, 0
    for value in values:
        total, count = total + value, count + 1
    return total / count if count else 0.0


# Counting in lanes: big integers whose bytes are counters, so that one addition counts a whole output.
TRIALS_MAX = 255
_NONZERO = bytes((0, *(1 for _ in range(255))))
_LANES = tuple(bytes(value >> k & 1 for k in range(8)) for value in range(256))
