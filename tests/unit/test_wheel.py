"""The built wheel, installed elsewhere, measures from an empty directory: it carries all it needs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.long
def test_the_wheel_measures_from_an_empty_directory(tmp_path: Path) -> None:
    made = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    wheel = next(tmp_path.glob("motecrypt-*.whl"))
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
    home = tmp_path / "home"
    venv.create(home / "venv", with_pip=False)
    site = next((home / "venv" / "lib").glob("python3*")) / "site-packages"
    zipfile.ZipFile(wheel).extractall(site)
    # What pip would install next to it, borrowed from this environment (the tests touch no network).
    borrowed = [p for p in sys.path if p.endswith("site-packages")]
    (site / "borrowed.pth").write_text("\n".join(borrowed) + "\n")
    empty = tmp_path / "empty"
    empty.mkdir()
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    environment |= {"MOTECRYPT_CACHE": str(tmp_path / "cache"), "MOTECRYPT_DB": str(tmp_path / "r.db")}
    done = subprocess.run(
        [str(home / "venv" / "bin" / "python"), "-m", "motecrypt", "measure", "--cipher", "rc4", "--json"],
        cwd=empty,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert any(m["status"] == "ok" and m["cycles_median"] for m in json.loads(done.stdout))
    assert not list(empty.iterdir())
