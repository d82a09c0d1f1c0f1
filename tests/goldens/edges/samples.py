"""How sample files are made and kept, without Pillow."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

from goldens.text import digest, plain
from motecrypt.air.wlan import samples
from motecrypt.base.errors import MotecryptError


class Picture:
    """In the place of Pillow's images: says what was done with them."""

    def __init__(self, done: list[Any]) -> None:
        self._done = done

    def resize(self, size: Any, how: Any) -> Picture:
        """As Pillow's."""
        self._done.append(["resize", size, how])
        return self

    def save(self, held: Any, kind: str, quality: int) -> None:
        """A file that grows with the quality."""
        self._done.append(["save", kind, quality])
        held.write(b"\xff\xd8" + bytes(60 * quality + 1200))


def _pictures(done: list[Any]) -> Any:
    def of(name: str) -> Callable[..., Picture]:
        def made(*given: Any) -> Picture:
            kept = [len(one) if isinstance(one, bytes) else one for one in given]
            done.append([name, *("picture" if isinstance(one, Picture) else one for one in kept)])
            return Picture(done)

        return made

    image = SimpleNamespace(new=of("new"), frombytes=of("frombytes"), blend=of("blend"))
    image.Resampling = SimpleNamespace(BICUBIC="bicubic")
    return SimpleNamespace(Image=image)


def sample_edges() -> dict[str, Any]:
    """How images and videos are made, without Pillow; what is kept of the others."""
    found: dict[str, Any] = {}
    for name, sizes in (("image", (3999, 4000, 4096, 28_000, 131_000)), ("video", (4000, 79_999, 80_001))):
        for size in sizes:
            done: list[Any] = []
            with mock.patch.dict("sys.modules", {"PIL": _pictures(done)}):
                try:
                    made = samples._MAKERS[name](size)
                    told = [len(made), digest(made.hex())]
                except MotecryptError as error:
                    told = [str(error)]
            found[f"samples: {name} {size}"] = [*told, *done[:9], digest(plain(done)), len(done)]
    with mock.patch.dict("sys.modules", {"PIL": None}):
        try:
            samples._image(5000)
        except MotecryptError as error:
            found["samples: no Pillow"] = [str(error)]
    steps = []
    with (
        tempfile.TemporaryDirectory() as folder,
        mock.patch.object(samples, "cache_dir", lambda: Path(folder)),
    ):
        made_of: list[int] = []
        makers = {"text": lambda size: made_of.append(size) or bytes(size - (size == 7))}
        with mock.patch.object(samples, "_MAKERS", makers):
            for size in (5, 5, 6, 7):
                try:
                    path = samples.sample("text", size)
                    steps.append([path.name, path.stat().st_size, list(made_of)])
                    path.write_bytes(b"short" if size == 6 else path.read_bytes())
                except MotecryptError as error:
                    steps.append([str(error)])
            steps.append([samples.sample("text", 6).stat().st_size, made_of])
        for size in (samples.SAMPLE_BYTES_MAX, samples.SAMPLE_BYTES_MAX + 1):
            kept = Path(folder) / "samples" / f"text-{size}-v1"
            kept.touch()
            os.truncate(kept, size)
            try:
                steps.append([samples.sample("text", size).name])
            except MotecryptError as error:
                steps.append([str(error)])
    found["samples kept"] = steps
    return {key.replace(":", ""): value for key, value in found.items()}
