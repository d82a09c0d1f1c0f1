"""Key files and records: what is refused, and what survives kill -9."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from link_ends import provisioned
from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.link import create_key_file, keys, read_hex_key, read_key_file
from motecrypt.link.keys import create_master_file, create_private, link_end, read_master_file
from motecrypt.link.native import SHORT, KeyBlock, Suite
from motecrypt.link.node import HostNode, node_record
from motecrypt.link.state import FileStore, MemoryStore, pack, unpack

SUITE: Suite = "aes128-ccm"


def test_keys_are_read_without_the_links_core() -> None:
    assert not hasattr(keys, "Suite"), "a name for type checkers alone: its module compiles C"


def test_a_created_key_is_read_back_and_private(tmp_path: Path) -> None:
    path = tmp_path / "key"
    create_key_file(path)
    assert len(read_key_file(path)) == 32 and path.stat().st_mode & 0o777 == 0o600
    with pytest.raises(InputError, match="File exists"):
        create_key_file(path)


@pytest.mark.parametrize(
    ("content", "mode", "message"),
    [
        ("00" * 31, 0o600, "31 bytes of key; 16, 24 or 32"),
        ("00" * 33, 0o600, "33 bytes of key"),
        ("zz" * 32, 0o600, "not hex digits"),
        ("", 0o600, "0 bytes of key"),
        ("00" * 32, 0o644, "chmod 600"),
        ("00" * 32, 0o620, "chmod 600"),
    ],
)
def test_bad_key_files_are_refused_in_one_line(tmp_path: Path, content: str, mode: int, message: str) -> None:
    path = tmp_path / "key"
    path.write_text(content)
    path.chmod(mode)
    with pytest.raises(InputError, match=message) as caught:
        read_key_file(path)
    assert "\n" not in str(caught.value)


def test_a_missing_key_file_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="motecrypt key"):
        read_key_file(tmp_path / "none")
    with pytest.raises(InputError, match="motecrypt key"):
        read_key_file(tmp_path)


def test_a_second_program_cannot_use_the_same_counters(tmp_path: Path) -> None:
    held = FileStore(tmp_path / "counter")
    with pytest.raises(InputError, match="another program"):
        FileStore(tmp_path / "counter")
    held.close()
    FileStore(tmp_path / "counter").close()


def test_an_unwritable_folder_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--state"):
        FileStore(tmp_path / "none" / "counter")


def test_state_files_are_private_and_whole(tmp_path: Path) -> None:
    path = tmp_path / "counter"
    store = FileStore(path)
    assert store.read() is None
    store.write(b"one")
    store.write(b"two")
    assert store.read() == b"two" and path.stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "counter.lock").stat().st_mode & 0o777 == 0o600
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["counter", "counter.lock"]
    store.close()
    store.close()  # a second time does nothing


def test_a_state_file_that_cannot_be_read_or_written_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "counter"
    store = FileStore(path)
    path.mkdir()
    with pytest.raises(InputError, match="Is a directory"):
        store.read()
    (path / "inside").touch()
    with pytest.raises(MotecryptError, match="cannot be written"):
        store.write(b"x")


def test_key_files_of_every_size_and_none_too_long(tmp_path: Path) -> None:
    for key_bytes in (16, 24, 32):
        path = tmp_path / f"key{key_bytes}"
        create_key_file(path, key_bytes)
        assert len(read_key_file(path)) == key_bytes and path.read_text().endswith("\n")
    for wrong in (0, 15, 17, 33):
        with pytest.raises(InputError, match="16, 24 or 32"):
            create_key_file(tmp_path / "wrong", wrong)
    assert not (tmp_path / "wrong").exists()
    path = tmp_path / "spaced"
    path.write_text("  " + "5a" * 16 + " \n\n")
    path.chmod(0o600)
    assert read_key_file(path) == b"\x5a" * 16
    path.write_text(" " * (1024 - 32) + "5a" * 16)
    assert read_key_file(path) == b"\x5a" * 16
    for text in (" " * (1025 - 32) + "5a" * 16, "5a" * 16 + " " * (1025 - 32)):
        path.write_text(text)
        with pytest.raises(InputError, match="not hex digits"):
            read_key_file(path)
    for mode in (0o601, 0o604, 0o610, 0o640):
        path.chmod(mode)
        with pytest.raises(InputError, match="chmod 600"):
            read_key_file(path)
    path.write_bytes(b"\xff" * 32)
    path.chmod(0o600)
    with pytest.raises(InputError, match="not hex digits"):
        read_key_file(path)


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o600)
    return path


@pytest.mark.parametrize("suite", ["aes128-ccm", "ascon-aead128"])
def test_a_master_key_names_its_suite_and_is_private(tmp_path: Path, suite: Suite) -> None:
    path = tmp_path / "link.key"
    create_master_file(path, suite)
    text = path.read_text()
    assert text.startswith(f"motecrypt-link:{suite}:") and text.endswith("\n")
    assert read_master_file(path) == (suite, bytes.fromhex(text.strip().rpartition(":")[2]))
    assert path.stat().st_mode & 0o777 == 0o600 and link_end(path) == "gateway"
    create_master_file(tmp_path / "other")
    assert read_master_file(tmp_path / "other")[0] == "aes128-ccm"
    assert read_master_file(tmp_path / "other")[1] != read_master_file(path)[1]
    with pytest.raises(InputError, match="File exists"):
        create_master_file(path)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "motecrypt-link:",
        "00" * 16,
        "motecrypt-link:aes128-ccm",
        "motecrypt-link:aes128:" + "00" * 16,
        "motecrypt-link:aes128-ccm:" + "00" * 15,
        "motecrypt-link:aes128-ccm:" + "00" * 17,
        "motecrypt-link:aes128-ccm:" + "zz" * 16,
        "motecrypt-link:aes128-ccm:" + "00" * 16 + ":",
        "motecrypt:aes128-ccm:" + "00" * 16,
        "motecrypt-links:aes128-ccm:" + "00" * 16,
    ],
)
def test_what_is_no_master_key_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(
        InputError, match=r"not the master key of a gateway; make one with 'motecrypt key FILE --link'$"
    ):
        read_master_file(written(tmp_path / "key", text))


def test_the_links_keys_are_nothing_elses(tmp_path: Path) -> None:
    create_master_file(tmp_path / "link.key")
    written(tmp_path / "node", '{"motecrypt": "node"')
    assert link_end(tmp_path / "node") == "node"
    for name in ("link.key", "node"):
        for reader in (read_key_file, read_hex_key):
            with pytest.raises(InputError, match="it is a key of the secure link and cannot be used here"):
                reader(tmp_path / name)
    create_key_file(tmp_path / "aes")
    with pytest.raises(
        InputError, match=r"not a key of the secure link; make one with 'motecrypt key FILE --link'$"
    ):
        link_end(tmp_path / "aes")
    (tmp_path / "link.key").chmod(0o640)
    for reader in (link_end, read_master_file):
        with pytest.raises(InputError, match="chmod 600"):
            reader(tmp_path / "link.key")


def test_a_private_file_is_there_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "key"

    def failing() -> bytes:
        assert path.stat().st_mode & 0o777 == 0o600, "the name is taken before the content is asked for"
        raise MotecryptError("no more keys")

    with pytest.raises(MotecryptError, match="no more keys"):
        create_private(path, failing)
    assert not path.exists()

    def no_room() -> bytes:
        raise OSError(28, "No space left on device")

    with pytest.raises(InputError, match=r"key: No space left on device; free some space$"):
        create_private(path, no_room)
    assert not path.exists()

    def gone() -> bytes:
        path.unlink()
        raise MotecryptError("no more keys")

    with pytest.raises(MotecryptError, match="no more keys"):
        create_private(path, gone)
    opened, flags = os.open, []

    def open_(where: Path, how: int, mode: int = 0o777) -> int:
        if where == path:
            flags.append((how, mode))
        return opened(where, how, mode)

    with monkeypatch.context() as noting:
        noting.setattr(os, "open", open_)
        create_private(path, lambda: b"content")
    assert path.read_bytes() == b"content"
    assert flags == [(os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)]


def test_a_record_is_of_its_kind_and_version() -> None:
    assert unpack("node", pack("node", {"next": 1})) == {"motecrypt": "node", "version": 2, "next": 1}
    sound = pack("node", {})
    for record in (
        pack("gateway", {}),
        pack("node", {"version": 1}),
        pack("node", {"version": 3}),
        pack("node", {"motecrypt": "gateway"}),
        sound + b"\n",
        sound + b"x",
        sound[:-1],
        sound.replace(b"2", b"3", 1),
        sound.split(b"\n")[0] + b"\n" + b"0" * 64 + b"\n",
        b"",
        b"\n\n",
        b"\xff\xfe\n\n",
    ):
        with pytest.raises(ValueError):
            unpack("node", record)


def test_the_digest_is_that_of_the_text() -> None:
    import hashlib

    assert pack("node", {"a": 1}) == (
        b'{"motecrypt": "node", "version": 2, "a": 1}\n'
        + hashlib.sha256(b'{"motecrypt": "node", "version": 2, "a": 1}').hexdigest().encode()
        + b"\n"
    )
    for text in ("7", "null", "[]", "{", "[" * 50_000, '{"motecrypt": "node"}'):
        record = f"{text}\n{hashlib.sha256(text.encode()).hexdigest()}\n".encode()
        with pytest.raises(ValueError):
            unpack("node", record)


SENDER = """
import sys
from pathlib import Path
from motecrypt.link.node import HostNode
from motecrypt.link.state import FileStore
node = HostNode(FileStore(Path(sys.argv[1])))
while True:
    node.send(b"reading")
    print(node.take_packets()[0].hex(), flush=True)
"""


def test_kill_9_never_repeats_a_counter(tmp_path: Path) -> None:
    node = provisioned(KeyBlock(5, SHORT, 255, 1, bytes(16)), SUITE)
    written(tmp_path / "node", "").write_bytes(node_record(SUITE, node.storage))
    used: list[str] = []
    for round_number in range(4):
        output = tmp_path / f"sent{round_number}"
        with output.open("wb") as file:
            arguments = [sys.executable, "-c", SENDER, str(tmp_path / "node")]
            process = subprocess.Popen(arguments, stdout=file, stderr=subprocess.PIPE)
        deadline = time.monotonic() + 120
        while output.read_bytes().count(b"\n") < 40 + 37 * round_number:
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.001)
        os.kill(process.pid, signal.SIGKILL)
        _, errors = process.communicate(timeout=60)
        assert not errors
        used += [line for line in output.read_text().splitlines(keepends=True) if line.endswith("\n")]
    # One text under one key: two packets are equal if and only if a counter was used twice.
    assert len(used) > 300 and len(set(used)) == len(used)
    assert HostNode(MemoryStore((tmp_path / "node").read_bytes())).number == 5
