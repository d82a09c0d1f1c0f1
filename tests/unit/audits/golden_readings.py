"""What the pure parts of the audits make of made-up data, at their edges, as text kept in
tests/golden/readings.json.

After a change that is meant, look at the difference that this makes:

    PYTHONPATH=src:tests .venv/bin/python tests/unit/audits/golden_readings.py && git diff tests/golden
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from itertools import cycle, product
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any
from unittest import mock

import audit_toys as toys

from golden_views import _digest, plain, written
from motecrypt.audits import _rc4d_state as rc4d
from motecrypt.audits import avalanche, determinism, diffusion, integrity, oracle, statistics, taint, timing
from motecrypt.audits.attacks import _play as play
from motecrypt.audits.attacks import (
    all_attacks,
    cbc_padding_oracle,
    ecb_block_swap,
    fixed_iv,
    keystream_reuse,
    poly1305_nonce_reuse,
    rc4_broadcast,
    rc4d_chosen,
    rc4d_distinguisher,
    rc4d_passive,
    rc4d_two_keys,
)
from motecrypt.model import MessageLengths

PLACE = Path(__file__).parents[2] / "golden" / "readings.json"
COMMAND = "PYTHONPATH=src:tests .venv/bin/python tests/unit/audits/golden_readings.py"
KEY = bytes(range(1, 17))


def refused(call: Callable[[], Any]) -> Any:
    """What a call gives, or the error that it raises."""
    try:
        return call()
    except ValueError as error:
        return f"{error}"


def of_lengths(low: int, most: int, multiple: int = 1, **more: Any) -> Any:
    """A cipher that takes messages of those lengths."""
    return toys.described("made-up", message=MessageLengths(low, most, multiple), **more)


def made_of(encrypt: Callable[[bytes, bytes, bytes], Any]) -> toys.ToyAccess:
    """A cipher of a function of key, message and nonce, without a tag; decryption gives the ciphertext."""
    return toys.ToyAccess(lambda k, m, n, a: (encrypt(k, m, n), b""), lambda k, c, n, a, t: c)


# --- what all parts share ---------------------------------------------------------------------


def shared() -> dict[str, Any]:
    """Keys, lengths, bits."""
    bits = ((40, 128, 256), (40, 64), (192, 256), (127,), (256, 128), (129, 40))
    taken = ((0, 100), (1, 5), (16, 16), (60, 100), (100, 100), (0, 0), (0, 1), (2, 3))
    part = oracle.Part("n", "t", "v", "bad", ("one", "two"), {"a": 1})
    return {
        "drawn": [
            oracle.randomness(*of).randbytes(4).hex() for of in ((1,), (1, "a"), (1, "a", 2), (2, "a"))
        ],
        "key bytes": [oracle.key_bytes(toys.described("k", key_bits=each)) for each in bits],
        "allowed": [
            oracle.lengths_allowed(of_lengths(8, 40, multiple), (24, 8, 8, 9, 0, 40, 48))
            for multiple in (1, 8, 24)
        ],
        "nearest": [
            [
                refused(lambda w=w, t=t, m=m: oracle.nearest_length(of_lengths(*t, m), w))
                for w in (0, 1, 2, 48, 60)
            ]
            for t, m in [*((t, 1) for t in taken), ((0, 100), 16), ((0, 100), 32), ((0, 100), 7)]
        ],
        "flipped": [oracle.flip(bytes(2), bit).hex() for bit in (0, 1, 7, 8, 15)],
        "xor": [
            oracle.xor(*pair).hex() for pair in ((b"abc", b"  "), (b" ", b"abc"), (b"", b"a"), (b"ab", b"ab"))
        ],
        "part": [part.as_json(), oracle.skipped("n", "t", "why").as_json()],
    }


# --- determinism ------------------------------------------------------------------------------


def _half(message: bytes, key: bytes, nonce: bytes, at: int) -> bytes:
    """A keystream up to a place, and behind it a hash of all."""
    stream = oracle.xor(message, toys.rc4(key + nonce, bytes(len(message))))
    return stream[:at] + toys.rc4(key + nonce + message, bytes(len(message)))[at:]


def des(key: bytes, message: bytes, nonce: bytes) -> bytes:
    """DES, a block for itself each."""
    from Crypto.Cipher import DES

    return DES.new(key[:8], DES.MODE_ECB).encrypt(message)


def determinisms() -> dict[str, Any]:
    """What repetition shows of made-up ciphers, and how it is told."""
    told = []
    for nonce, fresh, leak, block, clear in product((0, 12), (0, 3), (0, 1, 48), (0, 8), (False, True)):
        for prefixes in ({"0": 9}, {"0": 0, "8": 7, "1": 0}, {"1": 1, "8": 0}, {"8": 8, "24": 17}, {"24": 7}):
            data = {
                "message_bytes": 48,
                "xor_leak_bytes": leak,
                "equal_block_bytes": block,
                "prefix_leak_bytes": prefixes,
                "equal_with_fresh_nonce": fresh,
                "one_byte_in_clear": clear,
                "overhead_bytes": nonce,
            }
            cipher = of_lengths(0, 99, 2 if clear else 1, nonce_bytes=nonce, tag_bytes=nonce // 3)
            told.append(determinism._read(cipher, data))

    def thrice(key: bytes, message: bytes, nonce: bytes) -> bytes:
        """Equal blocks of 8 but for the third."""
        return bytes(16) + toys.rc4(key + message, message[16:])

    def seldom(key: bytes, message: bytes, nonce: bytes) -> bytes:
        return bytes(len(message)) if message[0] < 250 else toys.rc4(key, message)

    def repeated(encrypt: Any, nonce_bytes: int, n: int = 24) -> Any:
        cipher = of_lengths(0, 99, nonce_bytes=nonce_bytes)
        victim = made_of(encrypt).keyed(KEY)
        return determinism._repeated_nonce(victim, cipher, Random(1), n)

    def grown(lengths: tuple[int, ...], nonce_bytes: int, tag: bytes, encrypt: Any) -> Any:
        victim = toys.Toy(KEY, lambda k, m, n, a: (encrypt(m), tag), lambda k, c, n, a, t: c)
        cipher = of_lengths(*lengths, nonce_bytes=nonce_bytes, tag_bytes=len(tag))
        return determinism._expansion(victim, cipher, Random(1))

    return {
        "told": [[*weight_first[1:], " ".join(weight_first[0])] for weight_first in told[::17]],
        "all told": _digest(plain(told)),
        "equal blocks": [
            determinism._equal_blocks(made_of(encrypt).keyed(KEY), of_lengths(low, most, multiple), Random(2))
            for encrypt, low, most, multiple in (
                *((des, 0, 99, 8), (des, 0, 32, 8), (des, 64, 99, 8), (des, 0, 31, 8), (thrice, 0, 99, 8)),
                *((seldom, 0, 99, 8), (seldom, 64, 64, 8)),
                (lambda k, m, n: bytes(len(m)), 64, 64, 1),
                (lambda k, m, n: toys.rc4(k, bytes(16)) * 4, 0, 64, 1),
            )
        ],
        "repeated": [
            repeated(lambda k, m, n, at=at: _half(m, k, n, at), nonce_bytes)
            for at in (0, 1, 5, 24)
            for nonce_bytes in (0, 4)
        ]
        + [repeated(lambda k, m, n: toys.rc4(k + n[:1], m), 1, n) for n in (1, 2, 8, 9, 33)],
        "grown": [
            grown((0, 99), 3, b"tag", lambda m: m),
            grown((0, 99), 0, b"", lambda m: m),
            grown((2, 16), 1, b"", lambda m: m + b"?"),
            grown((0, 99), 0, b"", lambda m: m if m != b"\xff" else b"?"),
            grown((0, 99), 0, b"", lambda m: m if m != b"\0" else b"?"),
            grown((1, 1), 0, b"", lambda m: bytes([m[0] ^ 1])),
        ],
        "leading": [determinism._leading(each) for each in ([], [0, 1], [1, 0, 1], [1, 1], iter([True] * 3))],
    }


# --- integrity --------------------------------------------------------------------------------


def integrities() -> dict[str, Any]:
    """What changes do to made-up ciphers, and how it is told."""

    def effects(low: int, high: int, pairs: list[list[int]], nonce: list[list[int]]) -> dict[str, Any]:
        return {
            "message_bytes": 8,
            "plaintext_bytes_moved_min": low,
            "plaintext_bytes_moved_max": high,
            "controlled": {"ciphertext": pairs, "nonce": nonce},
        }

    pairings = ([], [[0, 0]], [[0, 1]], [[0, 2], [1, 3], [2, 4]], [[0, 2], [1, 3], [2, 4], [3, 5]])
    pairings += (
        [[0, 2], [1, 3], [2, 4], [3, 6]],
        [[i, i] for i in range(5)],
        [[i, i] for i in range(4)] + [[4, 5]],
    )

    class Receiver:
        """Accepts what begins with a byte below a bound; XORs the nonce into the first byte."""

        def __init__(self, bound: int) -> None:
            self.bound = bound

        def encrypt(self, message: bytes, nonce: bytes = b"", ad: bytes = b"") -> tuple[bytes, bytes]:
            return bytes([0, *message]), ad

        def decrypt(self, ciphertext: bytes, nonce: bytes = b"", ad: bytes = b"", tag: bytes = b"") -> bytes:
            if ciphertext[0] >= self.bound:
                raise oracle.Rejected
            return ciphertext[1:]

    def received(bound: int) -> Any:
        access = SimpleNamespace(keyed=lambda key: Receiver(bound))
        cipher = of_lengths(4, 8, nonce_bytes=2, associated_data=True)
        return integrity._effects(access, cipher, Random(3), 6)

    sent = integrity.Sent(b"abc", b"non", b"ad", b"tag")
    some = toys.ToyAccess(
        lambda k, m, n, a: (toys.rc4(k + n, m), m[:1]), lambda k, c, n, a, t: toys.rc4(k + n, c)
    )
    return {
        "told": [
            [*span, len(pairs), " ".join(integrity._describe(effects(*span, pairs, nonce), toys.RC4))]
            for span in ((0, 0), (8, 8), (1, 1), (2, 2), (1, 8), (0, 3))
            for pairs, nonce in ((p, [[0, 0], [1, 1]] if n % 2 else []) for n, p in enumerate(pairings))
        ],
        "changed": [plain(integrity._changed(sent, *of)) for of in (("ciphertext", 1, 3), ("nonce", 2, 255))],
        "sent": plain(integrity._send(some.keyed(KEY), of_lengths(0, 9, nonce_bytes=3), Random(1), 5)),
        "sent with data": plain(
            integrity._send(
                some.keyed(KEY), of_lengths(0, 9, nonce_bytes=3, associated_data=True), Random(1), 5
            )
        ),
        "effects": [received(bound) for bound in (0, 1, 200, 256)],
        "audited": plain(integrity.audit(some, of_lengths(0, 12, nonce_bytes=2), 5)),
    }


# --- statistics -------------------------------------------------------------------------------


def figures() -> dict[str, Any]:
    """The tests' p-values, and how they are told."""
    stat = statistics
    noise = Random(5).randbytes(3000)
    samples = [b"\0", b"\xff\xff", b"\x55" * 9, b"\x0f\xf0", bytes(range(256)), noise, noise[:7], b"\x80" * 3]
    positions = [
        {"position": 0, "p": 1e-7, "most_frequent": 9, "times_chance": 2.345, "also": 1},
        {"position": 1, "p": statistics.ALARM, "most_frequent": 8, "times_chance": 1.5},
        *({"position": 2 + n, "p": 1e-9, "most_frequent": n, "times_chance": 3.0} for n in range(4)),
    ]

    def tests(p: float) -> dict[str, float]:
        return {"monobit": p, "runs": 0.5}

    return {
        "p-values": [
            [stat.monobit(s), stat.runs(s), stat.byte_values(s), *([stat.pairs(s)] if len(s) > 1 else [])]
            for s in samples
        ],
        "chi-square": [
            stat.chi_square(counts, cells, total)
            for counts, cells, total in (
                *(([4, 6], 2, 10), ([5, 5], 2, 10), ([10], 4, 10), ([3, 3, 4], 3, 10), ([60, 1], 256, 61)),
                *(([2, 2], 3, 4), ([900, 1100], 2, 2000)),
            )
        ],
        "upper gamma": [
            f"{stat._upper_gamma(a, x):.9g}"
            for a in (0.5, 1.0, 2.5, 127.5)
            for x in (-1.0, 0.0, 0.01, 0.5, a, a + 0.999999, a + 1, a + 1.5, 3 * a + 5, 700.0, 900.0)
        ],
        "poisson": [
            f"{stat.poisson_tail(*of):.9g}" for of in ((1, 0.5), (3, 16.0), (16, 16.0), (40, 16.0), (1, 1e-3))
        ],
        "positions": plain(stat.position_bias([bytes([n % 7, n // 64, 200 - n % 3]) for n in range(256)])),
        "first of equals": plain(stat.position_bias([b"\x09", b"\x02", b"\x09", b"\x02", b"\x01"])),
        "told": [
            stat._read(tests(p), rows, 12345, 4096, repeats)
            for p in (1e-9, stat.ALARM, 0.2)
            for rows in ([], positions[:1], positions[1:2], positions[:4], positions)
            for repeats in (0.5, 0.51)
        ],
    }


# --- diffusion --------------------------------------------------------------------------------


def _map(changed: Any, flips: Any = None, trials: int = 24, **more: Any) -> diffusion.DiffusionMap:
    """A map of whole bytes: changed[input byte][output byte], the same for its eight bits."""
    rows = tuple(tuple(map(float, row)) for row in changed for _ in range(8))
    halves = tuple(tuple(map(float, row)) for row in flips for _ in range(8)) if flips else None
    usual: dict[str, Any] = {"worst_input_bit": 0, "worst_output_bit": 0, "worst_rate": 0.5, "stuck_pairs": 0}
    return diffusion.DiffusionMap(
        input_name="plaintext",
        input_bytes=len(changed),
        output_bytes=len(changed[0]) if changed else 0,
        trials=trials,
        changed=rows,
        flips=halves or tuple(tuple(value / 2 for value in row) for row in rows),
        **{**usual, **more},
    )


def _blocks(n: int, size: int, further: bool = False) -> diffusion.DiffusionMap:
    """Every input byte reaches the block that it lies in; the first one all, where asked."""
    rows = [[1 if i // size == j // size else 0 for j in range(n)] for i in range(n)]
    return _map([[1] * n, *rows[1:]] if further else rows)


def diffusions() -> dict[str, Any]:
    """Verdicts over made-up maps, and how they are told."""
    least = diffusion.least_reached(24)
    full, some = _map([[1] * 5] * 5), _map([[1] * 5] * 4 + [[1, 1, 1, 0, 1]])
    nothing, one = _map([[0] * 3] * 3), _map([[1]])
    stuck = _map(
        [[1] * 5] * 5, trials=32, stuck_pairs=3, worst_rate=0.5, worst_input_bit=7, worst_output_bit=9
    )
    always = _map([[1] * 5] * 5, trials=32, stuck_pairs=1, worst_rate=0.51)
    few = _map([[1] * 5] * 5, trials=31, stuck_pairs=1, worst_rate=1.0)
    edges = [
        _map([[least] * 4] * 4, [[0.5] * 4] * 4),
        _map([[least - 1e-9] * 4] * 4, [[0.5] * 4] * 4),
        *(_map([[1] * 4] * 4, [[share] * 4] * 4) for share in (0.35, 0.349, 0.65, 0.651)),
        *(
            _blocks(n, size, more)
            for n, size in ((8, 4), (9, 4), (10, 5), (6, 3), (5, 4), (12, 6))
            for more in (0, 1)
        ),
        *(full, some, nothing, one, _map([[0]]), _map([])),
        _map([[1, 1, 1, 1, 0, 0, 0, 0]] * 8),
        _map([[0, 1, 1, 1, 1, 0, 0, 0]] * 8),
        _map([[least, 1, 1, 1, 0]] * 5),
    ]
    groups = [
        *([each] for each in edges if each.input_bytes),
        *([one, full], [_map([[0]]), full], [_map([[0]]), nothing], [_map([[0]]), stuck], [one, always]),
        *([full, few], [full, some], [_map([[0]]), _blocks(8, 4)], [_blocks(8, 4), _blocks(12, 6)]),
        *([_blocks(12, 6), _blocks(8, 4, True)], [nothing, full], [_blocks(8, 4), full], [one, nothing]),
        [_map([[0, 1, 0]] * 3), _map([[1, 0, 0]] * 2 + [[1, 1, 1]])],
    ]

    def turned(data: bytes) -> bytes:
        return bytes((value << 1 | value >> 7) & 255 for value in data[1:] + data[:1])

    measured = [
        diffusion.measure(turned, 3, 1, 2),
        diffusion.measure(lambda data: data + b"?", 2, 7, 3, "key"),
        diffusion.measure(lambda data: b"", 1, 1, 1),
        diffusion.measure(lambda data: toys.rc4(b"k", bytes([data[0] & 0xFE])), 1, 1, 255),
        diffusion.measure(lambda data: toys.rc4(data, b"\0\0\0"), 2, 9, 5),
    ]
    calls = ((turned, (0, 1, 3), 1), (lambda data: data, (2, -1), 5), (lambda data: b"", (2,), 5))
    weighed = product(("none", "block", "full"), ("none", "full", None), (0, 8))
    return {
        "least reached": [round(diffusion.least_reached(n) * n) for n in range(1, 256)],
        "verdicts": [[diffusion.verdict(each), diffusion.block_bytes(each)] for each in edges],
        "overall": [diffusion.overall(group) for group in (*groups, [])],
        "told": [avalanche._tell("E", "in", "out", group) for group in groups],
        "weights": [
            [*of, avalanche._weight(of_lengths(0, 9, tag_bytes=of[2]), of[0], of[1])]  # type: ignore[arg-type]
            for of in weighed
        ],
        "summaries": [
            plain(avalanche._summary(maps))
            for maps in (
                measured[:2],
                measured[:1],
                [_blocks(8, 4, True)],
                [_map([[0.555, 1]] * 33), _map([[1] * 34] * 34)],
            )
        ],
        "longest shown": [
            avalanche._summary([_map([[n] * n] * n) for n in lengths])["matrix"]["input_bytes"]
            for lengths in ((1, 32, 33), (33, 34), (31, 2))
        ],
        "measured": plain(measured),
        "seen": plain(
            [
                [
                    each.byte_matrix(),
                    [sorted(reach) for reach in each.reach()],
                    *(each.mean_changed, each.mean_flips, each.idle_bits),
                ]
                for each in (*measured, _blocks(5, 4))
            ]
        ),
        "at lengths": plain([diffusion.diffusion_verdict(*call, trials=3) for call in calls]),
        "usual trials": diffusion.diffusion_verdict(turned, (1,), 1)[1][0].trials,
        "refused": [
            str(refused(lambda n=n: diffusion.measure(turned, 1, 1, n).trials)) for n in (0, 1, 255, 256)
        ],
    }


# --- timing and taint -------------------------------------------------------------------------


def timings() -> dict[str, Any]:
    """Traces, splits and verdicts; sightings and what they come to."""
    none = timing.NO_ADDRESS
    dump = f"10 {none}\n12 20\n12 24\n14 {none}\n12 28\nend\nend\nff {none}\nend\n00 1\nend\ncut {none}\n"
    traces = list(timing.read_dump(dump))

    def trace(successors: Any, addresses: Any) -> timing.Trace:
        return timing.Trace(successors, addresses, 1)

    ways = [
        trace({1: ["2", "3"], 3: ["4"]}, {1: ["10"], 2: ["1000", "10"]}),
        trace({1: ["2"], 3: ["5"], 9: ["1"]}, {1: ["11"], 2: ["1000"]}),
        trace({1: ["2", "3", "1"]}, {2: ["1000", "1001"], 5: ["7"]}),
        trace({}, {}),
    ]

    def memory(address: int) -> str:
        return "flash" if address >= 0x1000 else "ram"

    found = {
        "none": (),
        "ram": (timing.Split(1, "address", "ram"),),
        "flash": (timing.Split(1, "address", "ram"), timing.Split(2, "address", "flash")),
        "branch": (timing.Split(1, "branch"), timing.Split(2, "address", "flash")),
    }

    def seen(kind: Any, line: str, times: int = 1, function: str = "f") -> taint.Sighting:
        return taint.Sighting(kind, function, line, times)

    branch, address = seen("branch", "a:1"), seen("address", "a:1")
    runs: list[dict[str, list[taint.Sighting]]] = [
        {"encrypt": e, "decrypt": d, "refuse": r}
        for e, d, r in (
            *(([], [], []), ([], [branch], [branch]), ([branch], [branch], [branch]), ([], [branch], [])),
            *(([], [], [branch]), ([], [branch, address], [branch, address])),
            ([], [branch, seen("branch", "a:2")], [branch, seen("branch", "a:2")]),
            ([], [branch, seen("branch", "a:2", 2)], [branch, seen("branch", "a:2", 2)]),
            ([], [branch, seen("branch", "a:2")], [branch, seen("branch", "a:3")]),
            ([address], [seen("address", "a:1", 5)], [seen("address", "a:1", 3)]),
            ([seen("address", "b", 2, "g"), seen("address", "b", 1, "e")], [], []),
            ([], [seen("branch", "a:1", 4)], [seen("branch", "a:1", 4)]),
            ([], [branch], [branch, seen("branch", "a:1", 7)]),
        )
    ]
    return {
        "traces": plain(traces),
        "wanted": [
            [each.instructions for each in timing.read_dump(dump, wanted)]
            for wanted in ([], [True], [False, True], [True, False, True, True], [True] * 9)
        ],
        "splits": plain(
            [
                timing.splits([ways[n] for n in of], memory)
                for of in ("01", "02", "03", "30", "012")
                for of in [list(map(int, of))]
            ]
        ),
        "verdicts": [
            [name, cached, cycles, timing.verdict(cycles, splits, flash_cached=cached)]
            for name, splits in found.items()
            for cached in (False, True)
            for cycles in ([7], [7, 7], [7, 8])
        ],
        "meanings": plain([timing.MEANING, taint.MEANING]),
        "judged": [plain(taint.judge(each, tagged)) for each in runs for tagged in (True, False)],
    }


# --- attacks ----------------------------------------------------------------------------------


def attackers() -> dict[str, Any]:
    """What attackers conclude from little, and to what they apply."""
    named = ("rc4", "rc4d", "rc4d-two-key", "rc4d-x", "rc4-ctr", "chacha20-poly1305", "chacha20", "x")
    ciphers = [
        toys.described(name, kind, mode=mode, tag_bytes=tag, message=MessageLengths(multiple=multiple))
        for name, kind, mode, tag, multiple in (
            *((name, "stream", "", 0, 1) for name in named),
            *(
                ("b-" + mode, "block mode", mode, tag, multiple)
                for mode in ("cbc", "cfb", "ecb", "ctr", "ofb", "ccm", "gcm", "siv")
                for tag in (0, 8)
                for multiple in (1, 16)
            ),
        )
    ]
    answers = {each.name: [a.NAME for a in all_attacks() if a.applies(each)] for each in ciphers[:8]}
    modes = [
        [
            each.mode,
            each.tag_bytes,
            each.message.multiple,
            *(a.NAME for a in all_attacks() if a.applies(each)),
        ]
        for each in ciphers[8:]
    ]
    reader = cbc_padding_oracle.receiver(
        toys.Toy(b"", lambda k, m, n, a: (m, b""), lambda k, c, n, a, t: c), 4
    )
    plaintexts = (
        b"\0\0\0\0",
        b"abc\1",
        b"ab\2\2",
        b"ab\1\2",
        b"\4\4\4\4",
        b"\5\5\5\5",
        b"a\3\3\3",
        b"a\2\3\3",
    )
    random = Random(4)
    draws = [play.telegram(random, 7, n).hex() for n in (1, 2, 3, 8, 9)]
    words = [play.sentence(random, n).decode() for n in (0, 1, 5, 200)]
    counted = play.Counted(lambda question: question[::-1])
    replies = [counted(b"ab"), counted(b"ab"), counted(b"c"), counted.queries, counted.asked]
    poly = poly1305_nonce_reuse
    pair = (0x0806D5400E52447C036D555408BED685, 0x1BF54941AFF6BF4AFDB20DFB8A800301)
    tags = [poly.tag_of(pair, text) for text in (b"", b"a", b"sixteen bytes it")]
    close = [(b"sixteen bytes it", poly.tag_of(pair, b"sixteen bytes it"))]
    close += [
        (b"sixteen bytes iu", poly.tag_of(pair, b"sixteen bytes iu")),
        (b"four", poly.tag_of(pair, b"four")),
    ]
    table = {0: 3, 1: 2, 2: 9}
    permuted = {x: (x * 7 + 3) % 256 for x in range(256)}

    def without(*left: int) -> dict[int, int]:
        return {x: y for x, y in permuted.items() if x not in left}

    commands = [(3, b"A3o"), (-2, b"A2c"), (2, b"B2o"), (5, b"A5o"), (-5, b"A5c")]
    secrets = [b"secret", b"\0\0\xff", b"0123456789"]

    def chosen(secret: bytes, block: int) -> Callable[[bytes], bytes]:
        def encrypt(prefix: bytes) -> bytes:
            text = prefix + secret
            text += bytes(-len(text) % block)
            return toys.aes_access("ecb").keyed(KEY).encrypt(text)[0] if block == 16 else text

        return encrypt

    read = []
    for secret, block in product(secrets, (8, 16)):
        asked = play.Counted(chosen(secret, block))
        read.append([fixed_iv.attack(asked, block, len(secret)).hex(), asked.queries])
    lost = play.Counted(lambda prefix: Random(len(prefix) * 1000 + sum(prefix)).randbytes(32))
    read.append([fixed_iv.attack(lost, 8, 4).hex(), lost.queries])
    return {
        "apply": answers,
        "apply to modes": modes,
        "likely": [keystream_reuse._likely(n) for n in range(256)],
        "padded": [cbc_padding_oracle.pad(b"a" * n, 4).hex() for n in range(6)],
        "accepted": [reader(b"", text) for text in plaintexts],
        "telegrams": draws,
        "sentences": words,
        "counted": plain(replies),
        "tags": [tag.hex() for tag in tags],
        "one-time keys": [
            str(poly.attack(*of))
            for of in ((close[0], close[1]), (close[0], close[2]), (close[1], close[0]), (close[0], close[0]))
        ],
        "wrong keys": [
            str(poly.attack(close[0], (close[1][0], bytes(16)))),
            [str(r) for r in poly._roots(2)],
        ],
        "roots": [[str(root) for root in poly._roots(square)] for square in (4, 9, 0, 2)],
        "second bytes": [
            rc4_broadcast.attack(heard)
            for heard in ([b"ab", b"cb", b"cd"], [b"az", b"ab"], [b"a\0", b"a\xff"])
        ],
        "swapped": [ecb_block_swap.attack(commands, target, 1).decode() for target in (2, 3, 5)],
        "read behind a prefix": read,
        "questions": [
            rc4d_two_keys._question(*of)
            for of in (
                ({}, {}),
                (table, {1: 0}),
                (without(4), {}),
                (without(4), without(9)),
                (permuted, permuted),
                (without(4, 5), without(0, 7)),
                (without(4), permuted),
            )
        ],
        "completed": [
            _digest(str(rc4d_two_keys._completed(of)))
            for of in (
                permuted,
                without(4),
                without(4, 5),
                {**permuted, 3: permuted[4]},
                {**without(3), 4: 3},
            )
        ],
        "consistent": [
            rc4d_chosen._consistent(c, seen)
            for c, seen in (
                *((0, []), (0, [(1, 2, 3, 4)]), (0, [(1, 2, 3, 4), (1, 2, 3, 5)]), (2, [(1, 2, 3, 4)])),
                *(
                    (0, [(1, 2, 1, 2)]),
                    (0, [(1, 2, 3, 4), (9, 9, 3, 12)]),
                    (3, [(0, 5, 3, 6)]),
                    (3, [(0, 6, 3, 5)]),
                ),
            )
        ],
        "distinguished": [
            sum(
                rc4d_distinguisher.attack(lambda m, d=d: bytes([m[-1] ^ d * (m[-1] & 1)]), Random(n))
                for n in range(40)
            )
            for d in (0, 1)
        ],
    }


def recoveries() -> dict[str, Any]:
    """Tables of RC4D found again, and the steps of the chosen-plaintext attack."""
    state = toys.schedule(KEY)
    found = rc4d.starts(rc4d.functions(state, 3)[2], 3)
    asked = rc4d_chosen._Table()

    def encrypt(message: bytes) -> bytes:
        return rc4d.encrypt(state, message)

    choose, steps = Random(6), []
    for n in range(60):
        asked.ask(encrypt, choose.randrange(256), choose.randrange(256))
        steps.append([str(asked.c), len(asked._possible), len(asked.g)])
        if asked.c is not None and n > 30:
            break
    questions = []
    while len(asked.inputs_left) > 3:
        question = asked.best_question(choose)
        asked.ask(encrypt, *question)
        questions.append([*question, len(asked.inputs_left), len(asked.values_left), asked.queries])
    columns = rc4d_passive._columns([b"abcd", b"efgh", b"ijkl"])
    noise = rc4d_passive._columns([Random(n).randbytes(6) for n in range(20)])

    def telegrams(choose: Random, n: int) -> Callable[[], bytes]:
        return lambda: rc4d.encrypt(state, play.telegram(choose, 9, n))

    claims = [rc4d_passive.attack(telegrams(Random(n), n)) for n in (4, 5)]
    half_heard = []
    for known in (251, 252, 253, 254, 256):
        guessed: list[int] = []
        texts = (bytes((n % known, (7 * n + n // known) % 256)) for n in range(known))
        endless = (bytes((1, 2, text[0], 7 * text[0] % 256)) for text in cycle(list(texts)))
        with mock.patch.object(rc4d, "starts", lambda table, steps, to=guessed: to.append(steps) or []):
            half_heard.append(
                [known, rc4d_passive.attack(lambda e=endless: next(e)), len(guessed), guessed[:1]]
            )
    doubled = iter([b"ab\1\2", b"cd\3\2"] * 2000)
    return {
        "functions": _digest([one.hex() for one in rc4d.functions(state, 300)]),
        "undone": [rc4d.undo(state, steps, 5)[0].hex()[:40] for steps in (0, 1, 2, 255, 256, 257)],
        "starts": [len(found), _digest(plain([[c, j, s.hex()] for c, j, s in found]))],
        "learned": steps,
        "questions": questions,
        "states": [one.hex()[:16] for one in asked.states()],
        "columns": [column.decode() for column in columns],
        "structure": [rc4d_passive.structure(bytes(state), noise, n) for n in (0, 1, 2, 5, 6, 9)],
        "structure of one": rc4d_passive.structure(bytes(state), noise[:1], 3),
        "claims": [
            None if c is None else [c.state.hex()[:16], c.messages, c.first_byte, round(c.lead, 6)]
            for c in claims
        ],
        "no permutation": rc4d_passive.attack(lambda: next(doubled)),
        "half heard": half_heard,
        "heard": Counter(b"aab").most_common(1),
    }


def _silent(cipher: Any) -> toys.ToyAccess:
    """A cipher that nothing can be learned of: its answers are drawn anew by what was asked."""

    def answer(key: bytes, message: bytes, nonce: bytes, ad: bytes) -> tuple[bytes, bytes]:
        drawn = Random(b"|".join((key, message, nonce, b"c")))
        return drawn.randbytes(len(message)), drawn.randbytes(cipher.tag_bytes)

    def back(key: bytes, ciphertext: bytes, nonce: bytes, ad: bytes, tag: bytes) -> bytes:
        if cipher.tag_bytes:
            raise oracle.Rejected
        return Random(b"|".join((key, ciphertext, nonce, b"d"))).randbytes(len(ciphertext))

    return toys.ToyAccess(answer, back)


def failures() -> dict[str, Any]:
    """What each attack says where there is nothing to find."""
    found = {}
    eights = of_lengths(0, 999, 8, mode="ecb")
    part = fixed_iv.run(made_of(des), eights, 1, False)
    found["fixed-iv on blocks of 8"] = plain([part.verdict, part.weight, *part.sentences, part.data])
    short = {"KEYS": 3, "KEYS_QUICK": 2, "GAMES": 6, "TRIALS": 3, "TRIALS_QUICK": 2, "MESSAGES": 9}
    for attack, cipher in (
        (cbc_padding_oracle, toys.aes_cipher("cbc")),
        (ecb_block_swap, toys.aes_cipher("ecb")),
        (fixed_iv, toys.aes_cipher("cbc")),
        (fixed_iv, toys.aes_cipher("ecb")),
        (keystream_reuse, toys.RC4),
        (keystream_reuse, toys.CCM),
        (poly1305_nonce_reuse, toys.CHACHA),
        (rc4_broadcast, toys.RC4),
        (rc4d_chosen, toys.RC4D),
        (rc4d_passive, toys.RC4D),
        (rc4d_distinguisher, toys.RC4D),
        (rc4d_two_keys, toys.described("rc4d-two-key", key_bits=(256,))),
    ):
        kept = {name: value for name, value in vars(attack).items() if name in short}
        try:
            for name in kept:
                setattr(attack, name, short[name])
            for quick in (True, False):
                part = attack.run(_silent(cipher), cipher, 1, quick)  # type: ignore[attr-defined]
                data = {k: v for k, v in part.data.items() if "seconds" not in k}
                if "lengths" in data:
                    data = {
                        **data,
                        "lengths": [
                            {k: v for k, v in row.items() if "seconds" not in k}
                            for row in part.data["lengths"]
                        ],
                    }
                found[f"{part.name} on {cipher.name}, {'quick' if quick else 'whole'}"] = plain(
                    [part.verdict, part.weight, *part.sentences, data]
                )
        finally:
            for name, value in kept.items():
                setattr(attack, name, value)
    return found


READINGS: Mapping[str, Callable[[], dict[str, Any]]] = {
    "shared": shared,
    "determinism": determinisms,
    "integrity": integrities,
    "statistics": figures,
    "diffusion": diffusions,
    "timing": timings,
    "attacks": attackers,
    "recoveries": recoveries,
    "failures": failures,
}


def told(name: str) -> dict[str, Any]:
    """What the file has of one part, by its key."""
    found = READINGS[name]().items()
    return {f"{name}: {key}": value if isinstance(value, Mapping | list) else [value] for key, value in found}


def main() -> None:
    """Write the file anew."""
    PLACE.write_text(written({key: value for name in READINGS for key, value in told(name).items()}))


if __name__ == "__main__":
    main()
