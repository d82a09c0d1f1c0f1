"""Descriptors of ciphers, libraries and devices, read into whole records; and the cells that follow."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from motecrypt import catalog as catalog_module
from motecrypt.base.errors import InputError
from motecrypt.base.model import (
    Cell,
    Cipher,
    Compiler,
    Current,
    Device,
    Implementation,
    Memory,
    MessageLengths,
    Placement,
)
from motecrypt.catalog import FIRMWARE, Catalog, Library, empty_implementation, nearest
from motecrypt.catalog.cells import cells_for
from motecrypt.catalog.ciphers import key_bytes, read_cipher_folder
from motecrypt.catalog.devices import read_device
from motecrypt.catalog.libraries import read_library_folder

CORES = {"avr5", "cortex-m0plus"}
HEAD = 'family = "F"\ntitle = "T"\nsource = "S"\n'
PLAIN = '[[cipher]]\nname = "x"\nkind = "stream"\nkey_bits = [128]\n'


def ciphers(folder: Path, text: str) -> tuple[list[Cipher], list[Implementation]]:
    (folder / "cipher.toml").write_text(HEAD + text)
    return read_cipher_folder(folder, CORES)


def test_a_cipher_with_all_that_it_may_say(tmp_path: Path) -> None:
    text = """
[security]
level = "legacy"
reason = "R"
source = "RS"
[[cipher]]
name = "x{key_bits}"
title = "Own"
source = "OS"
kind = "aead"
key_bits = [128, 256]
key_bits_allowed = [64, 512, 8]
nonce_bytes = 12
tag_bytes = 16
associated_data = true
mode = "ccm"
message = { min = 1, max = 99, multiple = 2 }
defines = ["D=1"]
[cipher.security]
level = "broken"
reason = "CR"
source = "CS"
[[cipher]]
name = "y"
kind = "stream"
key_bits = [40]
[[implementation]]
ciphers = ["x*"]
variant = "fast"
block_header = "b.h"
sources = ["a.c"]
key_bits = [256]
defines = ["E=2"]
cores = ["avr*"]
best_on = ["avr5"]
placements = ["ram"]
c_flags = ["-O3"]
note = "N"
[[implementation]]
ciphers = ["y", "x128"]
variant = "small"
header = "y.h"
sources = []
"""
    found, bodies = ciphers(tmp_path, text)
    last = Cipher(
        name="y",
        family="F",
        title="T",
        kind="stream",
        source="S",
        folder=tmp_path,
        key_bits=(40,),
        nonce_bytes=0,
        tag_bytes=0,
        associated_data=False,
        mode=None,
        message=MessageLengths(0, 65535, 1),
        security="legacy",
        security_reason="R",
        security_source="RS",
    )
    first = replace(last, name="x128", title="Own", kind="aead", source="OS", mode="ccm", key_bits=(128,))
    first = replace(first, nonce_bytes=12, tag_bytes=16, associated_data=True)
    first = replace(first, message=MessageLengths(1, 99, 2), key_bits_allowed=(64, 512, 8))
    first = replace(first, security="broken", security_reason="CR", security_source="CS")
    assert found == [first, replace(first, name="x256", key_bits=(256,)), last]
    common: dict[str, Any] = {
        "library": "motecrypt",
        "configuration": "default",
        "include": (),
        "folder": tmp_path,
    }
    fast = Implementation(
        **common,
        cipher="x256",
        variant="fast",
        key_bits=(256,),
        header="ccm.h",
        sources=("a.c", f"{FIRMWARE}/modes/ccm.c"),
        defines=("CIPHER_TAG_BYTES=16", "D=1", 'BLOCK_HEADER="b.h"', "E=2"),
        cores=("avr*",),
        placements=("ram",),
        key_bytes_measured=32,
        key_bytes_allowed=64,
        c_flags=("-O3",),
        note="N",
        best_on=("avr5",),
    )
    small = Implementation(
        **common,
        cipher="x128",
        variant="small",
        key_bits=(128,),
        header="y.h",
        sources=(),
        defines=("CIPHER_TAG_BYTES=16", "D=1"),
        key_bytes_measured=16,
        key_bytes_allowed=64,
    )
    other = replace(small, cipher="y", key_bits=(40,), defines=("CIPHER_TAG_BYTES=0",))
    assert bodies == [fast, small, replace(other, key_bytes_measured=5, key_bytes_allowed=5)]
    assert ciphers(tmp_path, PLAIN)[0][0].security == "unrated"


BITS = "expected multiples of 8 from 8 to 2040"
MESSAGE = "'message' needs 0 <= min <= max and a multiple from 1 on"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("key_bits = [8, 2040]", ""),
        ("key_bits = [16, 2048]", f"'key_bits' is [16, 2048]; {BITS}"),
        ("key_bits = [0]", f"'key_bits' is [0]; {BITS}"),
        ("key_bits = [9]", f"'key_bits' is [9]; {BITS}"),
        ("key_bits = [15, 128]", f"'key_bits' is [15, 128]; {BITS}"),
        ("key_bits = []", "'key_bits' is empty; expected key lengths such as [128]"),
        ("nonce_bytes = 255", ""),
        ("nonce_bytes = 256", "'nonce_bytes' is 256; expected 0 to 255"),
        ("nonce_bytes = -1", "'nonce_bytes' is -1; expected 0 to 255"),
        ("tag_bytes = 16", ""),
        ("tag_bytes = 17", "'tag_bytes' is 17; expected 0 to 16"),
        ("tag_bytes = -1", "'tag_bytes' is -1; expected 0 to 16"),
        ("message = { min = 5, max = 5 }", ""),
        ("message = { min = 6, max = 5 }", MESSAGE),
        ("message = { min = 65536 }", MESSAGE),
        ('mode = "cbc"\nmessage = { multiple = 2 }', ""),
        ('mode = "ccm"', ""),
        *(
            (
                f'mode = "{mode}"',
                f"mode '{mode}' takes whole blocks; expected their length, "
                "such as message = { min = 0, max = 65535, multiple = 16 }",
            )
            for mode in ("ecb", "cbc")
        ),
        ("key_bits_allowed = [8, 16]", "'key_bits_allowed' needs three numbers: min, max, step"),
        ("key_bits_allowed = [8, 16, 8, 8]", "'key_bits_allowed' needs three numbers: min, max, step"),
    ],
)
def test_what_a_cipher_can_be(line: str, said: str, tmp_path: Path) -> None:
    text = PLAIN.replace("key_bits = [128]\n", "") if line.startswith("key_bits =") else PLAIN
    if not said:
        assert len(ciphers(tmp_path, text + line)[0]) == 1
        return
    with pytest.raises(InputError) as told:
        ciphers(tmp_path, text + line)
    assert str(told.value) == f"{tmp_path}/cipher.toml: cipher[0]: {said}"


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("", "needs either 'header' or 'block_header'"),
        ('header = "h"\nblock_header = "b"', "needs either 'header' or 'block_header'"),
        ('block_header = "b"', "a block cipher needs a mode, and 'x' has none"),
        ('header = "h"\nkey_bits = [192]', "matches no cipher of {}/cipher.toml"),
        (
            'header = "h"\ncores = ["avr*", "avr6"]',
            "'cores': no device has a core 'avr6'; available: avr5, cortex-m0plus "
            "(device.toml says a device's core)",
        ),
    ],
)
def test_an_implementation_that_is_none_is_told(lines: str, said: str, tmp_path: Path) -> None:
    text = f'[[implementation]]\nciphers = ["*"]\nvariant = "v"\nsources = []\n{lines}'
    with pytest.raises(InputError) as told:
        ciphers(tmp_path, f"{PLAIN}{text}")
    assert str(told.value) == f"{tmp_path}/cipher.toml: implementation[0]: {said.format(tmp_path)}"


def test_the_longest_keys_measured_and_allowed(tmp_path: Path) -> None:
    cipher = replace(ciphers(tmp_path, PLAIN)[0][0], key_bits=(64, 128, 40))
    assert key_bytes(cipher) == (16, 16)
    assert key_bytes(replace(cipher, key_bits_allowed=(40, 2040, 8))) == (16, 255)
    assert key_bytes(replace(cipher, key_bits_allowed=(40, 64, 512))) == (16, 16)


# --- libraries ---------------------------------------------------------------------------------------------


def test_a_library_with_all_that_it_may_say(tmp_path: Path) -> None:
    known = {c.name: c for c in ciphers(tmp_path, PLAIN + PLAIN.replace('"x"', '"y"'))[0]}
    known["y"] = replace(known["y"], key_bits=(128, 256), tag_bytes=4, key_bits_allowed=(8, 512, 8))
    (tmp_path / "library.toml").write_text("""
name = "lib"
title = "L"
version = "1"
licence = "MIT"
note = "LN"
sources = ["s.c"]
include = ["si"]
defines = ["SD"]
c_flags = ["-O1"]
[[source]]
client = "pypi"
[configuration.one]
defines = ["OD"]
include = ["oi"]
ciphers = ["y"]
note = "ON"
[configuration.two]
[[implementation]]
ciphers = ["x", "y"]
header = "h.h"
sources = ["a.c"]
include = ["ii"]
defines = ["ID"]
c_flags = ["-O2"]
[[implementation]]
ciphers = ["*"]
variant = "v"
header = "v.h"
sources = []
key_bits = [256, 512]
cores = ["avr5"]
placements = ["ram"]
operations = ["decrypt", "setup"]
note = "IN"
""")
    library, bodies = read_library_folder(tmp_path, known, CORES)
    assert library == Library("lib", "L", "1", "MIT", tmp_path, True, "LN")
    plain = Implementation(
        cipher="y",
        library="lib",
        configuration="one",
        variant="",
        key_bits=(128, 256),
        header="h.h",
        sources=("a.c", "s.c"),
        include=("oi", "si", "ii"),
        defines=("CIPHER_TAG_BYTES=4", "SD", "OD", "ID"),
        folder=tmp_path,
        key_bytes_measured=32,
        key_bytes_allowed=64,
        fetched=True,
        c_flags=("-O1", "-O2"),
        note="ON",
    )
    variant = replace(
        plain,
        variant="v",
        key_bits=(256,),
        header="v.h",
        sources=("s.c",),
        include=("oi", "si"),
        defines=("CIPHER_TAG_BYTES=4", "SD", "OD"),
        c_flags=("-O1",),
        cores=("avr5",),
        placements=("ram",),
        operations=("setup", "decrypt"),
        note="IN",
    )
    two: dict[str, Any] = {"configuration": "two", "include": ("si", "ii"), "note": "LN"}
    second = replace(plain, **two, defines=("CIPHER_TAG_BYTES=4", "SD", "ID"))
    assert bodies == [
        plain,
        variant,
        replace(
            second,
            cipher="x",
            key_bits=(128,),
            defines=("CIPHER_TAG_BYTES=0", "SD", "ID"),
            key_bytes_measured=16,
            key_bytes_allowed=16,
        ),
        second,
        replace(variant, configuration="two", include=("si",), defines=("CIPHER_TAG_BYTES=4", "SD")),
    ]
    (tmp_path / "library.toml").write_text('title = "L"')
    library, bodies = read_library_folder(tmp_path, known, CORES)
    assert library == Library(tmp_path.name, "L", "", "", tmp_path, False, "") and bodies == []
    entry = '[[implementation]]\nciphers = ["x"]\nheader = "h"\nsources = []\n'
    (tmp_path / "library.toml").write_text('title = "L"\n' + entry)
    (body,) = read_library_folder(tmp_path, known, CORES)[1]
    assert (body.configuration, body.variant, body.note, body.fetched) == ("default", "", "", False)
    assert (body.cores, body.operations) == (("*",), ("setup", "encrypt", "decrypt"))


# --- devices -----------------------------------------------------------------------------------------------

DEVICE = """
title = "T"
chip = "C"
core = "avr5"
clock_hz = 8
tool_set = "K"
runner = "board"
source = "S"
hal = ["hal.c"]
[supply]
volts = 3.3
volts_min = 3.3
volts_max = 3.3
[memory.flash]
bytes = 8
address = 0
span = 8
[compiler]
command = "avr-gcc"
flags = ["-Os"]
[bench]
key = 1
nonce = 2
ad = 3
message = 4
[placement.flash]
"""
MORE = """
[placement.ram]
caches = ["cold", "warm"]
defines = ["P"]
link_flags = ["-Wl,--relax"]
[[current]]
state = "sleep"
milliamperes = 0.5
condition = "c"
source = "s"
[extra]
wake_us = 7.5
wake_source = "w"
[simulator]
what = "ever"
"""


def device(folder: Path, text: str) -> Device:
    (folder / "device.toml").write_text(text)
    return read_device(folder)


def test_a_device_of_the_version_before_is_read(tmp_path: Path) -> None:
    before = DEVICE.replace("tool_set = ", "kit = ")
    assert before != DEVICE and device(tmp_path, before) == device(tmp_path, DEVICE)


def test_a_device_with_little_and_with_much(tmp_path: Path) -> None:
    little = device(tmp_path, DEVICE)
    assert little == Device(
        name=tmp_path.name,
        title="T",
        chip="C",
        core="avr5",
        clock_hz=8,
        tool_set="K",
        runner="board",
        source="S",
        folder=tmp_path,
        hal=("hal.c",),
        memory={"flash": Memory(8, 0, 8)},
        compiler=Compiler("avr-gcc", (), ("-Os",), (), ()),
        placements={"flash": Placement("flash")},
        bench={"key": 1, "nonce": 2, "ad": 3, "message": 4},
        simulator={},
        volts=3.3,
        volts_min=3.3,
        volts_max=3.3,
        currents=(),
        extra={},
    )
    text = DEVICE.replace('["-Os"]', '["-Os"]\nmachine_flags = ["-mx"]\ndefines = ["D"]\nshared = true')
    assert device(tmp_path, text + MORE) == replace(
        little,
        compiler=Compiler("avr-gcc", ("-mx",), ("-Os",), (), ("D",), shared=True),
        placements={
            "flash": Placement("flash"),
            "ram": Placement("ram", ("cold", "warm"), ("P",), ("-Wl,--relax",)),
        },
        simulator={"what": "ever"},
        currents=(Current("sleep", 0.5, "c", "s"),),
        extra={"wake_us": 7.5, "wake_source": "w"},
    )


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("volts = 3.3", "volts = 3.4", ": supply: needs volts_min <= volts <= volts_max"),
        ("volts = 3.3", "volts = 3.2", ": supply: needs volts_min <= volts <= volts_max"),
        ("memory.flash", "memory.ram", ": 'memory.flash' is missing; expected its bytes, address and span"),
        ("span = 8", "span = 7", ": memory.flash: 'span' is less than 'bytes'"),
        ('runner = "board"', 'runner = "arm"', ": 'simulator' is missing; expected a table"),
        ('runner = "board"', 'runner = "simavr"', ": 'simulator' is missing; expected a table"),
    ],
)
def test_a_device_that_cannot_be_is_told(old: str, new: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as told:
        device(tmp_path, DEVICE.replace(old, new, 1))
    assert str(told.value) == f"{tmp_path}/device.toml{said}"


# --- all together ------------------------------------------------------------------------------------------


def test_what_is_not_known_is_told_with_the_nearest() -> None:
    names = [f"name{number}" for number in range(9)] + ["zzz", "yyy", "xxx", "www"]
    assert nearest("thing", "name", names) == "unknown thing 'name'; did you mean name8 or name7 or name6?"
    assert nearest("thing", "????", names) == (
        f"unknown thing '????'; available: {', '.join(sorted(names)[:12])}"
    )
    known = Catalog.load()
    for kind, ask in (
        ("cipher", known.cipher),
        ("device", known.device),
        ("library", known.library),
        ("toolchain", known.toolchain),
    ):
        with pytest.raises(InputError, match=rf"^unknown {kind} 'no-such-thing'; "):
            ask("no-such-thing")
    assert known.device("uno").name == catalog_module.DEVICE and known.library("motecrypt").licence == "MIT"


def test_every_folder_of_the_program_is_in_the_catalog() -> None:
    ours = Catalog.load()

    def folders(kind: str, file: str) -> set[Path]:
        return {path.parent for path in (catalog_module.FIRMWARE / kind).glob(f"*/{file}")}

    assert {one.folder for one in ours.devices.values()} == folders("devices", "device.toml")
    assert {one.folder for one in ours.ciphers.values()} == folders("ciphers", "cipher.toml")
    assert {one.folder for one in ours.public_keys.values()} == folders("publickey", "algorithm.toml")
    libraries = {one.folder for name, one in ours.libraries.items() if name != "motecrypt"}
    assert libraries == folders("libraries", "library.toml")
    names = {**ours.ciphers, **ours.public_keys}
    assert all(ours.measured(name) is names[name] for name in names)
    with pytest.raises(InputError, match=r"^unknown cipher 'none of these'"):
        ours.measured("none of these")
    assert all(names[name].name == name for name in names)
    assert {body.cipher for body in ours.implementations} <= {*ours.ciphers}
    assert {body.cipher for body in ours.public_key_implementations} == {*ours.public_keys}


def test_names_are_taken_once(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    ours = Catalog.load()
    for name, text, options, said in (
        ("cipher.toml", HEAD + PLAIN.replace('"x"', '"rc4"'), "ciphers", "cipher 'rc4' is also in {}"),
        (
            "library.toml",
            'title = "x"\nname = "motecrypt"',
            "libraries",
            "library 'motecrypt' is also in {}; give it another 'name' in library.toml",
        ),
    ):
        (tmp_path / "own" / name).write_text(text)
        with pytest.raises(InputError) as told:
            Catalog.load(**{options: [tmp_path / "own"]})
        place = ours.cipher("rc4").folder if options == "ciphers" else ours.library("motecrypt").folder
        assert str(told.value) == f"{tmp_path}/own: {said.format(place)}"
    cipher = ours.cipher("rc4")
    assert Catalog.load(ciphers=[cipher.folder]) is ours  # ours already


def test_implementations_are_chosen_by_device_and_library() -> None:
    whole = Catalog.load()
    body = replace(whole.implementations[0], cipher="x", library="a", cores=("*",))
    others = (replace(body, library="b"), replace(body, cores=("none",)), replace(body, cipher="w"))
    made = replace(whole, implementations=(body, *others, replace(body, cipher="z")))
    assert made.implementations_of("x") == [body, *others[:2]]
    assert made.implementations_of("x", "uno") == [body, others[0]]
    assert made.implementations_of("x", "uno", ["b", "c"]) == [others[0]]
    assert made.implementations_of("x", None, ["a"]) == [body, others[1]]
    empty = empty_implementation()
    assert empty == Implementation(
        cipher="empty",
        library="motecrypt",
        configuration="default",
        variant="",
        key_bits=(128,),
        header="empty.h",
        sources=("empty.c",),
        include=(),
        defines=("CIPHER_TAG_BYTES=0",),
        folder=FIRMWARE / "bench" / "empty",
    )
    assert empty_implementation(9) == replace(empty, defines=("CIPHER_TAG_BYTES=9",))


def test_the_cells_of_an_implementation() -> None:
    whole = Catalog.load()
    cipher = replace(
        whole.cipher("aes128-ccm8"), name="x", message=MessageLengths(8, 32, 8), associated_data=True
    )
    plain = replace(cipher, name="y", associated_data=False)
    known = replace(whole, ciphers={"x": cipher, "y": plain})
    uno = replace(
        whole.device("uno"),
        placements={
            "a": Placement("a", ("none",)),
            "b": Placement("b", ("cold", "warm")),
            "flash": Placement("flash"),
        },
    )
    body = replace(
        whole.implementations[0],
        cipher="x",
        key_bits=(128, 256),
        placements=("b", "a"),
        operations=("encrypt", "setup"),
    )

    def made(which: Implementation = body, **asked: Any) -> list[Any]:
        found = cells_for(known, uno, which, **{"message_bytes": [16], **asked})
        assert all((c.device, c.implementation) == ("uno", which) for c in found)
        return [(c.operation, c.key_bits, c.message_bytes, c.ad_bytes, c.placement, c.cache) for c in found]

    places = [("a", "none"), ("b", "cold"), ("b", "warm")]
    both = ("setup", "encrypt")
    assert made() == [(o, bits, 16, 0, *place) for place in places for bits in (128, 256) for o in both]
    one: dict[str, Any] = {"placements": ["b"], "caches": ["warm"], "key_bits": [64, 256]}
    assert made(**one) == [(o, 256, 16, 0, "b", "warm") for o in both]
    assert made(**one, operations=("decrypt", "encrypt")) == [("encrypt", 256, 16, 0, "b", "warm")]
    assert made(**one, message_bytes=[7, 8, 12, 32, 40], ad_bytes=[0, 5], operations=("setup",)) == [
        ("setup", 256, length, ad, "b", "warm") for length in (8, 32) for ad in (0, 5)
    ]
    assert made(replace(body, cipher="y"), **one, ad_bytes=[0, 5], operations=("setup",)) == [
        ("setup", 256, 16, 0, "b", "warm")
    ]
    assert {c[4] for c in made(replace(body, placements=()))} == {"flash"}
    assert {c[4] for c in made(placements=["none"])} == {"a"}  # of a device without it the first
    (cell,) = cells_for(
        known, uno, body, **one, message_bytes=[8], operations=("setup",), flags=("-O3",), toolchain="t"
    )
    assert cell == Cell("uno", body, "setup", 256, 8, 0, "b", "warm", ("-O3",), "t")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            'core = "cortex-m4"',
            'core = "cortex-m7"',
            "no core 'cortex-m7'; choose one of cortex-m0, cortex-m0plus, cortex-m3, cortex-m4",
        ),
        ('chip = "STM32F407VG"', 'chip = "STM32F1"', "no chip 'STM32F1'; choose one of RP2040, STM32F407VG"),
        ("store_hides = 1", "store_hidden = 1", "'store_hides' is missing"),
    ],
)
def test_the_arm_runner_names_its_cores_chips_and_costs(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    text = (FIRMWARE / "devices" / "stm32f4" / "device.toml").read_text()
    assert old in text
    (tmp_path / "device.toml").write_text(text.replace(old, new))
    with pytest.raises(InputError) as caught:
        read_device(tmp_path)
    assert said in str(caught.value)
