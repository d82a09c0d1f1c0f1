"""What the attacks find in made-up data, and what they say where nothing is to be found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import cycle, product
from random import Random
from typing import Any
from unittest import mock

import audit_toys as toys

from goldens.text import digest, plain
from motecrypt.attack.audits import _rc4d_state as rc4d
from motecrypt.attack.audits.attacks import _play as play
from motecrypt.attack.audits.attacks import (
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
from motecrypt.base.model import MessageLengths
from readings.made_up import KEY


def attackers() -> dict[str, Any]:
    """What attackers conclude from little, and to what they apply."""
    named = ("rc4", "rc4d", "rc4d-two-key", "rc4d-x", "rc4-ctr", "chacha20-poly1305", "chacha20", "x")
    ciphers = [
        toys.described(name, kind, mode=mode, tag_bytes=tag, message=MessageLengths(multiple=multiple))
        for name, kind, mode, tag, multiple in (
            *((name, "stream", "", 0, 1) for name in named),
            *((kind, kind, "", 0, 1) for kind in ("another kind", "unknown kind")),
            *(
                ("b-" + mode, "block mode", mode, tag, multiple)
                for mode in ("aaa", "cbc", "cfb", "ecb", "ctr", "ofb", "ccm", "gcm", "siv", "zzz")
                for tag in (0, 8)
                for multiple in (1, 2, 16)
            ),
        )
    ]
    answers = {each.name: [a.NAME for a in all_attacks() if a.applies(each)] for each in ciphers[:10]}
    modes = [
        [
            each.mode,
            each.tag_bytes,
            each.message.multiple,
            *(a.NAME for a in all_attacks() if a.applies(each)),
        ]
        for each in ciphers[10:]
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
        "keystreams": [keystream_reuse.attack([bytes((32 ^ k, 32))] * 2).hex() for k in (0, 1, 254, 255)],
        "padded": [cbc_padding_oracle.pad(b"a" * n, 4).hex() for n in range(6)],
        "accepted": [reader(b"", text) for text in plaintexts],
        "telegrams": draws,
        "sentences": words,
        "long ones": [
            digest(play.telegram(Random(1), 7, 20_000).hex()),
            digest([play.telegram(random, 7, 2).hex() for _ in range(3000)]),
            digest(play.sentence(Random(2), 40_000).decode()),
        ],
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
        "roots": [[str(root) for root in poly._roots(square)] for square in (4, 9, 0, 2, poly.PRIME - 4)],
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
        "next questions": _questions(),
        "only the last is missing": rc4d_two_keys._question(without(255), without(255)),
        "carried": _carried(),
        "completed": [
            digest(str(rc4d_two_keys._completed(of)))
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


def _chosen_to_no_end(encrypt: Callable[[bytes], bytes], state: bytes) -> list[Any]:
    """Where the answers end, and where candidates remain that no message distinguishes."""
    first = play.Counted(lambda message: encrypt(message) if first.queries < 60 else encrypt(b"ab"))
    found: list[Any] = [rc4d_chosen.attack(first, Random(2)), first.queries]
    second = play.Counted(encrypt)
    with mock.patch.object(rc4d_chosen._Table, "states", lambda table: iter([state, state])):
        same = rc4d_chosen.attack(second, Random(3))
    return [*found, same == state, second.queries]


def _crowded() -> bool:
    """Whether both tables are found among others that the generator might have come from as well."""
    keys, before, random = (bytes(range(16)), bytes(range(3, 19))), rc4d.starts_through_output, Random(8)
    tables = [bytes(toys.schedule(key)) for key in keys]

    def starts(g: bytes, c: int, first: int) -> Iterator[bytes]:
        for _ in range(6):
            yield bytes(random.sample(range(256), 256))
        yield from before(g, c, first)

    with mock.patch.object(rc4d, "starts_through_output", starts):
        asked = rc4d_two_keys.attack(lambda m: rc4d.encrypt(tables[0], m, tables[1]), Random(9))
    return asked == tuple(tables)


def _questions() -> list[Any]:
    """What is asked next of tables that are known in part."""
    random, asked = Random(11), []
    for _ in range(60):
        first, second = list(range(256)), list(range(256))
        random.shuffle(first)
        random.shuffle(second)
        tables = [
            {x: values[x] for x in random.sample(range(256), random.choice((0, 9, 128, 229, 231, 232, 253)))}
            for values in (first, second)
        ]
        asked.append(rc4d_two_keys._question(tables[0], tables[1]))
    return asked


def _carried() -> list[Any]:
    """Poly1305's key from tags that differ by the least and the most multiples of 2**128."""
    poly, random, found = poly1305_nonce_reuse, Random(5), []
    for wanted in (-4, -1, 0, 3, 4):
        while True:
            key = random.getrandbits(128) & poly.CLEARED, random.getrandbits(128)
            texts = random.randbytes(16), random.randbytes(16)
            sums = [poly._polynomial(key[0], text) + key[1] for text in texts]
            if (sums[0] >> 128) - (sums[1] >> 128) == wanted:
                break
        one, other = ((text, poly.tag_of(key, text)) for text in texts)
        found.append([wanted, poly.attack(one, other) == key])
    return found


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
    sized = []
    for size in (63, 64, 65):
        asked.inputs_left = set(range(100, 100 + size))
        sized.append(asked.best_question(Random(size)))
    asked.inputs_left, asked.values_left = {5, 0xF0}, {0x0F}
    sized.append(asked.best_question(Random(1)))
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
    few = []
    for number in (1, 2, 3, 9):
        tables = [(0, 0, bytes(toys.schedule(bytes((n, 1))))) for n in range(number)]
        with mock.patch.object(rc4d, "starts", lambda table, steps, of=tables: of):
            one = rc4d_passive.attack(telegrams(Random(number), 4))
            few.append(None if one is None else [one.state.hex()[:16], one.first_byte, one.lead])
    doubled = iter([b"ab\1\2", b"cd\3\2"] * 2000)
    return {
        "functions": digest([one.hex() for one in rc4d.functions(state, 300)]),
        "undone": [rc4d.undo(state, steps, 5)[0].hex()[:40] for steps in (0, 1, 2, 255, 256, 257)],
        "starts": [len(found), digest(plain([[c, j, s.hex()] for c, j, s in found]))],
        "learned": steps,
        "questions": questions,
        "questions by what is left": sized,
        "found in a crowd": _crowded(),
        "chosen, to no end": _chosen_to_no_end(encrypt, bytes(state)),
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
        "few candidates": few,
        "heard": Counter(b"aab").most_common(1),
    }
