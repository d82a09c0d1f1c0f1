"""The file firmware on a simulated Pico: jobs, damaged files, images to the host and back, a full disk."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from motecrypt.base.errors import MotecryptError
from motecrypt.build.toolchain import files
from motecrypt.build.toolchain.files import FileFirmware, build_files
from motecrypt.catalog import Catalog
from motecrypt.link.files import container, crypt_and_hash
from motecrypt.link.files.container import Secret
from motecrypt.measuring.experiments import files as experiment
from motecrypt.measuring.experiments.files import FileJob, divide, open_board, plaintext
from motecrypt.results.experiments.pico_file import storage_times
from motecrypt.simulate.file_node import FileNode, NodeFileError, Storage
from motecrypt.simulate.runners.session import DriverSession, Fault
from tool_sets import needs_tool_set, skip_without

pytestmark = [
    pytest.mark.long,
    needs_tool_set("pico"),
]

KEY = bytes(range(1, 33))
FEW = 3  # hashes: what they take is measured elsewhere


@pytest.fixture
def session() -> Iterator[DriverSession]:
    device = Catalog.load().device("pico")
    with open_board(device, build_files(FileFirmware()), "flash", "none") as opened:
        yield opened


@pytest.fixture
def node(session: DriverSession) -> FileNode:
    client = FileNode(session)
    client.storage = client.wait_greeting()  # type: ignore[attr-defined]
    client.format()
    return client


def storage_of(node: FileNode) -> Storage:
    return node.storage  # type: ignore[attr-defined, no-any-return]


def littlefs_of(image: bytes) -> object:
    from littlefs import LittleFS

    fs = LittleFS(block_size=4096, block_count=256, read_size=64, prog_size=256, cache_size=256, mount=False)
    fs.context.buffer[:] = image
    fs.mount()
    return fs


def test_a_job_is_compared_with_the_host_and_divided() -> None:
    """The whole way of a result; the divided parts make up the time that the board itself measured."""
    for form in ("published", "aes256-gcm", "chacha20-poly1305"):
        outcome = FileJob(1000, form, rounds=FEW).run()  # type: ignore[arg-type]
        for direction in ("encrypt", "decrypt"):
            run = outcome[direction]
            total_us = sum(run["cycles"].values()) / 125
            assert abs(total_us - run["time_us"]) < 0.01 * run["time_us"]
            assert run["erases"] >= 1
            assert run["programs"] >= 4
            assert run["storage_busy"] == run["erases"] * 5_625_000 + run["programs"] * 87_500
            assert run["stack_bytes"] < 4096


def test_the_time_of_the_flash_passes_on_the_board(node: FileNode, session: DriverSession) -> None:
    node.write("a", plaintext(5000))
    session.regions()
    ran = node.job("aes256-gcm", "a", "b", KEY, salt=bytes(32))
    figures = divide(session.regions())
    assert ran.time_us >= figures["storage_busy"] / 125


@pytest.mark.parametrize("size", [0, 1, 15, 16, 17, 511, 512, 513, 4096, 9000])
def test_all_sizes_go_through(node: FileNode, size: int, tmp_path: Path) -> None:
    plain = plaintext(size)
    node.write("in", plain)
    for form in ("published", "aes256-gcm", "chacha20-poly1305"):
        node.job(form, "in", "sealed", KEY, rounds=FEW, salt=bytes(range(32)), chunk_bytes=512)
        node.job(form, "sealed", "out", KEY, rounds=FEW, decrypts=True)
        assert node.read("out") == plain
    sealed = tmp_path / "sealed"
    sealed.write_bytes(node.read("sealed"))
    container.decrypt_file(sealed, tmp_path / "back", Secret(key=KEY))
    assert (tmp_path / "back").read_bytes() == plain


def test_files_of_the_host_are_read(node: FileNode, tmp_path: Path) -> None:
    source, sealed = tmp_path / "source", tmp_path / "sealed"
    source.write_bytes(plaintext(3000))
    for cipher in container.CIPHERS:
        container.encrypt_file(source, sealed, Secret(key=KEY), cipher=cipher, chunk_bytes=1024, force=True)
        node.write("sealed", sealed.read_bytes())
        node.job("aes256-gcm", "sealed", "out", KEY, decrypts=True)
        assert node.read("out") == source.read_bytes()


@pytest.mark.parametrize("form", ["published", "aes256-gcm", "chacha20-poly1305"])
def test_damaged_files_are_refused_and_nothing_appears(node: FileNode, form: str) -> None:
    node.write("in", plaintext(40))
    node.write("old", b"old content")
    node.job(form, "in", "sealed", KEY, rounds=FEW, salt=bytes(32), chunk_bytes=512)
    genuine = node.read("sealed")
    damaged = [genuine[:i] + bytes([genuine[i] ^ 1]) + genuine[i + 1 :] for i in range(0, len(genuine), 5)]
    damaged += [genuine[:-1], genuine[:-16], genuine + b"x", genuine + bytes(16), b"", genuine[:40]]
    for sealed in damaged:
        node.write("sealed", sealed)
        for target in ("new", "old"):
            with pytest.raises(NodeFileError):
                node.job(form, "sealed", target, KEY, rounds=FEW, decrypts=True)
    node.write("sealed", genuine)
    with pytest.raises(NodeFileError, match="not genuine"):
        node.job(form, "sealed", "new", bytes(32), rounds=FEW, decrypts=True)
    with pytest.raises(NodeFileError, match="no such file"):
        node.read("new")
    assert node.read("old") == b"old content"


def test_an_image_of_the_pico_is_opened_on_the_host_and_back(node: FileNode, tmp_path: Path) -> None:
    """littlefs on the host reads the Pico's flash; `motecrypt file` reads its file; and the other way."""
    skip_without("files")
    plain = plaintext(6300)
    node.write("input.txt", plain)
    node.job("published", "input.txt", "cipherFile.aes", KEY)
    image = node.dump(storage_of(node))
    fs = littlefs_of(image)
    with fs.open("cipherFile.aes", "rb") as file:  # type: ignore[attr-defined]
        content = file.read()
    sealed, back = tmp_path / "cipherFile.aes", tmp_path / "output.txt"
    sealed.write_bytes(content)
    assert crypt_and_hash.decrypt_file(sealed, back, KEY) == 6300
    assert back.read_bytes() == plain

    (tmp_path / "host.txt").write_bytes(plain[::-1])
    crypt_and_hash.encrypt_file(tmp_path / "host.txt", tmp_path / "host.aes", KEY)
    with fs.open("host.aes", "wb") as file:  # type: ignore[attr-defined]
        file.write((tmp_path / "host.aes").read_bytes())
    fs.unmount()  # type: ignore[attr-defined]
    node.load(storage_of(node), bytes(fs.context.buffer))  # type: ignore[attr-defined]
    node.mount()
    assert node.read("input.txt") == plain
    node.job("published", "host.aes", "host.txt", KEY, decrypts=True)
    assert node.read("host.txt") == plain[::-1]


def test_a_full_file_system_keeps_the_old_file(monkeypatch: pytest.MonkeyPatch) -> None:
    quick = {"program_page_us": 10, "erase_4k_ms": 0.1, "erase_32k_ms": 0.1, "erase_64k_ms": 0.1}
    monkeypatch.setattr(experiment, "storage_times", lambda: {"flash": quick})  # waiting is not the point
    device = Catalog.load().device("pico")
    with open_board(device, build_files(FileFirmware()), "flash", "none") as session:
        node = FileNode(session)
        node.wait_greeting()
        node.format()
        _fill_and_fail(node)


def _fill_and_fail(node: FileNode) -> None:
    node.write("in", plaintext(20_000))
    node.write("sealed", b"old")
    for size in (500_000, 100_000, 20_000, 8192):
        with pytest.raises(NodeFileError, match="no space left on the file system"):
            for number in range(20):
                node.write(f"filler {size} {number}", bytes(size))
    with pytest.raises(NodeFileError, match="no space left on the file system"):
        node.job("aes256-gcm", "in", "sealed", KEY, salt=bytes(32))
    with pytest.raises(NodeFileError, match="no space left on the file system"):
        node.job("published", "in", "fresh", KEY, rounds=FEW)
    assert node.read("sealed") == b"old"
    with pytest.raises(NodeFileError, match="no such file"):
        node.read("fresh")
    node.mount()
    assert node.read("in") == plaintext(20_000)


def test_senseless_requests_are_answered(node: FileNode) -> None:
    with pytest.raises(NodeFileError, match="no such file"):
        node.job("published", "missing", "out", KEY, rounds=FEW)
    with pytest.raises(NodeFileError, match="does not understand"):
        node.job("aes256-gcm", "in", "out", KEY)  # no salt
    for payload in (b"", b"\x00", b"\x09\x01\x20\x00\x00\x0c\xff\xff", bytes(8) + b"\xff"):
        kind, _ = node._await(_send(node, "J", payload))
        assert kind in "sj"
    with pytest.raises(MotecryptError):
        node._ask("Z", b"", "s")
    node.write("still", b"alive")
    assert node.read("still") == b"alive"


def _send(node: FileNode, kind: str, payload: bytes) -> int:
    from motecrypt.base.frames import encode

    node._pipe.write(encode(77, kind, payload))
    return 77


def test_the_model_refuses_code_from_a_busy_flash(tmp_path: Path) -> None:
    """A firmware whose code for the flash is in the flash ends with a reason instead of a figure."""
    script, built = tmp_path / "wrong.ld", build_files(FileFirmware())
    right = (files.FOLDER / "files.ld").read_text()
    script.write_text(right.replace("*(.text .text.*)", "*(.text .text.* .ramcode)"))
    files._build_into(FileFirmware(), tmp_path, script)
    wrong = replace(built, elf=tmp_path / "files.elf")
    device = Catalog.load().device("pico")
    with open_board(device, wrong, "flash", "kept") as session, pytest.raises(Fault, match="takes a command"):
        client = FileNode(session)
        client.wait_greeting()
        client.format()


def test_the_image_is_what_littlefs_on_the_host_writes() -> None:
    """The geometry that the test before opens images with is one that littlefs on the host writes."""
    skip_without("files")
    from littlefs import LittleFS

    fs = LittleFS(block_size=4096, block_count=256, read_size=64, prog_size=256, cache_size=256)
    with fs.open("x", "wb") as file:
        assert isinstance(file, io.IOBase)
        file.write(b"y" * 10_000)
    fs.unmount()
    again = littlefs_of(bytes(fs.context.buffer))
    with again.open("x", "rb") as file:  # type: ignore[attr-defined]
        assert file.read() == b"y" * 10_000


@pytest.mark.parametrize("storage", ["sd", "sd-slow"])
def test_a_card_holds_files_as_the_flash_does(storage: str) -> None:
    """Finding, writing and shifting blocks take their time, and little else does."""
    outcome = FileJob(2000, "published", storage, FEW, cache="none").run()  # type: ignore[arg-type]
    run, times = outcome["encrypt"], storage_times()[storage]
    assert run["reads"] > 0
    assert run["programs"] >= 4  # four blocks of data, and the directory's
    expected = run["reads"] * times["read_us"] + run["programs"] * times["write_us"]
    assert run["storage_busy"] / 125 == pytest.approx(expected)
    shifted_us = (run["reads"] + run["programs"]) * 512 * 8 / times["spi_hz"] * 1e6
    files_us = run["cycles"]["files"] / 125
    assert expected + shifted_us < files_us < (expected + shifted_us) * 1.4


def test_a_missing_card_is_a_failure_of_the_storage(monkeypatch: pytest.MonkeyPatch) -> None:
    none = {**storage_times(), "sd": {**storage_times()["sd"], "blocks": 0}}
    monkeypatch.setattr(experiment, "storage_times", lambda: none)
    device = Catalog.load().device("pico")
    built = build_files(FileFirmware("sd", "bytes", 12_500_000))
    with open_board(device, built, "sd", "none") as session:
        client = FileNode(session)
        client.wait_greeting()
        with pytest.raises(NodeFileError, match="storage failed"):
            client.format()
