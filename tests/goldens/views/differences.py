"""What a comparison of two sets of made-up results says."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from goldens.text import digest, plain
from goldens.views.made_up import filled
from motecrypt.base.model import Measurement
from motecrypt.present.compare import compare


def _changed(m: Measurement, number: int) -> Measurement:
    """Slower, faster, larger, failing or fixed, by turns; most stay as they are."""
    turn = number % 29
    ran = m.status == "ok" and m.cycles_median is not None
    if not ran:
        if turn % 3 == 0:
            return replace(m, status="ok", reason="", cycles_median=7 * number, extra={})
        return replace(m, reason="another reason") if turn % 3 == 1 else m
    assert m.cycles_median is not None and m.stack_bytes is not None
    if turn == 1:
        return replace(m, cycles_median=round(m.cycles_median * (1 + 0.001 * number)))
    if turn == 2:
        return replace(m, cycles_median=m.cycles_median - 1 - number % 40, stack_bytes=m.stack_bytes + 3)
    if turn == 3:
        return replace(m, status="wrong-output", reason="byte 3", cycles_median=None)
    if turn == 4:
        return replace(m, flash_bytes=(m.flash_bytes or 0) + number % 50, ram_bytes=(m.ram_bytes or 0) - 2)
    return replace(m, stack_bytes=0) if turn == 5 else m


def differences() -> dict[str, Any]:
    """Two sets of measurements: what became better, worse, new, gone, failed."""
    before = filled("near").newest_measurements(cipher=("aes128-ccm8", "rc4d", "aes128-cbc"))
    before = sorted(before, key=lambda m: tuple(map(str, m.identity)))
    after = [_changed(m, number) for number, m in enumerate(before) if number % 31]
    grown = [replace(before[0], message_bytes=9999), replace(before[5], stack_bytes=0)]
    found: dict[str, Any] = {}
    for name, threshold, across in (("usual", 2.0, False), ("any", 0.0, False), ("flags", 20.0, True)):
        difference = compare([*before[3:], *grown[1:]], [*after, grown[0]], threshold, across)
        head = [difference.cells, difference.equal, difference.threshold_percent, difference.worse]
        changes = [list(plain(change).values()) for change in difference.changes]
        found[name] = [head, *(changes if name == "usual" else [digest(changes), *changes[:8]])]
    same = compare(before, before)
    better = compare(before, [replace(m, stack_bytes=0) for m in before])
    found["equal"] = [[d.cells, d.equal, d.worse, len(d.changes)] for d in (same, better)]
    return found
