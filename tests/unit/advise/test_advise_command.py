"""motecrypt advise as its user meets it: measured once, then fast; one line for bad input."""

from __future__ import annotations

import json
import subprocess
from functools import cache
from pathlib import Path

import pytest

from command_line import ran
from made_rows import candidates_of
from motecrypt.adviser import api as advise
from motecrypt.adviser import exported
from motecrypt.adviser.hardware.bounds import bound_named, bound_text
from motecrypt.air.radios import load_radio
from motecrypt.catalog import Catalog
from motecrypt.exports.targets import example_sleeps
from motecrypt.results import Results

ASKED = ["--device", "uno", "--radio", "srf", "--bytes", "20", "--every", "10s"]
FEW = ["--cipher", "aes128-ccm8", "--cipher", "ascon-aead128", "--cipher", "rc4d"]


@cache
def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The answer to a question; what was asked before is not asked again."""
    return ran("advise", *arguments)


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("advise") / "r.db"
    done = run(*ASKED, *FEW, "--battery", "3xAA", "--db", str(path))
    assert done.returncode == 0, done.stderr
    assert "measuring" in done.stderr
    return path


def test_the_answer_comes_first_in_five_lines(db: Path) -> None:
    done = run(*ASKED, *FEW, "--battery", "3xAA", "--db", str(db))
    said = json.loads(run(*ASKED, *FEW, "--battery", "3xAA", "--db", str(db), "--json").stdout)
    first, warned = said["ranked"][0], said["warnings"]
    lines = done.stdout.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("Use:"))
    assert start <= 3
    text = " ".join(" ".join(lines[start:]).split())
    assert text.startswith(f"Use: {first['cipher']} {first['implementation']}: recommended Costs: ")
    memory = f"{first['flash_bytes']:,} bytes of flash, {first['ram_bytes'] + first['stack_bytes']:,} of RAM"
    assert said["range_seen"] == bound_text("uno") and said["range_seen"].startswith("± ")
    assert said["error_bound"] == "" and said["hardware_rows"] == 45
    time = f"{first['cpu_us'] / 1000:.2f} ms ({bound_named('uno')})"
    costs = f"{time} and {first['packets']} packets a message; {memory}"
    assert f"Costs: {costs}; {first['cpu_energy_percent']:.2f} % of the energy Battery: " in text
    part = f"{first['life_percent_of_plaintext']:.0f} % of the battery life without encryption"
    assert f"Battery: {first['life_days']:.1f} days, {part}" in text
    assert f"Watch out: {warned[0]} {len(warned) - 1} more warning: --all" in text
    assert len(warned) == 2 and set(warned) < set(said["notes"])
    assert f"Next: {said['next']} The best 3 of {len(said['ranked'])} " in text
    step = "motecrypt export arduino DIR --cipher aes128-ccm8 --variant tiny --link"
    assert said["next"] == f"{step} --radio srf --packet-bytes 12"
    assert f"{len(said['ranked']) - 3} more ranks and {len(said['notes'])} notes: --all" in text
    assert text.endswith(f"{len(said['excluded'])} candidates excluded; reasons: --why-not")
    for later in ("broken", "Encryption is", "does not fit"):
        assert later not in done.stdout
    alone = [*ASKED, *FEW, "--battery", "3xAA", "--db", str(db), "--need", "integrity"]
    done = run(*alone)
    assert "Next:      motecrypt export arduino DIR --cipher" in done.stdout and "--link" not in done.stdout
    counted = run(*alone, "--top", "2").stdout
    assert "The best 2 of " in counted and "\n2  " in counted and "\n3  " not in counted


def test_all_says_every_rank_and_note(db: Path) -> None:
    done = run(*ASKED, *FEW, "--battery", "3xAA", "--db", str(db), "--all")
    said = json.loads(run(*ASKED, *FEW, "--battery", "3xAA", "--db", str(db), "--json").stdout)
    text = " ".join(done.stdout.split())
    assert "20 bytes every 10 s, unconfirmed, from Arduino UNO R3 (the stock board) over" in text
    assert "All ranks" in text and "--all" not in text
    for entry in said["ranked"]:
        assert any(
            line.split()[:2] == [str(entry["rank"]), entry["cipher"]] for line in done.stdout.splitlines()
        )
    for note in said["notes"]:
        assert f"- {note}" in text
    assert "first in energy, memory and timing together: long, 4 packets" in text
    assert "Encryption is" in text
    assert "Each message goes long: 4 packets of 12 bytes; 24 bytes are the link's." in text
    assert "A message of exactly 6 bytes would be one short packet" in text
    assert "The node is on the air 0.03 % of the time; its band allows 1 %." in text
    assert "The stock board Arduino UNO R3 draws" in text
    assert "measuring" not in done.stderr


def test_why_not_groups_what_is_not_ranked(db: Path) -> None:
    asked = [*ASKED, *FEW, "--battery", "3xAA", "--db", str(db), "--ram", "130"]
    done = run(*asked, "--why-not")
    said = json.loads(run(*asked, "--json").stdout)["excluded"]
    blocks = done.stdout.split("Not ranked: ")[1:]
    titles = {"broken": "broken", "failed": "no figures on this device", "budget": "over a budget"}
    assert [block.splitlines()[0] for block in blocks] == [
        f"{title} ({sum(e['group'] == group for e in said)})" for group, title in titles.items()
    ]
    shown = dict(zip(titles, (" ".join(block.split()) for block in blocks), strict=True))
    assert "broken: chosen plaintext" in shown["broken"] and "rc4d" in shown["broken"]
    assert "mbedtls/rom-tables does not fit: needs" in shown["failed"] and "too many" in shown["failed"]
    assert "bytes of RAM with its stack" in shown["budget"]
    for entry in said:
        assert entry["reason"] in shown[entry["group"]]
    assert "--why-not" not in done.stdout
    alone = [*ASKED, "--cipher", "aes128-cbc", "--battery", "3xAA", "--db", str(db), "--why-not"]
    done = run(*alone)
    assert done.returncode == 2
    assert "Not ranked: without a needed property (" in done.stdout and "no integrity: changed" in done.stdout


def test_a_next_step_that_cannot_be_taken_is_told(db: Path) -> None:
    asked = [*ASKED[:2], "--radio", "lora", *ASKED[4:-1], "60s", *FEW, "--battery", "3xAA", "--db", str(db)]
    text = " ".join(run(*asked).stdout.split())
    assert (
        "Export: ask with other packets or messages: the link cannot be exported for these "
        "(--packet-bytes 222: an AVR has room for packet and message of 216 bytes together) Next: motecrypt "
        in text
    )
    text = " ".join(run(*asked, "--packet-bytes", "60", "--delivery", "one-way").stdout.split())
    assert "--link --radio lora --packet-bytes 60 --sends-only The best" in text


def test_the_next_step_exports_the_assembly_of_a_cortex_m4(db: Path) -> None:
    asked = ["--device", "stm32f4", "--bare-chip", "--radio", "nrf24", "--bytes", "20", "--every", "10s"]
    asked += ["--battery", "2xAA", "--cipher", "ascon-aead128", "--db", str(db)]
    text = " ".join(run(*asked).stdout.split())
    said = json.loads(run(*asked, "--json").stdout)
    variant = said["ranked"][0]["implementation"].removeprefix("motecrypt/")
    assert variant in ("armv7m", "armv7m-small")
    step = f"export c DIR --cipher ascon-aead128 --device stm32f4 --variant {variant} --link --radio nrf24"
    assert step in said["next"] and f"Next: {said['next']} The best 3" in text
    own = ["--device", "uno", *asked[3:8], "--every", "10s", "--battery", "3xAA", *asked[-4:]]
    assert "This exports" not in run(*own).stdout
    other = [*ASKED, *FEW, "--battery", "3xAA", "--db", str(db), "--need", "integrity"]
    assert "This exports" not in run(*other).stdout


def test_the_chip_alone_with_a_program_that_sleeps_lasts_for_years(db: Path) -> None:
    board = run(*ASKED, *FEW, "--battery", "3xAA", "--db", str(db), "--sleeps", "--json")
    bare = run(*ASKED, *FEW, "--battery", "3xAA", "--db", str(db), "--sleeps", "--bare-chip", "--json")
    first = json.loads(board.stdout)["ranked"][0]
    plain = run(*ASKED, *FEW, "--battery", "3xAA", "--db", str(db), "--json")
    assert json.loads(plain.stdout)["ranked"] == json.loads(board.stdout)["ranked"]  # the example sleeps
    assert first["life_days"] == pytest.approx(0.29 * 2850 / 32.2 / 24, rel=0.01)
    assert 3 < json.loads(bare.stdout)["ranked"][0]["life_days"] / 365.25 < 5


def test_the_delivery_and_the_loss_are_counted(db: Path) -> None:
    asked = [*ASKED[:-4], "--bytes", "6", "--every", "10s", *FEW, "--battery", "3xAA", "--db", str(db)]
    done = run(*asked, "--delivery", "confirmed", "--loss", "10", "--json")
    first = json.loads(done.stdout)["ranked"][0]
    assert (first["form"], first["packets"], first["air_bytes"], first["tag_bytes"]) == ("short", 1, 12, 4)
    assert first["packets_mean"] == pytest.approx(1 / 0.9**2, rel=1e-3)
    assert json.loads(done.stdout)["question"]["loss"] == 0.1


@pytest.mark.parametrize(
    ("asked", "needed"),
    [
        ("constant-time", ["confidentiality", "integrity", "replay", "constant-time"]),
        ("constant-time,confidentiality", ["confidentiality", "constant-time"]),
        ("integrity", ["integrity"]),
    ],
)
def test_constant_time_by_itself_is_added_to_the_usual_needs(db: Path, asked: str, needed: list[str]) -> None:
    done = run(*ASKED, *FEW, "--battery", "3xAA", "--db", str(db), "--need", asked, "--json")
    assert json.loads(done.stdout)["question"]["needs"] == needed


def test_one_library_can_be_weighed_alone(db: Path) -> None:
    done = run(*ASKED, *FEW, "--battery", "3xAA", "--db", str(db), "--library", "motecrypt", "--json")
    said = json.loads(done.stdout)
    names = [one["implementation"] for one in (*said["ranked"], *said["excluded"])]
    assert names and all(name.startswith("motecrypt/") for name in names)
    all_of = json.loads(run(*ASKED, *FEW, "--battery", "3xAA", "--db", str(db), "--json").stdout)
    others = [one["implementation"] for one in (*all_of["ranked"], *all_of["excluded"])]
    assert len(others) > len(names) == sum(name.startswith("motecrypt/") for name in others)


def test_the_json_is_what_the_function_says(db: Path) -> None:
    done = run(*ASKED, *FEW, "--battery", "3xAA", "--regulator", "switch", "--db", str(db), "--json")
    said = json.loads(done.stdout)
    assert said.pop("next").startswith("motecrypt export arduino DIR --cipher ")
    catalog = Catalog.load()
    device = catalog.device("uno")
    radio = advise.radio_part(load_radio("srf"))
    with Results(db) as results:
        stored = [m for m in results.measurements(device="uno") if m.message_bytes == 20]
    data = json.loads(json.dumps(exported.export(catalog, stored)))
    candidates = [
        c for c in candidates_of(data, "uno") if c.cipher in ("aes128-ccm8", "ascon-aead128", "rc4d")
    ]
    answer = advise.advise(
        advise.Question(message_bytes=20, interval_s=10.0),
        candidates,
        advise.device_part(device, sleeps=advise.sleeps_with(radio, example_sleeps(device, catalog))),
        radio,
        advise.link_facts(),
        advise.battery_part("3xAA"),
        advise.regulator_part("switch"),
        [advise.regulator_part(name) for name in advise.regulator_names()],
        advise.device_part(device, "chip", sleeps=advise.sleeps_with(radio, example_sleeps(device, catalog))),
    )
    assert [(r["cipher"], r["implementation"], r["reason"]) for r in said["ranked"]] == [
        (e.candidate.cipher, e.candidate.implementation, e.reason) for e in answer.entries
    ]
    assert said["ranked"][0]["life_days"] == pytest.approx(answer.entries[0].costs.life_days)
    assert said["notes"] == list(answer.notes)
    assert len(said["excluded"]) == len(answer.exclusions)


def test_a_message_longer_than_the_firmware_holds_is_costed_on_a_line_that_is_told(db: Path) -> None:
    few = ["--cipher", "aes128-ccm8", "--library", "motecrypt", "--battery", "3xAA", "--db", str(db)]
    asked = [
        "--device",
        "uno",
        "--radio",
        "srf",
        "--every",
        "10min",
        "--need",
        "confidentiality,integrity",
        *few,
    ]

    def cycles(message_bytes: int) -> tuple[dict[str, float], dict[str, object]]:
        said = json.loads(run(*asked, "--bytes", str(message_bytes), "--json").stdout)
        return {f"{e['implementation']} {e['placement']}": e["cycles"] for e in said["ranked"]}, said

    (half, _), (most, whole), (long, said) = (cycles(n) for n in (128, 256, 1024))
    assert long.keys() == most.keys() and len(long) > 3
    for name, value in long.items():
        assert value == pytest.approx(half[name] + 7 * (most[name] - half[name])), name
    told = [note for note in said["notes"] if "1,024 bytes are not measured" in note]
    assert told and "those for 128 and 256 bytes" in told[0] and told[0] in said["warnings"]
    assert not any("not measured" in note for note in whole["notes"])
    assert said["ranked"][0]["packets"] > 80


def test_contradictory_budgets_are_one_line_with_the_nearest(db: Path) -> None:
    done = run(*ASKED, *FEW, "--battery", "3xAA", "--db", str(db), "--flash", "1k", "--ram", "10")
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1
    assert "--flash excludes" in done.stderr and "The nearest is" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--every", "10"], "--every '10': no unit"),
        (["--every", "10m"], "unknown unit 'm'; use us, ms, s, min, h, d"),
        (["--flash", "4x"], "unknown unit 'x'"),
        (["--latency", "50"], "--latency '50': no unit"),
        (["--battery", "3xAAAA"], "--battery '3xAAAA': unknown"),
        (["--battery", "3xAA-NiMH"], "3xAA-NiMH gives 3.6 V; Arduino UNO R3 at 16 MHz needs 3.78 to 5.5 V"),
        (["--regulator", "magic"], "choose one of none, linear, switch, nano"),
        (["--need", "integrity,beauty"], "--need 'beauty': unknown"),
        (["--bytes", "257"], "--bytes 257: the link takes messages of up to 123 bytes"),
        (["--device", "host"], "no 'active' current"),
        (["--device", "nano"], "nano: its folder has no current asleep of the stock board; use --bare-chip"),
        (["--device", "unno"], "did you mean uno"),
        (["--radio", "sfr"], "unknown radio 'sfr'"),
        (["--library", "nodecript"], "unknown library 'nodecript'; did you mean motecrypt"),
        *(
            (["--loss", loss], f"--loss '{loss}': not a share of packets; write per cent, from 0 to 30")
            for loss in ("31", "30.1", "100", "-1", "abc", "nan", "inf", "")
        ),
        (["--need", "integrity", "--delivery", "confirmed"], "--delivery confirmed: only the secure link"),
        (["--need", "integrity", "--answer", "4", "--delivery", "one-way"], "--answer: a one-way node"),
        (["--delivery", "certain"], "'certain' is not one of"),
        (["--bytes", "124"], "--bytes 124: the link takes messages of up to 123 bytes"),
        (
            ["--packet-bytes", "11"],
            "srf has packets of 11 bytes; the link takes 12 to 255: set --packet-bytes",
        ),
        (["--answer", "4", "--delivery", "one-way"], "--answer: a one-way node receives none"),
        (["--bytes", "0"], "'--bytes': 0 is not in the range"),
        (["--packet-bytes", "0"], "radio srf: packets of 0 bytes; it takes 1 to 240"),
        (["--sleeps", "lora"], "unexpected extra argument (lora)"),
        (["--device", "host", "--bare-chip"], "no 'active' current"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments: list[str], said: str, tmp_path: Path) -> None:
    done = run(*ASKED, "--battery", "3xAA", "--db", str(tmp_path / "r.db"), *arguments)
    assert done.returncode == 2, done
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_the_ways_to_keys_come_from_the_same_figures(db: Path) -> None:
    asked = (*ASKED, *FEW, "--battery", "3xAA", "--bare-chip", "--sleeps", "--keys", "--db", str(db))
    done, said = run(*asked), json.loads(run(*asked, "--json").stdout)
    assert done.returncode == 0, done.stderr
    lines = " ".join(done.stdout.split())
    assert "Keys: a key for each node, derived at the gateway from a master key" in lines
    assert "Not: EDHOC with X25519 once a day: no source of randomness in the chip" in lines
    ways = {way["name"]: way for way in said["keys"]["ways"]}
    assert said["keys"]["advised"] == "per-node" and said["ranked"]
    assert ways["shared"]["life_days"] == said["ranked"][0]["life_days"]
    assert ways["handshake-daily"]["handshake_us"] > 20e6, "EDHOC takes an UNO 20 seconds"
    assert ways["handshake-daily"]["packets"] == 10 and not ways["handshake-daily"]["runs"]
