"""What the RC4D source says in its text, claim by claim, each with our figures and the evidence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from motecrypt.catalog import Catalog
from motecrypt.results.findings.audit import KeyRecovery
from motecrypt.studies.claim_ids import ClaimId
from motecrypt.studies.facts import Comparison, LikeForLike
from motecrypt.studies.judge import Bound, Check, Evidence, compare
from motecrypt.studies.rc4d.author_claims import AUTHORS_CLAIMS
from motecrypt.studies.rc4d.figures import (
    Measured,
    Printed,
    VariantFigure,
    percent,
    printed,
    times,
)
from motecrypt.studies.rc4d.found import ABOUT, Found
from motecrypt.studies.rc4d.sketches import Authors

AGAIN = "motecrypt reproduce rc4d --rows"
MEASURE = "motecrypt measure --device uno --cipher"
#: Modes of AES here; those that take any length need no padding.
AES_MODES = ("aes128-ecb", "aes128-cbc", "aes128-ctr", "aes128-cts")
#: Encryption goes over the message twice, each time from the same S-box.
PASSES = 2


@dataclass(frozen=True)
class Claim:
    """A sentence of the source in our words, what it promises, and what is found of it."""

    id: str
    says: str
    published: float | str
    unit: str
    find: Callable[[Measured], Found]
    topic: str = ""


def claims(evidence: Measured, authors: Authors) -> list[Comparison]:
    """Every claim with its verdict; "not measured" where a figure it needs is missing. What is said of the
    author's code is compared with it, and derived from that with ours."""
    rows = []
    for claim in CLAIMS:
        try:
            found = claim.find(evidence)
        except KeyError as missing:
            found = Found("", f"no figure for {missing}{evidence.why(missing.args[0])}")
        theirs = AUTHORS_CLAIMS.get(claim.id)
        if theirs is None:
            rows.append(_row_of(claim, evidence, found, "same algorithm, ours"))
        else:
            his, basis = theirs(authors)
            rows.append(_row_of(claim, evidence, his, basis))
            rows.append(_row_of(claim, evidence, found, "same algorithm, ours", derived=True))
    return rows


def _row_of(
    claim: Claim, evidence: Measured, found: Found, basis: LikeForLike, derived: bool = False
) -> Comparison:
    claimed = f"rc4d-claim-{claim.id}"
    return compare(
        id=f"{claimed}-ours" if derived else claimed,
        source=evidence.source,
        table=evidence.table,
        row=claim.says,
        column="claim, ours" if derived else "claim",
        unit=claim.unit,
        kind="derived" if derived else "claim",
        published=claim.published,
        measured=None if found.measured == "" else found.measured,
        expected=found.expected,
        found=found.value,
        tolerance=found.tolerance,
        evidence=Evidence(
            basis,
            checks=found.checks,
            derived_from=(claimed,) if derived else (),
            cause=found.cause,
            known=found.known,
            command=found.command,
        ),
        note=found.note,
        brief=found.brief,
        topic=claim.topic,
    )


def _row(cipher: str, letters: str, style: str = "plain") -> Printed:
    return next(r for r in printed() if (r.cipher, r.letters, r.style) == (cipher, letters, style))


def _ratio(slow: VariantFigure, fast: VariantFigure) -> float:
    return round(slow.time_ms / fast.time_ms, 2)


# --- speed and size against AES and RC4 --------------------------------------------------------------


def _against_aes_time(e: Measured) -> Found:
    aes, ours = e.fastest("aes128-ecb"), e.fastest("rc4d")
    small = e.smallest("aes128-ecb")
    keyed = min(e.figures.ours("aes128-ecb"), key=lambda f: f.time_keyed_ms)
    value = _ratio(aes, ours)
    return Found(
        value,
        f"the paper is {_row('aes128-ecb', '').time_ms:.0f} / {_row('rc4d', 'kip').time_ms:.0f} ms: an AES "
        "that expands its key in every call on a block, against an RC4D that never does. "
        f"Ours like that: {aes.time_ms:.0f} ms ({aes.variant}) / {ours.time_ms:.0f} ms ({ours.variant}); our "
        f"smallest AES {_ratio(small, ours):.0f}x. With AES's key expanded once as well, "
        f"{keyed.time_keyed_ms:.0f} ms, {keyed.time_keyed_ms / ours.time_ms:.1f}x",
        tolerance=ABOUT,
        cause=f"our AES is faster than the source's: {aes.time_ms:.0f} ms for its "
        f"{_row('aes128-ecb', '').time_ms:.0f}",
        known="shown by experiment",
        command=AGAIN,
    )


def _against_aes_flash(e: Measured) -> Found:
    aes, ours = e.smallest("aes128-ecb"), e.smallest("rc4d")
    value = round(ours.flash_bytes / aes.flash_bytes, 2)
    return Found(
        value,
        f"our smallest: {ours.flash_bytes} bytes ({ours.variant}) / {aes.flash_bytes} ({aes.variant}); the "
        f"paper: {_row('rc4d', 'kip', 'opt').flash_bytes} / {_row('aes128-ecb', '', 'opt').flash_bytes}",
        tolerance=ABOUT,
        cause=f"our AES takes {aes.flash_bytes} bytes, the source's "
        f"{_row('aes128-ecb', '', 'opt').flash_bytes}",
        known="shown by experiment",
        command=AGAIN,
    )


def _against_rc4_time(e: Measured) -> Found:
    value = _ratio(e.of("rc4d", "k-plain"), e.of("rc4", "k-plain"))
    undone = _ratio(e.of("rc4d", "ki-undo"), e.fastest("rc4", "k"))
    return Found(
        value,
        f"k-plain; k-opt {_ratio(e.of('rc4d', 'k-opt'), e.of('rc4', 'k-opt')):.2f}. Most of it is the second "
        f"key schedule: with one for both passes (ki-undo) {undone:.2f} of the fastest RC4 k",
        tolerance=ABOUT,
    )


def _against_rc4_flash(e: Measured) -> Found:
    pairs = [(e.of("rc4d", v), e.of("rc4", v)) for v in ("k-plain", "k-opt")]
    values = [d.flash_bytes / r.flash_bytes for d, r in pairs]
    value = round(values[0], 2)
    return Found(
        value,
        f"k-plain; k-opt {values[1]:.2f}. The paper: {_row('rc4d', 'k').flash_bytes} / "
        f"{_row('rc4', 'k').flash_bytes}, {_row('rc4d', 'k').flash_bytes / _row('rc4', 'k').flash_bytes:.2f}",
        tolerance=ABOUT,
    )


def _smallest(e: Measured) -> Found:
    ours = e.smallest("rc4d")
    ki = e.smallest("rc4d", "ki")
    least = min(row.flash_bytes for row in printed() if row.cipher == "rc4d")
    return Found(
        ours.flash_bytes,
        f"by its own table {least} with kip (opt). Ours: {ours.flash_bytes} ({ours.variant}); of the "
        f"row that prints 492, ki: {ki.flash_bytes} ({ki.variant})",
        checks=(Check(492.0, float(least), f"its own table has {least} bytes, kip (opt)", AGAIN),),
    )


# --- the letters ------------------------------------------------------------------------------------


def _fixed_key_time(e: Measured) -> Found:
    value = _ratio(e.of("rc4", "plain"), e.of("rc4", "k-plain"))
    others = [
        _ratio(e.of(cipher, base), e.of(cipher, fixed))
        for cipher, base, fixed in (
            ("rc4", "opt", "k-opt"),
            ("rc4d", "plain", "k-plain"),
            ("rc4d", "opt", "k-opt"),
        )
    ]
    divided = e.of("rc4", "plain-modulo")
    return Found(
        value,
        f"RC4 plain; RC4 opt, RC4D plain and opt: {times(others)}. The paper's gain is that of leaving out a "
        f"division: with one in every step of the key schedule our RC4 takes {divided.time_ms:.0f} ms "
        f"(paper {_row('rc4', '').time_ms:.0f}), with a counter that begins again "
        f"{e.of('rc4', 'plain').time_ms:.0f} ms, for a key of any length",
        expected=Bound("above", 2.0),
        cause="the source divides in every step of the key schedule where the key is not fixed, ours counts",
        known="shown by experiment",
        command=f"{MEASURE} rc4 --variant plain --variant plain-modulo",
    )


def _fixed_key_flash(e: Measured) -> Found:
    pairs = (
        ("rc4", "plain", "k-plain"),
        ("rc4", "opt", "k-opt"),
        ("rc4d", "plain", "k-plain"),
        ("rc4d", "opt", "k-opt"),
    )
    values = [e.of(c, k).flash_bytes / e.of(c, base).flash_bytes for c, base, k in pairs]
    from_print = [_row(c, "k", s).flash_bytes / _row(c, "", s).flash_bytes for c, s in _STYLES]
    return Found(
        percent(values),
        f"RC4 plain, opt, RC4D plain, opt; the paper: {percent(from_print)}, most of it the division's code",
        value=max(values),
        expected=Bound("below", 1.0),
    )


def _in_place_time(e: Measured) -> Found:
    values = [e.of("rc4d", f"ki-{s}").time_ms / e.of("rc4d", f"k-{s}").time_ms for s in ("plain", "opt")]
    return Found(
        ", ".join(f"{100 * (v - 1):+.1f} %" for v in values),
        "plain, opt; the paper: -2.7 %, -6.4 %. Our k-opt needs no second buffer either: its passes meet in "
        "the output",
        value=max(values),
        expected=Bound("at most", 1.0),
    )


def _in_place_flash(e: Measured) -> Found:
    plain, opt = (
        e.of("rc4d", f"ki-{s}").flash_bytes / e.of("rc4d", f"k-{s}").flash_bytes for s in ("plain", "opt")
    )
    return Found(
        percent((plain, opt)),
        "plain, opt; the paper: -14 %, -20 %. In place saves the code of a buffer of variable length; where "
        "there is none (k-opt), it costs the copy of a message that is not in place",
        value=plain,
        expected=Bound("below", 1.0),
    )


def _in_place_ram(e: Measured) -> Found:
    k, ki = e.of("rc4d", "k-plain"), e.of("rc4d", "ki-plain")
    return Found(
        f"{k.stack_bytes} to {ki.stack_bytes} bytes of stack",
        "a message of 32 bytes, plain; the S-box takes 256 of them",
        value=float(ki.stack_bytes),
        expected=Bound("below", float(k.stack_bytes)),
    )


def _precomputed_time(e: Measured) -> Found:
    value = _ratio(e.of("rc4d", "ki-plain"), e.of("rc4d", "kip-plain"))
    opt = _ratio(e.of("rc4d", "ki-opt"), e.of("rc4d", "kip-opt"))
    undo = _ratio(e.of("rc4d", "ki-opt"), e.of("rc4d", "kip-undo"))
    return Found(
        value,
        f"plain; opt {opt:.2f}, as the S-box copies take a larger share when the key schedule is faster; "
        f"without copies (kip-undo) {undo:.2f}",
        tolerance=ABOUT,
    )


def _one_memcpy(e: Measured) -> Found:
    copied, undone = e.of("rc4d", "kip-opt"), e.of("rc4d", "kip-undo")
    return Found(
        "2, or none",
        "each of the two passes begins with the S-box as the key left it, so the source copies it twice. "
        "Its evolution does not depend on the message: kip-undo takes the swaps back instead, in "
        f"{undone.time_ms:.0f} ms against {copied.time_ms:.0f}, with {undone.stack_bytes} bytes of stack "
        f"against {copied.stack_bytes}",
        value=float(PASSES),
        expected=1.0,
        cause="each pass begins from the S-box as the key left it",
        known="shown by experiment",
        command=f"{MEASURE} rc4d --variant kip-opt --variant kip-undo",
    )


def _precomputed_ram(e: Measured) -> Found:
    figure = e.of("rc4d", "kip-plain")
    return Found(float(figure.ram_bytes), "the S-box in the context, any kip")


def _eeprom(e: Measured) -> Found:
    stored, made = e.of("rc4d", "kipe-plain"), e.of("rc4d", "ki-plain")
    copied, best = e.of("rc4d", "kip-plain"), e.of("rc4d", "kipe-undo")
    return Found(
        f"{stored.time_ms / made.time_ms:.2f} of the time of ki",
        f"the paper: {_row('rc4d', 'kipe').time_ms:.0f} / {_row('rc4d', 'ki').time_ms:.0f}. Reading 256 "
        "bytes with avr-libc's eeprom_read_block costs less than a key schedule: "
        f"{stored.time_ms:.0f} ms against {made.time_ms:.0f}, and saves {copied.ram_bytes} bytes of RAM for "
        f"{stored.flash_bytes - made.flash_bytes} of flash; read once for both passes "
        f"{best.time_ms:.0f} ms. But setup writes 256 bytes, 3.4 ms each, and wears them",
        value=stored.time_ms / made.time_ms,
        expected=Bound("above", 1.0),
        cause="reading the 256 bytes costs less here than a key schedule; the source reads each byte through "
        "the Arduino library, which another compiler inlines less (docs/fidelity.md)",
        known="consistent with",
    )


_STYLES = (("rc4", "plain"), ("rc4", "opt"), ("rc4d", "plain"), ("rc4d", "opt"))


def _optimised(e: Measured) -> Found:
    pairs = [
        (e.of(cipher, f"{letters}plain"), e.of(cipher, f"{letters}opt"))
        for cipher in ("rc4", "rc4d")
        for letters in ("", "k-", "ki-", "kip-", "kipe-")
    ]
    smaller = sum(opt.flash_bytes < plain.flash_bytes for plain, opt in pairs)
    faster = sum(opt.time_ms < plain.time_ms for plain, opt in pairs)
    return Found(
        f"smaller in {smaller} of {len(pairs)}, faster in {faster}",
        "the paper: smaller in 7 of 8 and never larger, but slower in AES, kip and kipe",
        value=float(smaller),
        expected=Bound("at least", float(len(pairs))),
    )


def _also_rc4(e: Measured) -> Found:
    others = ("ki-opt", "kip-opt", "kip-undo", "kipe-opt")
    values = [_ratio(e.of("rc4", "k-opt"), e.of("rc4", other)) for other in others]
    return Found(
        f"{times(values)} times as fast as k",
        "the exercise done: ki, kip, kip without a copy (undo), kipe, against k (opt)",
        value=values[1],
        expected=Bound("above", 1.0),
    )


def _not_for_aes(e: Measured) -> Found:
    aes = e.fastest("aes128-ecb")
    value = round(aes.time_ms / aes.time_keyed_ms, 2)
    return Found(
        f"{value:.2f}x faster",
        f"p can: what AES makes of its key kept instead of made again for every block, "
        f"{aes.time_keyed_ms:.0f} ms instead of {aes.time_ms:.0f} ({aes.variant})",
        value=value,
        expected=Bound("at most", 1.0),
        cause="a key that is expanded once is what p does",
        known="shown by experiment",
        command=AGAIN,
    )


# --- what it takes, diffusion, security ---------------------------------------------------------------


def _any_length(e: Measured) -> Found:
    found = e.features["RC4D"]
    return Found(
        str(found.messages),
        "0 to 4,096 bytes tried; above 255 RC4's index begins again. "
        f"But a message of {', '.join(map(str, found.identity_bytes)) or 'no'} byte is sent as itself",
    )


def _padding(e: Measured) -> Found:
    found, catalog = e.features["AES"], Catalog.load()
    free = [name for name in AES_MODES if catalog.cipher(name).message.multiple == 1]
    return Found(
        f"{found.messages} in ECB",
        "true of ECB and CBC. CTR takes any length and CBC with ciphertext stealing any from 16 bytes, "
        f"neither pads ({', '.join(free)} here); the text itself names such modes",
        value=float(len(free)),
        expected=Bound("at most", 0.0),
        cause="whether AES pads is up to its mode",
        known="shown by experiment",
        command=f"{MEASURE} {free[0] if free else AES_MODES[0]} --bytes 17",
    )


def _key_length(e: Measured) -> Found:
    found = e.features["RC4D"]
    return Found(
        f"{found.keys} bytes",
        "by its own table too: RC4D takes any key, only the k variants do not",
        value=f"{found.keys} bytes",
        checks=(
            Check(
                "16",
                e.printed_key,
                f"its own table says {e.printed_key}: only the k variants fix the key",
                AGAIN,
            ),
        ),
    )


def _rc4_key_length(e: Measured) -> Found:
    found = e.features["RC4"]
    return Found(
        f"{found.keys} bytes",
        "every length up to 256 bytes was tried; a longer key would not change the S-box further",
        expected="5 to 256 bytes",
        cause="our RC4 takes other lengths",
        known="shown by experiment",
        command=AGAIN,
    )


def _whole_ciphertext(e: Measured) -> Found:
    found = e.features["RC4D"]
    passes = "and XOR into the last byte of a message is the same XOR into the first of the ciphertext"
    return Found(
        str(found.diffusion),
        "of encryption, from 2 bytes on. Decryption does not diffuse: a changed bit of ciphertext changes at "
        f"most {found.decrypt_reach_bytes} bytes of plaintext"
        + (f", {passes}" if found.last_byte_passes_through else ""),
    )


def _stronger(e: Measured) -> Found:
    found = None if e.attack is None else KeyRecovery.from_json(e.attack.data)
    if found is None:
        raise KeyError("the attack")
    how = (
        f"about {found.queries_mean:.0f} chosen messages of two bytes give the whole secret table, "
        "after which all messages of the key can be read and made (motecrypt audit rc4d)"
    )
    return Found(
        f"{found.recovered} of {found.keys} keys broken",
        f"{how}. RC4 under a key used twice loses its keystream, RC4D its state",
        brief=how,
        value=float(found.recovered),
        expected=Bound("at most", 0.0),
        cause=how,
        known="shown by experiment",
        command="motecrypt audit rc4d",
    )


def _two_keys(e: Measured) -> Found:
    one, two = e.of("rc4d", "k-opt"), e.of("rc4d-two-key", "k-opt")
    found = e.features["two keys"]
    notes = "one byte is no longer sent as itself" if not found.identity_bytes else ""
    if found.last_byte_passes_through:
        notes += "; XOR into the last byte still is XOR into the first of the ciphertext, so it is still "
        notes += "distinguished from a random cipher by two messages"
    return Found(
        "",
        f"how much security it adds. Its cost: {two.time_ms / one.time_ms:.2f} of the time, "
        f"{two.flash_bytes - one.flash_bytes:+d} bytes of flash, {two.ram_bytes - one.ram_bytes:+d} of RAM "
        f"(k-opt), and for undo a second S-box. {notes[:1].upper()}{notes[1:]}",
    )


CLAIMS: Sequence[Claim] = (
    Claim(
        "faster-than-aes",
        "RC4D is up to 10x faster than AES",
        10.0,
        "x",
        _against_aes_time,
        ClaimId.RC4D_FASTER_THAN_AES,
    ),
    Claim("quarter-of-aes-flash", "RC4D takes about a quarter of AES's flash", 0.25, "x", _against_aes_flash),
    Claim("twice-rc4-time", "RC4D takes 2x the time of RC4", 2.0, "x", _against_rc4_time),
    Claim("twice-rc4-space", "RC4D takes 2x the space of RC4", 2.0, "x", _against_rc4_flash),
    Claim("as-little-as-492", "All of RC4D takes as little as 492 bytes", 492.0, "bytes", _smallest),
    Claim("k-faster", "k: a fixed key makes it more than 2x faster", 2.0, "x", _fixed_key_time),
    Claim("k-smaller", "k: a fixed key makes it decently smaller", "smaller", "", _fixed_key_flash),
    Claim("i-faster", "i: in place is a little faster", "faster", "", _in_place_time),
    Claim("i-smaller", "i: in place is a little smaller", "smaller", "", _in_place_flash),
    Claim("i-less-ram", "i: in place takes less RAM", "less", "", _in_place_ram),
    Claim("p-faster", "p: a precomputed S-box makes it 3x faster", 3.0, "x", _precomputed_time),
    Claim("p-one-memcpy", "p: what remains of the overhead is one memcpy", "1", "", _one_memcpy),
    Claim("p-256-ram", "p: costs 256 bytes of RAM", 256.0, "bytes", _precomputed_ram),
    Claim("e-no-good", "e: keeping the S-box in EEPROM does no good", "slower than ki", "", _eeprom),
    Claim("opt", "(opt) is optimised to some degree", "optimised", "", _optimised),
    Claim("letters-for-rc4", "k, i, p, e can be applied to RC4 as well", "an exercise", "", _also_rc4),
    Claim("letters-for-aes", "None of k, i, p, e can be applied to AES", "none", "", _not_for_aes),
    Claim("any-length", "RC4D takes payloads of any length without padding", "any", "", _any_length),
    Claim("aes-pads", "AES has to be padded to whole blocks", "multiples of 16", "", _padding),
    Claim("rc4-key-length", "RC4's key has 40 to 2048 bits", "40 to 2048 bits", "", _rc4_key_length),
    Claim("key-length", "RC4D gives up RC4's arbitrary key length", "16 bytes", "", _key_length),
    Claim("diffusion", "RC4D: one changed bit changes the whole ciphertext", "full", "", _whole_ciphertext),
    Claim(
        "stronger",
        "RC4D is much stronger than RC4, at worst as bad",
        "stronger",
        "",
        _stronger,
        ClaimId.RC4D_STRONGER_THAN_RC4,
    ),
    Claim("two-keys", "Two keys for the two passes increase security", "more secure", "", _two_keys),
)
