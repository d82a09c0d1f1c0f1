"""motecrypt wlan: what it prints, and how it refuses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from command_line import run
from motecrypt.air.wlan import samples
from motecrypt.app import wlan
from motecrypt.catalog import Catalog
from motecrypt.catalog.oracles import oracle
from motecrypt.measuring.experiments import transfer_wlan
from motecrypt.measuring.experiments.transfer_wlan import TransferWlan
from tool_sets import needs_tool_set


@pytest.fixture(autouse=True)
def _own_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOTECRYPT_DB", str(tmp_path / "results.db"))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "data.bin"
    path.write_bytes(bytes(range(256)) * 400)
    return path


def _json(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    code, out, err = run(capsys, "wlan", *arguments, "--json", "--closed-form")
    assert code == 0, err
    answer: dict[str, Any] = json.loads(out)
    return answer


def test_the_table_names_bytes_time_and_energy(capsys: pytest.CaptureFixture[str], file: Path) -> None:
    code, out, err = run(capsys, "wlan", str(file), "--security", "wep", "--closed-form")
    assert code == 0, err
    for word in ("102,400 bytes", "8 bytes in each frame", "closed form", "radio, sender", "deprecated"):
        assert word in out


@needs_tool_set("avr", "host")
def test_the_cipher_and_the_device_may_be_ones_own(capsys: pytest.CaptureFixture[str], file: Path) -> None:
    examples = Path(__file__).parents[2] / "examples"
    cipher = str(examples / "xtea" / "xtea-cbc")
    words = [str(file), "--cipher", cipher, "--device", str(examples / "mega"), "--active-ma", "mega=10"]
    code, out, _ = run(capsys, "wlan", *words, "--closed-form")
    assert code == 0 and "xtea-cbc by" in out and "\nmega  " in out
    assert out.endswith(f"Next: motecrypt audit {cipher}\n")


@pytest.mark.parametrize(("encoding", "factor"), [("none", 1.0), ("base64", 4 / 3), ("hex", 2.0)])
def test_only_an_encoding_makes_a_transfer_much_longer(
    capsys: pytest.CaptureFixture[str], file: Path, encoding: str, factor: float
) -> None:
    plain = _json(capsys, str(file))
    encoded = _json(capsys, str(file), "--encoding", encoding)
    assert encoded["payload"]["growth"] == pytest.approx(factor, rel=1e-3)
    ratio = encoded["transfer"]["seconds"]["mean"] / plain["transfer"]["seconds"]["mean"]
    assert ratio == pytest.approx(factor, rel=0.02)


def test_without_ns3_it_says_that_the_closed_form_serves(
    capsys: pytest.CaptureFixture[str], file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transfer_wlan, "program", lambda: None)
    code, out, _ = run(capsys, "wlan", str(file))
    assert code == 0
    assert "closed form" in out and "apt-get install libns3-dev" in out


def test_a_file_larger_than_is_simulated_is_scaled_and_never_read(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    if transfer_wlan.program() is None:
        pytest.skip(transfer_wlan.missing_note())
    huge = tmp_path / "huge"
    with huge.open("wb") as file:
        file.truncate(300_000_000_000)  # sparse: more than any memory, and than this disk
    code, out, err = run(capsys, "wlan", str(huge), "--phy", "g", "--seeds", "1", "--json")
    assert code == 0, err
    answer = json.loads(out)
    assert "in proportion" in answer["engine"]
    form = _json(capsys, str(huge), "--phy", "g")["transfer"]
    assert answer["transfer"]["seconds"]["mean"] == pytest.approx(form["seconds"]["mean"], rel=0.1)


def test_a_capture_is_written_with_the_way_to_read_it(
    capsys: pytest.CaptureFixture[str], file: Path, tmp_path: Path
) -> None:
    pytest.importorskip("scapy", reason="scapy is not installed: pip install 'motecrypt[wlan]'")
    target = tmp_path / "c.pcap"
    answer = _json(capsys, str(file), "--security", "ccmp", "--capture", str(target))
    assert target.stat().st_size > 102_400
    assert "uat:80211_keys" in " ".join(answer["capture"]["tshark"])


def test_bad_input_is_one_line_and_code_2(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, file: Path
) -> None:
    empty = tmp_path / "empty"
    empty.touch()
    cases = [
        ([str(tmp_path / "none")], "cannot be read"),
        ([str(empty)], "is empty"),
        ([str(tmp_path)], "is a directory"),
        ([], "name one file"),
        ([str(file), "--sample", "text:1k"], "name one file"),
        (["--sample", "song:1M"], "text, image, audio, video"),
        (["--sample", "text:lots"], "is not a size"),
        ([str(file), "--cipher", "aes129-ctr"], "aes128-ctr"),
        ([str(file), "--cipher", "aes128-ctr", "--key-bits", "99"], "no key of 99 bits"),
        ([str(file), "--security", "wpa9"], "wpa9"),
        ([str(file), "--battery", "big"], "battery"),
        ([str(file), "--processor", "z80"], "processor"),
    ]
    for arguments, message in cases:
        code, out, err = run(capsys, "wlan", *arguments, "--closed-form")
        assert (code, out) == (2, ""), arguments
        assert message in err and len(err.splitlines()) == 1, arguments
        assert "Traceback" not in err


def test_samples_have_their_sizes_types_and_are_the_same_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    image = pytest.importorskip("PIL.Image", reason="Pillow is missing: pip install 'motecrypt[images]'")
    import wave

    sizes = {"text": 20_001, "image": 28_000, "audio": 33_003, "video": 100_000}
    made = {}
    for folder in ("one", "two"):
        monkeypatch.setenv("MOTECRYPT_CACHE", str(tmp_path / folder))
        for kind, size in sizes.items():
            data = samples.sample(kind, size).read_bytes()
            assert len(data) == size
            assert made.setdefault(kind, data) == data
    with image.open(samples.sample("image", 28_000)) as picture:
        picture.load()
        assert picture.format == "JPEG"
    with wave.open(str(samples.sample("audio", 33_003))) as sound:
        assert (sound.getframerate(), sound.getnchannels()) == (44100, 2)
    assert made["video"].count(b"\xff\xd8\xff") == made["video"].count(b"\xff\xd9") >= 2
    assert samples.bits_per_byte(made["text"]) < 5 < 7 < samples.bits_per_byte(made["image"])


@pytest.mark.parametrize("more", [-1, 1])
def test_a_sample_of_another_size_in_the_cache_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: int
) -> None:
    monkeypatch.setenv("MOTECRYPT_CACHE", str(tmp_path))
    data = samples.sample("text", 100).read_bytes()
    samples.sample("text", 100).write_bytes(bytes(100 + more))
    assert samples.sample("text", 100).read_bytes() == data
    samples.sample("text", 100).write_bytes(bytes(100))
    assert samples.sample("text", 100).read_bytes() == bytes(100), "one of its size is kept"


@pytest.mark.parametrize("encoding", samples.ENCODINGS)
def test_encoding_a_stream_equals_encoding_the_whole(encoding: str) -> None:
    data = bytes(range(251)) * 7
    whole = b"".join(samples.encode([data], encoding))
    pieces = [data[i : i + 10] for i in range(0, len(data), 10)]
    assert b"".join(samples.encode(pieces, encoding)) == whole
    assert len(whole) == samples.encoded_bytes(len(data), encoding)


@dataclass(frozen=True)
class Written:
    """In place of a capture that was written."""

    frames: int = 7
    keys: str = "secret"


@pytest.mark.parametrize("name", ["aes128-cbc", "aes128-ccm8", "aes128-ctr"])
@pytest.mark.parametrize("size", [1, 16, 1000])
def test_a_capture_carries_the_nonce_the_ciphertext_and_the_tag(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, size: int
) -> None:
    sent: list[bytes] = []

    def write(target: Path, pieces: Iterator[bytes], **_: object) -> Written:
        sent.append(b"".join(pieces))
        return Written()

    monkeypatch.setattr(wlan.capture, "write_capture", write)
    catalog, plain = Catalog.load(), bytes(range(1, 251)) * 4
    source = tmp_path / "plain"
    source.write_bytes(plain[:size])
    cipher, request = catalog.cipher(name), TransferWlan(size)
    record = wlan._capture(source, cipher, 128, "none", request, tmp_path / "c.pcap")
    assert set(record) == {"frames", "cipher_key"} and record["frames"] == 7
    key, nonce = bytes.fromhex(record["cipher_key"]), sent[0][: cipher.nonce_bytes]
    padding = 16 - size % 16
    message = plain[:size] + (bytes([padding]) * padding if name == "aes128-cbc" else b"")
    sealed, tag = oracle(cipher)(key, nonce, b"", message)
    assert sent == [nonce + sealed + tag] and len(key) == 16 and len(set(nonce)) > 4
    assert wlan._capture(source, None, None, "none", request, tmp_path / "c.pcap")["cipher_key"] == ""
    assert sent[1] == plain[:size]
