"""Our C for arm64, as on gateways: every cipher with its mode, and the drivers.

Cross-compiled and run under qemu-user. Native cycles mean nothing there; outputs and the protocol do.
What the simulators count is the same wherever they run.
"""

from __future__ import annotations

import platform
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from arm64_simulators import COMPILER, EMULATOR, LIBRARIES, libraries, simulators
from motecrypt.attack.audits.oracle import nearest_length
from motecrypt.build.toolchain import BuildRequest, build
from motecrypt.build.toolchain.drivers import DRIVERS, RECIPES
from motecrypt.build.toolchain.drivers import driver as native_driver
from motecrypt.build.toolchain.toolchain import BuildError
from motecrypt.catalog import Catalog, oracles
from motecrypt.measuring import bench
from motecrypt.results import Results
from motecrypt.simulate.runners.protocol import Client
from motecrypt.simulate.runners.session import DriverSession
from tool_sets import needs_tool_set, skip_without

pytestmark = [
    needs_tool_set("arm64"),
    pytest.mark.skipif(
        platform.machine() == "aarch64", reason="this computer is an arm64: the other tests run on it"
    ),
]
CATALOG = Catalog.load()
OURS = {
    name: CATALOG.implementations_of(name, "host", ("motecrypt",))
    for name in CATALOG.ciphers
    if CATALOG.implementations_of(name, "host", ("motecrypt",))
}
ANSWER_TIMEOUT_S = 60.0


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("arm64") / "host"
    recipe = RECIPES["host"]
    command = [COMPILER, "-O2", "-Wall", "-Wextra", "-Werror", DRIVERS / recipe.source, *recipe.flags()]
    subprocess.run([*command, "-o", target], check=True, timeout=120)
    return target


@pytest.mark.parametrize("name", sorted(OURS))
def test_every_cipher_computes_on_arm64_what_its_oracle_says(name: str, driver: Path) -> None:
    cipher, body = CATALOG.cipher(name), OURS[name][0]
    host = CATALOG.device("host")
    host = replace(host, compiler=replace(host.compiler, command=COMPILER))
    library = build(BuildRequest(host, body, "flash")).elf
    encrypt = oracles.oracle(cipher)
    key = bytes(range(1, body.key_bits[0] // 8 + 1))
    nonce, ad = bytes(range(64, 64 + cipher.nonce_bytes)), b"ad" if cipher.associated_data else b""
    command = [EMULATOR, "-L", LIBRARIES, driver, "--events", "{events}", "--trace", library]
    with DriverSession(command, cycles_exact=False) as session:
        client = Client(session, ANSWER_TIMEOUT_S)
        client.wait_ready()
        client.set_key(key)
        if nonce:
            client.set_nonce(nonce)
        if ad:
            client.set_ad(ad)
        client.run("setup", 1, 0)
        for length in sorted({nearest_length(cipher, n) for n in (16, 47, 200)}):
            message = bytes(n & 0xFF for n in range(length))
            wanted, tag = encrypt(key, nonce, ad, message)
            client.set_message(message)
            ran = client.run("encrypt", 1, cipher.tag_bytes)
            assert (ran.output, ran.tag) == (wanted, tag), f"{length} bytes"
            if "decrypt" in body.operations:
                client.set_message(wanted)
                if cipher.tag_bytes:
                    client.set_tag(tag)
                back = client.run("decrypt", 1, cipher.tag_bytes)
                assert back.output == message, f"{length} bytes back"


def test_the_driver_says_what_it_counts_with(driver: Path) -> None:
    done = subprocess.run(
        [EMULATOR, "-L", LIBRARIES, driver, "--describe"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert '"counter"' in done.stdout and '"aes_instructions"' in done.stdout


def test_the_tool_set_brings_what_the_tests_run() -> None:
    assert shutil.which(COMPILER) and shutil.which(EMULATOR) and Path(LIBRARIES, "lib").is_dir()


@pytest.fixture(scope="module")
def on_arm64(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    try:
        root = libraries()
    except BuildError as error:
        pytest.skip(f"no arm64 libraries of the simulators here: {error}")
    return simulators(tmp_path_factory.mktemp("simulators"), root)


def figures(folder: Path, device: str, cipher: str) -> list[tuple[object, ...]]:
    """What a few cells cost, in results of their own."""
    body = CATALOG.implementations_of(cipher, device)[0]
    target = CATALOG.device(device)
    cells = bench.cells_for(
        CATALOG, target, body, message_bytes=[20], placements=[next(iter(target.placements))]
    )
    with Results(folder) as results:
        found = bench.ensure(cells, results, CATALOG).items()
    assert all(m.status == "ok" for _, m in found)
    return [(cell, m.cycles_min, m.cycles_median, m.cycles_max, m.stack_bytes, m.extra) for cell, m in found]


@pytest.mark.parametrize(
    ("device", "cipher"), [("uno", "aes128-ccm8"), ("uno", "rc4d"), ("pico", "ascon-aead128")]
)
def test_cells_cost_what_they_cost_on_this_computer(
    device: str, cipher: str, on_arm64: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    skip_without(CATALOG.device(device).tool_set)
    here = figures(tmp_path / "here.db", device, cipher)
    asked = []

    def other(name: str) -> Path:
        asked.append(name)
        return on_arm64[name]

    for module in ("simavr", "arm"):
        monkeypatch.setattr(f"motecrypt.simulate.runners.{module}.driver", other)
    assert figures(tmp_path / "there.db", device, cipher) == here
    assert here and asked


FREE = """
#include <avr/io.h>
#include <avr/interrupt.h>
static volatile unsigned ticks;
ISR(TIMER0_OVF_vect) { ticks++; }
static void send(unsigned char c) { while (!(UCSR0A & 1 << UDRE0)) {} UDR0 = c; }
int main(void) {
    TCCR2A = 1; TCCR2B = 4; TCCR0A = 3; TCCR0B = 3; TIMSK0 = 1; UBRR0 = 16; UCSR0A = 2; UCSR0B = 0x18; sei();
    for (unsigned char n = 0; n < 20; n++) {
        unsigned until = ticks + 10;
        while ((int)(ticks - until) < 0 || TCNT0 < 100) {}
        send(TCNT2); send(TCNT0); send(n);
    }
    cli();
    for (;;) {}
}
"""


def test_a_free_run_comes_out_as_on_this_computer(on_arm64: dict[str, Path], tmp_path: Path) -> None:
    skip_without("avr")
    (tmp_path / "free.c").write_text(FREE)
    elf, image = tmp_path / "free.elf", tmp_path / "image"
    for command in (
        ["avr-gcc", "-Os", "-mmcu=atmega328p", tmp_path / "free.c", "-o", elf],
        ["avr-objcopy", "-O", "binary", elf, image],
    ):
        subprocess.run(command, check=True, timeout=60)
    chip = ("--mcu", "atmega328p", "--clock", "16000000", "--image", image, "--max-cycles", "80000000")
    ends = []
    for program in (native_driver("avr_run"), on_arm64["avr_run"]):
        ran = subprocess.run([program, *chip], capture_output=True, timeout=120, check=True)
        ends.append((ran.stdout, ran.stderr.splitlines()[-1]))
    assert ends[0] == ends[1] and len(ends[0][0]) == 60 and b'"stop"' in ends[0][1]
