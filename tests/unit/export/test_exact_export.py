"""What an export says of a cipher and how it is called, word for word; nothing is written."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from motecrypt.base.errors import InputError
from motecrypt.base.model import MessageLengths
from motecrypt.catalog import Catalog
from motecrypt.catalog.oracles import oracle
from motecrypt.catalog.typed import typed_cipher
from motecrypt.exports import commands, library, targets
from motecrypt.exports.commands import next_step
from motecrypt.exports.library import KnownAnswer, known_answer

CATALOG = Catalog.load()
CCM = CATALOG.cipher("aes128-ccm8")
BODY = CATALOG.implementations_of("aes128-ccm8", "uno", ["motecrypt"])[0]


def test_all_that_is_said_of_a_cipher() -> None:
    cipher = replace(
        CCM,
        nonce_bytes=1,
        tag_bytes=1,
        associated_data=True,
        security="broken",
        security_reason="one-two " * 14 + "end",
        security_source="S",
        message=MessageLengths(),
    )
    reason = "One-two " + "one-two " * 12
    assert library._cipher_words(cipher, replace(BODY, key_bits=(256, 64, 128))) == {
        "cipher": cipher,
        "broken": True,
        "security": {
            "level": "broken",
            "reason": "one-two " * 14 + "end",
            "source": "S",
            "lines": [reason.strip(), "one-two end."],
        },
        "key_bytes": 32,
        "key_text": "a key of 32 or 8 or 16 bytes",
        "message_text": "messages of any length",
        "nonce_argument": ", const uint8_t *nonce",
        "nonce_value": ", nonce",
        "ad_argument": ", const uint8_t *ad = NULL, size_t adBytes = 0",
        "ad_plain_argument": ", const uint8_t *ad, size_t adBytes",
        "ad_value": ", ad, adBytes",
        "call": {"nonce": ", nonce", "tag": ", tag", "ad": ", ad, sizeof ad"},
    }
    plain = replace(cipher, nonce_bytes=0, tag_bytes=0, associated_data=False, security_reason="")
    for security in ("acceptable", "legacy", "unrated"):
        words = library._cipher_words(replace(plain, security=security), replace(BODY, key_bits=(64,)))  # type: ignore[arg-type]
        assert (words["broken"], words["key_text"]) == (False, "a key of 8 bytes")
        assert words["security"]["lines"] == ["It is not rated."]
        told = [words[name] for name in words if name.startswith(("nonce_", "ad_"))]
        assert told == [""] * 5 and words["call"] == {"nonce": "", "tag": "", "ad": ""}


@pytest.mark.parametrize(
    ("lengths", "text"),
    [
        (MessageLengths(0, 9, 1), "messages of any length"),
        (MessageLengths(1, 9, 1), "messages from 1 bytes on"),
        (MessageLengths(16, 99, 1), "messages from 16 bytes on"),
        (MessageLengths(4, 99, 2), "messages of whole blocks of 2 bytes"),
        (MessageLengths(0, 99, 16), "messages of whole blocks of 16 bytes"),
    ],
)
def test_which_messages_a_cipher_takes(lengths: MessageLengths, text: str) -> None:
    assert library._message_text(replace(CCM, message=lengths)) == text


@pytest.mark.parametrize(
    ("lengths", "length"),
    [
        *((MessageLengths(0, 999, 1), 20), (MessageLengths(20, 20, 1), 20), (MessageLengths(0, 99, 8), 24)),
        *((MessageLengths(21, 99, 1), 24), (MessageLengths(25, 99, 1), 32), (MessageLengths(0, 99, 16), 32)),
        *((MessageLengths(0, 5, 1), 1), (MessageLengths(0, 7, 7), 7), (MessageLengths(33, 99, 1), 33)),
        (MessageLengths(50, 50, 1), 50),
    ],
)
def test_a_known_answer_has_a_length_that_the_cipher_takes(lengths: MessageLengths, length: int) -> None:
    cipher = replace(CCM, message=lengths)
    key, nonce = bytes(range(16)), bytes(range(0x40, 0x40 + CCM.nonce_bytes))
    message = (b"A reading: 21.5 degrees. " * 3)[:length]
    assert known_answer(cipher) == KnownAnswer(
        key, nonce, b"node", message, *oracle(cipher)(key, nonce, b"node", message)
    )


def test_words_and_bytes_are_made_fit_for_c() -> None:
    assert library._line(" a \n b\t*/ /* c\\d ") == "a b * / / * c/d"
    for text, said in (("", "."), ("a", "A."), ("aB. c!", "AB. c!"), ("why?", "Why?"), ("so.", "So.")):
        assert library._sentence(text) == said
    row = ", ".join(f"0x{n:02x}" for n in range(12))
    assert library._c_bytes(b"") == "" and library._c_bytes(b"\x0a\xff") == "0x0a, 0xff"
    assert library._c_bytes(bytes(range(12))) == row
    assert library._c_bytes(bytes(range(13))) == f"\n    {row},\n    0x0c\n"
    assert library._json({"a": ["b"]}) == '{"a": ["b"]}'


def test_the_command_of_an_export(tmp_path: Path) -> None:
    named = {"target": "c", "cipher": "x y", "variant": "v", "placement": "flash"}
    base = "motecrypt export c DIR --cipher 'x y' --variant v"
    assert commands.export_command(named, "") == base
    for place in ("a", "ram"):
        assert (
            commands.export_command({**named, "placement": place}, "u")
            == f"{base} --placement {place} --url u"
        )
    assert library._asked(CCM) == "aes128-ccm8"
    assert library._asked(replace(CCM, folder=tmp_path / "own")) == "./own/aes128-ccm8"
    own = replace(CCM, folder=tmp_path / "mine" / "own")
    assert typed_cipher(CCM) == "aes128-ccm8"
    for folder, path in (
        (tmp_path, "./mine/own"),
        (tmp_path / "mine", "./own"),
        (tmp_path / "x", "../mine/own"),
    ):
        folder.mkdir(parents=True, exist_ok=True)
        with contextlib.chdir(folder):
            assert typed_cipher(own) == f"{path}/aes128-ccm8"


def test_the_variant_that_is_named_or_the_best() -> None:
    meant = replace(targets.target("c", CATALOG), core="avr5", title="T")
    bodies = [
        replace(BODY, variant="a", cores=("*",), best_on=("z",)),
        replace(BODY, variant="b", cores=("avr5",), best_on=("avr*",)),
        replace(BODY, variant="c", cores=("avr5",), best_on=("avr5",)),
        replace(BODY, variant="d", cores=("z",), best_on=("avr5",)),
        replace(BODY, variant="e", library="b", cores=("*",), best_on=("avr5",)),
        replace(BODY, variant="f", cipher="other", cores=("*",), best_on=("avr5",)),
    ]
    known = replace(CATALOG, implementations=tuple(bodies))
    assert library.choose(known, CCM, meant, None) == bodies[1]
    assert library.choose(known, CCM, replace(meant, core="y"), None) == bodies[0]
    for variant, body in (("a", 0), ("c", 2), (bodies[2].name, 2)):
        assert library.choose(known, CCM, meant, variant) == bodies[body]
    for variant in ("d", "e", "f", "x"):
        with pytest.raises(InputError) as told:
            library.choose(known, CCM, meant, variant)
        assert str(told.value) == (
            f"--variant '{variant}': aes128-ccm8 has none of that name for T (core avr5); available: a, b, c"
        )
    bare = replace(CATALOG, implementations=())
    with pytest.raises(InputError, match=r"^--variant 'a': .* \(core avr5\); available: none$"):
        library.choose(bare, CCM, meant, "a")
    with pytest.raises(InputError, match=r"^aes128-ccm8: no implementation for T \(core avr5\)$"):
        library.choose(bare, CCM, meant, None)


def test_the_next_step_is_ours_and_for_the_targets_core(monkeypatch: pytest.MonkeyPatch) -> None:
    meant: Any = replace(targets.target("c", CATALOG), name="t", core="avr5", tested_on_device="")
    monkeypatch.setattr(commands, "target_for", lambda device, catalog: meant)
    uno = CATALOG.device("uno")
    assert next_step(CATALOG, uno, "aes128-ccm8", BODY.name, "ram") == (
        f"motecrypt export t DIR --cipher aes128-ccm8 --variant {BODY.variant} --placement ram"
    )
    for name in ("motecrypt", "motecrypt/a", "motecrypt/zzz", "tinycrypt"):
        assert next_step(CATALOG, uno, "aes128-ccm8", name, "flash") == ""
    meant = replace(meant, core="none")
    only = replace(BODY, cores=("avr5",))
    known = replace(CATALOG, implementations=(only,))
    assert next_step(known, uno, "aes128-ccm8", only.name, "flash") == ""


# --- figures -----------------------------------------------------------------------------------------------


def test_the_figures_of_one_device() -> None:
    from motecrypt.base.model import Cell
    from motecrypt.exports import figures
    from motecrypt.exports.figures import ExportFigures, Missing
    from unit.test_store import made

    uno = replace(CATALOG.device("uno"), title="UNO")
    body = replace(BODY, variant="v")
    cells = [
        Cell("uno", body, "encrypt", 128, n, 0, place)
        for n, place in ((64, "ram"), (16, "flash"), (64, "flash"))
    ]
    right = [
        made(1, cells[0], cycles_median=12345, time_us=1234.56, stack_bytes=7, compiler="c", flags="-f"),
        made(1, cells[1], cycles_median=None, stack_bytes=1009, cache="cold", flash_bytes=9),
        made(1, cells[2], status="ok", stack_bytes=None),
    ]
    right[0] = replace(right[0], flash_bytes=2000, ram_bytes=None)
    command = "motecrypt measure --device uno --cipher ./x --variant v --placement flash,ram --bytes 64,16"
    whole = ExportFigures(
        sizes=(("UNO", "c", right[0].measured_at[:10], "`-f`", "2,000", "", "1,009"),),
        times=(
            ("UNO", "ram", "128", "64", "encrypt", "12,345", "1,234.6"),
            ("UNO", "flash, cold cache", "128", "16", "encrypt", "", ""),
            ("UNO", "flash", "128", "64", "encrypt", "1", ""),
        ),
    )
    assert figures._of_device(uno, body, cells, right, "./x") == whole
    failed = [replace(right[1], status=status, reason="why") for status in ("fault", "unknown")]
    some = figures._of_device(uno, body, cells, [right[0], *failed], "./x")
    assert some.failed == (Missing("UNO", reason="why"),) and len(some.times) == 1 and some.missing == ()
    lacking = figures._of_device(uno, body, cells, [right[0], failed[0]], "./x")
    assert lacking == ExportFigures(
        failed=(Missing("UNO", reason="why"),), missing=(Missing("UNO", command=command),)
    )
    assert figures._of_device(uno, body, cells[:2], failed, "./x") == ExportFigures(failed=lacking.failed)
    assert figures._of_device(uno, body, cells, [], "./x") == ExportFigures(missing=lacking.missing)
    assert whole + lacking == ExportFigures(whole.sizes, whole.times, lacking.missing, lacking.failed)
    bare = figures._of_device(uno, body, cells[2:], right[2:], "./x")
    assert bare.sizes == (("UNO", "", right[2].measured_at[:10], "``", "1", "1", ""),)
    for lengths, expected in (
        (MessageLengths(), [16, 64]),
        (MessageLengths(0, 16, 1), [16]),
        (MessageLengths(17, 99, 1), [64]),
        (MessageLengths(65, 99, 8), [72]),
        (MessageLengths(65, 72, 8), [72]),
    ):
        known = replace(CATALOG, ciphers={BODY.cipher: replace(CCM, message=lengths)})
        assert figures._lengths(known, BODY) == expected
