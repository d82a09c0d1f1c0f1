"""The built wheel, installed elsewhere, measures from an empty directory: it carries all it needs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import venv
import zipfile
from pathlib import Path

import pytest

from gateway_bed import Radio
from motecrypt.link.native import Event, NativeLink, open_library
from motecrypt.link.prebuilt import COMPILERS, machine
from tool_sets import needs_tool_set

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment with the wheel, which has the core for this computer."""
    folder = tmp_path_factory.mktemp("wheel")
    kind = machine()
    cores = kind if kind in COMPILERS and shutil.which(COMPILERS[kind][0]) else "none"
    made = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT,
        env={**os.environ, "MOTECRYPT_CORES": cores},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    wheel = next(folder.glob("motecrypt-*.whl"))
    names = zipfile.ZipFile(wheel).namelist()
    for needed in (
        "motecrypt/firmware/include/cipher.h",
        "motecrypt/firmware/devices/uno/device.toml",
        "motecrypt/simulate/drivers/simavr.c",
        "motecrypt/data/setup.toml",
        "motecrypt/data/published/rc4d_uno.csv",
        "motecrypt/exports/targets/arduino/target.toml",
        "motecrypt/exports/templates/class.h.j2",
    ):
        assert needed in names
    home = folder / "home"
    venv.create(home / "venv", with_pip=False)
    site = next((home / "venv" / "lib").glob("python3*")) / "site-packages"
    zipfile.ZipFile(wheel).extractall(site)
    # What pip would install next to it, borrowed from this environment (the tests touch no network).
    borrowed = [p for p in sys.path if p.endswith("site-packages")]
    (site / "borrowed.pth").write_text("\n".join(borrowed) + "\n")
    return home / "venv" / "bin" / "python"


def _environment(folder: Path) -> dict[str, str]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    return environment | {"MOTECRYPT_CACHE": str(folder / "cache"), "MOTECRYPT_DB": str(folder / "r.db")}


@pytest.mark.long
def test_the_wheel_measures_from_an_empty_directory(installed: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    done = subprocess.run(
        [str(installed), "-m", "motecrypt", "measure", "--cipher", "rc4", "--json"],
        cwd=empty,
        env=_environment(tmp_path),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert any(m["status"] == "ok" and m["cycles_median"] for m in json.loads(done.stdout))
    assert not list(empty.iterdir())


@pytest.mark.long
@needs_tool_set("host", "link")
@pytest.mark.parametrize(
    ("suite", "words"),
    [("aes128-ccm", ("gateway", "--stdout")), ("ascon-aead128", ("receive", "--count", "1", "--json"))],
)
def test_the_wheel_takes_a_message_where_no_compiler_is(
    installed: Path, suite: str, words: tuple[str, ...], tmp_path: Path
) -> None:
    """A node is provisioned, and what it sends arrives; nothing is compiled, and nothing is cached."""
    if not list((installed.parents[1] / "lib").rglob(f"{suite}-{machine()}.so")):
        pytest.skip("no core for this computer")
    path = tmp_path / "bin"
    path.mkdir()
    environment = _environment(tmp_path) | {"PATH": str(path)}

    def run(*given: str) -> None:
        done = subprocess.run(
            [str(installed), "-m", "motecrypt", *given],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr

    run("key", "gateway.key", "--link", "--suite", suite)
    run("provision", "5", "--key", "gateway.key", "--image", "node.store")
    (core,) = (installed.parents[1] / "lib").rglob(f"{suite}-{machine()}.so")
    node = NativeLink(open_library(core))
    assert node.begin((tmp_path / "node.store").read_bytes()) == Event.NOTHING
    assert node.send(b"21.4 C") == Event.WAITING
    radio, packets = Radio(), node.packets()
    command, *options = words
    with (tmp_path / "out").open("w") as out:
        serving = subprocess.Popen(
            [str(installed), "-m", "motecrypt", command, radio.path, "--key", "gateway.key", *options],
            cwd=tmp_path,
            env=environment,
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    try:
        ends = time.monotonic() + 120
        while "21.4 C" not in (told := (tmp_path / "out").read_text()):
            assert time.monotonic() < ends and serving.poll() in (None, 0), told
            radio.put(*packets)  # what comes again is the same message
            time.sleep(0.3)
    finally:
        serving.terminate()
        serving.wait(60)
        radio.vanish()
    assert not (tmp_path / "cache" / "link").exists(), "a core was compiled"
