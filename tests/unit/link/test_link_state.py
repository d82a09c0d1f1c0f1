"""Key files, counters and windows: what is refused, and what survives kill -9."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from motecrypt.errors import InputError, MotecryptError
from motecrypt.link import Counters, FileStore, MemoryStore, Window, create_key_file, read_key_file
from motecrypt.link.state import COUNTER_MAX, RESERVE, STREAMS_MAX, WINDOW

KEY = bytes(range(32))


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


def test_counters_go_on_after_a_restart_and_never_back() -> None:
    store = MemoryStore()
    first = Counters(store, KEY)
    taken = [first.take() for _ in range(RESERVE + 3)]
    second = Counters(store, KEY)
    assert second.stream == first.stream
    assert second.take() == 2 * RESERVE > max(taken)
    assert taken == list(range(RESERVE + 3))


def test_a_lost_counter_file_begins_another_stream() -> None:
    assert Counters(MemoryStore(), KEY).stream != Counters(MemoryStore(), KEY).stream


def test_counters_end_instead_of_wrapping() -> None:
    counters = Counters(MemoryStore(), KEY)
    counters._next = counters._reserved = COUNTER_MAX
    assert counters.take() == COUNTER_MAX
    with pytest.raises(MotecryptError, match="put a new key"):
        counters.take()


@pytest.mark.parametrize("position", [0, 20, -40, -2])
def test_a_damaged_counter_file_refuses_rather_than_reuses(tmp_path: Path, position: int) -> None:
    store = FileStore(tmp_path / "counter")
    Counters(store, KEY).take()
    content = bytearray((tmp_path / "counter").read_bytes())
    content[position] ^= 1
    (tmp_path / "counter").write_bytes(content)
    with pytest.raises(InputError, match="counter file is damaged"):
        Counters(store, KEY)


@pytest.mark.parametrize("record", [b"", b"\n\n", b"\xff\xfe\n\n", b"{}\n"])
def test_no_state_file_at_all_is_not_a_damaged_one(record: bytes) -> None:
    with pytest.raises(InputError, match="damaged"):
        Counters(MemoryStore(record), KEY)
    with pytest.raises(InputError, match="damaged"):
        Window(MemoryStore(record))


def test_a_counter_file_of_another_key_is_refused() -> None:
    store = MemoryStore()
    Counters(store, KEY).take()
    with pytest.raises(InputError, match="another key"):
        Counters(store, bytes(16))


def test_a_second_program_cannot_use_the_same_counters(tmp_path: Path) -> None:
    held = FileStore(tmp_path / "counter")
    with pytest.raises(InputError, match="another program"):
        FileStore(tmp_path / "counter")
    held.close()
    FileStore(tmp_path / "counter").close()


def test_an_unwritable_folder_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--state"):
        FileStore(tmp_path / "none" / "counter")


def test_window_refuses_repeats_and_the_too_old_and_keeps_it_over_a_restart() -> None:
    store = MemoryStore()
    window = Window(store)
    for counter in (5, 3, 200, 150):
        assert not window.seen(1, counter)
        window.claim(1, counter)
        window.confirm(1, counter)
    window.save()
    again = Window(store)
    assert all(again.seen(1, counter) for counter in (3, 5, 150, 200, 200 - WINDOW))
    assert again.handed_over(1, 200) and again.handed_over(1, 150) and not again.handed_over(1, 199)
    assert not again.seen(1, 199) and not again.seen(1, 201) and not again.seen(2, 3)


def test_a_claim_without_confirmation_is_seen_but_not_handed_over() -> None:
    store = MemoryStore()
    Window(store).claim(1, 7)
    assert Window(store).seen(1, 7) and not Window(store).handed_over(1, 7)


TAKER = """
import sys
from pathlib import Path
from motecrypt.link import Counters, FileStore
counters = Counters(FileStore(Path(sys.argv[1])), bytes(32))
while True:
    print(counters.stream, counters.take(), flush=True)
"""


def test_kill_9_never_repeats_a_counter(tmp_path: Path) -> None:
    used: list[str] = []
    for round_number in range(6):
        output = tmp_path / f"taken{round_number}"
        with output.open("wb") as file:
            arguments = [sys.executable, "-c", TAKER, str(tmp_path / "counter")]
            process = subprocess.Popen(arguments, stdout=file, stderr=subprocess.PIPE)
        deadline = time.monotonic() + 120
        while output.read_bytes().count(b"\n") < 40 + 37 * round_number:
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.001)
        os.kill(process.pid, signal.SIGKILL)
        _, errors = process.communicate(timeout=60)
        assert not errors
        used += [line for line in output.read_text().splitlines(keepends=True) if line.endswith("\n")]
    assert len(used) > 500 and len(set(used)) == len(used)
    assert len({line.split()[0] for line in used}) == 1


def test_counters_are_claimed_in_blocks_before_they_are_used() -> None:
    store = MemoryStore()
    counters = Counters(store, KEY)
    assert store.record is None and 2**31 <= counters.stream < 2**32
    for number in range(3 * RESERVE):
        assert counters.take() == number
        assert store.writes == number // RESERVE + 1
        assert Counters(MemoryStore(store.record), KEY).take() == (number // RESERVE + 1) * RESERVE


def test_the_last_counter_of_all_is_given_once() -> None:
    store = MemoryStore()
    counters = Counters(store, KEY)
    counters._next = counters._reserved = COUNTER_MAX - 2
    assert [counters.take() for _ in range(3)] == [COUNTER_MAX - 2, COUNTER_MAX - 1, COUNTER_MAX]
    for holder in (counters, Counters(store, KEY)):
        with pytest.raises(MotecryptError, match="all counters"):
            holder.take()


def test_the_top_bit_tells_streams_of_hosts_from_those_of_motes() -> None:
    streams = {Counters(MemoryStore(), KEY).stream for _ in range(60)}
    assert len(streams) > 50 and all(2**31 <= stream < 2**32 for stream in streams)
    assert any(stream >> 30 & 1 for stream in streams) and any(not stream >> 30 & 1 for stream in streams)


def test_a_record_of_another_kind_or_version_is_refused() -> None:
    from motecrypt.link.state import _pack, _unpack

    assert _unpack("counter", _pack("counter", {"next": 1}))["next"] == 1
    for record in (
        _pack("window", {"streams": {}}),
        _pack("counter", {"version": 2}),
        _pack("counter", {}) + b"\n",
    ):
        with pytest.raises(InputError, match="counter file is damaged"):
            _unpack("counter", record)
    with pytest.raises(InputError, match="window file is damaged"):
        _unpack("window", _pack("counter", {}))


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


class Model:
    """The promise of a window, kept in sets: what was claimed and confirmed, and what is too old."""

    def __init__(self) -> None:
        self.claimed: set[int] = set()
        self.confirmed: set[int] = set()

    def seen(self, counter: int) -> bool:
        old = bool(self.claimed) and counter <= max(self.claimed) - WINDOW
        return old or counter in self.claimed

    def handed_over(self, counter: int) -> bool:
        return counter in self.confirmed and counter > max(self.claimed) - WINDOW


@pytest.mark.parametrize("seed", range(8))
def test_a_window_keeps_what_sets_would(seed: int) -> None:
    source = random.Random(seed)
    store, model = MemoryStore(), Model()
    window = Window(store)
    highest = source.choice([0, 70, 2**32 - 5000])
    for _ in range(150):
        step = source.choice(
            [-WINDOW - 1, -WINDOW, 1 - WINDOW, -3, -1, 0, 1, 2, 7, WINDOW - 1, WINDOW, WINDOW + 1]
        )
        counter = max(0, highest + step)
        if not window.seen(3, counter):
            window.claim(3, counter)
            model.claimed.add(counter)
            if source.random() < 0.7:
                window.confirm(3, counter)
                model.confirmed.add(counter)
        highest = max(highest, counter)
        if source.random() < 0.1:
            window.save()
            window = Window(MemoryStore(store.record))
            window._store = store
        for near in range(max(0, highest - WINDOW - 2), highest + 3):
            assert window.seen(3, near) == model.seen(near), near
            assert window.handed_over(3, near) == model.handed_over(near), near
    assert not window.seen(4, 0) and not window.handed_over(4, 0)


def test_a_confirmation_of_what_is_too_old_changes_nothing() -> None:
    window = Window(MemoryStore())
    window.claim(1, 0)
    window.claim(1, WINDOW)
    window.confirm(1, 0)
    assert not any(window.handed_over(1, counter) for counter in range(WINDOW + 2))
    window.claim(1, WINDOW - 1)
    window.confirm(1, WINDOW - 1)
    assert [c for c in range(WINDOW + 2) if window.handed_over(1, c)] == [WINDOW - 1]


def test_so_many_streams_and_no_more() -> None:
    window = Window(MemoryStore())
    window.save = lambda: None  # type: ignore[method-assign]
    for stream in range(STREAMS_MAX):
        window.claim(stream, 1)
    with pytest.raises(MotecryptError, match="1024 streams"):
        window.claim(STREAMS_MAX, 1)
    window.claim(0, 2)


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
    path.write_text(" " * (1025 - 32) + "5a" * 16)
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


def test_the_numbers_that_users_were_promised() -> None:
    # docs/radio.md: a crash skips at most 64 counters; a message may come 63 behind the newest.
    assert (RESERVE, WINDOW, COUNTER_MAX, STREAMS_MAX) == (64, 64, 4_294_967_295, 1024)


@pytest.mark.parametrize(
    ("name", "figures", "sound"),
    [
        (2**32 - 1, [0, 1, 0], True),
        (2**32, [0, 1, 0], False),
        (1, [COUNTER_MAX, 1, 0], True),
        (1, [COUNTER_MAX + 1, 1, 0], False),
        (1, [0, 2**WINDOW - 1, 2**WINDOW - 1], True),
        (1, [0, 2**WINDOW, 0], False),
        (1, [0, 1, 2**WINDOW], False),
        (1, [-1, 1, 0], False),
        (1, [0, 1], False),
        (1, [0, 1, 0, 0], False),
    ],
)
def test_a_stored_window_is_taken_up_to_its_bounds(name: int, figures: list[int], sound: bool) -> None:
    from motecrypt.link.state import _pack

    store = MemoryStore(_pack("window", {"streams": {str(name): figures}}))
    if sound:
        assert Window(store).seen(name, figures[0])
    else:
        with pytest.raises(InputError, match="window file is damaged"):
            Window(store)


@pytest.mark.parametrize(
    ("stream", "following", "sound"),
    [
        (2**32 - 1, 0, True),
        (2**32, 0, False),
        (0, COUNTER_MAX + 1, True),
        (0, COUNTER_MAX + 2, False),
        (-1, 0, False),
        (0, -1, False),
    ],
)
def test_a_stored_counter_is_taken_up_to_its_bounds(stream: int, following: int, sound: bool) -> None:
    from motecrypt.link.state import _pack, _unpack

    fresh = MemoryStore()
    Counters(fresh, b"key").take()
    assert fresh.record is not None
    named = _unpack("counter", fresh.record)["key"]
    store = MemoryStore(_pack("counter", {"key": named, "stream": stream, "next": following}))
    if sound:
        assert Counters(store, b"key").stream == stream
    else:
        with pytest.raises(InputError, match="counter file is damaged"):
            Counters(store, b"key")


def test_what_is_confirmed_too_late_changes_nothing() -> None:
    store = MemoryStore()
    window = Window(store)
    window.claim(3, 100)
    window.claim(3, 100 + WINDOW)
    window.confirm(3, 100)
    window.save()
    again = Window(MemoryStore(store.record))
    assert not again.handed_over(3, 100) and not again.handed_over(3, 100 + WINDOW)
    assert not any(again.handed_over(3, counter) for counter in range(101, 101 + WINDOW))
