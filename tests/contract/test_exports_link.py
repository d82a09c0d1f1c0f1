"""Exports of the link: its own machine code, and nodes on this computer, on aarch64 and on a bare Pico."""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from exports_bed import CATALOG, CIPHERS, SRF, STRICT, Station, planned, run
from motecrypt.build.toolchain import BuildRequest
from motecrypt.catalog import FIRMWARE
from motecrypt.exports.library import choose
from motecrypt.exports.link_node import FixedRadio, node_inputs, suite_of
from motecrypt.exports.sources import exported_inputs
from motecrypt.exports.targets import target
from motecrypt.link.native import (
    SHORT,
    STREAM,
)
from motecrypt.link.provisioning import flash_image
from motecrypt.simulate.emulate.images import read_image
from motecrypt.simulate.emulate.run import FreeRun, run_freely
from object_code import code_of
from tool_sets import needs_tool_set


@needs_tool_set("avr", "pico")
@pytest.mark.long
@pytest.mark.parametrize("fixed", [None, SRF.fixed], ids=["any", "srf"])
@pytest.mark.parametrize(("name", "cipher"), [("arduino", "aes128-ccm8"), ("pico-sdk", "ascon-aead128")])
def test_an_export_compiles_to_the_links_own_machine_code(
    name: str, cipher: str, fixed: FixedRadio | None, tmp_path: Path
) -> None:
    """So the figures of docs/link.md, which tests take of these files, are the export's."""
    meant = target(name, CATALOG)
    device = CATALOG.device(meant.device)
    request = BuildRequest(device, choose(CATALOG, CATALOG.cipher(cipher), meant, None), "flash")
    boards = [board for board in meant.link.boards if board not in ("arduino.c", "rp2040.c")]
    given = node_inputs(request, suite_of(CATALOG.cipher(cipher)), fixed, meant.link.storage, boards)
    made = exported_inputs(given, ("node.h",), "mc_prefix_")
    for file, text in made.files.items():
        (tmp_path / file).write_text(text)
    compiler = [device.compiler.command, *device.compiler.machine_flags, *request.cipher_flags, "-std=gnu99"]
    compiler += ["-ffunction-sections", "-fdata-sections", "-fno-common", "-c"]
    own = [*(f"-D{define}" for define in given.defines), *(f"-I{folder}" for folder in given.directories)]
    for source, copy in zip(given.sources, made.compiled, strict=True):
        run([*compiler, *own, source, "-o", "old.o"], tmp_path)
        run([*compiler, copy, "-o", "new.o"], tmp_path)
        new, old = code_of(tmp_path / "new.o", "mc_prefix_"), code_of(tmp_path / "old.o", "mc_prefix_")
        assert any(data for _, data, _ in old)
        assert new == old, source.name


def talk(command: list[str], station: Station, folder: Path) -> tuple[int, str]:
    """Run a node with its radio at standard input and output; how it ended, and what it said."""
    with subprocess.Popen(
        command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as node:
        assert node.stdin is not None and node.stdout is not None and node.stderr is not None
        os.set_blocking(node.stdout.fileno(), False)
        end = time.monotonic() + 30
        while node.poll() is None and time.monotonic() < end:
            answers = station.take(node.stdout.read() or b"", time.monotonic())
            if answers:
                node.stdin.write(answers)
                node.stdin.flush()
            time.sleep(0.003)
        node.stdin.close()
        return node.wait(30), node.stderr.read().decode()


def check_node(command: list[str], station: Station, folder: Path) -> None:
    store = folder / "node.store"
    store.write_bytes(station.image)
    store.chmod(0o600)
    for text in ("21.4 C", "a longer message of thirty bytes"):
        assert talk([*command, "node.store", text], station, folder) == (0, "")
    assert [message.content.decode() for message in station.messages] == [
        "21.4 C",
        "a longer message of thirty bytes",
    ]
    store.chmod(0o644)
    code, said = talk([*command, "node.store", "x"], station, folder)
    assert (code, said) == (2, "node: node.store: Operation not permitted\n")
    store.chmod(0o600)
    store.write_bytes(b"\xff" * 188)
    assert talk([*command, "node.store", "x"], station, folder)[0] == 2


@needs_tool_set("host")
@pytest.mark.parametrize("cipher", CIPHERS)
def test_the_c_export_runs_by_the_line_in_its_readme(cipher: str, tmp_path: Path) -> None:
    made = planned("c", cipher)
    made.write(tmp_path / "lib")
    (line,) = [line for line in made.files["README.md"].decode().splitlines() if line.startswith("gcc ")]
    run(["sh", "-c", line], tmp_path / "lib")
    check_node(["./node"], Station(CIPHERS[cipher], 20, silence_s=math.inf), tmp_path / "lib")


@needs_tool_set("host")
def test_a_node_for_one_radio_takes_no_other_keys(tmp_path: Path) -> None:
    made = planned("c", "aes128-ccm8", SRF)
    made.write(tmp_path / "lib")
    sources = sorted((tmp_path / "lib" / "src").rglob("*.c"))
    main = tmp_path / "lib" / "examples" / "node" / "main.c"
    run(["gcc", *STRICT, "-O2", "-Ilib/src", *sources, main, "-o", "node"], tmp_path)
    check_node(["./node"], Station("aes128-ccm", silence_s=math.inf), tmp_path)
    other = Station("aes128-ccm", 20)
    (tmp_path / "node.store").write_bytes(other.image)
    code, said = talk(["./node", "node.store", "x"], other, tmp_path)
    assert (code, said) == (2, "node: node.store: no keys; provision the node\n")


def heard(gateway: list[str], node: list[str], folder: Path) -> tuple[int, bytes, str, bytes]:
    """One run of the exported node and the exported gateway.

    Returns how the node ended, what it sent, the gateway's events, and its events when the same is replayed.
    """
    up, down = os.pipe(), os.pipe()
    other = subprocess.Popen(
        gateway, cwd=folder, stdin=up[0], stdout=down[1], stderr=subprocess.PIPE, text=True
    )
    os.close(up[0])
    os.close(down[1])
    with subprocess.Popen(node, cwd=folder, stdin=down[0], stdout=subprocess.PIPE) as sender:
        os.close(down[0])
        assert sender.stdout is not None
        sent = b""
        while chunk := sender.stdout.read1(4096):
            sent += chunk
            os.write(up[1], chunk)
        code = sender.wait(30)
    os.close(up[1])
    told = other.communicate(timeout=30)[1]
    assert other.returncode == 0
    again = subprocess.run(
        [*gateway[:2]], cwd=folder, input=sent, capture_output=True, timeout=30, check=True
    )
    return code, sent, told, again.stderr


@needs_tool_set("host")
@pytest.mark.parametrize("cipher", CIPHERS)
def test_the_exported_gateway_takes_each_message_of_its_node_once(cipher: str, tmp_path: Path) -> None:
    planned("c", cipher).write(tmp_path / "lib")
    sources = sorted((tmp_path / "lib" / "src").rglob("*.c"))
    for name in ("node", "gateway"):
        main = tmp_path / "lib" / "examples" / name / "main.c"
        code = main.read_text()
        assert code.count("ANSWER_MS = 250,") == 1
        # A busy computer's disk may need longer than the node waits for an answer.
        main.write_text(code.replace("ANSWER_MS = 250,", "ANSWER_MS = 5000,"))
        run(["gcc", *STRICT, "-O2", "-Ilib/src", *sources, main, "-o", name], tmp_path)
    store = tmp_path / "node.store"
    store.write_bytes(Station(CIPHERS[cipher]).image)
    store.chmod(0o600)
    first = heard(["./gateway", "g.store", "node.store"], ["./node", "node.store", "21.4 C"], tmp_path)
    assert (first[0], first[2]) == (0, f"node 5 message {b'21.4 C'.hex()}\n") and first[1] and first[3] == b""
    long = b"a longer message of thirty bytes"
    second = heard(["./gateway", "g.store"], ["./node", "node.store", long.decode()], tmp_path)
    assert (second[0], second[2], second[3]) == (0, f"node 5 message {long.hex()}\n", b"")
    assert (tmp_path / "g.store").stat().st_mode & 0o777 == 0o600
    for words, said in (
        (["g.store", "node.store"], "File exists"),
        (["new.store", "missing"], "No such file or directory"),
        (["missing"], "No such file or directory"),
        (["new.store", "lib/src"], "Invalid argument"),
        ([], "usage"),
    ):
        done = subprocess.run(
            ["./gateway", *words], cwd=tmp_path, capture_output=True, text=True, timeout=30, check=False
        )
        assert done.returncode == 2 and said in done.stderr and not (tmp_path / "new.store").exists()


TELL_TALE = """
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <unistd.h>

int fsync(int handle) {
    (void)handle;
    fputc('f', stderr);
    return 0;
}

ssize_t pwrite(int handle, const void *from, size_t bytes, off_t at) {
    fputc('w', stderr);
    return lseek(handle, at, SEEK_SET) < 0 ? -1 : write(handle, from, bytes);
}
"""


@needs_tool_set("host")
def test_a_file_storage_writes_what_changes_and_waits_for_the_disk_each_time(tmp_path: Path) -> None:
    planned("c", "ascon-aead128").write(tmp_path / "lib")
    sources = sorted((tmp_path / "lib" / "src").rglob("*.c"))
    main = tmp_path / "lib" / "examples" / "gateway" / "main.c"
    (tmp_path / "told.c").write_text(TELL_TALE)
    run(["gcc", *STRICT, "-O2", "-Ilib/src", *sources, main, "told.c", "-o", "gateway"], tmp_path)
    (tmp_path / "node.store").write_bytes(Station("ascon-aead128").image)
    told = [
        subprocess.run(
            ["./gateway", *words],
            cwd=tmp_path,
            input="",
            capture_output=True,
            text=True,
            timeout=30,
            check=True,
        ).stderr
        for words in (["g.store", "node.store"], ["g.store"])
    ]
    # All at the opening; then the key block, its check and records of the counters: the rest is erased.
    assert all(re.fullmatch("(wf)+", each) for each in told)
    assert 5 <= told[0].count("w") <= 9 and 1 <= told[1].count("w") <= 4


@needs_tool_set("arm64")
@pytest.mark.crosscheck
@pytest.mark.parametrize("cipher", CIPHERS)
def test_the_c_export_runs_on_aarch64(cipher: str, tmp_path: Path) -> None:
    planned("c", cipher).write(tmp_path / "lib")
    sources = sorted((tmp_path / "lib" / "src").rglob("*.c"))
    main = tmp_path / "lib" / "examples" / "node" / "main.c"
    compiler = ["aarch64-linux-gnu-gcc", *STRICT, "-O2", "-static", "-Ilib/src"]
    run([*compiler, *sources, main, "-o", "node"], tmp_path)
    check_node(["qemu-aarch64", "./node"], Station(CIPHERS[cipher], silence_s=math.inf), tmp_path)


@needs_tool_set("cross")
@pytest.mark.crosscheck
def test_cmake_builds_the_c_export(tmp_path: Path) -> None:
    planned("c", "ascon-aead128").write(tmp_path / "lib")
    run(["cmake", "-S", "lib", "-B", "build"], tmp_path)
    run(["cmake", "--build", "build"], tmp_path)
    assert (tmp_path / "build" / "node").is_file() and (tmp_path / "build" / "gateway").is_file()


PICO_MAIN = """
/* A node over a flash in RAM that keeps a flash's rules; it sends three readings and ends. */
#include "{folder}.h"
#include "hal.h"
#include <string.h>

static uint8_t memory[{prefix}LINK_FLASH_BYTES];
static const uint8_t first_page[256] = {{{page}}};
static uint8_t buffer[{prefix}LINK_NODE_BYTES(16, 12)];

void {prefix}link_flash_read(uint32_t at, uint8_t *to, uint16_t bytes) {{ memcpy(to, memory + at, bytes); }}
void {prefix}link_flash_write(uint32_t at, const uint8_t *page) {{
    for (int i = 0; i < 256; i++) memory[at + i] &= page[i];
}}
void {prefix}link_flash_erase(uint32_t at) {{ memset(memory + at, 0xff, 4096); }}
uint16_t {prefix}link_clock(struct {prefix}link *link) {{ (void)link; return 0; }}
static void put(struct {prefix}link_node *node, const uint8_t *packet, uint8_t bytes) {{
    (void)node;
    while (bytes-- > 0) hal_write(*packet++);
}}

int main(void) {{
    static struct {prefix}link_flash flash;
    static struct {prefix}link_node node = {{.put = put, .place = &flash}};
    hal_init();
    memset(memory, 0xff, sizeof memory);
    memcpy(memory, first_page, sizeof first_page);
    {prefix}link_flash_open(&flash, 0);
    if ({prefix}link_node_begin(&node, buffer, 16, 12, 250) == {prefix}LINK_NOTHING)
        for (uint8_t i = 0; i < 3; i++) {{
            uint8_t reading[6] = {{i}};
            {prefix}link_node_send(&node, reading, sizeof reading, 0);
        }}
    for (int i = 0; i < 4; i++) hal_write('.');
    for (;;) {{ }}
}}
"""


@needs_tool_set("pico")
@pytest.mark.parametrize("cipher", CIPHERS)
def test_a_simulated_picos_readings_arrive_at_the_gateway(cipher: str, tmp_path: Path) -> None:
    device = CATALOG.devices["pico"]
    made = planned("pico-sdk", cipher)
    made.write(tmp_path / "lib")
    station = Station(CIPHERS[cipher], options=SHORT | STREAM)
    page = flash_image(station.image)[:256]
    text = PICO_MAIN.format(
        folder=made.prefix.rstrip("_"), prefix=made.prefix, page=", ".join(map(str, page))
    )
    (tmp_path / "program.c").write_text(text)
    sources = [path for path in sorted((tmp_path / "lib" / "src").rglob("*.[cS]")) if path.name != "rp2040.c"]
    include = ["-I.", "-Ilib/src", f"-I{FIRMWARE / 'include'}"]
    flags = [*device.compiler.machine_flags, *device.compiler.flags, "-std=gnu99", *include]
    link = [*device.compiler.link_flags, *device.placements["flash"].link_flags, "-Wl,--gc-sections"]
    link = [flag.replace("{device}", str(device.folder)) for flag in link]
    parts = [*sources, *(device.folder / name for name in device.hal)]
    run([device.compiler.command, *flags, "program.c", *parts, *link, "-o", "program.elf"], tmp_path)
    heard = bytearray()
    how = FreeRun(until="....", max_seconds=2.0)
    run_freely(read_image(tmp_path / "program.elf", device), device, how, heard.extend)
    packets = bytes(heard.split(b"....")[0])
    assert len(packets) == 12 * 4  # the first reading is a long message of two packets
    station.gateway.receive([packets[at : at + 12] for at in range(0, len(packets), 12)], station._hand_over)
    assert [message.content for message in station.messages] == [bytes([i, 0, 0, 0, 0, 0]) for i in range(3)]
