"""What a system without apt-get shows to install: made-up os-release files, and an empty PATH."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from motecrypt.base import process
from motecrypt.base.errors import InputError
from motecrypt.build.setup import need, need_each, systems, tool_sets
from motecrypt.build.toolchain import libraries, pinned
from motecrypt.cli import doctor

ROOT = Path(__file__).resolve().parents[2]
RELEASES = {
    "fedora": "NAME=Fedora\nID=fedora\n",
    "arch": "ID=manjaro\nID_LIKE=arch\n",
    "alpine": 'ID="alpine"\n',
    "rocky": 'ID="rocky"\nID_LIKE="rhel centos fedora"\n',
    "other": "ID=plan9\n",
    "open": "ID='fedora\n",
}


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine without programs, whose os-release is the file returned."""
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.setattr(systems, "OS_RELEASE", tmp_path / "os-release")
    monkeypatch.setattr(libraries, "have", lambda name: False)
    monkeypatch.setattr(platform, "system", lambda: "Linux")
    return tmp_path / "os-release"


@pytest.mark.parametrize(
    ("release", "told"),
    [
        ("fedora", "dnf install avr-gcc avr-binutils avr-libc gcc glibc-devel simavr-devel"),
        (
            "arch",
            "pacman -S avr-gcc avr-binutils avr-libc gcc glibc; look for what Debian calls libsimavr-dev",
        ),
        (
            "alpine",
            "apk add gcc-avr binutils-avr avr-libc gcc musl-dev; look for what Debian calls libsimavr",
        ),
        ("rocky", "dnf install avr-gcc"),
        (
            "other",
            "look for what Debian calls gcc-avr, binutils-avr, avr-libc, gcc, libc6-dev, libsimavr-dev",
        ),
        ("open", "look for what Debian calls gcc-avr"),
    ],
)
def test_one_line_names_what_to_install(elsewhere: Path, release: str, told: str) -> None:
    elsewhere.write_text(RELEASES[release])
    with pytest.raises(InputError) as refused:
        need("avr")
    line = str(refused.value)
    assert f"apt-get is not available; install by hand: {told}" in line and "\n" not in line
    assert ("untested on" in line) == (release not in ("other", "open"))


def test_macos_is_known_by_uname_and_its_compiler_by_a_note(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    with pytest.raises(InputError, match=r"brew install osx-cross/avr/avr-gcc .*; gcc and .*xcode-select"):
        need("avr")


def test_several_tool_sets_have_one_list_and_optional_ones_keep_nobody(elsewhere: Path) -> None:
    elsewhere.write_text(RELEASES["fedora"])
    with pytest.raises(InputError) as refused:
        need_each([("avr", True), ("pico", True), ("openocd", True)])
    line = str(refused.value)
    assert line.count("dnf install") == 1 and line.count(" gcc ") == 1
    assert " avr-gcc " in line and " arm-none-eabi-gcc-cs " in line and "openocd" not in line
    need("openocd")  # optional: continues


def test_a_file_is_looked_for_where_the_system_has_it(elsewhere: Path) -> None:
    debian = "/usr/lib/avr/include/avr/io.h"
    assert debian in tool_sets()["avr"].files
    places = {"fedora": "/usr/avr/sys-root/include/avr/io.h", "alpine": "", "other": debian}
    for release, place in places.items():
        elsewhere.write_text(RELEASES[release])
        assert systems.place(debian) == place
    elsewhere.unlink()
    assert systems.place(debian) == debian


def test_every_name_and_file_is_one_of_a_tool_set() -> None:
    named = {package for tool_set in tool_sets().values() for package in tool_set.debian} | {
        "libsimavr-dev",
        "libelf-dev",
    }
    files = {file for tool_set in tool_sets().values() for file in tool_set.files}
    for system in systems.systems().values():
        assert set(system.packages) <= named and set(system.files) <= files, system.title
        assert system.note or "" not in system.packages.values()


def test_doctor_shows_the_systems_names(elsewhere: Path) -> None:
    elsewhere.write_text(RELEASES["alpine"])
    told = CliRunner().invoke(doctor.command, ["--json"])
    assert told.exit_code == 0 and "apk add gcc-avr" in told.stdout and "apt-get" not in told.stdout


def test_the_architecture_has_debians_name_without_dpkg(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "run", lambda *_, **__: process.Outcome(None, "", "dpkg: not found"))
    for machine, name in (("x86_64", "amd64"), ("aarch64", "arm64"), ("riscv64", "riscv64")):
        monkeypatch.setattr(os, "uname", lambda machine=machine: os.uname_result(("", "", "", "", machine)))
        pinned.architecture.cache_clear()
        assert pinned.architecture() == name
    pinned.architecture.cache_clear()


@pytest.mark.parametrize(
    ("release", "told"),
    [
        ("fedora", "(dnf install python3 python3-pip)"),
        ("rocky", "(dnf install python3 python3-pip)"),
        ("arch", "(pacman -S python)"),
        ("alpine", "(apk add python3 py3-pip)"),
        ("other", "install it and run"),
    ],
)
def test_set_up_says_how_to_get_python(tmp_path: Path, release: str, told: str) -> None:
    """By setup.sh itself, in a PATH that has the tools it needs, and neither Python nor apt-get."""
    (tmp_path / "os-release").write_text(RELEASES[release])
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("sh", "sed", "tr", "awk", "head", "uname", "readlink", "dirname"):
        found = next(Path(at, name) for at in ("/usr/bin", "/bin") if Path(at, name).exists())
        (tools / name).symlink_to(found)
    script = tmp_path / "run"
    script.write_text(f'. "{ROOT}/setup.sh"\nroot={ROOT}\nos_release={tmp_path}/os-release\ninstall_python\n')
    ran = subprocess.run(
        ["/bin/sh", "-eu", str(script)],
        env={"PATH": str(tools), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == 2 and ran.stderr.count("\n") == 1 and told in ran.stderr, ran.stderr
