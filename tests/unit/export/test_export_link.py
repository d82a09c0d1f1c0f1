"""Exports of the secure link as a whole: their files, names, radios and commands."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from command_line import run
from motecrypt.catalog import FIRMWARE, Catalog
from motecrypt.errors import InputError
from motecrypt.export import Export, LinkRadio, choose, next_link_step, plan_link, target, target_names
from motecrypt.export.sources import CONFIG
from motecrypt.export.targets import TARGETS, example_sleeps, sleepers
from motecrypt.model import Implementation
from motecrypt.radios import load_radio, radio_names
from motecrypt.toolchain import BuildRequest
from motecrypt.toolchain.link import LISTENS, SHORT, STREAM
from motecrypt.toolchain.link_node import FixedRadio, link_options, node_inputs, suite_of

ROOT = Path(__file__).resolve().parents[3]
CATALOG = Catalog.load()
LINK = FIRMWARE / "link"


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for no disk: what is durable is another test's matter."""
    monkeypatch.setattr("os.fsync", lambda handle: None)


def body_of(cipher: str, variant: str) -> Implementation:
    return next(
        i
        for i in CATALOG.implementations
        if (i.cipher, i.variant, i.library) == (cipher, variant, "motecrypt")
    )


def planned(
    name: str,
    cipher: str = "aes128-ccm8",
    radio: LinkRadio | None = None,
    variant: str | None = None,
    placement: str = "flash",
) -> Export:
    meant = target(name, CATALOG)
    body = choose(CATALOG, CATALOG.cipher(cipher), meant, variant)
    return plan_link(CATALOG, meant, CATALOG.cipher(cipher), body, radio=radio, placement=placement)


def radio(name: str, packet_bytes: int | None = None, *, sends_only: bool = False) -> LinkRadio:
    loaded = load_radio(name)
    if packet_bytes is not None:
        loaded = loaded.with_figures(packet_bytes=packet_bytes)
    return LinkRadio(loaded, sends_only)


def defines(made: Export) -> dict[str, str]:
    (config,) = [text for name, text in made.files.items() if name.endswith(CONFIG)]
    found = re.findall(r"^#define (\w+) (.*)$", config.decode(), re.MULTILINE)
    return {name.removeprefix(made.prefix): value for name, value in found if name != "x"}


# --- what a compiler is given


@pytest.mark.parametrize(
    ("cipher", "variant", "own"),
    [
        ("aes128-ccm8", "small", ["aes_small.c", "ccm.c"]),
        ("aes128-ccm16", "fast", ["aes_fast.c", "ccm.c"]),
        ("ascon-aead128", "bytes", ["ascon_aead128.c", "ascon_bytes.c"]),
    ],
)
def test_a_node_is_the_core_and_the_measured_cipher(cipher: str, variant: str, own: list[str]) -> None:
    request = BuildRequest(CATALOG.device("uno"), body_of(cipher, variant), "flash")
    suite = suite_of(CATALOG.cipher(cipher))
    prf = {"aes128-ccm": "prf_cmac.c", "ascon-aead128": "prf_ascon.c"}[suite]
    core = node_inputs(request, suite)
    assert [path.name for path in core.sources] == ["link.c", "keys.c", "store.c", prf, *own]
    assert [path.parent for path in core.sources[:4]] == [LINK] * 4
    number = "LINK_SUITE=1" if suite == "aes128-ccm" else "LINK_SUITE=2"
    link = ["CIPHER_TAG_BYTES=16", "CIPHER_TAG_VARIES", "CIPHER_NO_AD", "CIPHER_KEY_BYTES_MAX=16", number]
    assert [d for d in core.defines if not d.startswith(("BLOCK_HEADER", "CIPHER_HEADER"))] == link
    header = "ccm.h" if suite == "aes128-ccm" else f"ascon_{variant}.h"
    assert f'CIPHER_HEADER="{header}"' in core.defines
    assert LINK in core.directories and LINK / "node" not in core.directories
    whole = node_inputs(request, suite, FixedRadio(7, 20, 300), "flash.h", ["flash.c", "rp2040.c"])
    assert [path.name for path in whole.sources] == [
        *("link.c", "keys.c", "store.c", prf, "node.c", "flash.c", "rp2040.c"),
        *own,
    ]
    assert [path.parent for path in whole.sources[4:7]] == [LINK / "node"] * 3
    fixed = ["LINK_OPTIONS=7", "LINK_PACKET_BYTES=20", "LINK_ANSWER_MS=300"]
    assert list(whole.defines[len(core.defines) :]) == ['LINK_STORAGE_HEADER="flash.h"', *fixed]
    assert whole.directories == (*core.directories, LINK / "node")


def test_the_link_has_two_suites() -> None:
    suites = {}
    for name, cipher in CATALOG.ciphers.items():
        try:
            suites[name] = suite_of(cipher)
        except InputError as error:
            assert str(error) == (
                f"the link has no {name}; it has aes128-ccm4, aes128-ccm8, aes128-ccm16, ascon-aead128"
            )
    assert suites == {
        "aes128-ccm4": "aes128-ccm",
        "aes128-ccm8": "aes128-ccm",
        "aes128-ccm16": "aes128-ccm",
        "ascon-aead128": "ascon-aead128",
    }


@pytest.mark.parametrize(
    ("serial", "sends_only", "options"),
    [
        (True, False, SHORT | LISTENS | STREAM),
        (True, True, SHORT | STREAM),
        (False, False, SHORT | LISTENS),
        (False, True, SHORT),
    ],
)
def test_the_options_of_a_radio(serial: bool, sends_only: bool, options: int) -> None:
    assert link_options(serial=serial, sends_only=sends_only) == options


def test_options_are_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("SHORT", 6), ("LISTENS", 12), ("STREAM", 20)):
        monkeypatch.setattr(f"motecrypt.toolchain.link_node.{name}", value)
    told = [link_options(serial=s, sends_only=o) for s in (True, False) for o in (True, False)]
    assert told == [22, 30, 6, 14]


def test_the_answer_time_is_four_packets_on_a_slow_radio() -> None:
    times = {name: radio(name).answer_ms for name in radio_names()}
    assert times.pop("lora") == 4500
    assert set(times.values()) == {250}
    assert radio("lora", 12).answer_ms == 600
    assert radio("lora", 20).fixed == FixedRadio(SHORT | LISTENS, 20, radio("lora", 20).answer_ms)
    assert radio("srf").fixed == FixedRadio(SHORT | LISTENS | STREAM, 12, 250)


# --- what is written


@pytest.mark.parametrize("name", target_names())
@pytest.mark.parametrize("cipher", ["aes128-ccm8", "ascon-aead128"])
def test_every_target_writes_the_same_bytes_twice(name: str, cipher: str, tmp_path: Path) -> None:
    first, second = tmp_path / "a" / "lib", tmp_path / "b" / "lib"
    for folder in (first, second, second):
        planned(name, cipher).write(folder)
    made = {str(p.relative_to(first)): p.read_bytes() for p in first.rglob("*") if p.is_file()}
    assert made == {str(p.relative_to(second)): p.read_bytes() for p in second.rglob("*") if p.is_file()}
    assert made["LICENSE"] == (ROOT / "LICENSE").read_bytes()
    for path, data in made.items():
        text = data.decode()
        assert "{{" not in text and "{%" not in text, path
        assert str(tmp_path) not in text and str(ROOT) not in text, path
        assert text.endswith("\n") and not text.endswith("\n\n\n"), path
    manifest = json.loads(made["motecrypt-export.json"])
    assert manifest["link"] == 2 and manifest["target"] == name and manifest["cipher"] == cipher


@pytest.mark.parametrize("name", target_names())
def test_the_c_files_are_the_links_own_behind_a_prefix(name: str) -> None:
    made = planned(name)
    originals: dict[str, list[str]] = {}
    for path in [*LINK.rglob("*.[ch]"), *FIRMWARE.glob("ciphers/*/*.[ch]"), *FIRMWARE.glob("modes/*")]:
        originals.setdefault(path.name, []).append(path.read_text())
    for path in FIRMWARE.glob("include/*"):
        originals.setdefault(path.name, []).append(path.read_text())
    folder = f"/{made.prefix.rstrip('_')}/"
    inside = {path.split("/")[-1]: data.decode() for path, data in made.files.items() if folder in path}
    meant = target(name, CATALOG).link
    assert {"link.c", "link.h", "node.c", "node.h", meant.storage, *meant.boards} <= inside.keys()
    for file, text in inside.items():
        if file != CONFIG:
            plain = text.replace(made.prefix, "").removeprefix(f'#include "{CONFIG}"\n')
            plain = re.sub(r'(#\s*include\s+")(?:[^"/]*/)*([^"/]+")', r"\1\2", plain)
            assert plain in originals[file], file
    unlike = [
        word for word in ("link_send", "link_node_begin", "LINK_ACCEPTED") if word not in inside["node.c"]
    ]
    assert not unlike or f"{made.prefix}link_send" in inside["node.c"]


def test_names_tell_suite_variant_placement_and_radio() -> None:
    names = [
        (planned("arduino"), "mc_link_aes128_ccm_fast_", "McLinkAes128CcmFast"),
        (planned("arduino", variant="small"), "mc_link_aes128_ccm_small_", "McLinkAes128CcmSmall"),
        (planned("arduino", "aes128-ccm4"), "mc_link_aes128_ccm_fast_", "McLinkAes128CcmFast"),
        (planned("arduino", placement="ram"), "mc_link_aes128_ccm_fast_ram_", "McLinkAes128CcmFastRam"),
        (
            planned("arduino", "ascon-aead128", radio("srf")),
            "mc_link_ascon_aead128_bytes_srf_12_",
            "McLinkAsconAead128BytesSrf12",
        ),
        (
            planned("c", "aes128-ccm8", radio("nrf24", 20, sends_only=True)),
            "mc_link_aes128_ccm_tables_nrf24_20_sends_",
            "McLinkAes128CcmTablesNrf2420Sends",
        ),
    ]
    for made, prefix, class_name in names:
        assert (made.prefix, made.class_name) == (prefix, class_name)
        assert made.name == "motecrypt-" + prefix[3:-1].replace("_", "-")
        assert f"src/{prefix.rstrip('_')}.h" in made.files


def test_a_radio_makes_constants_of_options_length_and_time() -> None:
    said = defines(planned("arduino", radio=radio("srf")))
    assert {name: said.get(name) for name in ("LINK_OPTIONS", "LINK_PACKET_BYTES", "LINK_ANSWER_MS")} == {
        "LINK_OPTIONS": "7",
        "LINK_PACKET_BYTES": "12",
        "LINK_ANSWER_MS": "250",
    }
    assert said["LINK_STORAGE_HEADER"] == '"eeprom.h"'
    free = defines(planned("arduino"))
    assert not {"LINK_OPTIONS", "LINK_PACKET_BYTES", "LINK_ANSWER_MS"} & free.keys()
    made = planned("arduino", radio=radio("srf"))
    header = made.files["src/McLinkAes128CcmFastSrf12.h"].decode()
    assert "uint8_t PacketBytes = 12>" in header and "answerMs" not in header and "return 12;" in header
    header = planned("arduino").files["src/McLinkAes128CcmFast.h"].decode()
    assert "uint8_t PacketBytes = 32>" in header and "uint16_t answerMs = 250" in header


def examples(made: Export) -> list[str]:
    return sorted(path.split("/")[1] for path in made.files if path.endswith(".ino"))


def test_examples_are_those_of_the_radio() -> None:
    serial = ["Command", "KeyChange", "Sensor", "Uart"]
    every = ["Command", "KeyChange", "Lora", "Rf24", "Rfm69", "Sensor", "Uart"]
    assert examples(planned("arduino")) == examples(planned("platformio")) == every
    assert examples(planned("arduino", radio=radio("srf"))) == serial
    assert examples(planned("arduino", radio=radio("srf", sends_only=True))) == serial[1:]
    assert examples(planned("arduino", radio=radio("nrf24"))) == ["KeyChange", "Rf24"]
    assert examples(planned("arduino", radio=radio("lora", 60))) == ["KeyChange", "Lora"]
    lora = planned("arduino", radio=radio("lora", 60)).files["examples/Lora/Lora.ino"].decode()
    assert "node.begin()" in lora and "<32, 60>" in lora
    assert b"node.begin(0, 4000)" in planned("arduino").files["examples/Lora/Lora.ino"]


def test_the_readme_has_the_commands_for_exactly_this_export() -> None:
    text = planned("arduino", radio=radio("srf")).files["README.md"].decode()
    assert "motecrypt provision 5 --key gateway.key --radio srf --packet-bytes 12 --eep node.eep" in text
    assert "--cipher aes128-ccm8 --variant fast --link --radio srf --packet-bytes 12` writes" in text
    assert "For one radio: packets of 12 bytes, options 7. A node" in text
    text = planned("pico-sdk", radio=radio("srf", sends_only=True)).files["README.md"].decode()
    assert "--radio srf --packet-bytes 12 --sends-only --uf2 node.uf2" in text
    assert "options 5 (the node sends and never listens)." in text
    text = planned("c").files["README.md"].decode()
    assert "motecrypt provision 5 --key gateway.key --radio srf --image node.store" in text
    assert "--cipher aes128-ccm8 --variant tables --link` writes" in text
    assert "`--radio` makes an export for one radio alone" in text


@pytest.mark.parametrize("name", target_names())
def test_the_readme_says_what_was_tested(name: str) -> None:
    text = " ".join(planned(name).files["README.md"].decode().split())
    not_run = {"platformio": "PlatformIO", "pico-sdk": "The SDK", "zephyr": "Zephyr", "esp-idf": "ESP-IDF"}
    said = f"{not_run.get(name)} itself was not run"
    assert (said in text) == (name in not_run)


def test_packets_that_an_avr_cannot_hold_are_refused() -> None:
    with pytest.raises(InputError, match="--packet-bytes 211: an AVR has room for"):
        planned("arduino", radio=radio("lora", 211))
    assert planned("arduino", radio=radio("lora", 210)).files
    assert planned("c", radio=radio("lora", 222)).files


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(InputError, match="the link has no aes256-ccm8"):
        planned("arduino", "aes256-ccm8")
    with pytest.raises(InputError, match="--placement ram: motecrypt/bytes takes flash"):
        planned("arduino", "ascon-aead128", placement="ram")
    meant, cipher = target("c", CATALOG), CATALOG.cipher("aes128-ccm8")
    with pytest.raises(InputError, match="--url: 'x' is no web address"):
        plan_link(CATALOG, meant, cipher, choose(CATALOG, cipher, meant, None), url="x")
    made = plan_link(
        CATALOG, meant, cipher, choose(CATALOG, cipher, meant, None), url="https://example.org/x"
    )
    assert "--link --url https://example.org/x` writes" in made.files["README.md"].decode()


# --- the command


def test_the_command_writes_the_link(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "lib"
    given = ("export", "arduino", str(folder), "--cipher", "aes128-ccm8", "--link")
    code, out, err = run(capfd, *given, "--radio", "srf", "--packet-bytes", "20", "--sends-only")
    assert (code, err) == (0, "")
    assert (folder / "src" / "McLinkAes128CcmFastSrf20Sends.h").is_file()
    assert out.startswith(f"{folder}: the link with aes128-ccm8 (motecrypt/fast) as an Arduino library, ")
    code, out, _ = run(capfd, *given, "--json")
    assert code == 0 and json.loads(out)["link"] == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--radio", "srf"], "--radio, --packet-bytes and --sends-only go with --link"),
        (["--packet-bytes", "20"], "--radio, --packet-bytes and --sends-only go with --link"),
        (["--sends-only"], "--radio, --packet-bytes and --sends-only go with --link"),
        (["--link", "--packet-bytes", "20"], "--packet-bytes and --sends-only go with --radio"),
        (["--link", "--sends-only"], "--packet-bytes and --sends-only go with --radio"),
        (
            ["--link", "--radio", "srf", "--packet-bytes", "11"],
            "packets of 11 bytes; the link takes 12 to 255",
        ),
        (["--link", "--radio", "moon"], "moon"),
    ],
)
def test_what_is_refused_is_one_line_and_leaves_nothing(
    arguments: list[str], message: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    given = ("export", "arduino", str(tmp_path / "lib"), "--cipher", "aes128-ccm8", *arguments)
    code, out, err = run(capfd, *given, "--db", str(tmp_path / "r.db"))
    assert (code, out) == (2, "") and message in err and err.count("\n") == 1
    assert not (tmp_path / "lib").exists()


@pytest.mark.parametrize("name", target_names())
def test_the_examples_that_sleep_are_those_that_say_so(name: str) -> None:
    """An AVR's sleep mode with its radio's sleep pin; a wait that keeps the chip's clocks is no sleep."""
    for file in target(name, CATALOG).link.files:
        places = (TARGETS / name, TARGETS.parent / "templates")
        text = next(p.read_text() for place in places if (p := place / f"{file.template}.j2").is_file())
        assert file.sleeps == ("sleep_cpu();" in text and "ATSM2" in text), file.template
        assert not file.sleeps or file.radios == ("serial",)


def test_sleep_is_counted_where_the_example_for_the_device_sleeps() -> None:
    found = {name: example_sleeps(device, CATALOG) for name, device in CATALOG.devices.items()}
    assert found == {"uno": ("serial",), "pico": (), "host": ()}
    assert sleepers(CATALOG) == {"uno": ("serial",)}


def test_the_next_step_exports_the_link_as_it_was_advised() -> None:
    uno, pico = CATALOG.devices["uno"], CATALOG.devices["pico"]
    srf = radio("srf")
    told = next_link_step(CATALOG, uno, "aes128-ccm8", "motecrypt/fast", "flash", srf)
    step = "motecrypt export arduino DIR --cipher aes128-ccm8 --variant fast"
    assert told == f"{step} --link --radio srf --packet-bytes 12"
    lone = radio("nrf24", sends_only=True)
    told = next_link_step(CATALOG, pico, "ascon-aead128", "motecrypt/interleaved", "ram", lone)
    assert told.startswith(
        "motecrypt export pico-sdk DIR --cipher ascon-aead128 --variant interleaved --plac"
    )
    assert told.endswith("--link --radio nrf24 --packet-bytes 32 --sends-only")
    assert next_link_step(CATALOG, uno, "aes128-ccm8", "bearssl", "flash", srf) == ""
    with pytest.raises(InputError, match="--packet-bytes 222: an AVR has room"):
        next_link_step(CATALOG, uno, "aes128-ccm8", "motecrypt/fast", "flash", radio("lora"))
    assert next_link_step(CATALOG, pico, "aes128-ccm8", "motecrypt/fast", "flash", radio("lora"))
