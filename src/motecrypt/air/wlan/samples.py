"""Sample files to encrypt and send: text, JPEG, audio and video, made at first use from a fixed seed.

Text is words drawn from a small list, the image a JPEG by Pillow, the audio a WAV by Python's own
``wave``, the video Motion JPEG (Pillow's JPEG frames, one after another): the lightest maintained
tools that give real files of these types. A file has exactly the bytes asked for and is kept in the
cache. Independent of ciphers and Wi-Fi.
"""

from __future__ import annotations

import base64
import io
import math
import random
import wave
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.base.paths import cache_dir, write_atomically

VERSION = 1
SEED = 20090101
ENCODINGS: tuple[str, ...] = ("none", "base64", "hex")


@dataclass(frozen=True)
class Kind:
    """A type of data, with the sizes in bytes that the Wi-Fi study used (its KB taken as 1,000)."""

    name: str
    title: str
    smallest: int
    largest: int


KINDS: dict[str, Kind] = {
    k.name: k
    for k in (
        Kind("text", "plain text", 321_000, 7_139_000),
        Kind("image", "JPEG", 28_000, 131_000),
        Kind("audio", "WAV, 16-bit stereo", 33_000, 8_262_000),
        Kind("video", "Motion JPEG", 4_006_000, 5_073_000),
    )
}


# --- encodings -------------------------------------------------------------------------------------


def encoded_bytes(count: int, encoding: str) -> int:
    """Bytes after encoding that many bytes."""
    _check(encoding)
    if encoding == "base64":
        return 4 * math.ceil(count / 3)
    return 2 * count if encoding == "hex" else count


def encode(pieces: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    """Encode a stream piece by piece; the result equals encoding it as a whole."""
    _check(encoding)
    if encoding == "base64":
        rest = b""
        for piece in pieces:
            rest += piece
            whole = len(rest) // 3 * 3
            yield base64.b64encode(rest[:whole])
            rest = rest[whole:]
        if rest:
            yield base64.b64encode(rest)
    elif encoding == "hex":
        for piece in pieces:
            yield piece.hex().encode()
    else:
        yield from pieces


def _check(encoding: str) -> None:
    if encoding not in ENCODINGS:
        raise InputError(f"unknown encoding '{encoding}': choose one of {', '.join(ENCODINGS)}")


# --- the files -------------------------------------------------------------------------------------


SAMPLE_BYTES_MAX = 256 << 20  # made in memory and kept in the cache


def sample(kind: str, size: int) -> Path:
    """The sample file of that kind and size in bytes, made now if it is not in the cache.

    Raises
    ------
    InputError
        An unknown kind, or a size too small for a file of that kind.
    """
    if kind not in KINDS:
        raise InputError(f"unknown kind of data '{kind}': choose one of {', '.join(KINDS)}")
    if size > SAMPLE_BYTES_MAX:
        raise InputError(f"a sample of {size:,} bytes: at most {SAMPLE_BYTES_MAX:,}; name a file of your own")
    path = cache_dir() / "samples" / f"{kind}-{size}-v{VERSION}"
    if path.exists() and path.stat().st_size == size:
        return path
    data = _MAKERS[kind](size)
    if len(data) != size:
        raise MotecryptError(f"sample {kind}: made {len(data)} bytes instead of {size}")
    write_atomically(path, data)
    return path


_WORDS = """the of and to in a is that for it was on are as with they be at one have this from by hot word
but what some can out other were all there when up use your how said each she which do their time if will
way about many then them write would like so these her long make thing see him two has look more day could
go come did number sound no most people my over know water than call first who may down side been now find
sensor node packet radio battery key cipher energy"""


def _text(size: int) -> bytes:
    """Sentences of words by a Zipf-like law, as running text has."""
    words = _WORDS.split()
    weights = [1 / rank for rank in range(1, len(words) + 1)]
    chance = random.Random(f"{SEED} text")
    parts: list[str] = []
    length = 0
    while length < size:
        sentence = " ".join(chance.choices(words, weights, k=chance.randrange(5, 18)))
        parts.append(sentence.capitalize() + (".\n" if chance.random() < 0.15 else ". "))
        length += len(parts[-1])
    return "".join(parts).encode()[:size]


def _audio(size: int) -> bytes:
    """Chords with decay and a little noise, 44,100 samples a second, 16 bits, two channels."""
    header = 44
    if size < header + 4:
        raise InputError(f"a WAV file of {size} bytes is too small: ask for at least {header + 4}")
    frames = (size - header) // 4
    chance = random.Random(f"{SEED} audio")
    data = bytearray()
    while len(data) < 4 * frames:  # notes of a sixteenth of a second, two of three parts each
        tones = [220 * 2 ** (chance.randrange(25) / 12) for _ in range(2)]
        loud = chance.uniform(2000, 12000)
        for n in range(2756):
            level = loud * math.exp(-n / 2000)
            left = level * math.sin(2 * math.pi * tones[0] * n / 44100) + chance.gauss(0, 60)
            right = level * math.sin(2 * math.pi * tones[1] * n / 44100) + chance.gauss(0, 60)
            data += round(left).to_bytes(2, "little", signed=True)
            data += round(right).to_bytes(2, "little", signed=True)
    held = io.BytesIO()
    with wave.open(held, "wb") as file:
        file.setnchannels(2)
        file.setsampwidth(2)
        file.setframerate(44100)
        file.writeframes(bytes(data[: 4 * frames]))
    return held.getvalue() + bytes(size - header - 4 * frames)


def _jpeg(size: int, chance: random.Random) -> bytes:
    """A JPEG of exactly that many bytes: clouds at several scales, then comment segments to fill."""
    try:
        from PIL import Image
    except ImportError:
        raise MotecryptError(
            "sample images need the Python package Pillow: pip install 'motecrypt[images]'"
        ) from None
    if size < 4000:
        raise InputError(f"a JPEG of {size} bytes is too small: ask for at least 4000")
    side = round(math.sqrt(size / 0.25)) // 8 * 8  # about a quarter of a byte for each pixel
    picture = Image.new("RGB", (side, side), (128, 128, 128))
    for scale in (4, 16, 64, side // 2):
        clouds = Image.frombytes("RGB", (scale, scale), chance.randbytes(3 * scale * scale))
        picture = Image.blend(picture, clouds.resize((side, side), Image.Resampling.BICUBIC), 0.4)
    low, high, best = 1, 95, b""
    while low <= high:  # the best quality that fits
        quality = (low + high) // 2
        held = io.BytesIO()
        picture.save(held, "JPEG", quality=quality)
        if held.tell() <= size - 4:
            best, low = held.getvalue(), quality + 1
        else:
            high = quality - 1
    if not best:
        raise MotecryptError(f"sample image: no quality gives {size} bytes")
    return _fill(best, size)


def _fill(jpeg: bytes, size: int) -> bytes:
    """Grow a JPEG to a size with comment segments behind its start marker (ITU-T T.81, B.2.4.5)."""
    missing = size - len(jpeg)
    comments = b""
    while missing:
        length = min(missing, 65_537)
        if 0 < missing - length < 4:
            length -= 4
        comments += b"\xff\xfe" + (length - 2).to_bytes(2, "big") + bytes(length - 4)
        missing -= length
    return jpeg[:2] + comments + jpeg[2:]


def _image(size: int) -> bytes:
    return _jpeg(size, random.Random(f"{SEED} image"))


def _video(size: int) -> bytes:
    """JPEG frames of about 40 KB, one behind the other."""
    chance = random.Random(f"{SEED} video")
    count = max(1, size // 40_000)
    sizes = [size // count] * count
    sizes[-1] += size - sum(sizes)
    return b"".join(_jpeg(part, chance) for part in sizes)


_MAKERS: dict[str, Callable[[int], bytes]] = {
    "text": _text,
    "image": _image,
    "audio": _audio,
    "video": _video,
}


def bits_per_byte(data: bytes) -> float:
    """Entropy of the byte frequencies: how different kinds of data differ, where ciphertexts do not."""
    counts = [data.count(value) for value in range(256)]
    return -sum(c / len(data) * math.log2(c / len(data)) for c in counts if c)
