"""Limits, defaults, lengths and settings that pages state are those of the code and its data."""

from __future__ import annotations

import inspect
import math
import re
import struct
from collections import Counter
from pathlib import Path
from random import Random

import click
import pytest

from documented import DOCS, missing
from motecrypt.adviser import api as advise
from motecrypt.adviser.api import regulator_part
from motecrypt.adviser.publickey.handshakes import handshakes
from motecrypt.air.radios import load_radio, module
from motecrypt.air.wlan import samples
from motecrypt.app import wlan as wlan_command
from motecrypt.attack.audits import avalanche, diffusion, statistics
from motecrypt.attack.audits.oracle import Access
from motecrypt.attack.leakage.recording import CHANNELS
from motecrypt.base import serial_port
from motecrypt.base.model import Shortfall
from motecrypt.build.setup.tool_sets import tool_sets
from motecrypt.catalog import FIRMWARE, Catalog
from motecrypt.catalog.processors import processor
from motecrypt.catalog.publickey import PublicKeyAlgorithm
from motecrypt.cli import advise as advise_command
from motecrypt.cli import gateway as gateway_command
from motecrypt.cli import receive as receive_command
from motecrypt.link import provisioning, stream
from motecrypt.link.files import container, crypt_and_hash
from motecrypt.link.gateway import drain, spool, tally
from motecrypt.link.gateway.sinks import csv_log
from motecrypt.link.native import STORAGE_BYTES
from motecrypt.link.ports import session
from motecrypt.present.bundle import archive
from motecrypt.simulate.emulate.run import FreeRun
from motecrypt.simulate.ports import virtual
from motecrypt.studies.wlan import plan, sweeps
from page_views import VIEWS
from unit.link.test_link_avr import STATE_CASES, STATE_OPTIONS, SUITE_CASES

ROOT, TESTS = DOCS.parent, Path(__file__).parents[1]
KB, MB, GIB = 1024, 10**6, 1 << 30


def _numbers(path: str) -> dict[str, int]:
    """The numbers that a source of ours gives names, by `#define` or in an enumeration."""
    text = (FIRMWARE / path).read_text(encoding="utf-8")
    return {name: int(value) for name, value in re.findall(r"\b([A-Z][A-Z_0-9]+) (?:= )?(\d+)\b", text)}


def _option(command: click.Command, name: str) -> click.Parameter:
    (found,) = [param for param in command.params if name in param.opts]
    return found


# --- measurements and audits ------------------------------------------------------------------------------


def test_the_page_of_adding_states_the_defaults_of_an_algorithm() -> None:
    inputs = inspect.signature(PublicKeyAlgorithm).parameters["inputs"].default
    text = (FIRMWARE / "devices/pico/flash.ld").read_text(encoding="utf-8")
    found = re.search(r"DEFINED\(__stack_bytes\) \? __stack_bytes : (\d+)K;", text)
    assert found is not None
    told = f"where {found[1]} KB are too few"
    assert missing("adding.md", f"({inputs} by default)", told) == []


def test_the_page_of_pairing_refers_to_handshakes_that_are_costed() -> None:
    named = {name for shake in handshakes().values() for name in ("EDHOC", "TLS 1.3") if name in shake.title}
    assert named == {"EDHOC", "TLS 1.3"}
    assert missing("pairing.md", "EDHOC (RFC 9528), TLS 1.3 (RFC 8446) or DTLS 1.3 (RFC 9147)") == []


def test_the_page_of_advice_states_the_ranks_and_what_is_lost_at_most() -> None:
    top = _option(advise_command.command, "--top").default
    lost, quiescent = advise.LOSS_PERCENT_MAX, regulator_part
    needs = str(_option(advise_command.command, "--need").default).split(",")
    assert needs == list(advise.NEEDS[:3]) and top == 3
    assert (
        missing(
            "advise.md",
            "more or fewer ranks than three",
            f"packets lost in each direction, 0 to {lost} per cent",
            f"(buck-boost, {1000 * quiescent('switch').quiescent_ma:.0f} µA quiescent current)",
            f"(buck-boost, {1e6 * quiescent('nano').quiescent_ma:.0f} nA)",
        )
        == []
    )


def test_the_page_of_audits_states_the_bounds_of_diffusion() -> None:
    power = round(math.log10(diffusion.CHANCE))
    enough = diffusion.least_reached(avalanche.TRIALS)
    assert (
        missing(
            "audits.md",
            f"over {avalanche.TRIALS} random messages at each of up to ten lengths",
            f"(255 times in 256; the bound allows for chance at odds of one in 10^{-power})",
        )
        == []
    )
    assert len(avalanche.LENGTHS) == 10
    trials = avalanche.TRIALS
    share = [math.comb(trials, n) * (1 / 256) ** n * (255 / 256) ** (trials - n) for n in range(trials + 1)]
    most = round(trials * (1 - enough))  # how often a byte may stay as it was
    assert sum(share[most + 1 :]) <= diffusion.CHANCE < sum(share[most:])


def test_the_page_of_audits_states_the_sample_and_how_often_chance_alarms() -> None:
    """What an audit computes with the code itself: a p-value a test, and one a position."""
    cipher = Catalog.load().cipher("aes128-ctr")
    draw = Random(1)

    class Noise:
        def keyed(self, key: bytes) -> Noise:
            return self

        def encrypt(self, plaintext: bytes, nonce: bytes) -> tuple[bytes, bytes]:
            return draw.randbytes(len(plaintext)), b""

    access: Access = Noise()  # type: ignore[assignment]
    data = statistics.audit(access, cipher, 1).data
    tests = len(data["p_values"]) + len(data["positions"])
    assert (
        missing(
            "audits.md",
            f"The sample is {data['sample_bytes'] // KB} KB of ciphertext of zeros under "
            f"{data['sample_keys']} keys",
            f"the first {len(data['positions'])} bytes under {data['keys']:,} keys",
            f"An alarm needs p < 10^{round(math.log10(data['alarm']))}, which chance produces about once in "
            f"{round(1 / (tests * data['alarm'])):,} audits",
        )
        == []
    )


def test_examples_of_messages_have_the_programs_form() -> None:
    ram = Catalog.load().device("uno").memory["ram"].bytes
    assert missing("bring-your-library.md", f"does not fit: {Shortfall('ram', 9819, ram).text}`") == []
    assert missing("design.md", Shortfall("ram", 2873, ram).text) == []


def test_the_page_of_leakage_states_the_channels() -> None:
    page = [f"| `{name}` |" for name in CHANNELS]
    assert missing("leakage.md", *page, "A sample is at most 255.") == []
    told = "`--model weight` uses the first channel, `distance` the other six"
    assert len(CHANNELS) == 7 and missing("leakage.md", "there are seven channels", told) == []


def test_the_page_of_protection_states_what_the_code_draws() -> None:
    masks = (FIRMWARE / "ciphers/aes/aes_masked.h").read_text(encoding="utf-8")
    fields = re.search(r"struct aes_masks \{(.+?)\};", masks, re.DOTALL)
    assert fields is not None
    sizes = {
        name: int(size or 1)
        for name, size in re.findall(r"(\w+)(?:\[(\d+)\])?(?=[,;])", re.sub(r"/\*.*?\*/", "", fields[1]))
    }
    drawn = sum(sizes.values()) - sizes["unused"]
    generator, seed = _numbers("include/random.h"), _numbers("include/random.h")["RANDOM_SEED_BYTES"]
    assert generator["RANDOM_BLOCK_BYTES"] >= drawn
    assert (
        missing(
            "protection.md",
            f"A network of {8 * sizes['order']} exchanges, each with a random bit",
            f"A block takes {drawn} random bytes.",
            f"Write {seed} secret random bytes into each device",
            f"`cipher_setup` returns `CIPHER_NO_SEED` ({generator['CIPHER_NO_SEED']})",
        )
        == []
    )


# --- files and bundles ------------------------------------------------------------------------------------


def test_the_page_of_files_states_the_formats_numbers() -> None:
    most_kib, most_passes, most_lanes = (
        container.ARGON_KIB_MAX,
        container.ARGON_PASSES_MAX,
        container.ARGON_LANES_MAX,
    )
    offered = [n for n in range(32) if _accepted(1 << n)]
    offset, rows = 0, []
    for field in re.findall(r"\d*[A-Za-z]", container._FIELDS.format):
        rows.append(f"| {offset} | {struct.calcsize('<' + field)} |")
        offset += struct.calcsize("<" + field)
    node = re.search(r"2\^n bytes of plaintext a chunk, 9 to (\d+)", _text("files/job.h"))
    assert node is not None
    assert (
        missing(
            "files.md",
            f"| Argon2id, {container.ARGON_KIB // KB} MB, {container.ARGON_PASSES} passes | "
            f"{crypt_and_hash.ROUNDS} hashes |",
            *rows,
            f"a chunk is 2^n bytes of plaintext, {offered[0]} to {offered[-1]} |",
            f"more than {container.ARGON_KIB // KB} MiB needs `--allow-costly`, at most "
            f"{most_kib // KB // KB} GiB is granted",
            f"Argon2id: passes, at most {most_passes} |",
            f"Argon2id: lanes, at most {most_lanes} |",
            f"| {container.HEADER_BYTES} | | chunks, each followed by its {container.TAG_BYTES}-byte tag |",
            f"| {offset} | {container.HEADER_BYTES - offset} | HMAC-SHA256(header key, bytes 0 to "
            f"{offset - 1}) |",
            f"takes chunks of up to {(1 << int(node[1])) // KB} KB: `--chunk {1 << int(node[1])}`",
            f"d = IV and 16 zeros; {crypt_and_hash.ROUNDS} times d = MD",
            f"the first {crypt_and_hash.IV_BYTES} bytes.",
        )
        == []
    )


def _text(path: str) -> str:
    return (FIRMWARE / path).read_text(encoding="utf-8")


def _accepted(chunk_bytes: int) -> bool:
    source = inspect.getsource(container)
    found = re.search(r"chunk_bytes not in \[1 << n for n in range\((\d+), (\d+)\)\]", source)
    assert found is not None
    return 1 << int(found[1]) <= chunk_bytes < 1 << int(found[2])


def test_the_page_of_verdicts_states_the_limits_of_bundles() -> None:
    told = f"more than {archive.FILES_MAX} files, more than a gigabyte unpacked, or a file of more than"
    assert archive.BYTES_MAX == GIB
    assert missing("verdicts.md", told, f"{archive.EXPANSION_MAX} times its packed size") == []


# --- the link, the gateway and radios ---------------------------------------------------------------------


def test_the_page_of_link_states_its_constants() -> None:
    numbers = _numbers("link/link.h")
    every, window = numbers["LINK_LONG_EVERY"], numbers["LINK_WINDOW"]
    assert (
        missing(
            "link.md",
            f"a packet begins after {stream.SILENCE_MS} ms of silence",
            f"is {window} or more below the newest",
            f"one of the last {window} counters received",
            f"long message, at most {every - 1} later",
            f"For each of {'five' if len(STATE_OPTIONS) == 5 else '?'} combinations of options and packet "
            f"length "
            f"each function runs {STATE_CASES} times",
            f"the key derivation run {SUITE_CASES} times each",
            f"a whole EEPROM of {provisioning.UNO_EEPROM_BYTES:,} bytes",
            f"the same two sectors, {2 * provisioning.SECTOR // KB} KB",
            f"| the storage, {STORAGE_BYTES} bytes |",
            f"the first {provisioning.BLOCK_BYTES} bytes of storage in hexadecimal digits",
        )
        == []
    )
    assert numbers["LINK_STORAGE_BYTES"] == STORAGE_BYTES


def test_the_page_of_gateway_states_its_limits() -> None:
    queue = _option(gateway_command.command, "--queue").default
    output_mb = _option(gateway_command.command, "--output-mb").default
    tries = _numbers("link/link.h")["LINK_TRIES"]
    first, second, last = drain.FIRST_S, 2 * drain.FIRST_S, drain.LONGEST_S
    assert queue == spool.WAITING_MAX and tries == 10 and tally.BURST_S == 10
    assert (
        missing(
            "gateway.md",
            f"tried again after {first:g} s, then {second:g} s, up to {last:g} s",
            f"(`--queue`, {queue:,} messages that some sink has not taken, plus one read of a port, at most "
            f"{serial_port.READ_BYTES // KB} KB, for each node)",
            "or it gives up (ten tries)",
            "averaged over ten seconds",
            f"Files of nodes may have {output_mb:,.0f} MB there",
            f"`--csv-kept` ({_option(gateway_command.command, '--csv-kept').default})",
            f"of up to {csv_log.CsvLog.batch} messages",
        )
        == []
    )


def test_the_page_of_formats_states_when_a_line_counts_as_full() -> None:
    waits = inspect.signature(session.line_empty).parameters["deadline_s"].default
    told = f"on the line, to {1000 * session.LINE_S:g} ms; null if it did not within {waits:g} s |"
    assert missing("formats.md", told) == []
    touched = re.search(r"TOUCHED = (\d+)", (FIRMWARE.parent / "simulate/drivers/chip_touched.h").read_text())
    assert touched is not None and missing("formats.md", f"without a model (at most {touched[1]})") == []


def test_the_page_of_radio_states_the_settings_of_an_srf() -> None:
    srf = load_radio("srf")
    line_us = 1e6 * srf.value("serial_bits_per_byte") / srf.value("serial_baud")
    gap_ms = _option(receive_command.command, "--gap-ms").default
    assert module.COMMAND_TIMEOUT_US == 5e6 and module.GUARD_US == 1e6
    assert (
        missing(
            "radio.md",
            f"{srf.value('serial_bits_per_byte'):g} bits a byte, {line_us:.1f} us at "
            f"{srf.value('serial_baud'):g} baud",
            f"{srf.value('timeout_ms'):g} ms in an SRF with firmware up to 0.40, "
            f"{srf.value('timeout_ms_new'):g} ms from 0.41",
            "Command mode ends automatically after five seconds",
            "a second of silence, `+++`, another second",
            f"once {virtual.READ_AHEAD_US / 1000:g} ms of bytes are waiting",
            f"{gap_ms:g} ms of silence end a message (`--gap-ms`)",
        )
        == []
    )


# --- reports ----------------------------------------------------------------------------------------------


def test_the_page_of_reports_states_what_its_tests_ask() -> None:
    accessible, adviser = (
        (TESTS / place / f"test_{name}.py").read_text(encoding="utf-8")
        for place, name in (("browser", "accessibility"), ("unit/report", "adviser_once"))
    )
    widths = re.search(r"width in \((\d+), (\d+), (\d+)\)", accessible)
    questions = re.search(r"QUESTIONS = (\d+)", adviser)
    speed = (ROOT / "benchmarks/page_speed.py").read_text(encoding="utf-8")
    few, many = re.findall(r'\("([0-9,]+)", .+?, ([0-9.]+)\),\n', speed.partition("PAGES:")[2])[:2]
    assert widths is not None and questions is not None and questions[1] == "500" and len(VIEWS) == 10
    first, second, third = (int(width) for width in widths.groups())
    assert (
        missing(
            "report.md",
            f"opened in {float(few[1]):g} s of processor time with {few[0]} measurements, in "
            f"{float(many[1]):g} s "
            f"with {many[0]} |",
            f"at {first}, {second} and {third:,} pixels",
            "on 500 random questions",
            "ten views look as their stored pictures do",
        )
        == []
    )


# --- runs of firmware -------------------------------------------------------------------------------------


def test_the_page_of_profiles_states_limits_and_sizes() -> None:
    seconds = inspect.signature(FreeRun).parameters["max_seconds"].default
    tick_ms = 64 * 256 / Catalog.load().device("uno").clock_hz * 1000
    cost = (ROOT / "benchmarks/profile_cost.py").read_text(encoding="utf-8")
    found = re.search(r'THRESHOLDS = \{"run": ([0-9.]+), "profile": ([0-9.]+)\}', cost)
    assert found is not None
    assert (
        missing(
            "profile.md",
            f"installed on first use, about {tool_sets()['arduino'].download_mb} MB more than the compiler",
            f"limits the simulated time ({seconds:g} s by default)",
            f"(the Arduino clock ticks every {tick_ms:.3f} ms)",
            f"`run` takes at most {float(found[1]):g} times as long as the bare simulator, `profile` at most "
            f"{float(found[2]):g} times",
        )
        == []
    )


# --- the Wi-Fi study --------------------------------------------------------------------------------------


def _entropy(data: bytes) -> float:
    """Bits a byte, by how often each value comes."""
    return -sum(n / len(data) * math.log2(n / len(data)) for n in Counter(data).values())


@pytest.mark.parametrize("kind", samples.KINDS)
def test_the_page_of_wlan_states_the_entropy_of_samples(kind: str) -> None:
    data = samples._MAKERS[kind](200_000)
    row = re.search(rf"\| `{kind}` \|.+?\| ([0-9.]+) \|", (ROOT / "docs/wlan.md").read_text())
    assert row is not None and _entropy(data) == pytest.approx(float(row[1]), abs=0.05)


def test_the_page_of_wlan_states_the_studys_settings() -> None:
    own, names = processor(plan.PROCESSOR), sweeps
    frame = re.search(r"size // ([0-9_]+)\)", inspect.getsource(samples._video))
    assert frame is not None
    assert (
        missing(
            "wlan.md",
            f"frames of {int(frame[1]) // 1000} KB",
            f"takes up to {wlan_command.CAPTURE_LIMIT // MB} MB",
            f"study's sample, {own.clock_hz / 1e6:g} MHz, {own.supply_v:g} V, {own.current_ma:.0f} mA)",
            f"a message of {plan.SIZES[0]} bytes, a full frame, {plan.SIZES[2] // KB} KB, and the source's",
            f"how many files of {plan.SECURITY_SIZE // MB} MB a battery lasts for",
            f"{names.CITED_RUNS} encryptions of {names.CITED_BYTES // MB} MB with {names.CITED_CIPHER} leave "
            f"{_cited()} % of a battery",
        )
        == []
    )


def _cited() -> str:
    (found,) = [row for row in plan.published("wlan_claims") if "battery left" in "".join(row.values())]
    return next(value for value in reversed(list(found.values())) if value)
