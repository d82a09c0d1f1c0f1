"""motecrypt.toml: what is read of it, and what is refused in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from motecrypt.base.errors import InputError
from motecrypt.gate.plan import Growth, read_gate_plan

WHOLE = """
base = "origin/main"
devices = ["uno", "pico"]
growth = "0.5%"
history = "bench/history.jsonl"
own_program = true

[[library]]
folder = "bench"
ciphers = ["rc4"]
bytes = [16, 48]
toolchain = "gcc-12"
flags = ["-O3"]

[[cipher]]
name = "ascon-aead128"
libraries = ["motecrypt"]
variants = ["avr"]
devices = ["uno"]
placements = ["flash"]
key_bits = [128]
ad_bytes = [0, 8]

[[firmware]]
name = "node"
file = "build/node.elf"
device = "pico"
build = ["make", "node"]
until = "ready"
max_seconds = 2
functions = ["send_*"]

[battery]
battery = "3xAA"
radio = "srf"
every = "10s"
regulator = "nano"
sleeps = true

[[budget]]
of = ["uno/*", "pico/node"]
flash = 4096
ram = 100
ram_growth = 16
stack_growth = "2%"
cycles = 20000
battery_days = 300
battery_days_loss = 1.5
constant_time = true
"""


def plan_of(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "motecrypt.toml"
    path.write_text(text)
    return path


def test_every_key_is_read(tmp_path: Path) -> None:
    plan = read_gate_plan(plan_of(tmp_path, WHOLE))
    assert (plan.root, plan.base, plan.history, plan.own_program) == (
        tmp_path,
        "origin/main",
        "bench/history.jsonl",
        True,
    )
    assert plan.growth == Growth(0.5, None)
    library, cipher = plan.measured
    assert (library.folder, library.cipher, library.ciphers) == ("bench", "", ("rc4",))
    assert (library.message_bytes, library.ad_bytes, library.devices) == ((16, 48), (0,), ("uno", "pico"))
    assert (library.toolchain, library.flags) == ("gcc-12", ("-O3",))
    assert (cipher.folder, cipher.cipher, cipher.libraries) == ("", "ascon-aead128", ("motecrypt",))
    assert (cipher.message_bytes, cipher.ad_bytes, cipher.devices) == ((16, 64), (0, 8), ("uno",))
    assert (cipher.variants, cipher.placements, cipher.key_bits) == (("avr",), ("flash",), (128,))
    node = plan.firmware[0]
    assert (node.name, node.file, node.device, node.build) == (
        "node",
        "build/node.elf",
        "pico",
        ("make", "node"),
    )
    assert (node.until, node.max_seconds, node.functions) == ("ready", 2.0, ("send_*",))
    assert plan.battery is not None
    assert (plan.battery.battery, plan.battery.radio, plan.battery.every) == ("3xAA", "srf", "10s")
    assert (plan.battery.regulator, plan.battery.sleeps) == ("nano", True)
    budget = plan.budgets[0]
    assert budget.most == {"flash": 4096, "ram": 100, "cycles": 20000}
    assert budget.growth == {"ram": Growth(None, 16.0), "stack": Growth(2.0, None)}
    assert (budget.battery_days, budget.battery_days_loss) == (300, Growth(None, 1.5))
    assert budget.constant_time
    assert budget.covers("uno/a/b") and budget.covers("pico/node") and not budget.covers("pico/node/f")


def test_what_is_not_given(tmp_path: Path) -> None:
    plan = read_gate_plan(
        plan_of(tmp_path, 'devices = ["uno"]\n[[firmware]]\nname = "n"\nfile = "n.elf"\n[[budget]]\n')
    )
    assert (plan.base, plan.history, plan.battery, plan.own_program) == ("", "", None, False)
    assert plan.growth == Growth(0.0, None)
    node = plan.firmware[0]
    assert (node.device, node.build, node.until, node.max_seconds, node.functions) == (
        "uno",
        (),
        "",
        10.0,
        (),
    )
    budget = plan.budgets[0]
    assert budget.of == ("*",) and not budget.most and not budget.growth
    assert (budget.battery_days, budget.battery_days_loss, budget.constant_time) == (None, None, False)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "nothing to measure; add [[library]], [[cipher]] or [[firmware]]"),
        ('[[library]]\nfolder = "b"\n', "no devices"),
        ('devices = ["uno"]\n[[library]]\n', "'folder' is missing"),
        ('devices = ["uno"]\n[[library]]\nfolder = ""\n', "'folder' is ''"),
        ('devices = ["uno"]\n[[library]]\nfolder = "b"\nbyts = [1]\n', "did you mean 'bytes'"),
        ('devices = ["uno"]\n[[library]]\nfolder = "b"\nbytes = [65536]\n', "'bytes' is 65536"),
        ('devices = ["uno"]\n[[library]]\nfolder = "b"\nbytes = [-1]\n', "'bytes' is -1"),
        ('devices = ["uno"]\n[[library]]\nfolder = "b"\nflags = ["-fplugin=x.so"]\n', "-fplugin"),
        ('[[firmware]]\nname = "n"\nfile = "f"\n', "'device' is missing"),
        ('[[firmware]]\nname = "a/b"\nfile = "f"\ndevice = "uno"\n', "'name' is 'a/b'"),
        ('[[firmware]]\nname = "n"\nfile = "f"\ndevice = "uno"\nmax_seconds = 0\n', "'max_seconds' is 0"),
        (2 * '[[firmware]]\nname = "n"\nfile = "f"\ndevice = "uno"\n', "two [[firmware]] have one name"),
        ('growth = "2"\n', "'growth' is '2'; expected a growth"),
        ('growth = "x%"\n', "'growth' is 'x%'"),
        ("growth = true\n", "'growth' is True"),
        ("growth = -1\n", "'growth' is -1"),
        ("[[budget]]\nflash = -1\n", "'flash' is -1"),
        ('[[budget]]\nflash_growth = "-1%"\n', "'flash_growth' is '-1%'"),
        ("[[budget]]\nbattery_days = 0\n", "'battery_days' is 0"),
        ('[battery]\nbattery = "3xAA"\n', "'radio' is missing"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        read_gate_plan(plan_of(tmp_path, text))
    assert said in str(error.value) and "\n" not in str(error.value) and "motecrypt.toml" in str(error.value)


def test_a_missing_file_names_the_page(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no such file; write one \(docs/ci.md\)"):
        read_gate_plan(tmp_path / "motecrypt.toml")


@pytest.mark.parametrize(
    ("growth", "most", "least", "text"),
    [
        (Growth(2.0, None), 204, 196, "2%"),
        (Growth(None, 16.0), 216, 184, "16"),
        (Growth(0.0, None), 200, 200, "0%"),
    ],
)
def test_growth_from_a_base_of_200(growth: Growth, most: float, least: float, text: str) -> None:
    assert (growth.limit(200), growth.limit(200, falls=True), growth.text) == (most, least, text)
