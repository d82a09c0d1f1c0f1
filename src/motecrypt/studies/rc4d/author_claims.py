"""The figures of the author's sketches for what the RC4D source says of its own programs; its words are in
data/studies/rc4d.toml, under the names of claims.py."""

from __future__ import annotations

from operator import truediv
from typing import Any

from motecrypt.studies.rc4d.figures import percent, times
from motecrypt.studies.rc4d.sketches import AuthorFigure, Authors, joined

_STYLES = ("plain", "opt")
AES, RC4, RC4D = "aes128-ecb", "rc4", "rc4d"
Figures = dict[str, Any]


def _ratio(one: AuthorFigure, other: AuthorFigure) -> AuthorFigure:
    return joined(truediv, one, other)


def _times(a: Authors, cipher: str, slow: str, fast: str) -> list[AuthorFigure]:
    return [_ratio(a.time_ms(cipher, slow, s), a.time_ms(cipher, fast, s)) for s in _STYLES]


def _flashes(a: Authors, cipher: str, large: str, small: str) -> list[AuthorFigure]:
    return [_ratio(a.flash_bytes(cipher, large, s), a.flash_bytes(cipher, small, s)) for s in _STYLES]


def _about(ratio: AuthorFigure, **others: AuthorFigure) -> Figures:
    return {"measured": round(ratio.value, 2), "like_for_like": ratio.like_for_like, **others}


def _faster_than_aes(a: Authors) -> Figures:
    aes, fast = a.time_ms(AES, "", "plain"), a.time_ms(RC4D, "kip", "plain")
    return _about(_ratio(aes, fast), aes=aes, fast=fast)


def _quarter_of_aes_flash(a: Authors) -> Figures:
    small, aes = a.flash_bytes(RC4D, "kip", "opt"), a.flash_bytes(AES, "", "opt")
    return _about(_ratio(small, aes), small=small, aes=aes)


def _twice_rc4_time(a: Authors) -> Figures:
    plain, opt = (_ratio(a.time_ms(RC4D, "k", s), a.time_ms(RC4, "k", s)) for s in _STYLES)
    return _about(plain, opt=opt)


def _twice_rc4_space(a: Authors) -> Figures:
    plain, opt = (_ratio(a.flash_bytes(RC4D, "k", s), a.flash_bytes(RC4, "k", s)) for s in _STYLES)
    return _about(plain, opt=opt)


def _k_faster(a: Authors) -> Figures:
    ratios = [ratio for cipher in (RC4, RC4D) for ratio in _times(a, cipher, "", "k")]
    return {**_about(joined(min, *ratios)), "every": times([ratio.value for ratio in ratios])}


def _changes(ratios: list[AuthorFigure]) -> Figures:
    """Of a claim that something becomes less: each ratio of after to before is below 1."""
    most = joined(max, *ratios)
    made = {"measured": percent(ratio.value for ratio in ratios), "found": most.value}
    return {**made, "like_for_like": most.like_for_like}


def _k_smaller(a: Authors) -> Figures:
    return _changes([ratio for cipher in (RC4, RC4D) for ratio in _flashes(a, cipher, "k", "")])


def _i_faster(a: Authors) -> Figures:
    return _changes(_times(a, RC4D, "ki", "k"))


def _i_smaller(a: Authors) -> Figures:
    return _changes(_flashes(a, RC4D, "ki", "k"))


def _p_faster(a: Authors) -> Figures:
    plain, opt = _times(a, RC4D, "ki", "kip")
    return _about(plain, opt=opt)


def _p_256_ram(a: Authors) -> Figures:
    taken = a.ram_bytes(RC4D, "kip", "plain")
    return {"measured": taken.value, "like_for_like": taken.like_for_like}


def _e_no_good(a: Authors) -> Figures:
    stored, made = a.time_ms(RC4D, "kipe", "plain"), a.time_ms(RC4D, "ki", "plain")
    ratio = _ratio(stored, made)
    found = {"found": ratio.value, "like_for_like": ratio.like_for_like}
    return {**found, "ratio": ratio, "stored": stored, "made": made}


def _opt(a: Authors) -> Figures:
    names = [(AES, ""), (RC4, ""), (RC4, "k"), *((RC4D, x) for x in ("", "k", "ki", "kip", "kipe"))]
    flash = [_ratio(a.flash_bytes(*name, "opt"), a.flash_bytes(*name, "plain")) for name in names]
    time = [_ratio(a.time_ms(*name, "opt"), a.time_ms(*name, "plain")) for name in names]
    smaller, faster = (sum(r.value < 1 for r in ratios) for ratios in (flash, time))
    made = {"found": max(r.value for r in flash), "like_for_like": joined(max, *flash, *time).like_for_like}
    return {**made, "smaller": smaller, "faster": faster, "count": len(names)}
