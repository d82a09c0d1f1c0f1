"""A map of shares as a picture inside a page: one pixel for each value, as a PNG (ISO 15948). Pure."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence

from markupsafe import Markup

from motecrypt.present.pages.charts import Axis, frame

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
LIGHTEST, DARKEST = (247, 249, 252), (0, 60, 110)
"""The colours of 0 and 100 %: they differ as much in grey as in colour."""


def png(rows: Sequence[Sequence[int]]) -> bytes:
    """A picture with a palette of 101 colours, from LIGHTEST to DARKEST.

    Parameters
    ----------
    rows
        Values from 0 to 100, all rows of one length; at least one.
    """
    width = len(rows[0])
    palette = bytes(
        round(a + (b - a) * n / 100) for n in range(101) for a, b in zip(LIGHTEST, DARKEST, strict=True)
    )
    lines = b"".join(b"\0" + bytes(min(100, max(0, value)) for value in row) for row in rows)
    header = struct.pack(">IIBBBBB", width, len(rows), 8, 3, 0, 0, 0)
    parts = ((b"IHDR", header), (b"PLTE", palette), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b""))
    return _SIGNATURE + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in parts
    )


def map_chart(label: str, x: Axis, y: Axis, rows: Sequence[Sequence[int]]) -> Markup:
    """A map of per cents, its first row at the top, with a key of its colours."""
    picture = base64.b64encode(png(rows)).decode()
    ends = f"linear-gradient(90deg,rgb{LIGHTEST},rgb{DARKEST})"
    return frame(
        label,
        x,
        y,
        f'<img class="map" alt="" src="data:image/png;base64,{picture}">',
        f'<p class="ramp">0 % <span style="background:{ends}"></span> 100 %</p>',
    )
