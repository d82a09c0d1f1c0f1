"""The file firmware on this computer, its storage in memory: every request, also wrong ones."""

from __future__ import annotations

import hashlib
import os
import resource
import select
import struct
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from test_pico_files import (
    FEW,
    KEY,
    storage_of,
    test_all_sizes_go_through,
    test_damaged_files_are_refused_and_nothing_appears,
    test_files_of_the_host_are_read,
    test_senseless_requests_are_answered,
)

from motecrypt.base.errors import MotecryptError
from motecrypt.base.frames import encode
from motecrypt.base.paths import cache_dir, make_dir
from motecrypt.build.setup import need
from motecrypt.build.toolchain.files import _LITTLEFS, _MBEDTLS, FOLDER
from motecrypt.build.toolchain.sources import source_root
from motecrypt.catalog import FIRMWARE
from motecrypt.link.files import container, crypt_and_hash
from motecrypt.link.files.container import Secret
from motecrypt.measuring.experiments.files import plaintext
from motecrypt.simulate.file_node import FileNode, NodeFileError, Storage
from motecrypt.simulate.runners.protocol import WALL

__all__ = [
    "test_all_sizes_go_through",
    "test_damaged_files_are_refused_and_nothing_appears",
    "test_files_of_the_host_are_read",
    "test_senseless_requests_are_answered",
]

BAD_REQUEST, NOT_GENUINE, TOO_SHORT, NO_FILE, NO_SYSTEM = -202, -200, -201, -2, -84
CLOCK, BLOCK, BLOCKS = 0x7E7D0102, 4096, 80


#: What the firmware asks of Mbed TLS, and the harness lets fail.
CALLED = """
md_setup md_starts md_update md_finish md_hmac md_hmac_starts md_hmac_update md_hmac_finish hkdf
cipher_setup cipher_setkey cipher_set_iv cipher_reset cipher_update cipher_finish
gcm_setkey gcm_crypt_and_tag gcm_auth_decrypt
chachapoly_setkey chachapoly_encrypt_and_tag chachapoly_auth_decrypt
"""


def includes() -> list[str]:
    littlefs, mbedtls = source_root(FOLDER / "littlefs"), source_root(FIRMWARE / "libraries" / "mbedtls")
    found = [FOLDER, FIRMWARE / "include", littlefs, mbedtls / "include", mbedtls / "library"]
    quiet = [f"-DLFS_NO_{what}" for what in ("DEBUG", "WARN", "ERROR", "ASSERT")]
    return [*quiet, '-DMBEDTLS_CONFIG_FILE="mbedtls_files.h"', *(f"-I{folder}" for folder in found)]


def libraries() -> list[Path]:
    """littlefs and what of Mbed TLS the firmware links, compiled once and kept."""
    littlefs, mbedtls = source_root(FOLDER / "littlefs"), source_root(FIRMWARE / "libraries" / "mbedtls")
    sources = [littlefs / f"{name}.c" for name in _LITTLEFS]
    sources += [p for name in _MBEDTLS if (p := mbedtls / "library" / f"{name}.c").exists()]
    settings = (FOLDER / "mbedtls_files.h").read_bytes()
    key = hashlib.sha256(settings + "".join(map(str, sources)).encode()).hexdigest()[:12]
    place = make_dir(cache_dir() / "test-programs")
    objects = [place / f"files-{key}-{source.stem}.o" for source in sources]
    for source, target in zip(sources, objects, strict=True):
        if not target.exists():
            scratch = target.with_suffix(f".{os.getpid()}.o")
            command = ["gcc", "-O2", "-w", *includes(), "-c", str(source), "-o", str(scratch)]
            subprocess.run(command, check=True, timeout=120)
            scratch.replace(target)
    return objects


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need("host")
    folder = tmp_path_factory.mktemp("files")
    target = folder / "files"
    own = [FOLDER / f"{name}.c" for name in ("frame", "store", "published", "modern")]
    main = folder / "main.o"
    command = [
        "gcc",
        "-O1",
        "-w",
        "-Dmain=firmware_main",
        *includes(),
        "-c",
        str(FOLDER / "main.c"),
        "-o",
        str(main),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    heap = ["-Wl,--defsym=__heap_start=heap_room", "-Wl,--defsym=__heap_end=heap_room+64"]
    harness = Path(__file__).with_name("files_harness.c")
    files = [str(path) for path in (harness, *own, main, *libraries())]
    called = [f"mbedtls_{name}" for name in CALLED.split()] + ["calloc", "free"]
    wraps = [f"-Wl,--wrap={name}" for name in called]
    command = ["gcc", "-O1", "-w", *includes(), *files, *heap, *wraps, "-o", str(target)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return target


class Board:
    """The running program as a pipe of bytes."""

    clock = WALL

    def __init__(self, program: Path, fails_at: int = 0, how: int = 0) -> None:
        self._told = tempfile.TemporaryFile()  # noqa: SIM115 -- closed by `close`; a pipe would fill up
        self._process = subprocess.Popen(
            [program, str(fails_at), str(how)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._told,
            bufsize=0,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (10, 10)),
        )

    def write(self, data: bytes) -> None:
        """Send it."""
        assert self._process.stdin is not None
        self._process.stdin.write(data)

    def read(self, deadline: float) -> bytes:
        """What has come."""
        assert self._process.stdout is not None
        left = max(0.0, min(deadline - time.monotonic(), 20.0))
        if not select.select([self._process.stdout], [], [], left)[0]:
            raise MotecryptError("no answer")
        got = os.read(self._process.stdout.fileno(), 1 << 16)
        if not got:
            raise MotecryptError("it has ended")
        return got

    def marks(self) -> list[int]:
        """End it; the marks that it has set."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(20)
        self._told.seek(0)
        told = self._told.read().split()
        return [int(word) for word in told]

    def close(self) -> None:
        """End it in any case."""
        self._process.kill()
        self._process.wait(20)
        for stream in (self._process.stdin, self._process.stdout, self._told):
            if stream is not None:
                stream.close()


Start = Callable[..., tuple[FileNode, Board]]


@pytest.fixture
def start(program: Path) -> Iterator[Start]:
    boards: list[Board] = []

    def make(fails_at: int = 0, how: int = 0) -> tuple[FileNode, Board]:
        boards.append(Board(program, fails_at, how))
        client = FileNode(boards[-1], 20.0)
        client.storage = client.wait_greeting()  # type: ignore[attr-defined]
        return client, boards[-1]

    yield make
    for board in boards:
        board.close()


@pytest.fixture
def node(start: Start) -> FileNode:
    client, _ = start()
    client.format()
    return client


def status_of(node: FileNode, kind: str, payload: bytes) -> int:
    """The status that a request is answered with."""
    (status,) = struct.unpack_from(
        "<i", node._ask(kind, payload, {"J": "j", "D": "d", "G": "d"}.get(kind, "s"))
    )
    return int(status)


def asked(node: FileNode, kind: str, payload: bytes) -> tuple[str, bytes]:
    """Any answer at all."""
    return node._await(node._send(kind, payload))


def test_it_greets_and_says_so_again(start: Start) -> None:
    node, _ = start()
    assert storage_of(node) == Storage(CLOCK, BLOCK, BLOCKS)
    assert node._ask("H", b"", "h") == struct.pack("<III", CLOCK, BLOCK, BLOCKS)


def test_a_file_system_must_be_there(start: Start) -> None:
    node, _ = start()
    with pytest.raises(NodeFileError) as caught:
        node.mount()
    assert caught.value.status == NO_SYSTEM
    node.format()
    node.write("a", b"content")
    node.mount()
    assert node.read("a") == b"content"
    node.format()
    with pytest.raises(NodeFileError, match="no such file"):
        node.read("a")


def piece(flags: int, name: bytes, data: bytes = b"", length: int | None = None) -> bytes:
    return bytes([flags, len(name) if length is None else length]) + name + data


def test_a_file_is_written_piece_by_piece(node: FileNode) -> None:
    assert status_of(node, "W", piece(0, b"a", b"x")) == BAD_REQUEST, "nothing is open"
    assert status_of(node, "W", piece(2, b"a", b"x")) == BAD_REQUEST
    assert status_of(node, "W", piece(1, b"a", b"one ")) == 0
    assert status_of(node, "W", piece(0, b"a", b"two ")) == 0
    assert status_of(node, "W", piece(2, b"a", b"three")) == 0
    assert node.read("a") == b"one two three"
    assert status_of(node, "W", piece(0, b"a", b"x")) == BAD_REQUEST, "it is closed"
    assert status_of(node, "W", piece(1, b"a", b"never")) == 0
    assert status_of(node, "W", piece(3, b"b", b"other")) == 0, "what was begun before is left as it was"
    assert (node.read("a"), node.read("b")) == (b"one two three", b"other")
    assert status_of(node, "W", piece(3, b"a")) == 0 and node.read("a") == b""


def test_names_have_their_length(node: FileNode) -> None:
    longest = b"n" * 63
    assert status_of(node, "W", piece(3, longest, b"x")) == 0 and node.read(longest.decode()) == b"x"
    assert status_of(node, "W", piece(3, b"n" * 64, b"x")) == BAD_REQUEST
    assert status_of(node, "W", piece(3, b"")) == BAD_REQUEST
    assert status_of(node, "W", piece(3, b"abc", length=4)) == BAD_REQUEST
    assert status_of(node, "W", piece(3, b"abc", length=3)) == 0
    assert status_of(node, "W", b"\3") == BAD_REQUEST and status_of(node, "W", b"") == BAD_REQUEST


def test_a_piece_is_read_from_where_it_is_asked(node: FileNode) -> None:
    content = bytes(range(256)) * 40
    node.write("a", content)

    def get(at: int, count: int, name: bytes = b"a", length: int | None = None) -> tuple[int, bytes]:
        own = len(name) if length is None else length
        answer = node._ask("G", struct.pack("<IHB", at, count, own) + name, "d")
        return struct.unpack_from("<i", answer)[0], answer[4:]

    assert get(0, 5) == (5, content[:5]) and get(0x1234, 300) == (300, content[0x1234 : 0x1234 + 300])
    assert get(0, 4096) == (4096, content[:4096]) and get(0, 4097) == (BAD_REQUEST, b"")
    assert get(len(content) - 3, 10) == (3, content[-3:]) and get(len(content), 10) == (0, b"")
    assert get(0x10000, 1)[0] <= 0 and get(0, 1, b"none") == (NO_FILE, b"")
    assert get(0, 1, b"a", length=2)[0] == BAD_REQUEST and get(0, 1, b"")[0] == BAD_REQUEST
    assert get(0, 0) == (0, b"")


def test_blocks_are_dumped_and_loaded(node: FileNode) -> None:
    node.write("a", b"content")
    whole = node.dump(storage_of(node))
    assert len(whole) == BLOCK * BLOCKS and b"littlefs" in whole[: 2 * BLOCK]
    last = struct.pack("<I", BLOCKS - 1)
    assert status_of(node, "L", last + bytes(range(256)) * 16) == 0
    assert node._data("last", "D", last) == bytes(range(256)) * 16
    assert status_of(node, "L", last + b"\xff" * BLOCK) == 0
    assert node._data("last", "D", last) == b"\xff" * BLOCK, "it was erased first"
    beyond = struct.pack("<I", BLOCKS)
    for kind, payload in (
        *(("D", beyond), ("D", last[:3]), ("D", last + b"x"), ("D", struct.pack("<I", 0x10000))),
        *(("L", beyond + bytes(BLOCK)), ("L", last + bytes(BLOCK - 1)), ("L", last + bytes(BLOCK + 1))),
    ):
        assert status_of(node, kind, payload) == BAD_REQUEST
    node.format()
    node.load(storage_of(node), whole)
    node.mount()
    assert node.read("a") == b"content"


def test_a_job_has_its_form(node: FileNode) -> None:
    node.write("in", plaintext(100))

    def job(*fixed: int, key: bytes = KEY, salt: bytes = b"", texts: bytes = b"\2in\3out") -> int:
        return status_of(node, "J", struct.pack("<BBBHBBB", *fixed, len(key), len(salt)) + key + salt + texts)

    salt = bytes(range(32))
    good = (1, 0, 1, 0, 9)
    assert job(*good, salt=salt) == 0
    sealed = node.read("out")
    for log2, status in ((8, BAD_REQUEST), (9, 0), (12, 0), (13, BAD_REQUEST)):
        assert job(1, 0, 1, 0, log2, salt=salt) == status
    for cipher, status in ((0, BAD_REQUEST), (1, 0), (2, 0), (3, BAD_REQUEST)):
        assert job(1, 0, cipher, 0, 9, salt=salt) == status
    assert job(*good, salt=salt[:31]) == BAD_REQUEST and job(*good) == BAD_REQUEST
    for texts in (b"", b"\2in", b"\2in\0", b"\0\3out", b"\2in\4out", b"\7in\3out"):
        assert job(*good, salt=salt, texts=texts) == BAD_REQUEST
    assert node._ask("J", bytes(7), "s") == struct.pack("<i", BAD_REQUEST)
    assert job(*good, salt=salt, texts=b"\4none\3out") == NO_FILE
    node.write("sealed", sealed)
    ran = node.job("aes256-gcm", "sealed", "back", KEY, decrypts=True)
    assert (ran.time_us, ran.stack_bytes, ran.heap_bytes) == (0, 0x01020304, 64)
    assert node.read("back") == plaintext(100)


@pytest.mark.parametrize("size", [0, 1, 15, 16, 17, 1000, 66_000])
def test_the_published_format_is_the_hosts_byte_by_byte(
    node: FileNode, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("in").write_bytes(plaintext(size))
    crypt_and_hash.encrypt_file(Path("in"), Path("sealed"), KEY)
    node.write("in", plaintext(size))
    node.job("published", "in", "sealed", KEY)
    assert node.read("sealed") == Path("sealed").read_bytes()
    if size <= 1000:
        node.job("published", "sealed", "out", KEY, decrypts=True)
        assert node.read("out") == plaintext(size)


#: How often each part begins while 600 bytes are encrypted and decrypted: in the sources' order.
PARTS = {
    "published": [6, 162, 3, 78, 78, 2],
    "aes256-gcm": [4, 10, 2, 4, 0, 0],
    "chacha20-poly1305": [4, 10, 2, 4, 0, 0],
}


def test_what_the_time_goes_to_is_marked(start: Start) -> None:
    parts = {}
    for form in ("published", "aes256-gcm", "chacha20-poly1305"):
        node, board = start()
        node.format()
        node.write("in", plaintext(600))
        node.job(form, "in", "sealed", KEY, rounds=FEW, salt=bytes(32), chunk_bytes=512)
        node.job(form, "sealed", "out", KEY, rounds=FEW, decrypts=True)
        marks = board.marks()
        assert marks[0] == 1 and marks[-1] == 0 and marks.count(1) >= 2
        begun = [mark for mark in marks if mark]
        assert all(mark & 1 for mark in begun) and marks.count(0) == len(begun)
        parts[form] = [mark >> 1 for mark in begun]
        assert [parts[form].count(part) for part in range(6)] == PARTS[form]
    assert {*parts["published"]} == {0, 1, 2, 3, 4, 5}
    assert {*parts["aes256-gcm"]} == {*parts["chacha20-poly1305"]} and {1, 2, 3} <= {*parts["aes256-gcm"]}


def test_damaged_frames_are_answered(start: Start) -> None:
    node, board = start()
    good = encode(9, "H")
    answer = encode(9, "h", struct.pack("<III", CLOCK, BLOCK, BLOCKS))

    def talk(*sent: bytes) -> bytes:
        board.write(b"".join([*sent, good]))
        got = b""
        while not got.endswith(answer):
            got += board.read(time.monotonic() + 20)
        return got[: -len(answer)]

    def error(sequence: int, failure: int) -> bytes:
        return encode(sequence, "e", bytes([failure]))

    assert talk() == b"" and talk(b"\x7e\x7e\x7e") == b""
    assert talk(good[:2] + bytes([0x31]) + good[3:]) == error(0x31, 1)
    assert talk(encode(5, "H", version=2)) == error(5, 2)
    assert talk(encode(6, "Z")) == error(6, 3) and talk(encode(0x7D, "Z", b"\x7e")) == error(0x7D, 3)
    assert talk(b"\x7e\x01\x05H\x12\x7d\x7e") == error(0, 1), "it ends inside an escape"
    for length in range(1, 5):
        assert talk(b"\x7e" + encode(7, "H")[1 : 1 + length] + b"\x7e") == error(7 if length > 1 else 0, 1)
    most = 4352 - 1
    assert talk(encode(8, "Z", b"x" * most)) == error(8, 3)
    assert talk(encode(8, "Z", b"x" * (most + 1))) == error(8, 4)
    assert node._ask("H", b"", "h")


CRYPTO = -203
COUNTS, FAILS = 1, 2


@pytest.mark.parametrize("form", ["published", "aes256-gcm", "chacha20-poly1305"])
def test_a_library_that_fails_at_any_call_ends_the_job(start: Start, form: str) -> None:
    """The status reports it, the old file stays, and all memory is given back, however far the job came."""
    counting, _ = start(how=COUNTS)
    counting.format()
    counting.write("in", plaintext(600))
    options = {"rounds": FEW, "salt": bytes(32), "chunk_bytes": 512}
    calls = counting.job(form, "in", "sealed", KEY, **options).stack_bytes
    opens = counting.job(form, "sealed", "back", KEY, rounds=FEW, decrypts=True).stack_bytes
    assert counting.read("back") == plaintext(600) and 4 < calls < 1000 and 4 < opens < 1000
    sealed = counting.read("sealed")
    for source, count, statuses in (
        (plaintext(600), calls, {CRYPTO, BAD_REQUEST}),
        (sealed, opens, {CRYPTO, BAD_REQUEST, NOT_GENUINE}),
    ):
        node, _ = start(how=FAILS)
        node.format()
        node.write("in", source)
        node.write("out", b"old")
        decrypts = {"decrypts": True} if source == sealed else options
        request = {"rounds": FEW, **decrypts}
        for call in range(1, count + 1):
            with pytest.raises(NodeFileError) as caught:
                node.job(form, "in", "out", KEY, **request)
            assert caught.value.status in statuses, call
            assert node.read("out") == b"old"
        assert node.job(form, "in", "out", KEY, **request).stack_bytes == count, (
            "and no piece of memory is kept"
        )


@pytest.mark.parametrize("cipher", ["aes256-gcm", "chacha20-poly1305"])
def test_chunks_are_numbered_beyond_a_byte(node: FileNode, tmp_path: Path, cipher: Any) -> None:
    """260 chunks of the host's, of 512 bytes each."""
    source, sealed = tmp_path / "source", tmp_path / "sealed"
    source.write_bytes(plaintext(512 * 260))
    container.encrypt_file(source, sealed, Secret(key=KEY), cipher=cipher, chunk_bytes=512, force=True)
    node.write("sealed", sealed.read_bytes())
    node.job(cipher, "sealed", "out", KEY, decrypts=True)
    assert node.read("out") == source.read_bytes()


def test_a_storage_that_fails_leaves_the_old_file(start: Start) -> None:
    """Every program and erase of a save fails once; the status reports it; the old file is there, or the
    new."""
    seen = set()
    for operation in range(1, 60):
        node, _ = start(operation)
        made = False
        try:
            node.format()
            made = True
            node.write("in", plaintext(700))
            node.write("out", b"old")
        except NodeFileError as error:
            assert error.status in (-5, NO_SYSTEM, -28, NO_FILE)
            if made:  # it fails once, and nothing of that file stays open
                node.write("again", b"new")
                node.write("more", plaintext(700))
                assert (node.read("again"), node.read("more")) == (b"new", plaintext(700))
            continue
        try:
            node.job("aes256-gcm", "in", "out", KEY, salt=bytes(32), chunk_bytes=512)
            seen.add("done")
        except NodeFileError as error:
            seen.add("failed")
            assert error.status in (-5, -28)
            if node.read("out") != b"old":  # it failed after all had been written
                node.job("aes256-gcm", "out", "back", KEY, decrypts=True)
                assert node.read("back") == plaintext(700)
    assert "done" in seen
