"""What the RC4D source says of its own programs, next to the author's sketches."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import truediv

from motecrypt.studies.facts import LikeForLike
from motecrypt.studies.judge import Bound
from motecrypt.studies.rc4d.figures import percent, times
from motecrypt.studies.rc4d.found import ABOUT, Found
from motecrypt.studies.rc4d.sketches import AuthorFigure, Authors, joined

_STYLES = ("plain", "opt")
AES, RC4, RC4D = "aes128-ecb", "rc4", "rc4d"
Judged = tuple[Found, LikeForLike]


def _ratio(one: AuthorFigure, other: AuthorFigure) -> AuthorFigure:
    return joined(truediv, one, other)


def _about(ratio: AuthorFigure, note: str) -> Judged:
    return Found(round(ratio.value, 2), note, tolerance=ABOUT), ratio.like_for_like


def _against_aes_time(a: Authors) -> Judged:
    aes, fast = a.time_ms(AES, "", "plain"), a.time_ms(RC4D, "kip", "plain")
    return _about(
        _ratio(aes, fast),
        f"{aes.value:.0f} ms / {fast.value:.0f} ms (kip), plain; AES expands its key in "
        "every call on a block, kip never",
    )


def _against_aes_flash(a: Authors) -> Judged:
    small, aes = a.flash_bytes(RC4D, "kip", "opt"), a.flash_bytes(AES, "", "opt")
    return _about(_ratio(small, aes), f"{small.value:.0f} bytes (kip) / {aes.value:.0f}, opt")


def _against_rc4_time(a: Authors) -> Judged:
    pairs = [_ratio(a.time_ms(RC4D, "k", s), a.time_ms(RC4, "k", s)) for s in _STYLES]
    return _about(pairs[0], f"k plain; k opt {pairs[1].value:.2f}")


def _against_rc4_flash(a: Authors) -> Judged:
    pairs = [_ratio(a.flash_bytes(RC4D, "k", s), a.flash_bytes(RC4, "k", s)) for s in _STYLES]
    return _about(pairs[0], f"k plain; k opt {pairs[1].value:.2f}")


def _fixed_key_time(a: Authors) -> Judged:
    ratios = [_ratio(a.time_ms(c, "", s), a.time_ms(c, "k", s)) for c in (RC4, RC4D) for s in _STYLES]
    least = joined(min, *ratios)
    found = Found(
        round(least.value, 2),
        f"the least of RC4 plain, opt, RC4D plain, opt: {times([r.value for r in ratios])}",
        expected=Bound("above", 2.0),
    )
    return found, least.like_for_like


def _changes(ratios: list[AuthorFigure], note: str) -> Judged:
    """Of a claim that something becomes less: each ratio of after to before is below 1."""
    most = joined(max, *ratios)
    found = Found(percent(r.value for r in ratios), note, value=most.value, expected=Bound("below", 1.0))
    return found, most.like_for_like


def _fixed_key_flash(a: Authors) -> Judged:
    return _changes(
        [_ratio(a.flash_bytes(c, "k", s), a.flash_bytes(c, "", s)) for c in (RC4, RC4D) for s in _STYLES],
        "RC4 plain, opt, RC4D plain, opt",
    )


def _in_place_time(a: Authors) -> Judged:
    return _changes(
        [_ratio(a.time_ms(RC4D, "ki", s), a.time_ms(RC4D, "k", s)) for s in _STYLES], "plain, opt"
    )


def _in_place_flash(a: Authors) -> Judged:
    return _changes(
        [_ratio(a.flash_bytes(RC4D, "ki", s), a.flash_bytes(RC4D, "k", s)) for s in _STYLES], "plain, opt"
    )


def _precomputed_time(a: Authors) -> Judged:
    pairs = [_ratio(a.time_ms(RC4D, "ki", s), a.time_ms(RC4D, "kip", s)) for s in _STYLES]
    return _about(pairs[0], f"plain; opt {pairs[1].value:.2f}")


def _precomputed_ram(a: Authors) -> Judged:
    taken = a.ram_bytes(RC4D, "kip", "plain")
    return Found(taken.value, "kip less the no-op sketch of ki"), taken.like_for_like


def _eeprom(a: Authors) -> Judged:
    stored, made = a.time_ms(RC4D, "kipe", "plain"), a.time_ms(RC4D, "ki", "plain")
    ratio = _ratio(stored, made)
    found = Found(
        f"{ratio.value:.2f} of the time of ki",
        f"{stored.value:.0f} ms / {made.value:.0f} ms, plain; with the paper's times 4309 / 3617",
        value=ratio.value,
        expected=Bound("above", 1.0),
        cause="a compiler that inlines less of the Arduino library's EEPROM.get (docs/fidelity.md)",
        known="consistent with",
    )
    return found, ratio.like_for_like


def _optimised(a: Authors) -> Judged:
    names = [
        (AES, ""),
        (RC4, ""),
        (RC4, "k"),
        *((RC4D, letters) for letters in ("", "k", "ki", "kip", "kipe")),
    ]
    flash = [_ratio(a.flash_bytes(*name, "opt"), a.flash_bytes(*name, "plain")) for name in names]
    time = [_ratio(a.time_ms(*name, "opt"), a.time_ms(*name, "plain")) for name in names]
    smaller, faster = (sum(r.value < 1 for r in ratios) for ratios in (flash, time))
    larger = joined(max, *flash, *time)
    found = Found(
        f"smaller in {smaller} of {len(names)}, faster in {faster}",
        "to some degree: never larger and in most smaller; RC4D k has one body of code for both",
        value=max(r.value for r in flash),
        expected=Bound("at most", 1.0),
    )
    return found, larger.like_for_like


#: By the claim's id: those whose figures are of the author's programs.
AUTHORS_CLAIMS: Mapping[str, Callable[[Authors], Judged]] = {
    "faster-than-aes": _against_aes_time,
    "quarter-of-aes-flash": _against_aes_flash,
    "twice-rc4-time": _against_rc4_time,
    "twice-rc4-space": _against_rc4_flash,
    "k-faster": _fixed_key_time,
    "k-smaller": _fixed_key_flash,
    "i-faster": _in_place_time,
    "i-smaller": _in_place_flash,
    "p-faster": _precomputed_time,
    "p-256-ram": _precomputed_ram,
    "e-no-good": _eeprom,
    "opt": _optimised,
}
