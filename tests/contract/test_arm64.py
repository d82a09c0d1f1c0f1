"""Our C for arm64, as gateways have it: every cipher with its mode, and the driver of native runs.

Cross-compiled and run under qemu-user. Cycles mean nothing there; outputs and the driver's protocol do.
"""

from __future__ import annotations

import platform
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from kits import needs_kit
from motecrypt.audits.oracle import nearest_length
from motecrypt.catalog import Catalog, oracles
from motecrypt.runners.protocol import Client
from motecrypt.runners.session import DriverSession
from motecrypt.toolchain import BuildRequest, build
from motecrypt.toolchain.drivers import DRIVERS, RECIPES

COMPILER, EMULATOR, LIBRARIES = "aarch64-linux-gnu-gcc", "qemu-aarch64", "/usr/aarch64-linux-gnu"
pytestmark = [
    needs_kit("arm64"),
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


def test_the_kit_brings_what_the_tests_run() -> None:
    assert shutil.which(COMPILER) and shutil.which(EMULATOR) and Path(LIBRARIES, "lib").is_dir()
