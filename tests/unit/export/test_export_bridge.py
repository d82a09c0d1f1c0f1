"""`motecrypt export bridge`: the sketch of a board that is a gateway's radio."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from command_line import run
from motecrypt.air.radios import load_radio, radio_names
from motecrypt.base.errors import InputError
from motecrypt.catalog import FIRMWARE
from motecrypt.exports.bridge import BRIDGES, bridge_files, bridge_names, read_bridge


@pytest.mark.parametrize("name", bridge_names())
def test_its_files_are_those_that_were_tried(name: str) -> None:
    radio = load_radio(name)
    files = bridge_files("MyBridge", radio)
    assert sorted(files) == [
        *("LICENSE", "MyBridge.ino", "README.md", "bridge.c", "bridge.h", "bridge_options.h"),
    ]
    for core in ("bridge.c", "bridge.h"):
        assert files[core] == (FIRMWARE / "bridge" / core).read_bytes()
    options = dict(re.findall(r"#define BRIDGE_(\w+) (\d+)", files["bridge_options.h"].decode()))
    assert int(options["PACKET_MIN"]) == radio.value("packet_bytes_min")
    assert int(options["PACKET_MAX"]) == min(radio.value("packet_bytes_max"), 255)
    assert int(options["QUEUE"]) >= 1 and options.get("DUTY", "1000") == "1000"
    sketch, readme = files["MyBridge.ino"].decode(), files["README.md"].decode()
    assert f'bridge_begin(&bridge, "{name}"' in sketch and "MyBridge" in sketch.splitlines()[0]
    assert f"motecrypt gateway /dev/ttyUSB0 --key gateway.key --radio {name}\n" in readme
    assert "not tried with a radio" in readme and "{" not in readme
    assert files["LICENSE"].startswith(b"MIT License")


def test_a_radio_that_may_not_always_send_says_so() -> None:
    radio = load_radio("nrf24")
    duty = load_radio("lora").figures["duty_percent"]
    for percent, permille in ((2.5, 25), (0.1, 1), (0.01, 1)):
        figures = {**radio.figures, "duty_percent": replace(duty, value=percent)}
        options = bridge_files("B", replace(radio, figures=figures))["bridge_options.h"]
        assert f"#define BRIDGE_DUTY {permille}\n".encode() in options


def test_a_frame_has_no_longer_packets_than_255_bytes() -> None:
    radio = load_radio("nrf24")
    longer = replace(radio.figures["packet_bytes_max"], value=300)
    files = bridge_files("B", replace(radio, figures={**radio.figures, "packet_bytes_max": longer}))
    assert b"#define BRIDGE_PACKET_MAX 255\n" in files["bridge_options.h"]


@pytest.mark.parametrize(
    ("line", "good"),
    [
        ("channel = 0", True),
        ("channel = -1", False),
        ("channel = 255", True),
        ("channel = 256", False),
        ("queue = 1", True),
        ("queue = 0", False),
        ("queue = 255", True),
        ("queue = 256", False),
        ('library = ""', False),
        ('library_source = ""', False),
        ('wiring = ""', False),
        ("more = 1", False),
    ],
)
def test_the_bounds_of_its_file(line: str, good: bool, tmp_path: Path) -> None:
    kept = (BRIDGES / "nrf24" / "bridge.toml").read_text().splitlines()
    name = line.split()[0]
    (tmp_path / "bridge.toml").write_text("\n".join([*(row for row in kept if row.split()[0] != name), line]))
    if good:
        assert str(read_bridge(tmp_path / "bridge.toml")[name]) == line.split()[2]
    else:
        with pytest.raises(InputError, match=name):
            read_bridge(tmp_path / "bridge.toml")


@pytest.mark.parametrize("name", ["My-Bridge", "_b", "b" * 64, "b.ino", ""])
def test_a_name_that_no_sketch_can_have_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="not the name of a sketch"):
        bridge_files(name, load_radio("nrf24"))


@pytest.mark.parametrize("name", [name for name in radio_names() if name not in bridge_names()])
def test_radios_without_a_program_are_refused(name: str) -> None:
    said = "a serial line itself" if load_radio(name).is_serial else "there is no program of a bridge for it"
    with pytest.raises(InputError, match=said):
        bridge_files("B", load_radio(name))


def test_the_command(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder = tmp_path / "MyBridge"
    code, out, _ = run(capfd, "export", "bridge", str(folder), "--radio", "nrf24")
    assert code == 0 and f"{folder}: a bridge for nrf24, 6 files; see README.md" in out
    code, out, _ = run(capfd, "export", "bridge", str(folder), "--radio", "nrf24", "--json")
    assert code == 0 and json.loads(out)["files"] == sorted(bridge_files("MyBridge", load_radio("nrf24")))
    (folder / "MyBridge.ino").write_text("mine")
    code, _, err = run(capfd, "export", "bridge", str(folder), "--radio", "nrf24")
    assert code == 2 and "'MyBridge.ino' is not as it was exported" in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "export bridge: name the --radio; there is one for nrf24"),
        (["--radio", "nrf24", "--cipher", "des-cbc"], "--cipher: a bridge has none; omit it"),
        (["--radio", "nrf24", "--link"], "--link: a bridge has none; omit it"),
        (["--radio", "srf"], "--radio srf: it is a serial line itself and needs no bridge"),
        (["--radio", "nosuch"], "unknown radio 'nosuch'"),
    ],
)
def test_what_cannot_be_is_one_line(
    words: list[str], said: str, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, _, err = run(capfd, "export", "bridge", str(tmp_path / "B"), *words)
    assert code == 2 and said in err and err.count("\n") == 1 and not (tmp_path / "B").exists()
