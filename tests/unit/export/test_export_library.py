"""Exports as a whole: the measured files and no others, the stored figures, warnings, and the command."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from command_line import run
from motecrypt.base import process
from motecrypt.base.errors import InputError
from motecrypt.base.model import Cell, Implementation, Measurement, MessageLengths
from motecrypt.build.toolchain import BuildRequest
from motecrypt.catalog import FIRMWARE, Catalog
from motecrypt.catalog.cells import cells_for
from motecrypt.catalog.oracles import oracle
from motecrypt.exports.commands import next_step
from motecrypt.exports.figures import figure_cells
from motecrypt.exports.library import Export, choose, known_answer, plan
from motecrypt.exports.sources import CONFIG, exported_sources
from motecrypt.exports.targets import for_device, target, target_for, target_names
from motecrypt.results import Results

ROOT = Path(__file__).resolve().parents[3]
CATALOG = Catalog.load()
OURS = [i for i in CATALOG.implementations if i.library == "motecrypt"]


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for no disk: what is durable is another test's matter."""
    monkeypatch.setattr("os.fsync", lambda handle: None)


#: One of each folder's variants: other ciphers of the folder have the same files.
BODIES = list({(i.folder, i.variant, i.sources): i for i in OURS}.values())


def _plan(name: str, cipher: str, results: Results, variant: str | None = None, **more: str) -> Export:
    meant = target(name, CATALOG)
    body = choose(CATALOG, CATALOG.cipher(cipher), meant, variant)
    return plan(CATALOG, meant, CATALOG.cipher(cipher), body, results, **more)


def _readme(planned: Export) -> str:
    return planned.files["README.md"].decode()


def _originals(body: Implementation) -> dict[str, list[str]]:
    """The files of the catalogue that may be meant by a name."""
    found: dict[str, list[str]] = {}
    for path in [*FIRMWARE.glob("ciphers/*/*.[chS]"), *FIRMWARE.glob("modes/*"), *FIRMWARE.glob("include/*")]:
        found.setdefault(path.name, []).append(path.read_text())
    own = {path.name: [path.read_text()] for path in body.folder.glob("*.[chS]")}
    return {**found, **own}


def _plain_includes(text: str) -> str:
    return re.sub(r'(#\s*include\s+")(?:[^"/]*/)*([^"/]+")', r"\1\2", text)


@pytest.mark.parametrize("body", BODIES, ids=lambda body: f"{body.cipher}-{body.variant}")
def test_an_export_is_the_catalogues_files_behind_a_prefix(body: Implementation) -> None:
    device = CATALOG.devices["uno" if "avr*" in body.cores else "pico"]
    if not body.runs_on(device.core):
        device = CATALOG.devices["uno"]
    made = exported_sources(BuildRequest(device, body, "flash"), "zqz_")
    originals = _originals(body)
    assert [name for name in made.files if name != CONFIG and name not in originals] == []
    for name, text in made.files.items():
        if name == CONFIG:
            continue
        plain = text.replace("zqz_", "")
        if name in made.compiled:
            first, _, plain = plain.partition("\n")
            assert first == f'#include "{CONFIG}"'
        assert plain in map(_plain_includes, originals[name]), name
    assert made.headers == ("cipher.h", Path(body.header).name)
    assert list(made.compiled) == [Path(source).name for source in body.sources]
    config = made.files[CONFIG].replace("zqz_", "")
    for define in body.defines:
        name, _, value = define.partition("=")
        assert f"#define {name} {_plain_includes('#include ' + value)[9:] if value else 1}\n" in config
    assert f"#define CIPHER_KEY_BYTES_MAX {body.key_bytes_measured}\n" in config


ASSEMBLY = [body for body in BODIES if any(source.endswith(".S") for source in body.sources)]


@pytest.mark.parametrize("body", ASSEMBLY, ids=lambda body: f"{body.cipher}-{body.variant}")
def test_assembly_keeps_its_instructions_and_prefixes_what_other_files_see(body: Implementation) -> None:
    """An instruction can have the name of a function in C, such as `add`."""
    device = CATALOG.devices["uno" if "avr*" in body.cores else "pico"]
    made = exported_sources(BuildRequest(device, body, "flash"), "zqz_")
    for file, text in ((name, text) for name, text in made.files.items() if name.endswith(".S")):
        assert re.findall(r"^[ \t]*zqz_\w+[ \t]+[^: \t].*", text, re.M) == []
        seen = re.findall(r"^[ \t]*\.global[ \t]+(\w+)", text, re.M)
        assert bool(seen) == (file in made.compiled)  # others are included and have macros alone
        assert all(name.startswith("zqz_") for name in seen)


@pytest.mark.parametrize("name", target_names())
@pytest.mark.parametrize("cipher", ["aes128-ccm8", "rc4d", "aes128-cbc", "blowfish-ctr"])
def test_every_target_writes_the_same_bytes_twice(
    name: str, cipher: str, tmp_path: Path, results: Results
) -> None:
    first, second = tmp_path / "a" / "lib", tmp_path / "b" / "lib"
    for folder in (first, second, second):
        _plan(name, cipher, results).write(folder)
    made = {str(p.relative_to(first)): p.read_bytes() for p in first.rglob("*") if p.is_file()}
    assert made == {str(p.relative_to(second)): p.read_bytes() for p in second.rglob("*") if p.is_file()}
    assert made["LICENSE"] == (ROOT / "LICENSE").read_bytes()
    for path, data in made.items():
        text = data.decode()
        assert "{{" not in text and "{%" not in text, path
        assert str(tmp_path) not in text and str(ROOT) not in text, path
        assert text.endswith("\n"), path


def test_ram_is_another_library_with_its_tables_in_ram(results: Results) -> None:
    flash, ram = (
        _plan("arduino", "aes128-ccm8", results, "fast", placement=place) for place in ("flash", "ram")
    )
    assert (flash.prefix, ram.prefix) == ("mc_aes128_ccm8_fast_", "mc_aes128_ccm8_fast_ram_")
    assert (flash.class_name, ram.class_name) == ("McAes128Ccm8Fast", "McAes128Ccm8FastRam")
    config = ram.files["src/mc_aes128_ccm8_fast_ram/export_config.h"].decode()
    assert f"#define {ram.prefix}TABLES_IN_RAM 1" in config
    assert b"TABLES_IN_RAM" not in flash.files["src/mc_aes128_ccm8_fast/export_config.h"]
    assert "--placement ram" in _readme(ram)
    with pytest.raises(InputError, match="--placement ram: motecrypt/avr takes flash"):
        _plan("arduino", "ascon-aead128", results, placement="ram")


# --- which variant


@pytest.mark.parametrize(
    ("name", "cipher", "variant"),
    [
        ("arduino", "aes128-ccm8", "avr"),
        ("platformio", "aes256-ctr", "avr"),
        ("pico-sdk", "aes128-ccm8", "armv6m"),
        ("esp-idf", "ascon-aead128", "words"),
        ("c", "ascon-aead128", "words"),
        ("pico-sdk", "chacha20-poly1305", "armv6m"),
        ("esp-idf", "chacha20-poly1305", "words13"),
        ("zephyr", "chacha20-poly1305", "armv6m"),
        ("c", "chacha20-poly1305", "words26"),
        ("arduino", "des-cbc", "small"),
        ("pico-sdk", "rc4d", "kip-opt"),
        ("arduino", "rc4d", "kip-undo"),
    ],
)
def test_the_variant_is_the_best_for_the_core(name: str, cipher: str, variant: str) -> None:
    assert choose(CATALOG, CATALOG.cipher(cipher), target(name, CATALOG), None).variant == variant


def test_a_variant_that_is_not_there_is_refused() -> None:
    aes, rc4d = CATALOG.cipher("aes128-ccm8"), CATALOG.cipher("rc4d")
    with pytest.raises(InputError, match=r"'quick': .* available: tables, avr, fast, small"):
        choose(CATALOG, aes, target("arduino", CATALOG), "quick")
    with pytest.raises(InputError, match=r"'kipe-opt': .* Pico SDK .core cortex-m0plus."):
        choose(CATALOG, rc4d, target("pico-sdk", CATALOG), "kipe-opt")
    assert choose(CATALOG, aes, target("c", CATALOG), "motecrypt/small").variant == "small"
    with pytest.raises(InputError, match="unknown export 'arduin'; did you mean arduino"):
        target("arduin", CATALOG)


def test_the_target_for_a_device() -> None:
    names = {name: target_for(device, CATALOG).name for name, device in CATALOG.devices.items()}
    arduinos = {"uno": "arduino", "leonardo": "arduino", "mega2560": "arduino", "nano": "arduino"}
    assert names == dict.fromkeys(names, "c") | arduinos | {"pico": "pico-sdk"}


def test_plain_c_for_a_device_has_its_best_variant_and_its_flags(results: Results) -> None:
    plain, chip = target("c", CATALOG), CATALOG.devices["stm32f4"]
    there = for_device(plain, chip)
    for name in ("aes128-ccm8", "aes256-ccm16", "aes128-ecb", "aes192-ctr"):
        variant = "armv7m-fixsliced" if name.startswith("aes") else "armv7m"
        assert choose(CATALOG, CATALOG.cipher(name), there, None).variant == variant
    cipher = CATALOG.cipher("aes128-ccm8")
    body = choose(CATALOG, cipher, there, "armv7m-fixsliced")
    made = plan(CATALOG, there, cipher, body, results)
    command = "motecrypt export c DIR --cipher aes128-ccm8 --device stm32f4 --variant armv7m-fixsliced"
    assert command in _readme(made) and made.about["device"] == "stm32f4"
    assert next_step(CATALOG, chip, "aes128-ccm8", body.name, "flash") == command
    inside = "src/mc_aes128_ccm8_armv7m_fixsliced"
    flags = "-mcpu=cortex-m4 -mthumb -mfloat-abi=soft -Os"
    sources = f"{inside}/aes_armv7m_fixsliced.S {inside}/ccm.c"
    assert f"\narm-none-eabi-gcc {flags} -I src -c {sources}\n" in _readme(made)
    cmake = made.files["CMakeLists.txt"].decode()
    assert f"PRIVATE {flags})" in cmake and "project(mc_aes128_ccm8_armv7m_fixsliced C ASM)" in cmake
    assert "known_answer" not in cmake
    assert "device" not in plan(CATALOG, plain, cipher, choose(CATALOG, cipher, plain, None), results).about


@pytest.mark.parametrize(
    ("name", "device", "said"),
    [
        ("arduino", "stm32f4", "--device is for plain C; leave it out, or export c instead of arduino"),
        ("c", "host", "--device host: name a simulated microcontroller"),
    ],
)
def test_a_device_that_a_form_is_not_for_is_refused(name: str, device: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        for_device(target(name, CATALOG), CATALOG.devices[device])


def test_figures_are_of_the_device_that_is_asked_for_and_of_those_that_targets_mean() -> None:
    (body,) = (b for b in CATALOG.implementations_of("aes128-ccm8", "uno") if b.name == "motecrypt/small")
    for name, shown in {"uno": ["uno", "pico"], "mega2560": ["mega2560", "pico", "uno"]}.items():
        cells = figure_cells(CATALOG, body, "flash", CATALOG.device(name))
        assert [device.name for device, _ in cells] == shown


def test_the_next_step_exports_what_was_advised_and_nothing_else() -> None:
    uno, pico, host = (CATALOG.devices[name] for name in ("uno", "pico", "host"))
    ram = next_step(CATALOG, uno, "aes128-ccm8", "motecrypt/fast", "ram")
    assert ram == "motecrypt export arduino DIR --cipher aes128-ccm8 --variant fast --placement ram"
    words = next_step(CATALOG, pico, "ascon-aead128", "motecrypt/interleaved", "flash")
    assert words == "motecrypt export pico-sdk DIR --cipher ascon-aead128 --variant interleaved"
    assert next_step(CATALOG, host, "rc4d", "motecrypt/opt", "flash").startswith("motecrypt export c DIR")
    assert next_step(CATALOG, uno, "aes128-ccm8", "bearssl", "flash") == ""
    assert next_step(CATALOG, pico, "rc4d", "motecrypt/kipe-opt", "flash") == ""
    chip = CATALOG.devices["stm32f4"]
    assert next_step(CATALOG, chip, "aes128-ccm8", "motecrypt/tables", "flash") == (
        "motecrypt export c DIR --cipher aes128-ccm8 --variant tables"
    )


# --- what the files say


def test_known_answers_come_from_the_oracle() -> None:
    for cipher in CATALOG.ciphers.values():
        answer = known_answer(cipher)
        assert len(answer.key) * 8 == cipher.key_bits[0] and len(answer.nonce) == cipher.nonce_bytes
        assert cipher.message.allows(len(answer.message)) and len(answer.message) >= 16
        assert answer.key == bytes(range(len(answer.key)))
        assert answer.nonce == bytes(range(0x40, 0x40 + len(answer.nonce)))
        assert (answer.ciphertext, answer.tag) == oracle(cipher)(
            answer.key, answer.nonce, answer.ad, answer.message
        )


@pytest.mark.parametrize(
    ("rule", "length"),
    [
        (MessageLengths(), 20),
        (MessageLengths(multiple=8), 24),
        (MessageLengths(multiple=16), 32),
        (MessageLengths(min=0, max=16), 1),
        (MessageLengths(min=5, max=19), 5),
        (MessageLengths(min=33, multiple=7), 35),
        (MessageLengths(min=72, max=72, multiple=8), 72),
    ],
)
def test_the_known_answers_message_has_a_length_that_the_cipher_takes(
    rule: MessageLengths, length: int
) -> None:
    cipher = replace(CATALOG.cipher("rc4d"), message=rule)
    assert len(known_answer(cipher).message) == length


def test_a_broken_cipher_warns_wherever_it_is_met(results: Results) -> None:
    planned = _plan("arduino", "rc4d", results)
    header = planned.files["src/mc_rc4d_kip_undo.h"].decode()
    assert "WARNING: THIS CIPHER IS BROKEN." in header
    assert '#warning "rc4d is broken and protects nothing' in header
    assert "**Warning: this cipher is broken.** Chosen plaintext recovers" in _readme(planned)
    assert "BROKEN, for study only" in planned.files["library.properties"].decode()
    good = _plan("arduino", "ascon-aead128", results)
    assert not any(b"BROKEN" in data or b"#warning" in data for data in good.files.values())
    assert "**Security: recommended.**" in _readme(good)
    legacy = _readme(_plan("arduino", "aes128-cbc", results))
    assert "**Security: legacy.** No integrity: a receiver that reports bad padding" in legacy
    assert "There is no tag: a message that was changed on its way is not detected" in legacy
    assert "A key of 16 bytes, a nonce of 16 bytes; messages of whole blocks of 16 bytes." in legacy
    assert "A key of 16 bytes, no nonce; messages of any length." in _readme(planned)
    assert "A key of 16 bytes, a nonce of 16 bytes, a tag of 16 bytes; messages of any length." in _readme(
        good
    )
    assert "A key of 16 bytes, a nonce of 16 bytes; messages from 16 bytes on." in _readme(
        _plan("arduino", "aes128-hctr2", results)
    )
    interface = good.files["src/mc_ascon_aead128_avr.h"].decode()
    for name, count in (("NONCE", 16), ("TAG", 16), ("KEY", 16)):
        assert f"    mc_ascon_aead128_avr_{name}_BYTES = {count}" in interface
    assert (
        "    mc_blowfish_ctr_plain_KEY_BYTES = 56\n"
        in _plan("c", "blowfish-ctr", results).files["src/mc_blowfish_ctr_plain.h"].decode()
    )
    assert "A key of 16 or 56 bytes" in _readme(_plan("c", "blowfish-ctr", results))


@pytest.mark.parametrize("name", target_names())
def test_the_readme_says_what_was_tested(name: str, results: Results) -> None:
    text = " ".join(_readme(_plan(name, "ascon-aead128", results)).split())
    not_run = {"platformio": "PlatformIO", "pico-sdk": "The SDK", "zephyr": "Zephyr", "esp-idf": "ESP-IDF"}
    said = {"esp-idf": "ESP-IDF itself was not run"}.get(name, f"{not_run.get(name)} itself was not run")
    assert (said in text) == (name in not_run)


def _measured(cell: Cell, **figures: object) -> Measurement:
    base = {
        **cell.identity._asdict(), "tag_bytes": 8, "cycles_min": 1, "cycles_median": 1, "cycles_max": 1,
        "inputs": 32, "timing_varies": False, "time_us": 1.0, "flash_bytes": 2798, "flash_symbol_bytes": 2638,
        "ram_bytes": 176, "eeprom_bytes": 0, "stack_bytes": 9, "status": "ok", "reason": "",
        "compiler": "avr-gcc 5.4.0",
        "flags": "-mmcu=atmega328p -Os", "runner": "simavr", "cycles_exact": True, "elf_sha256": "0" * 64,
        "measured_at": "2026-01-01T00:00:00+00:00", "motecrypt_version": "0", **figures,
    }  # fmt: skip
    return Measurement(**base)  # type: ignore[arg-type]


def _cells(device: str, cipher: str, variant: str) -> list[Cell]:
    body = next(i for i in OURS if (i.cipher, i.variant) == (cipher, variant))
    return cells_for(CATALOG, CATALOG.devices[device], body, message_bytes=[16, 64], placements=["flash"])


def test_the_figures_are_the_stored_ones_of_exactly_this_export(results: Results) -> None:
    cells = _cells("uno", "aes128-ccm8", "fast")
    stored = {
        str(number): _measured(
            cell, cycles_median=1000 * number + 7, time_us=62.5 * number, stack_bytes=90 + number
        )
        for number, cell in enumerate(cells, 1)
    }
    results.store(stored)
    text = _readme(_plan("arduino", "aes128-ccm8", results, "fast"))
    assert (
        f"| Arduino UNO R3 | avr-gcc 5.4.0 | {stored['1'].measured_at[:10]} "
        "| `-mmcu=atmega328p -Os` | 2,798 | 176 | 96 |"
    ) in text
    assert "| Arduino UNO R3 | flash | 128 | 16 | setup | 1,007 | 62.5 |" in text
    assert "| Arduino UNO R3 | flash | 128 | 64 | decrypt | 6,007 | 375.0 |" in text
    assert "Arduino UNO R3: not measured" not in text
    command = (
        "motecrypt measure --device pico --cipher aes128-ccm8 --variant fast --placement flash --bytes 16,64"
    )
    assert f"- Raspberry Pi Pico: not measured. To measure it, then export again: `{command}`" in text
    assert "On a Pico the figures for `ram`" not in text
    for other in (
        _plan("arduino", "aes128-ccm8", results, "small"),
        _plan("arduino", "aes128-ccm8", results, "fast", placement="ram"),
        _plan("arduino", "aes128-ccm4", results, "fast"),
    ):
        assert "| Arduino UNO R3 |" not in _readme(other) and "Arduino UNO R3: not measured" in _readme(other)


def test_figures_with_flags_that_a_library_cannot_ask_for_say_so(results: Results) -> None:
    cells = _cells("uno", "aes128-cbc", "unrolled")
    results.store({str(number): _measured(cell) for number, cell in enumerate(cells)})
    lost = "The figures are those with `-mstrict-X`, which an Arduino library cannot ask for"
    assert lost in _readme(_plan("arduino", "aes128-cbc", results, "unrolled"))
    planned = _plan("platformio", "aes128-cbc", results, "unrolled")
    assert "cannot ask for" not in _readme(planned) and "| Arduino UNO R3 |" in _readme(planned)
    assert json.loads(planned.files["library.json"])["build"]["flags"] == ["-Os", "-mstrict-X"]
    fast = _plan("arduino", "aes128-cbc", results, "fast")
    assert "cannot ask for" not in _readme(fast)


def test_figures_of_a_pico_that_runs_from_ram_say_so(results: Results) -> None:
    cells = [replace(cell, placement="ram") for cell in _cells("uno", "aes128-ccm8", "fast")]
    results.store({str(number): _measured(cell) for number, cell in enumerate(cells)})
    text = _readme(_plan("arduino", "aes128-ccm8", results, "fast", placement="ram"))
    assert "| Arduino UNO R3 | ram | 128 | 16 | setup | 1 | 1.0 |" in text
    assert "On a Pico the figures for `ram` are those of a program that runs from RAM altogether." in text


def test_part_of_the_figures_is_none_and_a_failure_has_its_reason(results: Results) -> None:
    cells = _cells("uno", "aes128-ccm8", "fast")
    results.store({"1": _measured(cells[0])})
    text = _readme(_plan("arduino", "aes128-ccm8", results, "fast"))
    assert "| Arduino UNO R3 |" not in text and "Arduino UNO R3: not measured" in text
    reason = "needs 2,873 of 2,048 bytes of RAM"
    results.store(
        {
            str(number): _measured(
                cell, status="does-not-fit", reason=reason, cycles_median=None, time_us=None
            )
            for number, cell in enumerate(cells, 1)
        }
    )
    planned = _plan("arduino", "aes128-ccm8", results, "fast")
    assert f"- Arduino UNO R3: {reason}." in _readme(planned)
    assert "| Arduino UNO R3 |" not in _readme(planned)
    assert [missing.device for missing in planned.figures.missing] == ["Raspberry Pi Pico"]


# --- the class and the sketches, as C++

ARDUINO = """
#include <stddef.h>
#include <stdint.h>
#include <string.h>
enum { HEX = 16, A0 = 14 };
static struct {
    void begin(long) {}
    void print(const char *) {}
    void print(char) {}
    void print(int, int) {}
    void println(const char * = "") {}
} Serial;
int analogRead(int);
void delay(unsigned long);
"""
EEPROM_H = """
static struct {
    template <typename T> void get(int, T &) {}
    template <typename T> void put(int, const T &) {}
    uint8_t read(int) { return 0xff; }
} EEPROM;
"""


@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")
@pytest.mark.parametrize("cipher", ["aes128-ccm8", "aes128-cbc", "rc4d", "chacha20-poly1305"])
def test_the_sketches_are_right_c_plus_plus(cipher: str, tmp_path: Path, results: Results) -> None:
    _plan("arduino", cipher, results).write(tmp_path / "lib")
    (tmp_path / "Arduino.h").write_text(ARDUINO)
    (tmp_path / "EEPROM.h").write_text(EEPROM_H)
    sketches = sorted((tmp_path / "lib" / "examples").glob("*/*.ino"))
    assert [sketch.stem for sketch in sketches] == (
        ["KnownAnswer", "Message"] if "-cbc" not in cipher and cipher != "rc4d" else ["KnownAnswer"]
    )
    for sketch in sketches:
        flags = ["-std=gnu++11", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-I.", "-Ilib/src"]
        command = ["g++", *flags, "-include", "Arduino.h", "-x", "c++", str(sketch)]
        outcome = process.run(command, cwd=tmp_path, timeout_s=60)
        assert outcome.ok, outcome.errors


# --- the command


def test_the_command_writes_says_so_and_warns(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    options = ("--no-measure", "--db", str(tmp_path / "r.db"))
    folder = tmp_path / "lib"
    code, out, err = run(capfd, "export", "arduino", str(folder), "--cipher", "rc4d", *options)
    assert code == 0 and (folder / "src" / "McRc4dKipUndo.h").is_file()
    assert out.startswith(
        f"{folder}: rc4d (motecrypt/kip-undo) as an Arduino library, 13 files; see README.md\n"
    )
    assert "not measured on Arduino UNO R3 and Raspberry Pi Pico" in out
    assert err.startswith(
        "motecrypt: warning: rc4d is BROKEN (chosen plaintext recovers the whole secret state"
    )
    code, out, err = run(capfd, "export", "c", str(folder), "--cipher", "aes128-ctr", "--json", *options)
    told = json.loads(out)
    assert code == 0 and told["security"] == "legacy" and told["prefix"] == "mc_aes128_ctr_sliced_"
    assert sorted([*told["files"], "motecrypt-export.json"]) == sorted(
        str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()
    )
    assert err.startswith("motecrypt: warning: aes128-ctr is legacy: no integrity")
    there = ("--device", "stm32f4", "--json", *options)
    code, out, _ = run(capfd, "export", "c", str(tmp_path / "m4"), "--cipher", "aes128-ccm8", *there)
    told = json.loads(out)
    assert (code, told["variant"], told["device"]) == (0, "armv7m-fixsliced", "stm32f4")
    assert not (tmp_path / "r.db").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["pico-sdk", "{}/lib", "--cipher", "aes128-ccm8", "--link", "--device", "stm32f4"],
            "--device is for plain C; leave it out, or export c instead of pico-sdk",
        ),
        (["c", "{}/lib", "--cipher", "rc4d", "--device", "stm32f5"], "unknown device 'stm32f5'"),
        (["arduino", "{}/lib"], "say what to export: --cipher NAME"),
        (["arduino", "{}/lib", "--cipher", "aes129"], "unknown cipher 'aes129'"),
        (["arduino", "{}/lib", "--cipher", "aes"], "several ciphers; name one"),
        (["arduin", "{}/lib", "--cipher", "rc4d"], "unknown export 'arduin'; did you mean arduino"),
        (["arduino", "{}", "--cipher", "rc4d"], "is not empty and not an earlier export"),
        (["arduino", "{}/lib", "--cipher", "rc4d", "--url", "x"], "--url: 'x' is not a web address"),
        (["arduino", "{}/lib", "--cipher", "rc4d", "--placement", "moon"], "moon: motecrypt/kip-undo takes"),
    ],
)  # fmt: skip
def test_what_is_refused_is_one_line_and_leaves_nothing(
    arguments: list[str], message: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    db = tmp_path / "r.db"
    given = [argument.replace("{}", str(tmp_path)) for argument in arguments]
    Results(db).close()
    code, out, err = run(capfd, "export", *given, "--db", str(db))
    assert (code, out) == (2, "") and message in err and err.count("\n") == 1
    assert not (tmp_path / "lib").exists()


def test_a_folder_of_the_users_own_is_exported_without_an_edit(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    own = tmp_path / "own cipher"
    shutil.copytree(ROOT / "examples" / "xtea", own)
    text = (own / "cipher.toml").read_text()
    text = text.replace('title = "XTEA in cipher', 'title = "*/ XTEA \\\\ in\\ncipher').replace(
        'level = "legacy"', 'level = "unrated"'
    )
    (own / "cipher.toml").write_text(text)
    lib = tmp_path / "lib"
    code, _, err = run(
        capfd, "export", "platformio", str(lib), "--cipher", f"{own}/xtea-cbc", "--url", "https://example.org/x",
        "--no-measure", "--db", str(tmp_path / "r.db"),
    )  # fmt: skip
    assert code == 0, err
    assert "xtea-cbc is unrated" in err
    header = (lib / "src" / "mc_xtea_cbc_plain.h").read_text()
    assert header.startswith("/* mc_xtea_cbc_plain.h: * / XTEA / in cipher")
    readme = (lib / "README.md").read_text()
    assert "--cipher './own cipher/xtea-cbc'" in readme
    assert "that come from the folder `own cipher` keep the licence of their author" in readme
    values = json.loads((lib / "library.json").read_text())
    assert "license" not in values and values["homepage"] == "https://example.org/x"


def test_a_cipher_of_one_length_is_measured_at_that(tmp_path: Path, results: Results) -> None:
    own = tmp_path / "xtea"
    shutil.copytree(ROOT / "examples" / "xtea", own)
    text = (own / "cipher.toml").read_text()
    (own / "cipher.toml").write_text(text.replace("min = 0, max = 65535", "min = 72, max = 72"))
    catalog = Catalog.load(ciphers=[own])
    cipher = catalog.cipher("xtea-cbc")
    meant = target("arduino", catalog)
    planned = plan(catalog, meant, cipher, choose(catalog, cipher, meant, None), results)
    command = (
        "motecrypt measure --device uno --cipher ./xtea/xtea-cbc --variant plain --placement flash --bytes 72"
    )
    assert planned.figures.missing[0].command == command


def test_files_of_one_name_are_told_apart_by_their_folders(tmp_path: Path, results: Results) -> None:
    own = tmp_path / "xtea"
    shutil.copytree(ROOT / "examples" / "xtea", own)
    (own / "inner").mkdir()
    (own / "inner" / "xtea.h").write_text("enum { INNER = 1 };\n")
    (own / "xtea.c").write_text('#include "inner/xtea.h"\n' + (own / "xtea.c").read_text())
    catalog = Catalog.load(ciphers=[own])
    cipher = catalog.cipher("xtea-cbc")
    meant = target("arduino", catalog)
    body = choose(catalog, cipher, meant, None)
    files = plan(catalog, meant, cipher, body, results).files
    inside = "src/mc_xtea_cbc_plain"
    assert b"mc_xtea_cbc_plain_INNER" in files[f"{inside}/inner_xtea.h"]
    assert b'#include "inner_xtea.h"\n' in files[f"{inside}/xtea.c"]
    config = '#define mc_xtea_cbc_plain_BLOCK_HEADER "xtea_xtea.h"'
    assert config in files[f"{inside}/export_config.h"].decode()
    (own / "inner" / "xtea.h").rename(own / "inner" / CONFIG)
    (own / "xtea.c").write_text((own / "xtea.c").read_text().replace("inner/xtea.h", f"inner/{CONFIG}"))
    with pytest.raises(InputError, match=rf"{CONFIG}: another file of the export is called {CONFIG}"):
        plan(catalog, meant, cipher, body, results)


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("xtea.c", b"int a\xff;", "is not UTF-8 text"),
        ("xtea.c", b"#define M(n) int n##_x(void)\n", "joins names with ##"),
        (
            "cipher.toml",
            b'sources = ["xtea.s"]',
            "only C and assembly (.S) can be exported, and this is '.s'",
        ),
    ],
)
def test_what_cannot_be_exported_is_refused(
    file: str, content: bytes, message: str, tmp_path: Path, results: Results
) -> None:
    own = tmp_path / "xtea"
    shutil.copytree(ROOT / "examples" / "xtea", own)
    (own / "xtea.s").write_text("")
    before = (own / file).read_bytes()
    (own / file).write_bytes(before.replace(b'sources = ["xtea.c"]', content) if b"[[" in before else content)
    catalog = Catalog.load(ciphers=[own])
    cipher = catalog.cipher("xtea-cbc")
    meant = target("arduino", catalog)
    with pytest.raises(InputError, match=re.escape(message)):
        plan(catalog, meant, cipher, choose(catalog, cipher, meant, None), results)
