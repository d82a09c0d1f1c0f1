"""The program that follows the secrets of a public-key operation: what it marks, passes on and refuses."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from motecrypt.build.toolchain.drivers import DRIVERS, driver
from tool_sets import needs_tool_set

pytestmark = needs_tool_set("taint")
MOST = 32768
OPERATION = r"""
#include <stdio.h>
#include <stdlib.h>
#include <valgrind/memcheck.h>
#include "cipher.h"

/* What it is given, and which of its bytes are marked; its answer is the message's first byte. */
uint8_t cipher_encrypt(struct cipher_context *context, const struct cipher_io *io) {
    printf("%d %d ", context == NULL, io->input == io->output);
    printf("%u %u ", (unsigned)io->ad_bytes, (unsigned)io->bytes);
    for (size_t i = 0; i < io->bytes; i++) {
        uint8_t bits = 0;
        VALGRIND_GET_VBITS(io->input + i, &bits, 1);
        putchar(bits != 0 ? '?' : '.');
    }
    return io->ad_bytes != 0 ? io->ad[0] : CIPHER_OK;
}
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("marks")
    (folder / "operation.c").write_text(OPERATION)
    include = DRIVERS.parents[1] / "firmware" / "include"
    command = ["gcc", "-shared", "-fPIC", f"-I{include}", "operation.c", "-o", "operation.so"]
    subprocess.run(command, cwd=folder, check=True, timeout=60)
    (folder / "inputs").write_bytes(bytes(range(12)))
    (folder / "nothing").write_bytes(b"")
    (folder / "signed").write_bytes(b"\0\1\2")
    (folder / "refused").write_bytes(b"\4")
    (folder / "most").write_bytes(bytes(MOST + 1))
    return folder / "operation.so"


def ran(library: Path, arguments: str, *before: str) -> tuple[int, str, str]:
    """Exit code, output and messages, with files named as they are next to the library."""
    given = [str(library.parent / word) if word[0].isalpha() else word for word in arguments.split()]
    command = [*before, str(driver("taint_public_key")), *given]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    return done.returncode, done.stdout, done.stderr


def test_the_parts_that_are_secret_are_marked_and_nothing_else(library: Path) -> None:
    memcheck = ("valgrind", "--tool=memcheck", "-q")
    found = ran(library, "operation.so inputs signed 4 0 2 5 3 11 1", *memcheck)
    assert found == (0, "1 1 3 16 ??...???...?....", "")


@pytest.mark.parametrize(
    ("arguments", "answered"),
    [
        ("inputs nothing 010 0 1", "1 1 0 22 "),  # decimal
        (f"inputs nothing {MOST - 12} 12 0", f"1 1 0 {MOST} "),
        ("most nothing 0 0 32768", f"1 1 0 {MOST} "),
        ("nothing most 0 0 0", f"1 1 {MOST} 0 "),
    ],
)
def test_inputs_up_to_the_most_are_passed_on(library: Path, arguments: str, answered: str) -> None:
    code, told, messages = ran(library, f"operation.so {arguments}")
    assert (code, told.rstrip("."), messages) == (0, answered, "")


USAGE = "usage: taint_public_key LIBRARY INPUTS MESSAGE ROOM AT BYTES [AT BYTES]...\n"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ("", 2, USAGE),
        ("operation.so inputs signed 4 0", 2, USAGE),
        ("operation.so inputs signed 4 0 1 2", 2, USAGE),
        ("operation.so inputs absent 4 0 1", 2, "taint_public_key: absent cannot be read\n"),
        (
            f"operation.so inputs signed {MOST - 11} 0 1",
            2,
            f"taint_public_key: {MOST - 11} bytes are too many\n",
        ),
        ("operation.so inputs signed 0 13 0", 2, "taint_public_key: 13 bytes are too many\n"),
        ("operation.so inputs signed 0 5 8", 2, "taint_public_key: 8 bytes are too many\n"),
        ("operation.so inputs refused 0 0 1", 3, "taint_public_key: the operation answered 4\n"),
    ],
)
def test_what_is_refused(library: Path, arguments: str, code: int, message: str) -> None:
    ended, _, told = ran(library, arguments)
    assert (ended, told.replace(f"{library.parent}/", "")) == (code, message)


def test_a_file_that_is_no_library_is_named(library: Path) -> None:
    code, _, told = ran(library, "inputs inputs signed 0 0 1")
    assert code == 2 and told.startswith("taint_public_key: ") and "inputs" in told
