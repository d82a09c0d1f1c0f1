"""What the RC4D source says in its text, claim by claim, each with our figures, a verdict and the reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from motecrypt.findings.audit import AuditAnswer, KeyRecovery
from motecrypt.findings.features import Features
from motecrypt.model import Comparison, Verdict
from motecrypt.studies.claim_ids import ClaimId
from motecrypt.studies.rc4d.figures import (
    Printed,
    VariantFigure,
    VariantFigures,
    percent,
    printed,
    times,
)

#: "About" and "2x" leave this much room on the worse side.
ABOUT = 1.2


@dataclass(frozen=True)
class Evidence:
    """What the claims are judged by; `attack` is the outcome of the chosen-plaintext attack on RC4D."""

    source: str
    table: str
    figures: VariantFigures
    features: Mapping[str, Features]
    attack: AuditAnswer | None

    def of(self, cipher: str, variant: str) -> VariantFigure:
        """One of our variants; KeyError when it was not measured."""
        return self.figures[cipher, variant]

    def why(self, name: object) -> str:
        """Why there is no figure of a cipher, or of one variant of it: the first reason, where known."""
        failed = self.figures.failed.items()
        reasons = (reason for place, reason in failed if name in (place, place[0]))
        return next((f": {reason}" for reason in reasons), "")

    def fastest(self, cipher: str, letters: str | None = None) -> VariantFigure:
        """Our fastest variant; KeyError when none was measured."""
        figure = self.figures.fastest(cipher, letters)
        if figure is None:
            raise KeyError(cipher)
        return figure

    def smallest(self, cipher: str, letters: str | None = None) -> VariantFigure:
        """Our smallest variant; KeyError when none was measured."""
        figure = self.figures.smallest(cipher, letters)
        if figure is None:
            raise KeyError(cipher)
        return figure


@dataclass(frozen=True)
class Judged:
    """What we found of a claim. `published` and `measured` are numbers where the claim has one."""

    measured: float | str
    verdict: Verdict
    note: str
    brief: str = ""


@dataclass(frozen=True)
class Claim:
    """A sentence of the source in our words, what it promises, and how it is judged."""

    says: str
    published: float | str
    unit: str
    judge: Callable[[Evidence], Judged]
    id: str = ""


def claims(evidence: Evidence) -> list[Comparison]:
    """Every claim with its verdict; "not measured" where a figure it needs is missing."""
    rows = []
    for claim in CLAIMS:
        try:
            judged = claim.judge(evidence)
        except KeyError as missing:
            judged = Judged("", "not measured", f"no figure for {missing}{evidence.why(missing.args[0])}")
        numbers = isinstance(claim.published, float | int) and isinstance(judged.measured, float | int)
        ratio = round(judged.measured / claim.published, 3) if numbers else None  # type: ignore[operator]
        measured = None if judged.measured == "" else judged.measured
        rows.append(
            Comparison(
                source=evidence.source,
                table=evidence.table,
                row=claim.says,
                column="claim",
                unit=claim.unit,
                published=claim.published,
                measured=measured,
                ratio=ratio,
                verdict=judged.verdict,
                note=judged.note,
                brief=judged.brief,
                id=claim.id,
            )
        )
    return rows


def _verdict(holds: bool) -> Verdict:
    return "reproduced" if holds else "contradicted"


def _row(cipher: str, letters: str, style: str = "plain") -> Printed:
    return next(r for r in printed() if (r.cipher, r.letters, r.style) == (cipher, letters, style))


def _ratio(slow: VariantFigure, fast: VariantFigure) -> float:
    return round(slow.time_ms / fast.time_ms, 2)


# --- speed and size against AES and RC4 --------------------------------------------------------------


def _against_aes_time(e: Evidence) -> Judged:
    aes, ours = e.fastest("aes128-ecb"), e.fastest("rc4d")
    small = e.smallest("aes128-ecb")
    keyed = min(e.figures.ours("aes128-ecb"), key=lambda f: f.time_keyed_ms)
    value = _ratio(aes, ours)
    return Judged(
        value,
        _verdict(value * ABOUT >= 10),
        f"the paper is {_row('aes128-ecb', '').time_ms:.0f} / {_row('rc4d', 'kip').time_ms:.0f} ms: an AES "
        "that expands its key in every call on a block, against an RC4D that never does. "
        f"Ours like that: {aes.time_ms:.0f} ms ({aes.variant}) / {ours.time_ms:.0f} ms ({ours.variant}); our "
        f"smallest AES {_ratio(small, ours):.0f}x. With AES's key expanded once as well, "
        f"{keyed.time_keyed_ms:.0f} ms, {keyed.time_keyed_ms / ours.time_ms:.1f}x",
    )


def _against_aes_flash(e: Evidence) -> Judged:
    aes, ours = e.smallest("aes128-ecb"), e.smallest("rc4d")
    value = round(ours.flash_bytes / aes.flash_bytes, 2)
    return Judged(
        value,
        _verdict(value <= 0.25 * ABOUT),
        f"our smallest: {ours.flash_bytes} bytes ({ours.variant}) / {aes.flash_bytes} ({aes.variant}); the "
        f"paper: {_row('rc4d', 'kip', 'opt').flash_bytes} / {_row('aes128-ecb', '', 'opt').flash_bytes}",
    )


def _against_rc4_time(e: Evidence) -> Judged:
    value = _ratio(e.of("rc4d", "k-plain"), e.of("rc4", "k-plain"))
    undone = _ratio(e.of("rc4d", "ki-undo"), e.fastest("rc4", "k"))
    return Judged(
        value,
        _verdict(1 / ABOUT <= value / 2 <= ABOUT),
        f"k-plain; k-opt {_ratio(e.of('rc4d', 'k-opt'), e.of('rc4', 'k-opt')):.2f}. Most of it is the second "
        f"key schedule: with one for both passes (ki-undo) {undone:.2f} of the fastest RC4 k",
    )


def _against_rc4_flash(e: Evidence) -> Judged:
    pairs = [(e.of("rc4d", v), e.of("rc4", v)) for v in ("k-plain", "k-opt")]
    values = [d.flash_bytes / r.flash_bytes for d, r in pairs]
    value = round(values[0], 2)
    return Judged(
        value,
        _verdict(1 / ABOUT <= value / 2 <= ABOUT),
        f"k-plain; k-opt {values[1]:.2f}. The paper: {_row('rc4d', 'k').flash_bytes} / "
        f"{_row('rc4', 'k').flash_bytes}, {_row('rc4d', 'k').flash_bytes / _row('rc4', 'k').flash_bytes:.2f}",
    )


def _smallest(e: Evidence) -> Judged:
    ours = e.smallest("rc4d")
    ki = e.smallest("rc4d", "ki")
    least = min(row.flash_bytes for row in printed() if row.cipher == "rc4d")
    return Judged(
        ours.flash_bytes,
        "contradicted",
        f"by its own figures too: {least} with kip (opt). Ours: {ours.flash_bytes} ({ours.variant}); of the "
        f"row that prints 492, ki: {ki.flash_bytes} ({ki.variant})",
    )


# --- the letters ------------------------------------------------------------------------------------


def _fixed_key_time(e: Evidence) -> Judged:
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
    return Judged(
        value,
        _verdict(value > 2),
        f"RC4 plain; RC4 opt, RC4D plain and opt: {times(others)}. The paper's gain is that of leaving out a "
        f"division: with one in every step of the key schedule our RC4 takes {divided.time_ms:.0f} ms "
        f"(paper {_row('rc4', '').time_ms:.0f}), with a counter that begins again "
        f"{e.of('rc4', 'plain').time_ms:.0f} ms, for a key of any length",
    )


def _fixed_key_flash(e: Evidence) -> Judged:
    pairs = (
        ("rc4", "plain", "k-plain"),
        ("rc4", "opt", "k-opt"),
        ("rc4d", "plain", "k-plain"),
        ("rc4d", "opt", "k-opt"),
    )
    values = [e.of(c, k).flash_bytes / e.of(c, base).flash_bytes for c, base, k in pairs]
    from_print = [_row(c, "k", s).flash_bytes / _row(c, "", s).flash_bytes for c, s in _STYLES]
    return Judged(
        percent(values),
        _verdict(max(values) < 1),
        f"RC4 plain, opt, RC4D plain, opt; the paper: {percent(from_print)}, most of it the division's code",
    )


def _in_place_time(e: Evidence) -> Judged:
    values = [e.of("rc4d", f"ki-{s}").time_ms / e.of("rc4d", f"k-{s}").time_ms for s in ("plain", "opt")]
    return Judged(
        ", ".join(f"{100 * (v - 1):+.1f} %" for v in values),
        _verdict(max(values) <= 1),
        "plain, opt; the paper: -2.7 %, -6.4 %. Our k-opt needs no second buffer either: its passes meet in "
        "the output",
    )


def _in_place_flash(e: Evidence) -> Judged:
    plain, opt = (
        e.of("rc4d", f"ki-{s}").flash_bytes / e.of("rc4d", f"k-{s}").flash_bytes for s in ("plain", "opt")
    )
    return Judged(
        percent((plain, opt)),
        _verdict(plain < 1),
        "plain, opt; the paper: -14 %, -20 %. In place saves the code of a buffer of variable length; where "
        "there is none (k-opt), it costs the copy of a message that is not in place",
    )


def _in_place_ram(e: Evidence) -> Judged:
    k, ki = e.of("rc4d", "k-plain"), e.of("rc4d", "ki-plain")
    return Judged(
        f"{k.stack_bytes} to {ki.stack_bytes} bytes of stack",
        _verdict(ki.stack_bytes < k.stack_bytes),
        "a message of 32 bytes, plain; the S-box takes 256 of them",
    )


def _precomputed_time(e: Evidence) -> Judged:
    value = _ratio(e.of("rc4d", "ki-plain"), e.of("rc4d", "kip-plain"))
    opt = _ratio(e.of("rc4d", "ki-opt"), e.of("rc4d", "kip-opt"))
    undo = _ratio(e.of("rc4d", "ki-opt"), e.of("rc4d", "kip-undo"))
    return Judged(
        value,
        _verdict(value * ABOUT >= 3),
        f"plain; opt {opt:.2f}, as the S-box copies take a larger share when the key schedule is faster; "
        f"without copies (kip-undo) {undo:.2f}",
    )


def _one_memcpy(e: Evidence) -> Judged:
    copied, undone = e.of("rc4d", "kip-opt"), e.of("rc4d", "kip-undo")
    return Judged(
        "2, or none",
        "contradicted",
        "each of the two passes begins with the S-box as the key left it, so the source copies it twice. "
        "Its evolution does not depend on the message: kip-undo takes the swaps back instead, in "
        f"{undone.time_ms:.0f} ms against {copied.time_ms:.0f}, with {undone.stack_bytes} bytes of stack "
        f"against {copied.stack_bytes}",
    )


def _precomputed_ram(e: Evidence) -> Judged:
    figure = e.of("rc4d", "kip-plain")
    return Judged(figure.ram_bytes, _verdict(figure.ram_bytes == 256), "the S-box in the context, any kip")


def _eeprom(e: Evidence) -> Judged:
    stored, made = e.of("rc4d", "kipe-plain"), e.of("rc4d", "ki-plain")
    copied, best = e.of("rc4d", "kip-plain"), e.of("rc4d", "kipe-undo")
    return Judged(
        f"{stored.time_ms / made.time_ms:.2f} of the time of ki",
        _verdict(stored.time_ms > made.time_ms),
        f"the paper: {_row('rc4d', 'kipe').time_ms:.0f} / {_row('rc4d', 'ki').time_ms:.0f}. Reading 256 "
        "bytes with avr-libc's eeprom_read_block costs less than a key schedule: "
        f"{stored.time_ms:.0f} ms against {made.time_ms:.0f}, and saves {copied.ram_bytes} bytes of RAM for "
        f"{stored.flash_bytes - made.flash_bytes} of flash; read once for both passes "
        f"{best.time_ms:.0f} ms. But setup writes 256 bytes, 3.4 ms each, and wears them",
    )


_STYLES = (("rc4", "plain"), ("rc4", "opt"), ("rc4d", "plain"), ("rc4d", "opt"))


def _optimised(e: Evidence) -> Judged:
    pairs = [
        (e.of(cipher, f"{letters}plain"), e.of(cipher, f"{letters}opt"))
        for cipher in ("rc4", "rc4d")
        for letters in ("", "k-", "ki-", "kip-", "kipe-")
    ]
    smaller = sum(opt.flash_bytes < plain.flash_bytes for plain, opt in pairs)
    faster = sum(opt.time_ms < plain.time_ms for plain, opt in pairs)
    return Judged(
        f"smaller in {smaller} of {len(pairs)}, faster in {faster}",
        _verdict(smaller == len(pairs)),
        "the paper: smaller in 7 of 8 and never larger, but slower in AES, kip and kipe",
    )


def _also_rc4(e: Evidence) -> Judged:
    others = ("ki-opt", "kip-opt", "kip-undo", "kipe-opt")
    values = [_ratio(e.of("rc4", "k-opt"), e.of("rc4", other)) for other in others]
    return Judged(
        f"{times(values)} times as fast as k",
        _verdict(values[1] > 1),
        "the exercise done: ki, kip, kip without a copy (undo), kipe, against k (opt)",
    )


def _not_for_aes(e: Evidence) -> Judged:
    aes = e.fastest("aes128-ecb")
    value = round(aes.time_ms / aes.time_keyed_ms, 2)
    return Judged(
        f"{value:.2f}x faster",
        _verdict(value <= 1),
        f"p can: what AES makes of its key kept instead of made again for every block, "
        f"{aes.time_keyed_ms:.0f} ms instead of {aes.time_ms:.0f} ({aes.variant})",
    )


# --- what it takes, diffusion, security ---------------------------------------------------------------


def _any_length(e: Evidence) -> Judged:
    found = e.features["RC4D"]
    return Judged(
        str(found.messages),
        _verdict(found.messages == "any"),
        "0 to 4,096 bytes tried; above 255 RC4's index begins again. "
        f"But a message of {', '.join(map(str, found.identity_bytes)) or 'no'} byte is sent as itself",
    )


def _padding(e: Evidence) -> Judged:
    found = e.features["AES"]
    return Judged(
        str(found.messages),
        "contradicted",
        "true of ECB and CBC. CTR takes any length and CBC with ciphertext stealing any from 16 bytes, "
        "neither pads (aes128-ctr, aes128-cts here); the text itself names such modes",
    )


def _key_length(e: Evidence) -> Judged:
    found = e.features["RC4D"]
    return Judged(
        f"{found.keys} bytes",
        _verdict(found.keys == "16"),
        "by its own table too: RC4D takes any key, only the k variants do not",
    )


def _whole_ciphertext(e: Evidence) -> Judged:
    found = e.features["RC4D"]
    passes = "and XOR into the last byte of a message is the same XOR into the first of the ciphertext"
    return Judged(
        str(found.diffusion),
        _verdict(found.diffusion == "full"),
        "of encryption, from 2 bytes on. Decryption does not diffuse: a changed bit of ciphertext changes at "
        f"most {found.decrypt_reach_bytes} bytes of plaintext"
        + (f", {passes}" if found.last_byte_passes_through else ""),
    )


def _stronger(e: Evidence) -> Judged:
    found = None if e.attack is None else KeyRecovery.from_json(e.attack.data)
    if found is None:
        raise KeyError("the attack")
    how = (
        f"about {found.queries_mean:.0f} chosen messages of two bytes give the whole secret table, "
        "after which all messages of the key can be read and made (motecrypt audit rc4d)"
    )
    return Judged(
        f"{found.recovered} of {found.keys} keys broken",
        _verdict(not found.recovered),
        f"{how}. RC4 under a key used twice loses its keystream, RC4D its state",
        brief=how,
    )


def _two_keys(e: Evidence) -> Judged:
    one, two = e.of("rc4d", "k-opt"), e.of("rc4d-two-key", "k-opt")
    found = e.features["two keys"]
    notes = "one byte is no longer sent as itself" if not found.identity_bytes else ""
    if found.last_byte_passes_through:
        notes += "; XOR into the last byte still is XOR into the first of the ciphertext, so it is still "
        notes += "told from a random cipher by two messages"
    return Judged(
        "",
        "not measured",
        f"how much security it adds. Its cost: {two.time_ms / one.time_ms:.2f} of the time, "
        f"{two.flash_bytes - one.flash_bytes:+d} bytes of flash, {two.ram_bytes - one.ram_bytes:+d} of RAM "
        f"(k-opt), and for undo a second S-box. {notes[:1].upper()}{notes[1:]}",
    )


CLAIMS: Sequence[Claim] = (
    Claim("RC4D is up to 10x faster than AES", 10.0, "x", _against_aes_time, ClaimId.RC4D_FASTER_THAN_AES),
    Claim("RC4D takes about a quarter of AES's flash", 0.25, "x", _against_aes_flash),
    Claim("RC4D takes 2x the time of RC4", 2.0, "x", _against_rc4_time),
    Claim("RC4D takes 2x the space of RC4", 2.0, "x", _against_rc4_flash),
    Claim("All of RC4D takes as little as 492 bytes", 492.0, "bytes", _smallest),
    Claim("k: a fixed key makes it more than 2x faster", 2.0, "x", _fixed_key_time),
    Claim("k: a fixed key makes it decently smaller", "smaller", "", _fixed_key_flash),
    Claim("i: in place is a little faster", "faster", "", _in_place_time),
    Claim("i: in place is a little smaller", "smaller", "", _in_place_flash),
    Claim("i: in place takes less RAM", "less", "", _in_place_ram),
    Claim("p: a precomputed S-box makes it 3x faster", 3.0, "x", _precomputed_time),
    Claim("p: what remains of the overhead is one memcpy", "1", "", _one_memcpy),
    Claim("p: costs 256 bytes of RAM", 256.0, "bytes", _precomputed_ram),
    Claim("e: keeping the S-box in EEPROM does no good", "slower than ki", "", _eeprom),
    Claim("(opt) is optimised to some degree", "optimised", "", _optimised),
    Claim("k, i, p, e can be applied to RC4 as well", "an exercise", "", _also_rc4),
    Claim("None of k, i, p, e can be applied to AES", "none", "", _not_for_aes),
    Claim("RC4D takes payloads of any length without padding", "any", "", _any_length),
    Claim("AES has to be padded to whole blocks", "multiples of 16", "", _padding),
    Claim("RC4D gives up RC4's arbitrary key length", "16 bytes", "", _key_length),
    Claim("RC4D: one changed bit changes the whole ciphertext", "full", "", _whole_ciphertext),
    Claim(
        "RC4D is much stronger than RC4, at worst as bad",
        "stronger",
        "",
        _stronger,
        ClaimId.RC4D_STRONGER_THAN_RC4,
    ),
    Claim("Two keys for the two passes increase security", "more secure", "", _two_keys),
)
