"""Files on a Pico: what is stored of each job."""

from __future__ import annotations

import contextlib
import hashlib
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.build.toolchain import BuildError
from motecrypt.measuring.experiments import files
from motecrypt.results import Results
from motecrypt.results.experiments import pico_file
from motecrypt.simulate.runners import Region


def test_regions_are_summed_by_part() -> None:
    regions = [
        Region(10, extra={"label": 2, "cache_misses": 1, "programs": 3, "storage_busy": 5}),
        Region(20, extra={"label": 2, "cache_misses": 2, "erases": 1, "reads": 4}),
        Region(40, extra={}),
        Region(80, extra={"label": 5, "programs": 1, "storage_busy": 6}),
    ]
    none = dict.fromkeys(("other", "files", "key", "cipher", "mac", "setup"), 0)
    assert files.divide(regions) == {
        "cycles": {**none, "key": 30, "other": 40, "setup": 80},
        "misses": {**none, "key": 3},
        "programs": 4,
        "erases": 1,
        "reads": 4,
        "storage_busy": 11,
    }


def test_the_sources_text_and_the_boards_options(monkeypatch: pytest.MonkeyPatch) -> None:
    text = files.plaintext(200)
    assert len(text) == 200 and text[:63] == text[63:126] and text[61:63] == b"\r\n"
    assert text.startswith(b"A fixed string") and files.plaintext(0) == b"" and len(files.plaintext(63)) == 63
    times = {
        "flash": {"program_page_us": 2.0, "erase_4k_ms": 3.0, "erase_32k_ms": 4.0, "erase_64k_ms": 5.0},
        "sd": {"blocks": 9, "read_us": 6.0, "write_us": 7.0, "spi_hz": 11},
    }
    monkeypatch.setattr(files, "storage_times", lambda: times)
    monkeypatch.setattr(files, "DriverSession", lambda command: command)
    asked: list[Any] = []
    monkeypatch.setattr(
        files.arm,
        "command",
        lambda device, elf, options: asked.append(options) or ["arm", "events", str(elf)],
    )
    device, built = SimpleNamespace(clock_hz=125_000_000), SimpleNamespace(elf="elf")
    opened: Any = files.open_board(device, built, "flash", "kept")  # type: ignore[arg-type]
    assert opened == ["arm", "events", "--nor", "250:375000:500000:625000", "elf"]
    opened = files.open_board(device, built, "sd", "none")  # type: ignore[arg-type]
    assert opened == ["arm", "events", "--nor", "250:375000:500000:625000", "--sd", "9:750:875", "elf"]
    assert [(o.cache, o.max_cycles) for o in asked] == [("kept", 60_000_000_000), ("none", 60_000_000_000)]
    job = files.FileJob(630, storage="sd")
    assert job.title == "published, 630 bytes on sd"
    assert job.firmware == files.FileFirmware("sd", "bytes", 11)
    assert files.FileJob(630, c_library="words").firmware == files.FileFirmware("flash", "words")


def test_the_published_file_is_that_of_the_other_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = bytes(range(1, 33))
    monkeypatch.setattr(files.crypt_and_hash, "derive", lambda digest, iv, key, rounds=8192: key[:32])
    for size in (0, 1, 15, 16, 17, 100):
        plain = files.plaintext(size)
        (tmp_path / "plain").write_bytes(plain)
        sealed = tmp_path / "sealed"
        files.crypt_and_hash.encrypt_file(tmp_path / "plain", sealed, key, path_in_iv="input.txt", force=True)
        right = sealed.read_bytes()
        assert files.published(plain, "input.txt", key, 5) == right
        job = files.FileJob(size, rounds=5)
        assert job._genuine(right, plain, key)
        for wrong in (right + b"x", right[:-1], b"\xff" * len(right), bytes(len(right))):
            assert not job._genuine(wrong, plain, key)


def test_a_file_of_the_modern_format_is_read_by_the_host(tmp_path: Path) -> None:
    key, plain, sealed = bytes(range(1, 33)), tmp_path / "plain", tmp_path / "sealed"
    plain.write_bytes(b"mm")
    files.container.encrypt_file(plain, sealed, files.container.Secret(key=key), chunk_bytes=4096)
    job = files.FileJob(2, form="aes256-gcm")
    assert job._genuine(sealed.read_bytes(), b"mm", key)
    for other in (b"ma", b"mz", b"m", b"mmm"):
        assert not job._genuine(sealed.read_bytes(), other, key)


class FakeNode:
    """A board that keeps files, and "encrypts" by putting a byte before them."""

    def __init__(self, session: Any, timeout_s: float) -> None:
        self.files: dict[str, bytes] = {}
        self.asked: list[Any] = session.asked
        self.back: bytes | None = session.back
        self.asked.append(timeout_s)

    def wait_greeting(self) -> None:
        self.asked.append("greeting")

    def format(self) -> None:
        self.asked.append("format")

    def write(self, name: str, content: bytes) -> None:
        self.files[name] = content
        self.asked.append((name, content))

    def job(self, form: str, source: str, target: str, key: bytes, **how: Any) -> SimpleNamespace:
        self.asked.append((form, source, target, key, how))
        data = self.files[source]
        self.files[target] = data[1:] if how["decrypts"] else b"!" + data
        count = len(self.asked)
        return SimpleNamespace(time_us=count, stack_bytes=10 + count, heap_bytes=20 + count)

    def read(self, name: str) -> bytes:
        return self.back if name == "output.txt" and self.back is not None else self.files[name]


def test_a_job_encrypts_and_decrypts_one_file(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    regions = iter([[Region(1)], [Region(5, extra={"label": 2})], [Region(7, extra={"label": 3})]] * 4)
    session = SimpleNamespace(asked=asked, back=None, regions=lambda: next(regions))

    @contextlib.contextmanager
    def opened(device: Any, built: Any, storage: str, cache: str) -> Iterator[SimpleNamespace]:
        asked.append((device.name, built.elf, storage, cache))
        yield session

    built = SimpleNamespace(elf="elf", sha256="s", compiler="gcc 1", sizes=SimpleNamespace(flash=8, ram=9))
    monkeypatch.setattr(files, "build_files", lambda firmware: built)
    monkeypatch.setattr(files, "open_board", opened)
    monkeypatch.setattr(files, "FileNode", FakeNode)
    genuine = [True]
    monkeypatch.setattr(files.FileJob, "_genuine", lambda *a: asked.append(a[1:]) or genuine[0])
    job = files.FileJob(70, form="aes256-gcm", storage="sd", rounds=3, cache="none")
    plain, key = files.plaintext(70), bytes(range(1, 33))
    salt = hashlib.sha256(b"salt").digest()
    none = dict.fromkeys(files.PARTS, 0)
    run = {"misses": none, "programs": 0, "erases": 0, "reads": 0, "storage_busy": 0}
    assert job.run() == {
        "encrypt": {
            **run,
            "cycles": {**none, "key": 5},
            "time_us": 8,
            "stack_bytes": 18,
            "heap_bytes": 28,
        },
        "decrypt": {
            **run,
            "cycles": {**none, "cipher": 7},
            "time_us": 9,
            "stack_bytes": 19,
            "heap_bytes": 29,
        },
        "sealed_bytes": 71,
        "clock_hz": 125_000_000,
        "elf_sha256": "s",
        "compiler": "gcc 1",
        "flash_bytes": 8,
        "ram_bytes": 9,
    }
    names = ("input.txt", "cipherFile.aes", "output.txt")
    assert asked == [
        ("pico", "elf", "sd", "none"),
        600.0,
        "greeting",
        "format",
        (names[0], plain),
        (names[1], b""),
        (names[2], b""),
        ("aes256-gcm", names[0], names[1], key, {"decrypts": False, "rounds": 3, "salt": salt}),
        ("aes256-gcm", names[1], names[2], key, {"decrypts": True, "rounds": 3, "salt": b""}),
        (b"!" + plain, plain, key),
    ]
    genuine[0] = False
    with pytest.raises(
        MotecryptError, match=r"^aes256-gcm, 70 bytes on sd: the ciphertext is not the host's$"
    ):
        job.run()
    genuine[0] = True
    for wrong in (b"a", b"z" * 70, plain[:-1], plain + b"x"):
        session.back = wrong
        regions = iter([[]] * 3)
        with pytest.raises(MotecryptError, match=r"sd: decryption did not restore the plaintext$"):
            job.run()


@pytest.mark.parametrize(("error", "told"), [(BuildError, None), (MotecryptError, "no")])
def test_a_job_that_fails_calls_off_those_that_wait(
    error: type[Exception], told: str | None, results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[int] = []

    def run(self: files.FileJob) -> dict[str, Any]:
        ran.append(self.size)
        if self.size == 200:
            raise error("no")
        time.sleep(0.02)
        return job_outcome(1)

    monkeypatch.setattr(files.FileJob, "inputs", lambda self: {**self.asked(), "firmware": "f"})
    monkeypatch.setattr(files.FileJob, "run", run)
    monkeypatch.setattr(files, "processors", lambda: 1)
    jobs = files.FileJobs(tuple(files.FileJob(size) for size in range(1, 201)))
    if told is None:
        assert jobs.ensure(results).outcome == {"reason": "no"}
    else:
        with pytest.raises(error, match=f"^{told}$"):
            jobs.ensure(results)
    assert len(ran) < 100


def job_outcome(size: int) -> dict[str, Any]:
    none = dict.fromkeys(files.PARTS, 0)
    run = {"time_us": 1.0, "cycles": none, "misses": none, "programs": 0, "erases": 0, "reads": 0}
    run |= {"storage_busy": 0, "stack_bytes": 0, "heap_bytes": 0}
    sizes = {"sealed_bytes": size, "clock_hz": 1, "flash_bytes": 1, "ram_bytes": 1}
    return {"encrypt": run, "decrypt": run, **sizes}


def test_many_jobs_are_run_longest_first_and_kept(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = files.FileJobs(
        tuple(files.FileJob(size, rounds=rounds) for size, rounds in ((5, 8), (9, 8), (1, 9)))
    )
    monkeypatch.setattr(files.FileJob, "inputs", lambda self: {**self.asked(), "firmware": "f"})
    monkeypatch.setattr(files.FileJob, "run", lambda self: job_outcome(self.size))
    said: list[str] = []
    assert jobs.find(results) is None
    assert jobs.ensure(results, said.append).outcome == job_outcome(1)
    assert said == [
        "published, 1 bytes on flash",
        "published, 9 bytes on flash",
        "published, 5 bytes on flash",
    ]
    found = jobs.find(results)
    assert found is not None and found.outcome["sealed_bytes"] == 1
    monkeypatch.setattr(files.FileJob, "run", lambda self: pytest.fail("run again"))
    assert jobs.ensure(results, said.append).outcome == job_outcome(1) and len(said) == 3
    assert jobs.jobs[1].ensure(results, said.append).outcome == job_outcome(9) and len(said) == 3
    answer = jobs.jobs[1].answer(results)
    assert answer is not None and answer.sealed_bytes == 9 and answer.run("decrypt") == answer.decrypt
    more = files.FileJobs((*jobs.jobs, files.FileJob(77)))
    assert more.find(results) is None

    def refuse(self: files.FileJob) -> dict[str, Any]:
        raise BuildError("no source")

    monkeypatch.setattr(files.FileJob, "run", refuse)
    assert more.ensure(results, said.append).outcome == {"reason": "no source"}
    assert said[3:] == ["published, 77 bytes on flash", "files not measured: no source"]
    assert more.find(results) is None
    with pytest.raises(BuildError):
        more.jobs[-1].ensure(results, said.append)
    assert said[-1] == "published, 77 bytes on flash"


def test_a_hash_counts_as_much_as_a_thousand_bytes(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files.FileJob, "inputs", lambda self: {**self.asked(), "firmware": "f"})
    monkeypatch.setattr(files.FileJob, "run", lambda self: job_outcome(self.size))
    for forms in ((1, 1005, 2, 5), (4, 6, 3, 1006)):  # as long as each other: in the order asked
        jobs = files.FileJobs(tuple(files.FileJob(size, rounds=r) for r, size in (forms[:2], forms[2:])))
        said: list[str] = []
        jobs.ensure(results, said.append)
        assert said == [f"published, {size} bytes on flash" for size in (forms[1], forms[3])]


FLASH = {"program_page_us": 1, "erase_4k_ms": 1, "erase_32k_ms": 1, "erase_64k_ms": 1}
CARD = {"spi_hz": 1, "blocks": 1, "read_us": 0, "write_us": 0}


def test_the_table_of_storage_is_checked(tmp_path: Path) -> None:
    def read(name: str, figures: dict[str, Any], **texts: str) -> dict[str, Any]:
        file = tmp_path / "storage.toml"
        entry = {"title": "t", "source": "s", **texts, **figures}
        file.write_text(f"[{name}]\n" + "".join(f"{key} = {value!r}\n" for key, value in entry.items()))
        return pico_file.read_storage(file)

    for name, figures in (("flash", FLASH), ("sd", CARD)):
        assert read(name, figures) == {name: {"title": "t", "source": "s", **figures}}
        for field in figures:
            with pytest.raises(InputError, match=field):
                read(name, {key: value for key, value in figures.items() if key != field})
            with pytest.raises(InputError, match=field):
                read(name, {**figures, field: figures[field] - 1})
        for text in ("title", "source"):
            with pytest.raises(InputError, match=text):
                read(name, figures, **{text: ""})
        with pytest.raises(InputError, match="more"):
            read(name, {**figures, "more": 1})
    assert set(pico_file.storage_times()) == {"flash", "sd", "sd-slow"}
