"""Exports of the secure link as a whole: their files, names, radios and commands."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from command_line import run
from motecrypt.air.radios import load_radio, radio_names
from motecrypt.base.errors import InputError
from motecrypt.base.model import Implementation
from motecrypt.build.toolchain import BuildRequest
from motecrypt.catalog import FIRMWARE, Catalog
from motecrypt.exports.commands import LinkRadio, next_link_step
from motecrypt.exports.examples import EXAMPLES, Example, all_examples, read_example
from motecrypt.exports.library import Export, choose
from motecrypt.exports.link import plan_link, plan_sketch, running_examples
from motecrypt.exports.link_node import FixedRadio, link_options, node_inputs, suite_of
from motecrypt.exports.sources import CONFIG
from motecrypt.exports.targets import example_sleeps, for_device, sleepers, target, target_names
from motecrypt.link.native import LISTENS, SHORT, STREAM, Suite
from motecrypt.results.experiments.link_cost import LinkCostFailure

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
    body = choose(CATALOG, CATALOG.cipher(cipher), meant, variant, placement)
    return plan_link(CATALOG, meant, CATALOG.cipher(cipher), body, radio=radio, placement=placement)


def radio(name: str, packet_bytes: int | None = None, *, sends_only: bool = False) -> LinkRadio:
    loaded = load_radio(name)
    if packet_bytes is not None:
        loaded = loaded.with_figures(packet_bytes=packet_bytes)
    return LinkRadio(loaded, sends_only)


def defines(made: Export) -> dict[str, str]:
    (config,) = [
        text for name, text in made.files.items() if name.endswith(CONFIG) and "examples/" not in name
    ]
    found = re.findall(r"^#define (\w+) (.*)$", config.decode(), re.MULTILINE)
    return {name.removeprefix(made.prefix): value for name, value in found if name != "x"}


# --- what a compiler is given


@pytest.mark.parametrize(
    ("cipher", "variant", "own"),
    [
        ("aes128-ccm8", "small", ["aes_small.c"]),
        ("aes128-ccm16", "fast", ["aes_fast.c"]),
        ("aes128-ccm8", "avr", ["aes_avr.S"]),
        ("ascon-aead128", "avr", ["ascon_aead128.c", "ascon_avr.S"]),
    ],
)
def test_a_node_is_the_core_and_the_measured_cipher(cipher: str, variant: str, own: list[str]) -> None:
    request = BuildRequest(CATALOG.device("uno"), body_of(cipher, variant), "flash")
    suite = suite_of(CATALOG.cipher(cipher))
    own_suite = {"aes128-ccm": "suite_ccm.c", "ascon-aead128": "suite_ascon.c"}[suite]
    core = node_inputs(request, suite)
    assert [path.name for path in core.sources] == ["link.c", "keys.c", "store.c", own_suite, *own]
    assert [path.parent for path in core.sources[:4]] == [LINK] * 4
    number = "LINK_SUITE=1" if suite == "aes128-ccm" else "LINK_SUITE=2"
    link = ["CIPHER_TAG_BYTES=16", "CIPHER_TAG_VARIES", "CIPHER_NO_AD", "CIPHER_KEY_BYTES_MAX=16", number]
    assert [d for d in core.defines if not d.startswith(("BLOCK_HEADER", "CIPHER_HEADER"))] == link
    header = "ccm.h" if suite == "aes128-ccm" else f"ascon_{variant}.h"
    assert f'CIPHER_HEADER="{header}"' in core.defines
    assert LINK in core.directories and LINK / "node" not in core.directories
    whole = node_inputs(request, suite, FixedRadio(7, 20, 300), "flash.h", ["flash.c", "rp2040.c"])
    assert [path.name for path in whole.sources] == [
        *("link.c", "keys.c", "store.c", own_suite, "node.c", "flash.c", "rp2040.c"),
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
        monkeypatch.setattr(f"motecrypt.exports.link_node.{name}", value)
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
    for path in [*LINK.rglob("*.[ch]"), *FIRMWARE.glob("ciphers/*/*.[chS]"), *FIRMWARE.glob("modes/*")]:
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
        (planned("arduino"), "mc_link_aes128_ccm_avr_", "McLinkAes128CcmAvr"),
        (planned("arduino", variant="small"), "mc_link_aes128_ccm_small_", "McLinkAes128CcmSmall"),
        (planned("arduino", "aes128-ccm4"), "mc_link_aes128_ccm_avr_", "McLinkAes128CcmAvr"),
        (planned("arduino", placement="ram"), "mc_link_aes128_ccm_fast_ram_", "McLinkAes128CcmFastRam"),
        (
            planned("arduino", "ascon-aead128", radio("srf")),
            "mc_link_ascon_aead128_avr_srf_12_",
            "McLinkAsconAead128AvrSrf12",
        ),
        (
            planned("c", "aes128-ccm8", radio("nrf24", 20, sends_only=True)),
            "mc_link_aes128_ccm_sliced_nrf24_20_sends_",
            "McLinkAes128CcmSlicedNrf2420Sends",
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
    header = made.files["src/McLinkAes128CcmAvrSrf12.h"].decode()
    assert "uint8_t PacketBytes = 12>" in header and "answerMs" not in header and "return 12;" in header
    header = planned("arduino").files["src/McLinkAes128CcmAvr.h"].decode()
    assert "uint8_t PacketBytes = 32>" in header and "uint16_t answerMs = 250" in header


def examples(made: Export) -> list[str]:
    return sorted(path.split("/")[1] for path in made.files if path.endswith(".ino"))


@pytest.mark.parametrize(
    ("device", "cipher", "variant", "storage"),
    [
        ("stm32f4", "aes128-ccm8", "armv7m-fixsliced", "flash"),
        ("nrf52840", "ascon-aead128", "armv7m", "flash"),
        ("mkrzero", "aes128-ccm4", "sliced", "flash"),
        ("mega2560", "aes128-ccm8", "avr", "eeprom"),
        ("bluepill", "aes128-ccm8", "armv7m", "flash"),
    ],
)
def test_a_named_device_has_its_best_variant_its_storage_and_its_flags(
    device: str, cipher: str, variant: str, storage: str
) -> None:
    meant = for_device(target("c", CATALOG), CATALOG.device(device))
    body = choose(CATALOG, CATALOG.cipher(cipher), meant, None)
    made = plan_link(CATALOG, meant, CATALOG.cipher(cipher), body)
    assert (body.variant, made.about["device"]) == (variant, device)
    assert defines(made)["LINK_STORAGE_HEADER"] == f'"{storage}.h"'
    readme, cmake = made.files["README.md"].decode(), made.files["CMakeLists.txt"].decode()
    compiler = CATALOG.device(device).compiler
    flags = " ".join((*compiler.machine_flags, *compiler.flags, *body.c_flags))
    sources = [
        f"src/{made.prefix.rstrip('_')}/{Path(path).name}"
        for path in made.files
        if path.startswith("src/") and path.endswith((".c", ".S")) and not path.endswith("_parts.S")
    ]
    (line,) = [line for line in readme.splitlines() if line.startswith(f"{compiler.command} ")]
    head, listed = line.split(" -I src -c ")
    assert head == f"{compiler.command} {flags}" and sorted(listed.split()) == sorted(sources)
    assert f"PRIVATE {flags})" in cmake and " C ASM)" in cmake and "add_executable" not in cmake
    assert (
        f"`motecrypt export c DIR --cipher {cipher} --device {device} --variant {variant} --link`" in readme
    )
    assert {"examples/board/main.c", "examples/board/board.h"} == {
        path for path in made.files if path.startswith("examples/")
    }
    assert "YOUR_SKETCH" not in readme


def test_the_boards_functions_are_those_of_the_radio() -> None:
    meant = for_device(target("c", CATALOG), CATALOG.device("stm32f4"))
    cipher = CATALOG.cipher("aes128-ccm8")
    body = choose(CATALOG, cipher, meant, None)
    for given, packets in ((None, False), (radio("srf"), False), (radio("nrf24"), True)):
        board = plan_link(CATALOG, meant, cipher, body, radio=given).files["examples/board/board.h"].decode()
        assert ("uint8_t board_receive(uint8_t *packet" in board) == packets
        assert ("int16_t board_receive(void)" in board) != packets


def test_a_failed_measurement_is_told_in_the_readme() -> None:
    meant, cipher = target("c", CATALOG), CATALOG.cipher("aes128-ccm8")
    costs = (LinkCostFailure("the stack ran out"), "2026-11-23")
    made = plan_link(CATALOG, meant, cipher, choose(CATALOG, cipher, meant, None), costs=costs)
    assert "Not measured on Raspberry Pi Pico: the stack ran out.\n" in made.files["README.md"].decode()


def test_examples_are_those_of_the_radio() -> None:
    serial = ["Coap", "Command", "Group", "KeyChange", "Log", "Oscore", "Sensor", "Thermometer", "Uart"]
    every = sorted([*serial, "Lora", "Rf24", "Rfm69"])
    assert examples(planned("arduino")) == examples(planned("platformio")) == every
    assert examples(planned("arduino", radio=radio("srf"))) == serial
    assert examples(planned("arduino", radio=radio("srf", sends_only=True))) == ["KeyChange", *serial[6:]]
    assert examples(planned("arduino", radio=radio("nrf24"))) == ["KeyChange", "Rf24"]
    assert examples(planned("arduino", radio=radio("lora", 60))) == ["KeyChange", "Lora"]
    lora = planned("arduino", radio=radio("lora", 60)).files["examples/Lora/Lora.ino"].decode()
    assert "node.begin()" in lora and "<16, 60>" in lora
    assert b"node.begin(0, 4000)" in planned("arduino").files["examples/Lora/Lora.ino"]


@pytest.mark.parametrize(
    ("name", "packet_bytes"), [("srf", 20), ("nrf24", 24), ("cc1101", 48), ("lora", 200)]
)
def test_an_example_has_room_for_its_librarys_packets(name: str, packet_bytes: int) -> None:
    """One with room for shorter ones would find no keys; `cc1101` means an RFM69."""
    made = planned("arduino", radio=radio(name, packet_bytes))
    sketches = [
        text.decode()
        for path, text in made.files.items()
        if path.endswith(".ino")
        and not path.endswith("Oscore.ino")  # which has room for packets of any length
    ]
    lengths = [re.search(r"<\d+, (\d+)> \w+\(", text) for text in sketches]
    assert {found and found[1] for found in lengths} == {str(packet_bytes)} and len(sketches) >= 2


def test_the_readme_has_the_commands_for_exactly_this_export() -> None:
    text = planned("arduino", radio=radio("srf")).files["README.md"].decode()
    assert "motecrypt provision 5 --key gateway.key --radio srf --packet-bytes 12 --eep node.eep" in text
    assert "--cipher aes128-ccm8 --variant avr --link --radio srf --packet-bytes 12` writes" in text
    assert "For one radio: packets of 12 bytes, options 7. A node" in text
    text = planned("pico-sdk", radio=radio("srf", sends_only=True)).files["README.md"].decode()
    assert "--radio srf --packet-bytes 12 --sends-only --uf2 node.uf2" in text
    assert "options 5 (the node sends and never listens)." in text
    text = planned("c").files["README.md"].decode()
    assert "motecrypt provision 5 --key gateway.key --radio srf --image node.store" in text
    assert "--cipher aes128-ccm8 --variant sliced --link` writes" in text
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
    with pytest.raises(InputError, match="--placement ram: motecrypt/avr takes flash"):
        planned("arduino", "ascon-aead128", placement="ram")
    meant, cipher = target("c", CATALOG), CATALOG.cipher("aes128-ccm8")
    with pytest.raises(InputError, match="--url: 'x' is not a web address"):
        plan_link(CATALOG, meant, cipher, choose(CATALOG, cipher, meant, None), url="x")
    made = plan_link(
        CATALOG, meant, cipher, choose(CATALOG, cipher, meant, None), url="https://example.org/x"
    )
    assert "--link --url https://example.org/x` writes" in made.files["README.md"].decode()


# --- the command


@pytest.mark.parametrize(
    ("cipher", "more"), [("aes128-ccm4", ""), ("ascon-aead128", " --suite ascon-aead128")]
)
def test_the_next_command_makes_a_key_of_the_exported_suite(
    cipher: str, more: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    given = ("export", "c", str(tmp_path / "lib"), "--cipher", cipher, "--link", "--no-measure")
    code, out, _ = run(capfd, *given)
    assert code == 0 and out.endswith(f"\nNext: motecrypt key gateway.key --link{more}\n")


def test_the_command_writes_the_link(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "lib"
    given = ("export", "arduino", str(folder), "--cipher", "aes128-ccm8", "--link", "--no-measure")
    code, out, err = run(capfd, *given, "--radio", "srf", "--packet-bytes", "20", "--sends-only")
    assert (code, err) == (0, "")
    assert (folder / "src" / "McLinkAes128CcmAvrSrf20Sends.h").is_file()
    assert out.startswith(f"{folder}: the link with aes128-ccm8 (motecrypt/avr) as an Arduino library, ")
    code, out, _ = run(capfd, *given, "--json")
    assert code == 0 and json.loads(out)["link"] == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--radio", "srf"], "--radio, --packet-bytes and --sends-only need --link"),
        (["--packet-bytes", "20"], "--radio, --packet-bytes and --sends-only need --link"),
        (["--sends-only"], "--radio, --packet-bytes and --sends-only need --link"),
        (["--link", "--packet-bytes", "20"], "--packet-bytes and --sends-only need --radio"),
        (["--link", "--sends-only"], "--packet-bytes and --sends-only need --radio"),
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
    """An AVR's sleep mode with its radio's sleep pin; a wait that keeps the chip's clocks is not sleep."""
    link = target(name, CATALOG).link
    made = planned(name)
    assert link.examples()
    for example, program in link.examples():
        text = made.files[link.example_paths(example)[0]].decode()
        deep = ("sleep_cpu();", "rosc_hw->dormant = ROSC_DORMANT_VALUE_DORMANT;")
        assert program.sleeps == (any(word in text for word in deep) and "ATSM2" in text), example.name
        assert not program.sleeps or example.radios == ("serial",)
        assert program.interval == ("#ifndef INTERVAL_MS" in text)


# --- examples are folders


def test_an_example_is_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "key_change"
    folder.mkdir()
    (folder / "arduino.ino.j2").write_text("")
    (folder / "c.c.j2").write_text("")
    text = 'about = "it"\nradios = ["serial"]\nmust_listen = true\nsources = ["link/keys.c"]\n'
    (folder / "example.toml").write_text(f'{text}["arduino.ino"]\nruns = true\n["c.c"]\nsleeps = true\n')
    made = read_example(folder)
    assert (made.name, made.title, made.about) == ("key_change", "KeyChange", "it")
    assert (made.radios, made.must_listen, made.compiled) == (("serial",), True, ("keys.c",))
    shown = {name: (one.sleeps, one.runs, one.interval) for name, one in made.programs.items()}
    assert shown == {"arduino.ino": (False, True, False), "c.c": (True, False, False)}
    for wrong, message in (
        (f'{text}["c.c"]\n', "'arduino.ino' is missing"),
        (f'{text}["arduino.ino"]\n["c.c"]\nsleps = true\n', "unknown 'sleps'"),
        (f'{text}["arduino.ino"]\n["c.c"]\n[zephyr]\n', "unknown 'zephyr'"),
    ):
        (folder / "example.toml").write_text(wrong)
        with pytest.raises(InputError, match=message):
            read_example(folder)


def test_what_an_example_compiles_lies_beside_its_program(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name, text in {
        "a/x.c": '#include "x.h"\n',
        "a/x.h": "",
        "b/y.c": '#include "z.h"',
        "b/z.h": "",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr("motecrypt.exports.examples.FIRMWARE", tmp_path)
    own = Example("uart", "it", ("serial",), sources=("a/x.c", "b/y.c"), programs=all_examples()[0].programs)
    assert own.compiled == ("x.c", "y.c") and sorted(own.beside()) == ["x.c", "x.h", "y.c", "z.h"]
    (tmp_path / "b/y.c").write_text('#include "x.h"')
    (tmp_path / "b/x.h").write_text("")
    with pytest.raises(InputError, match="another file of the example 'uart' has that name"):
        own.beside()
    (tmp_path / "b/y.c").write_text('#include "z.h"')
    sensor = next(one for one in all_examples() if one.name == "sensor")
    with_sources = replace(sensor, sources=("a/x.c", "b/y.c"))
    monkeypatch.setattr("motecrypt.exports.targets.all_examples", lambda: (with_sources,))
    made = planned("pico-sdk").files
    assert made["examples/sensor/x.c"] == b'#include "x.h"\n' and made["examples/sensor/z.h"] == b""
    assert b"add_executable(sensor main.c x.c y.c)" in made["examples/sensor/CMakeLists.txt"]
    made = planned("zephyr").files
    assert b"target_sources(app PRIVATE src/main.c src/x.c src/y.c)" in made["samples/sensor/CMakeLists.txt"]
    assert "samples/sensor/src/y.c" in made
    assert "examples/Sensor/x.c" in planned("arduino").files


def test_an_example_for_any_radio_is_not_in_an_export_for_one() -> None:
    assert "examples/gateway/main.c" in planned("c").files
    only = planned("c", radio=radio("srf")).files
    assert "examples/gateway/main.c" not in only and "examples/node/main.c" in only
    assert (
        b"gateway" not in only["CMakeLists.txt"]
        and b"add_executable(gateway" in planned("c").files["CMakeLists.txt"]
    )


def test_every_example_is_for_a_target() -> None:
    forms = {
        link.example[0].template
        for one in (target(name, CATALOG) for name in target_names())
        for link in (one.link, *(link for _, link in one.link_devices))
    }
    assert {form for example in all_examples() for form in example.programs} == forms
    assert {path.name for path in EXAMPLES.iterdir()} == {example.name for example in all_examples()}
    assert set(running_examples(CATALOG)) >= {"coap", "command", "sensor", "thermometer", "uart"}


@pytest.mark.parametrize(
    ("suite", "cipher"), [("aes128-ccm", "aes128-ccm8"), ("ascon-aead128", "ascon-aead128")]
)
def test_a_node_is_what_export_writes(suite: Suite, cipher: str) -> None:
    made = plan_sketch(CATALOG, suite, "thermometer")
    assert made.library.files == planned("arduino", cipher).files and made.interval
    assert made.path == "examples/Thermometer/Thermometer.ino"
    assert not plan_sketch(CATALOG, suite, "sensor").interval
    with pytest.raises(InputError, match=r"^--example: unknown example 'lora'; "):
        plan_sketch(CATALOG, suite, "lora")


def test_sleep_is_counted_where_the_example_for_the_device_sleeps() -> None:
    found = {name: example_sleeps(device, CATALOG) for name, device in CATALOG.devices.items()}
    sleeping = dict.fromkeys(("leonardo", "mega2560", "nano", "pico", "uno"), ("serial",))
    assert found == dict.fromkeys(found, ()) | sleeping
    assert sleepers(CATALOG) == sleeping


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
    chip, board = CATALOG.devices["stm32f4"], replace(CATALOG.devices["stm32f4"], runner="board")
    step = "motecrypt export c DIR --cipher ascon-aead128 --device stm32f4 --variant armv7m"
    told = next_link_step(CATALOG, chip, "ascon-aead128", "motecrypt/armv7m", "flash", srf)
    assert told == f"{step} --link --radio srf --packet-bytes 12"
    assert next_link_step(CATALOG, board, "ascon-aead128", "motecrypt/armv7m", "flash", srf) == ""
