"""Each example, copied out of the repository and used by path, as somebody who adds one would use it."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from motecrypt.cli import main
from tool_sets import needs_tool_set

EXAMPLES = Path(__file__).parents[2] / "examples"
PAGE = (EXAMPLES / "README.md").read_text(encoding="utf-8").replace("\\\n", "")
COMMANDS = re.findall(r"\./motecrypt ([^`\n]+)", PAGE)

pytestmark = needs_tool_set("avr")

HELLO = """
#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/sleep.h>

static void __attribute__((noinline)) say(const char *text) {
    while (*text) {
        while (!(UCSR0A & (1 << UDRE0))) {
        }
        UDR0 = *text++;
    }
}

int main(void) {
    UCSR0B = 1 << TXEN0;
    say("hello\\n");
    while (!(UCSR0A & (1 << TXC0))) {
    }
    sleep_enable();
    sleep_cpu();
}
"""


class Outsider:
    """Somebody in a folder of their own, with copies of the examples and a results file."""

    def __init__(self, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._capfd = capfd

    def runs(self, *arguments: str) -> tuple[int, str, str]:
        """Exit code, standard output and standard error of a command."""
        with pytest.raises(SystemExit) as stop:
            main(list(arguments))
        out = self._capfd.readouterr()
        return int(stop.value.code or 0), out.out, out.err

    def json(self, *arguments: str) -> Any:
        """What a command that must succeed prints as JSON."""
        code, out, errors = self.runs(*arguments, "--json")
        assert code == 0, errors or out
        return json.loads(out)


@pytest.fixture
def outsider(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Outsider:
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MOTECRYPT_DB", str(tmp_path / "results.db"))
    return Outsider(tmp_path, capfd)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda text: text.split("--")[0])
def test_the_pages_commands_work(outsider: Outsider, command: str) -> None:
    code, out, errors = outsider.runs(*shlex.split(command))
    assert code == 0, errors
    assert out and "did not run" not in out, out


def test_the_page_names_every_example_and_has_a_command_for_each() -> None:
    for path in EXAMPLES.iterdir():
        if path.name not in ("README.md", "notebook", "leakage"):  # test_notebook.py, test_leak_command.py
            assert any(f"./examples/{path.name}" in command for command in COMMANDS), path.name


def test_the_ciphers_security_vectors_and_variants_count(outsider: Outsider) -> None:
    rows = outsider.json("measure", "--cipher", "./examples/xtea/xtea-cbc", "--bytes", "16")
    assert {(row["variant"], row["status"]) for row in rows} == {("plain", "ok"), ("o3", "ok")}
    listed = outsider.json("list", "ciphers", "--cipher", "./examples/xtea")
    assert {row["cipher"]: row["security"] for row in listed if row["cipher"].startswith("xtea")} == {
        "xtea-ecb": "broken",
        "xtea-cbc": "legacy",
    }
    key = "000102030405060708090a0b0c0d0e0f"
    code, out, _ = outsider.runs("crypt", "./examples/xtea/xtea-ecb", "--key", key, "4142434445464748")
    assert (code, out) == (0, "497df3d072612cb5\n")
    audited = outsider.json("audit", "./examples/xtea/xtea-cbc", "--quick", "--part", "integrity")
    assert audited["security"] == "legacy"
    assert [(part["part"], part["weight"]) for part in audited["parts"]] == [("integrity", "bad")]


def test_a_wrong_vector_stops_every_command_that_would_trust_the_cipher(outsider: Outsider) -> None:
    file = outsider.folder / "examples" / "xtea" / "vectors" / "published.json"
    file.write_text(file.read_text().replace("e78f2d13744341d8", "e78f2d13744341d9"))
    cipher = "./examples/xtea/xtea-ecb"
    advice = ("--radio", "srf", "--bytes", "16", "--every", "10s", "--battery", "3xAA")
    for arguments in (
        ("measure", "--cipher", cipher),
        ("audit", cipher),
        ("crypt", cipher, "--key", "00" * 16, "00" * 8),
        ("advise", "--device", "uno", *advice, "--cipher", cipher, "--need", "confidentiality"),
    ):
        code, out, errors = outsider.runs(*arguments)
        assert code == 1 and not out
        assert errors.splitlines()[-1] == (
            f"motecrypt: {file}: vector 2: ciphertext: expected e78f2d13744341d9, "
            "oracle.py gives e78f2d13744341d8"
        )


def test_the_device_counts_a_cycle_more_for_each_call_than_its_smaller_sister(outsider: Outsider) -> None:
    """Program counters of 3 bytes: call, ret and icall take one cycle more each (DS40002198)."""
    choice = ("--cipher", "aes128-cbc", "--library", "motecrypt", "--variant", "unrolled", "--bytes", "16")
    rows = outsider.json("measure", "--device", "./examples/mega", "--device", "uno", *choice)
    cycles = {(row["device"], row["placement"], row["operation"]): row["cycles_median"] for row in rows}
    assert all(row["status"] == "ok" for row in rows) and len(rows) == 12
    for (device, placement, operation), counted in cycles.items():
        more = cycles["mega", placement, operation] - cycles["uno", placement, operation]
        assert 0 <= more <= 20 and counted > 1000, (device, placement, operation)
    assert cycles["mega", "flash", "encrypt"] > cycles["uno", "flash", "encrypt"]


def test_the_device_is_audited_and_runs_any_firmware(outsider: Outsider) -> None:
    mega = ("--device", "./examples/mega")
    told = outsider.json("audit", "./examples/xtea/xtea-ecb", *mega, "--part", "timing:mega")
    (part,) = told["parts"]
    assert (part["verdict"], part["weight"]) == ("constant", "good"), part
    assert {row["variant"] for row in part["data"]["rows"]} == {"plain", "o3"}
    (outsider.folder / "hello.c").write_text(HELLO)
    compiler = ["avr-gcc", "-mmcu=atmega2560", "-Os", "-g", "hello.c", "-o", "hello.elf"]
    subprocess.run(compiler, check=True, timeout=60)
    assert outsider.json("run", *mega, "hello.elf")["uart"] == "hello\n"
    profile = outsider.json("profile", *mega, "hello.elf")
    assert [cost["calls"] for cost in profile["functions"] if cost["name"].startswith("say")] == [1]
    code, _, errors = outsider.runs("run", "hello.elf")
    assert code == 2 and "built for atmega2560, and uno is ATmega328P" in errors


def test_tables_read_beyond_64_kb_show_as_secret_addresses(outsider: Outsider) -> None:
    """The toy's table is read by elpm, which chips with more flash than 64 KB have."""
    folder = outsider.folder / "examples" / "xtea"
    source = folder / "xtea.c"
    text = source.read_text()
    source.write_text(
        "#include <avr/pgmspace.h>\n#include <stdint.h>\n"
        "static const uint8_t table[256] __attribute__((progmem)) = {1, 2, 3};\n"
        + text.replace(
            "sum = 0;\n",
            "sum = 0;\n    a ^= (uint32_t)(pgm_read_byte_far(pgm_get_far_address(table) + block[7]) & 0U);\n",
            1,
        )
    )
    toml = folder / "cipher.toml"
    toml.write_text(toml.read_text().replace('["xtea-*"]\n', '["xtea-*"]\ncores = ["avr6"]\n', 1))
    before = outsider.json("measure", "--device", "./examples/mega", "--cipher", "./examples/xtea/xtea-ecb")
    by_variant = {
        (row["variant"], row["operation"]): row["timing_varies"] for row in before if row["status"] == "ok"
    }
    assert by_variant["plain", "encrypt"] is True
    assert by_variant["plain", "setup"] is False


def test_the_radio_is_weighed_like_ours(outsider: Outsider) -> None:
    told = outsider.json("airtime", "--radio", "./examples/rfm69.toml", "--bytes", "64")
    text = json.dumps(told)
    # 3 preamble, 4 sync, 1 length, 64 payload and 2 CRC bytes at 250 kb/s: 32 us a byte.
    assert "2368" in text, text


def test_the_study_is_measured_judged_and_shown(outsider: Outsider) -> None:
    (row,) = outsider.json("reproduce", "./examples/study")
    assert (row["published"], row["verdict"]) == (2, "matches"), row
    assert row["measured"] == 2
    shown = outsider.json("reproduce", "--stored", "./examples/study")
    assert shown == [row]


def test_a_study_that_cannot_be_used_is_told_in_one_line(outsider: Outsider) -> None:
    file = outsider.folder / "examples" / "study" / "study.py"
    for text, said in (
        ("1 / 0", f"{file}: cannot be used: ZeroDivisionError"),
        ("TITLE = ''", f"{file}: 'SOURCE' is missing"),
    ):
        folder = outsider.folder / said.split()[-1]
        shutil.copytree(file.parent, folder)
        (folder / "study.py").write_text(text)
        code, out, errors = outsider.runs("reproduce", str(folder))
        assert (code, out) == (2, "") and said.replace(str(file.parent), str(folder)) in errors
    code, _, errors = outsider.runs("reproduce", "./examples/nowhere")
    assert code == 2 and "no study.py there" in errors


NEEDS = "from motecrypt.studies import Needs\ndef needs(): return "
STUDY = "TITLE = SOURCE = 'x'\ndef comparisons(results): return []\ndef sections(results): return []\n"


@pytest.mark.parametrize(
    ("part", "text", "said"),
    [
        ("needs", f"{NEEDS}Needs(kits=('avr',))", "needs.py: cannot be used: TypeError"),
        ("needs", f"{NEEDS}None", "needs() gave a NoneType; it gives motecrypt.studies.Needs"),
        ("study", STUDY + "def comparisons(results): return 1 / 0", "study.py: cannot be used: ZeroDivision"),
        ("study", STUDY + "def sections(results): yield 1 / 0", "study.py: cannot be used: ZeroDivision"),
    ],
)
def test_what_a_study_does_wrong_later_is_told_in_one_line(
    outsider: Outsider, part: str, text: str, said: str
) -> None:
    folder = outsider.folder / "examples" / "wrong"
    shutil.copytree(outsider.folder / "examples" / "study", folder, dirs_exist_ok=True)
    (folder / "needs.py").write_text(f"{NEEDS}Needs()")
    (folder / "study.py").write_text(STUDY)
    (folder / f"{part}.py").write_text(text)
    done = [outsider.runs("reproduce", *words, "./examples/wrong") for words in ([], ["--rows"])]
    code, _, errors = next(each for each in done if each[0])
    assert code == 2 and said in errors and "Traceback" not in errors, errors
