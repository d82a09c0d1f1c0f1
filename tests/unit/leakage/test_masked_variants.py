"""The protected variants of AES-128: no leak of order 1 in their binaries, and each precaution is needed."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from campaign.masked import Run
from campaign.masked import campaign as masked_campaign
from motecrypt.attack.leakage.assessment import Assessment, LeakQuestion, OrderTest, Variable, assess
from motecrypt.attack.leakage.cpa import ranks_of, scores_of
from motecrypt.attack.leakage.harness import LeakWindow, harness
from motecrypt.attack.leakage.models import MODELS
from motecrypt.attack.leakage.places import places
from motecrypt.attack.leakage.recording import Recorder
from motecrypt.attack.leakage.targets import target_named
from motecrypt.attack.leakage.traces import Bytes
from motecrypt.base.model import Device, Implementation
from motecrypt.build.toolchain import BuildRequest, build
from motecrypt.build.toolchain.drivers import driver
from motecrypt.catalog import Catalog
from motecrypt.measuring import bench
from motecrypt.present.terminal.listed import rows_of
from motecrypt.results import Results
from motecrypt.simulate.emulate.images import read_image
from tool_sets import needs_tool_set

ROOT = Path(__file__).resolve().parents[3]
CATALOG = Catalog.load()
CIPHER = CATALOG.cipher("aes128-ctr")
SNR, TRACES, TRACES_FEW = 20.0, 4600, 1200
ENTRY = [(0, "cell")]
"""The first push, over a cell in which C code has left the nonce, which is public (GCC 14, -O3)."""
UNO = pytest.param("uno", marks=needs_tool_set("avr"))
PICO = pytest.param("pico", marks=needs_tool_set("pico"))
DEVICES = [UNO, PICO]
CORES = {"uno": "avr", "pico": "armv6m"}
COMPILERS = {"uno": "avr-gcc", "pico": "arm-none-eabi-gcc"}
#: Of the harness with AES_MASKED_IN_ORDER: instructions (skip, count) of the first S-boxes.
LOOKUPS = {"uno": (2640, 160), "pico": (2433, 125)}


def body_of(device: str, kind: str = "masked") -> Implementation:
    variant = f"{CORES[device]}-{kind}"
    bodies = CATALOG.implementations_of(CIPHER.name, device, ["motecrypt"], protected=True)
    return next(body for body in bodies if body.variant == variant)


# --- the benchmark firmware ------------------------------------------------------------------------


@pytest.mark.parametrize("device", DEVICES)
def test_the_output_is_right_and_the_time_constant(device: str, tmp_path: Path) -> None:
    """The oracle's output, of messages of several blocks; and what docs/leakage.md says a block costs."""
    kinds = ("masked", "masked-in-order")
    cells = [
        cell
        for kind in kinds
        for cell in bench.cells_for(
            CATALOG, CATALOG.device(device), body_of(device, kind), message_bytes=[16, 40]
        )
        if cell.cache in ("none", "warm") and cell.operation == "encrypt"
    ]
    with Results(tmp_path / "results.db") as results:
        found = bench.ensure(cells, results, CATALOG)
    assert [m.status for m in found.values()] == ["ok"] * 4
    assert all(m.cycles_min == m.cycles_max for m in found.values())


@pytest.mark.parametrize("operation", ["encrypt", "setup"])
@pytest.mark.parametrize("flag", ["-Os", "-O2", "-O3"])
@pytest.mark.parametrize("device", DEVICES)
def test_no_sample_leaks_in_either_model(device: str, flag: str, operation: str) -> None:
    """Like ./test campaign --masked, with fewer traces; at other flags than the device's own still fewer."""
    few = flag != "-Os"
    found = Run(device, body_of(device), flag, operation).assessed(2 * TRACES_FEW if few else TRACES, 5 * SNR)
    assert found.orders[0].tests > (4000 if operation == "setup" else 11_000)
    if operation == "encrypt" and [(one.instruction, one.channel) for one in found.orders[0].leaks] == ENTRY:
        return
    assert found.verdict == ("no claim" if few else "no leak found") and found.orders[0].leaks == ()


@pytest.mark.parametrize("operation", ["encrypt", "setup"])
@pytest.mark.parametrize("device", DEVICES)
def test_the_same_code_leaks_with_masks_that_repeat(device: str, operation: str) -> None:
    for model in ("weight", "distance"):
        run = Run(device, body_of(device), "-Os", operation)
        assert run.assessed(1000, SNR, model, masks="fixed").verdict == "leaks"


@pytest.mark.parametrize("leaks", [False, True])
def test_a_campaign_runs_every_variant_and_reports_a_leak(
    leaks: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    nothing = np.zeros(0, np.uint32)
    verdict = "leaks" if leaks else "no leak found"
    found = Assessment(verdict, 1, (1, 1), nothing, nothing, orders=(OrderTest(1, 10, 6.0, 2.0, ()),))
    monkeypatch.setattr(Run, "assessed", lambda run, traces, snr: found)
    assert masked_campaign(40_000, []) == int(leaks)
    assert masked_campaign(40_000, ["nothing"]) == 1
    printed = capsys.readouterr().out
    assert printed.count("40,000 traces") == 2 * 2 * 3 * 2
    assert "pico armv6m-masked -O3 setup" in printed


def test_the_list_of_implementations_has_protected_ones() -> None:
    _, rows = rows_of("implementations", CATALOG)
    assert ["aes128-ctr", "motecrypt/avr-masked"] in [row[:2] for row in rows]


@pytest.mark.parametrize("device", DEVICES)
def test_a_protected_variant_is_taken_only_where_it_is_named(device: str) -> None:
    named = body_of(device)
    assert named not in CATALOG.implementations and named in CATALOG.protected
    assert named not in CATALOG.implementations_of(CIPHER.name, device)
    assert named.protection is not None and named.protection.encrypt == "aes_masked_rounds"


#: Sets up a context at two places, and sends the status of each.
PLACES = """
#include "aes_masked.h"
#include "block.h"
#include <avr/io.h>
static struct block_key pages[2];
static uint8_t key[16];
uint8_t random_start(void) { return 0; }
void random_block(uint8_t *bytes) { for (int i = 0; i < 16; i++) bytes[i] = i; }
static void status_at(uint8_t place) {
    uint8_t status = block_setup((struct block_key *)((uint8_t *)pages + place), key, 16);
    while (!(UCSR0A & 0x20)) {}
    UDR0 = '0' + status;
}
int main(void) { UCSR0B = 8; status_at(0); status_at(1); status_at(128); for (;;) {} }
"""


@needs_tool_set("avr")
@pytest.mark.parametrize("flag", ["-Os", "-O3"])
def test_a_context_that_begins_within_a_page_is_refused_on_an_avr(flag: str, tmp_path: Path) -> None:
    (tmp_path / "places.c").write_text(PLACES)
    firmware = ROOT / "src/motecrypt/firmware"
    sources = [firmware / "ciphers/aes" / name for name in ("aes_masked.c", "aes_masked_avr.S")]
    words = [f"-I{firmware / folder}" for folder in ("include", "ciphers/aes")]
    elf, flat = tmp_path / "places.elf", tmp_path / "image"
    words.append('-DBLOCK_HEADER="aes_masked.h"')
    command: list[str | Path] = [
        "avr-gcc",
        "-mmcu=atmega328p",
        flag,
        *words,
        tmp_path / "places.c",
        *sources,
        "-o",
        elf,
    ]
    subprocess.run(command, check=True, timeout=60)
    subprocess.run(["avr-objcopy", "-O", "binary", elf, flat], check=True, timeout=60)
    chip = ["--mcu", "atmega328p", "--clock", "16000000", "--max-cycles", "200000"]
    ran = subprocess.run(
        [driver("avr_run"), *chip, "--image", flat], capture_output=True, timeout=60, check=False
    )
    assert ran.stdout == b"066"


# --- the harness, and changed code -----------------------------------------------------------------


@dataclass(frozen=True)
class Harness:
    """A device, and a copy of the sources."""

    device: Device
    folder: Path

    @property
    def source(self) -> Path:
        return self.folder / f"ciphers/aes/aes_masked_{CORES[self.device.name]}.S"

    def recorder(
        self, vary: str, function: str = "aes_masked_rounds", window: tuple[int, int | None] = (0, None)
    ) -> tuple[Recorder, tuple[Variable, ...]]:
        """Build by the command in the first lines of the harness, without the random order."""
        lines = iter((self.folder / "harness.c").read_text().splitlines())
        command = next(line for line in lines if f" {COMPILERS[self.device.name]} " in line).lstrip("/* ")
        while command.endswith("\\"):
            command = command.rstrip("\\") + next(lines).lstrip("/* ")
        command = command.replace("examples/leakage/masked", str(self.folder))
        words = shlex.split(command.replace("src/motecrypt/firmware", str(self.folder)))
        elf = self.folder / "masked.elf"
        given = ["-Wall", "-Wextra", "-Wconversion", "-Werror", "-DAES_MASKED_IN_ORDER", "-o", str(elf)]
        subprocess.run([*words[:-2], *given], check=True)
        skip, count = window
        image = read_image(elf, self.device)
        return harness(image, self.device, LeakWindow(function, "start", skip, count, vary))


def harness_of(device: str, folder: Path) -> Harness:
    firmware = ROOT / "src/motecrypt/firmware"
    (folder / "ciphers").mkdir()
    shutil.copytree(firmware / "include", folder / "include")
    shutil.copytree(firmware / "ciphers/aes", folder / "ciphers/aes")
    shutil.copy(ROOT / "examples/leakage/masked/harness.c", folder)
    return Harness(CATALOG.device(device), folder)


@pytest.mark.parametrize("device", DEVICES)
def test_the_use_of_round_keys_does_not_leak(device: str, tmp_path: Path) -> None:
    """Fixed against random keys in an encryption; and the order of S-boxes is not what hides them."""
    recorder, variables = harness_of(device, tmp_path).recorder("key")
    found = assess(recorder, variables, LeakQuestion(TRACES_FEW, SNR, 1, MODELS["both"]))
    assert found.orders[0].tests > 9000 and found.orders[0].leaks == ()


@pytest.mark.parametrize(("role", "parts"), [("random", 0), ("fixed", 16)])
@pytest.mark.parametrize("device", DEVICES)
def test_a_correlation_attack_finds_the_key_only_without_random_masks(
    device: str, role: str, parts: int, tmp_path: Path
) -> None:
    """2,000 traces of the first round without noise. By chance, one part of 256 is right."""
    count = 2000
    skip, instructions = LOOKUPS[device]
    recorder = harness_of(device, tmp_path).recorder("input", window=(skip, instructions))[0]
    rng = np.random.default_rng(3)
    inputs = rng.integers(0, 256, (count, 64), np.uint8)
    inputs[:, 16:32] = inputs[0, 16:32]
    if role == "fixed":
        inputs[:, 32:] = 0
    batches = list(recorder.record(_in_order(recorder, inputs), instructions, ("result",)))
    samples = np.concatenate([batch.samples[:, 0] for batch in batches])
    target = target_named("aes-encrypt-first")
    scores = scores_of(samples, inputs[:, :16], target, (count,))[0]
    ranks = ranks_of(scores, target, inputs[0, 16:32].tobytes())
    assert abs(int((ranks == 1).sum()) - parts) <= (2 if role == "random" else 0)


def _in_order(recorder: Recorder, inputs: Bytes) -> Bytes:
    """Columns message, key, masks in the order of the recorder's variables."""
    at = {"leak_input": slice(0, 16), "leak_key": slice(16, 32), "leak_random": slice(32, 64)}
    return np.concatenate([inputs[:, at[poke.name]] for poke in recorder.pokes], axis=1)


@pytest.mark.parametrize("device", DEVICES)
def test_pairs_of_samples_leak(device: str, tmp_path: Path) -> None:
    skip, instructions = LOOKUPS[device]
    recorder, variables = harness_of(device, tmp_path).recorder("input", window=(skip, instructions))
    question = LeakQuestion(4600, SNR, 1, MODELS["weight"], pairs=(0, instructions))
    found = assess(recorder, variables, question)
    assert [bool(order.leaks) for order in found.orders] == [False, True]


ROUNDS, SCHEDULE = "aes_masked_rounds", "aes_masked_schedule"


@pytest.mark.parametrize(
    ("device", "text", "instead", "function", "vary", "what"),
    [
        pytest.param(*UNO.values, *case, marks=UNO.marks)
        for case in (
            ("Y + RANDOM_ROWS + \\row\n    mov", "Y + RANDOM_ROWS\n    mov", ROUNDS, "input", "is written"),
            ("    clr TABLE_LOW\n    dec COUNT", "    dec COUNT", ROUNDS, "input", "r30 is overwritten"),
            (".macro shift\n    ldd MASK, Y + ROW_MASKS", ".macro shift", ROUNDS, "input", "data bus"),
            ("    clr FIRST", "    nop", ROUNDS, "input", "r25 is overwritten"),
            ("    std Y + STATE + \\number, TABLE_LOW", "    nop", ROUNDS, "key", "memory"),
            ("    ld r24, Y\n", "", SCHEDULE, "key", "data bus"),
            ("    clr r\\row\n    mov r\\row", "    mov r\\row", SCHEDULE, "key", "is overwritten"),
        )
    ]
    + [
        pytest.param(*PICO.values, *case, marks=PICO.marks)
        for case in (
            ("ldr r2, [r7, RANDOM_ROWS]", "movs r2, 0", ROUNDS, "input", "is written"),
            ("    str SCRATCH, [FROM, \\place]\n", "", ROUNDS, "input", "memory"),
            ("    ldr SCRATCH, [HIGH]\n", "", ROUNDS, "input", "from the RAM"),
            ("    ldr SCRATCH, [SCRATCH]\n", "", ROUNDS, "input", "data bus"),
            ("    ldr SHARE, [MASKS]\n    adds KEYS", "    adds KEYS", SCHEDULE, "key", "data bus"),
            ("1:  ldr r4, [r1, RANDOM_KEYS]\n", "    ldr r4, [r1]\n1:\n", ROUNDS, "key", "from the RAM"),
        )
    ],
)  # fmt: skip
def test_a_missing_precaution_is_found_where_it_is_missing(
    device: str, text: str, instead: str, function: str, vary: str, what: str, tmp_path: Path
) -> None:
    made = harness_of(device, tmp_path)
    whole = made.source.read_text()
    assert whole.count(text) == 1
    made.source.write_text(whole.replace(text, instead))
    recorder, variables = made.recorder(vary, function)
    found = assess(recorder, variables, LeakQuestion(TRACES_FEW, SNR, 1, MODELS["both"]))
    assert found.verdict == "leaks"
    where = places(recorder.image, made.device, found, found.orders[0].leaks)
    assert {Path(place.file).name for place in where} == {made.source.name}
    assert any(what in place.what for place in where), [(p.line, p.what) for p in where]


# --- the generator ---------------------------------------------------------------------------------

SPONGE = ROOT / "src/motecrypt/firmware"


def sponge(folder: Path, code: str) -> list[str]:
    """What a program around random/sponge.c prints, one line at a time."""
    program = folder / "program.c"
    program.write_text(f'#include "random.h"\n#include <stdio.h>\n{code}')
    words = f"cc -Wall -Wextra -Werror -I {SPONGE}/include -I {SPONGE}/ciphers/ascon -o {folder}/program"
    sources = f"{program} {SPONGE}/random/sponge.c {SPONGE}/ciphers/ascon/ascon_words.c"
    subprocess.run([*words.split(), *sources.split()], check=True)
    return subprocess.run(
        [folder / "program"], capture_output=True, text=True, check=True, timeout=60
    ).stdout.splitlines()


PROGRAM = """
static uint8_t stored[16] = {%s};
static int broken = %d;
uint8_t random_seed_read(uint8_t *seed) { for (int i = 0; i < 16; i++) seed[i] = stored[i]; return 0; }
uint8_t random_seed_write(const uint8_t *seed) {
    if (broken) return 1;
    for (int i = 0; i < 16; i++) stored[i] = seed[i];
    return 0;
}
static void print(const uint8_t *bytes) { for (int i = 0; i < 16; i++) printf("%%02x", bytes[i]); puts(""); }
int main(void) {
    uint8_t block[16];
    printf("%%d\\n", random_start());
    print(stored);
    for (int i = 0; i < 2; i++) { random_block(block); print(block); }
    printf("%%d\\n", random_start());
    random_block(block); print(block);
}
"""


def p_rounds(state: list[int], rounds: int) -> list[int]:
    """Ascon-p (NIST SP 800-232, section 3) on five words."""
    full = (1 << 64) - 1
    for number in range(12 - rounds, 12):
        a, b, c, d, e = state
        c ^= 0xF0 - 15 * number
        a, e, c = a ^ e, e ^ d, c ^ b
        t = [(~x & full) & y for x, y in ((a, b), (b, c), (c, d), (d, e), (e, a))]
        a, b, c, d, e = a ^ t[1], b ^ t[2], c ^ t[3], d ^ t[4], e ^ t[0]
        b, a, d, c = b ^ a, a ^ e, d ^ c, ~c & full
        turns = ((19, 28), (61, 39), (1, 6), (10, 17), (7, 41))
        state = [
            x ^ (x >> m | x << 64 - m) & full ^ (x >> n | x << 64 - n) & full
            for x, (m, n) in zip((a, b, c, d, e), turns, strict=True)
        ]
    return state


def test_the_generator_is_the_stated_sponge_and_stores_its_next_seed_first(tmp_path: Path) -> None:
    """On a computer, where a state has the same bytes."""
    seed = bytes(range(3, 19))
    found = sponge(tmp_path, PROGRAM % (", ".join(map(str, seed)), 0))
    state = [int.from_bytes((seed + b"\1" + bytes(23))[8 * i : 8 * i + 8], "little") for i in range(5)]
    blocks = []
    for rounds in (12, 8, 8, 8):
        state = p_rounds(state, rounds)
        blocks.append(b"".join(word.to_bytes(8, "little") for word in state[:2]).hex())
        state[:2] = 0, 0
    successor, *drawn = blocks
    assert found == ["0", successor, *drawn[:2], "0", drawn[2]]
    assert len(set(blocks)) == 4


@pytest.mark.parametrize(("seed", "broken"), [("0", 0), ("%s255" % (15 * "255, "), 0), ("1, 2", 1)])
def test_the_generator_does_not_start_without_a_seed_and_its_successor(
    seed: str, broken: int, tmp_path: Path
) -> None:
    """Erased memory is not a seed. A seed whose successor is not stored would be used again."""
    assert sponge(tmp_path, PROGRAM % (seed, broken))[0] == "1"


@needs_tool_set("avr")
def test_a_program_without_a_seed_does_not_link(tmp_path: Path) -> None:
    objects = build(BuildRequest(CATALOG.device("uno"), body_of("uno"), "flash"))
    assert objects.elf.exists()
    program = tmp_path / "program.c"
    program.write_text("#include <random.h>\nint main(void) { return random_start(); }\n")
    words = f"avr-gcc -mmcu=atmega328p -I {SPONGE}/include {program} {SPONGE}/random/sponge.c"
    done = subprocess.run(
        [*words.split(), f"{SPONGE}/ciphers/ascon/ascon_avr.S", "-o", tmp_path / "program.elf"],
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0 and "random_seed_read" in done.stderr
