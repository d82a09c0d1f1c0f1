"""The figures of the RC4D source's claims, whose words are in data/studies/rc4d.toml."""

from __future__ import annotations

from typing import Any

from motecrypt.catalog import Catalog
from motecrypt.results.experiments.audit import KeyRecovery
from motecrypt.studies.facts import Comparison
from motecrypt.studies.judge import EXACT, Bound
from motecrypt.studies.rc4d import author_claims
from motecrypt.studies.rc4d.figures import Measured, VariantFigure, by_label, percent, printed, times
from motecrypt.studies.rc4d.sketches import Authors
from motecrypt.studies.words import words

#: Modes of AES here; those that take any length need no padding.
AES_MODES = ("aes128-ecb", "aes128-cbc", "aes128-ctr", "aes128-cts")
#: Encryption goes over the message twice, each time from the same S-box.
PASSES = 2
_STYLES = (("rc4", "plain"), ("rc4", "opt"), ("rc4d", "plain"), ("rc4d", "opt"))
Figures = dict[str, Any]


def claims(evidence: Measured, authors: Authors) -> list[Comparison]:
    """Every claim with its verdict; "not measured" where a figure it needs is missing. What is said of the
    author's code is compared with it, and derived from that with ours."""
    said, rows = words("rc4d"), []
    place = {"source": evidence.source, "table": evidence.table, "printed": by_label()}
    for claim, find in said.finders(globals()).items():
        theirs = getattr(author_claims, find.__name__, None)
        made: Figures = {"id": f"rc4d-claim-{claim}", "kind": "claim", "column": "claim"}
        if theirs is not None:
            rows.append(said.row(f"{claim}-author", **place | made | theirs(authors)))
            made = {"id": f"{made['id']}-ours", "kind": "derived", "column": "claim, ours"} | {
                "derived_from": (made["id"],)
            }
        made |= {"like_for_like": "same algorithm, ours"}
        own = {"printed_key": evidence.printed_key}
        try:
            rows.append(said.row(claim, **place | made | own | find(evidence)))
        except KeyError as missing:
            reason = f"no figure for {missing}{evidence.why(missing.args[0])}"
            nothing = {"measured": None, "expected": None, "tolerance": EXACT, "brief": "", "cause": ""}
            rows.append(said.row(claim, **place | made | nothing, note=reason, why="", command=""))
    return rows


def _ratio(slow: VariantFigure, fast: VariantFigure) -> float:
    return round(slow.time_ms / fast.time_ms, 2)


# --- speed and size against AES and RC4 --------------------------------------------------------------


def _faster_than_aes(e: Measured) -> Figures:
    aes, ours, small = e.fastest("aes128-ecb"), e.fastest("rc4d"), e.smallest("aes128-ecb")
    keyed = min(e.figures.ours("aes128-ecb"), key=lambda f: f.time_keyed_ms)
    once = keyed.time_keyed_ms / ours.time_ms
    made = {"measured": _ratio(aes, ours), "small": _ratio(small, ours), "once": once}
    return {**made, "aes": aes, "ours": ours, "keyed": keyed}


def _quarter_of_aes_flash(e: Measured) -> Figures:
    aes, ours = e.smallest("aes128-ecb"), e.smallest("rc4d")
    return {"measured": round(ours.flash_bytes / aes.flash_bytes, 2), "aes": aes, "ours": ours}


def _twice_rc4_time(e: Measured) -> Figures:
    value = _ratio(e.of("rc4d", "k-plain"), e.of("rc4", "k-plain"))
    undone = _ratio(e.of("rc4d", "ki-undo"), e.fastest("rc4", "k"))
    return {"measured": value, "undone": undone, "opt": _ratio(e.of("rc4d", "k-opt"), e.of("rc4", "k-opt"))}


def _twice_rc4_space(e: Measured) -> Figures:
    plain, opt = (e.of("rc4d", v).flash_bytes / e.of("rc4", v).flash_bytes for v in ("k-plain", "k-opt"))
    of = by_label()
    paper = of["RC4D k"].flash_bytes / of["RC4 k"].flash_bytes
    return {"measured": round(plain, 2), "opt": opt, "paper": paper}


def _as_little_as_492(e: Measured) -> Figures:
    ours, ki = e.smallest("rc4d"), e.smallest("rc4d", "ki")
    least = min(row.flash_bytes for row in printed() if row.cipher == "rc4d")
    return {
        "measured": ours.flash_bytes,
        "check": (492.0, float(least)),
        "least": least,
        "ours": ours,
        "ki": ki,
    }


# --- the letters ------------------------------------------------------------------------------------


def _k_faster(e: Measured) -> Figures:
    first, *others = (_ratio(e.of(c, s), e.of(c, f"k-{s}")) for c, s in _STYLES)
    return {"measured": first, "others": times(others), "counted": e.of("rc4", "plain")} | {
        "divided": e.of("rc4", "plain-modulo")
    }


def _k_smaller(e: Measured) -> Figures:
    values = [e.of(c, f"k-{s}").flash_bytes / e.of(c, s).flash_bytes for c, s in _STYLES]
    of = {(row.cipher, row.letters, row.style): row.flash_bytes for row in printed()}
    paper = percent(of[c, "k", s] / of[c, "", s] for c, s in _STYLES)
    return {"measured": percent(values), "found": max(values), "paper": paper}


def _i_faster(e: Measured) -> Figures:
    values = [e.of("rc4d", f"ki-{s}").time_ms / e.of("rc4d", f"k-{s}").time_ms for s in ("plain", "opt")]
    return {"measured": percent(values, 1), "found": max(values)}


def _i_smaller(e: Measured) -> Figures:
    both = [
        e.of("rc4d", f"ki-{s}").flash_bytes / e.of("rc4d", f"k-{s}").flash_bytes for s in ("plain", "opt")
    ]
    return {"measured": percent(both), "found": both[0]}


def _i_less_ram(e: Measured) -> Figures:
    k, ki = e.of("rc4d", "k-plain"), e.of("rc4d", "ki-plain")
    return {
        "k": k,
        "ki": ki,
        "found": float(ki.stack_bytes),
        "expected": Bound("below", float(k.stack_bytes)),
    }


def _p_faster(e: Measured) -> Figures:
    value = _ratio(e.of("rc4d", "ki-plain"), e.of("rc4d", "kip-plain"))
    opt = _ratio(e.of("rc4d", "ki-opt"), e.of("rc4d", "kip-opt"))
    return {"measured": value, "opt": opt, "undo": _ratio(e.of("rc4d", "ki-opt"), e.of("rc4d", "kip-undo"))}


def _p_one_memcpy(e: Measured) -> Figures:
    return {"copied": e.of("rc4d", "kip-opt"), "undone": e.of("rc4d", "kip-undo"), "found": float(PASSES)}


def _p_256_ram(e: Measured) -> Figures:
    return {"measured": float(e.of("rc4d", "kip-plain").ram_bytes)}


def _e_no_good(e: Measured) -> Figures:
    stored, made = e.of("rc4d", "kipe-plain"), e.of("rc4d", "ki-plain")
    copied, best = e.of("rc4d", "kip-plain"), e.of("rc4d", "kipe-undo")
    ratio, added = stored.time_ms / made.time_ms, stored.flash_bytes - made.flash_bytes
    found = {"found": ratio, "ratio": ratio, "added": added}
    return {**found, "stored": stored, "made": made, "copied": copied, "best": best}


def _opt(e: Measured) -> Figures:
    pairs = [
        (e.of(cipher, f"{letters}plain"), e.of(cipher, f"{letters}opt"))
        for cipher in ("rc4", "rc4d")
        for letters in ("", "k-", "ki-", "kip-", "kipe-")
    ]
    smaller = sum(opt.flash_bytes < plain.flash_bytes for plain, opt in pairs)
    faster = sum(opt.time_ms < plain.time_ms for plain, opt in pairs)
    wanted = Bound("at least", float(len(pairs)))
    found = {"found": float(smaller), "expected": wanted}
    return {**found, "smaller": smaller, "faster": faster, "count": len(pairs)}


def _letters_for_rc4(e: Measured) -> Figures:
    others = ("ki-opt", "kip-opt", "kip-undo", "kipe-opt")
    values = [_ratio(e.of("rc4", "k-opt"), e.of("rc4", other)) for other in others]
    return {"others": times(values), "found": values[1]}


def _letters_for_aes(e: Measured) -> Figures:
    aes = e.fastest("aes128-ecb")
    return {"aes": aes, "found": round(aes.time_ms / aes.time_keyed_ms, 2)}


# --- what it takes, diffusion, security ---------------------------------------------------------------


def _any_length(e: Measured) -> Figures:
    found = e.features["RC4D"]
    return {"features": found, "same": ", ".join(map(str, found.identity_bytes)) or "no"}


def _aes_pads(e: Measured) -> Figures:
    found, catalog = e.features["AES"], Catalog.load()
    free = [name for name in AES_MODES if catalog.cipher(name).message.multiple == 1]
    made = {"features": found, "found": float(len(free))}
    return {**made, "free": ", ".join(free), "first": free[0] if free else AES_MODES[0]}


def _rc4_key_length(e: Measured) -> Figures:
    return {"features": e.features["RC4"], "expected": "5 to 256 bytes"}


def _key_length(e: Measured) -> Figures:
    found = e.features["RC4D"]
    return {"features": found, "found": f"{found.keys} bytes", "check": ("16", e.printed_key)}


def _diffusion(e: Measured) -> Figures:
    found = e.features["RC4D"]
    return {"features": found, "passes": found.last_byte_passes_through}


def _stronger(e: Measured) -> Figures:
    found = None if e.attack is None else KeyRecovery.from_json(e.attack.data)
    if found is None:
        raise KeyError("the attack")
    return {"attack": found, "found": float(found.recovered)}


def _two_keys(e: Measured) -> Figures:
    one, two, found = e.of("rc4d", "k-opt"), e.of("rc4d-two-key", "k-opt"), e.features["two keys"]
    costs = {"flash": two.flash_bytes - one.flash_bytes, "ram": two.ram_bytes - one.ram_bytes}
    known = {"same": found.identity_bytes, "passes": found.last_byte_passes_through}
    return {"ratio": two.time_ms / one.time_ms, **costs, **known}
