"""The claims of the RF study, compared with its own figures, the line and the standards. Pure."""

from __future__ import annotations

from typing import Any

from motecrypt.air.radios import costs, load_radio
from motecrypt.studies.claim_ids import ClaimId
from motecrypt.studies.facts import Comparison, LikeForLike, Tolerance
from motecrypt.studies.judge import EXACT, Between, Bound, Check, Evidence, Expected, compare
from motecrypt.studies.rf import printed

#: What the text calls "about", or not significant, may be off by this share.
ABOUT = 0.2
AGAIN = "motecrypt reproduce rf --rows"
#: FIPS 197 and section 2 of the paper; CBC (SP 800-38A) has no tag; table 1 has no room for an IV.
AES_BLOCK_BITS, KEY_BITS, CBC_TAG_BYTES, IV_BYTES_SENT = 128, 256, 0, 0


def _claim(
    id: str,
    source: str,
    row: str,
    column: str,
    unit: str,
    said: float | str,
    found: float | str,
    *,
    note: str,
    value: float | str | None = None,
    expected: Expected | None = None,
    tolerance: Tolerance = EXACT,
    check: Check | None = None,
    basis: LikeForLike = "other",
    cause: str = "",
    command: str = "",
    topic: str = "",
) -> Comparison:
    return compare(
        id=f"rf-claim-{id}",
        source=source,
        table="claims",
        row=row,
        column=column,
        unit=unit,
        kind="claim",
        published=said,
        measured=found,
        expected=expected,
        found=value,
        tolerance=tolerance,
        evidence=Evidence(
            basis,
            checks=() if check is None else (check,),
            cause=cause,
            known="shown by experiment" if command else "consistent with",
            command=command,
        ),
        note=note,
        topic=topic,
    )


def _about() -> Tolerance:
    return Tolerance(ABOUT, 0.0, 'wording: "approximately", "not significant"')


def _print(said: float | str, expected: Expected, why: str, tolerance: Tolerance = EXACT) -> dict[str, Any]:
    """Of a claim that only the paper's own figures can bear out: it holds if they do."""
    return {
        "check": Check(said, expected, why, AGAIN, tolerance),
        "basis": "the paper itself",
        "value": said,
        "expected": expected,
        "tolerance": tolerance,
    }


def claims(source: str) -> list[Comparison]:
    """Every conclusion of the text as a row."""
    return [*_of_the_print(source), *_of_the_radio(source), *_of_the_cipher(source)]


def _of_the_print(source: str) -> list[Comparison]:
    c, p, t = (printed.mean_time_ms(payload) for payload in "CPT")
    averages = printed.PRINTED_AVERAGE_KB_S
    lowest = min(averages, key=lambda payload: averages[payload])
    highest = max(averages, key=lambda payload: averages[payload])
    line_kb_s = 1000 / load_radio("srf").serial_byte_us
    falls = [
        later.name
        for payload in "TCP"
        for before, later in zip(printed.of(payload), printed.of(payload)[1:], strict=False)
        if later.time_ms < before.time_ms
    ]
    return [
        _claim(
            id="padding-reduces",
            source=source,
            row="section 6: padding reduces the time by",
            column="reduction",
            unit="%",
            said=7.92,
            found=round(100 * (1 - p / c), 2),
            **_print(7.92, round(100 * (1 - p / c), 2), "by its own times P takes that much less"),
            note=f"the printed mean times are {c:.3f} ms (C) and {p:.3f} ms (P): P takes 7.34 % "
            "less. 7.92 % is "
            "how much more C takes than P: divided by the wrong one",
        ),
        _claim(
            id="delay",
            source=source,
            row="section 6: average delay of P over T",
            column="mean of (2)",
            unit="ms",
            said=5.5825,
            found=round(p - t, 4),
            **_print(
                5.5825,
                p - t,
                "its own times give another mean",
                Tolerance(0.0, printed.HALF_A_DIGIT, "rounding: three decimals are printed"),
            ),
            note="recomputed from table 3",
        ),
        _claim(
            id="twice-slower",
            source=source,
            row="section 6: P is approximately two times slower than plaintext",
            column="ratio of means",
            unit="",
            said=2.0,
            found=round(p / t, 3),
            **_print(p / t, 2.0, "its own times give another ratio", _about()),
            note="recomputed from table 3; P also carries 2.3 times the bytes, so this is the line "
            "and no more",
        ),
        _claim(
            id="lowest-throughput",
            source=source,
            row="section 5: the lowest throughput is the ciphertext's",
            column="lowest average",
            unit="KB/s",
            said="C",
            found=lowest,
            **_print("C", lowest, f"its own table has {lowest} lowest"),
            note=f"table 4 prints {averages['T']} for plaintext and {averages['C']} for ciphertext",
        ),
        _claim(
            id="highest-throughput",
            source=source,
            row="section 5: ciphertext with padding has the highest throughput",
            column="highest average",
            unit="KB/s",
            said="P",
            found=highest,
            **_print(
                averages["P"],
                Between(averages[highest], line_kb_s),
                "more than the serial line carries, or not the highest of its own table",
            ),
            note="the paper agrees, but its 13.35 KB/s is beyond what the line carries (11.52 KB/s): it is "
            "not the throughput of a transmission; and it counts padding and hex digits as payload",
        ),
        _claim(
            id="time-increases",
            source=source,
            row="section 5: time increases gradually with the size",
            column="rows that fall",
            unit="",
            said="none",
            found=", ".join(falls),
            **_print(float(len(falls)), Bound("at most", 0.0), "its own times fall"),
            note="P6 takes less time than P5 for 38 bytes more",
        ),
        _claim(
            id="equal-payloads",
            source=source,
            row="section 5: equal payloads",
            column="192 bytes, C7 and P7",
            unit="ms",
            said=printed.row("C7").time_ms,
            found=printed.row("P7").time_ms,
            **_print(
                printed.row("P7").time_ms,
                printed.row("C7").time_ms,
                "the same bytes on the same line are printed with two times",
                Tolerance(printed.CLOCK_TOLERANCE, 0.0, "clock: a UART may be off by 2 %"),
            ),
            note="the same 192 bytes, both whole packets, are printed with two times 15 % apart: "
            "the rows were not measured in the same way",
        ),
    ]


def _of_the_radio(source: str) -> list[Comparison]:
    radio = load_radio("srf")
    short = costs(radio, 32).delivery_time_us / 1000
    whole = costs(radio, 36).delivery_time_us / 1000
    not_whole = [row.name for row in printed.of("T") if row.size_bytes % 12]
    filled = [row.name for row in printed.of("C") if printed.rule_bytes(row) % 12 == 0]
    unfilled = [row.name for row in printed.of("P") if row.size_bytes % 12]
    said_gain = printed.mean_time_ms("C") - printed.mean_time_ms("P")
    slowest = max(row.time_ms for row in printed.rows())
    return [
        _claim(
            id="waits-100",
            source=source,
            row="section 5: unpadded ciphertext waits 100 ms or more",
            column="longest printed time",
            unit="ms",
            said=100.0,
            found=slowest,
            **_print(slowest, Bound("at least", 100.0), "no printed time is as long as the timeout"),
            note="no printed time contains a timeout of 100 ms, nor of 16 ms; what was timed ended "
            "before the radio sent",
        ),
        _claim(
            id="plaintext-direct",
            source=source,
            row="section 5: plaintext goes directly, 12 characters a payload",
            column="not whole packets",
            unit="",
            said="none",
            found=", ".join(not_whole),
            **_print(float(len(not_whole)), Bound("at most", 0.0), "its own sizes are not multiples of 12"),
            note="not one of the ten plaintexts is a multiple of 12: each waits for the timeout as C does",
        ),
        _claim(
            id="ciphertext-incomplete",
            source=source,
            row="section 5: ciphertext payloads are incomplete packets",
            column="whole packets",
            unit="",
            said="none",
            found=", ".join(filled),
            **_print(float(len(filled)), Bound("at most", 0.0), "some of its own sizes are multiples of 12"),
            note="96 and 192 hex digits are whole packets and wait for nothing",
        ),
        _claim(
            id="padded-whole",
            source=source,
            row="section 3: P is padded to whole packets",
            column="not whole packets",
            unit="bytes",
            said="none",
            found=", ".join(unfilled),
            **_print(
                float(len(unfilled)), Bound("at most", 0.0), "some of its own sizes are not multiples of 12"
            ),
            note="170 and 266 bytes are not multiples of 12",
        ),
        _claim(
            id="spares-timeout",
            source=source,
            row="section 3: padding spares the timeout",
            topic=ClaimId.RF_PADDING_SPARES_TIMEOUT,
            column="32 bytes against 36 delivered",
            unit="ms",
            said="sent immediately",
            found=f"{short:.1f} against {whole:.1f}",
            value=short - whole,
            expected=Bound("above", 0.0),
            note="by the model: true, and worth 96 to 99 ms (12 to 15 ms with firmware from 0.41), "
            "far more than "
            "the paper shows",
        ),
        _claim(
            id="padding-faster",
            source=source,
            row="section 5: padding makes it comparatively faster",
            column="what padding gains",
            unit="ms",
            said=round(said_gain, 3),
            found=round(short - whole, 1),
            tolerance=_about(),
            value=short - whole,
            expected=said_gain,
            cause="the printed times end before the radio sends",
            note="the paper's mean gain; by the model a message that is not whole packets gains "
            "about 100 ms and "
            "one that is gains nothing",
        ),
        _claim(
            id="not-significant",
            source=source,
            row="abstract: padding does not affect the time significantly",
            column="36 against 32 bytes",
            unit="ms",
            said="not significant",
            found=f"{whole:.1f} against {short:.1f}",
            value=whole / short,
            expected=1.0,
            tolerance=_about(),
            cause="a packet that is not full waits for the timeout",
            note="it decides between 5 ms and 104 ms; the paper's section 5 says the opposite of "
            "its abstract, too",
        ),
    ]


def _of_the_cipher(source: str) -> list[Comparison]:
    pairs = zip(printed.of("T"), printed.of("C"), strict=True)
    most_added = max(cipher.size_bytes - plain.size_bytes for plain, cipher in pairs)
    return [
        _claim(
            id="block-256",
            source=source,
            row="section 2: with 256 bits AES works on 256 bits of plaintext",
            column="block",
            unit="bits",
            said=256.0,
            found=float(AES_BLOCK_BITS),
            cause="FIPS 197: a block has 128 bits with every key",
            command="motecrypt measure --device pico --cipher aes256-ecb --bytes 16",
            note="FIPS 197: the block has 128 bits with every key; 256 is the key",
        ),
        _claim(
            id="key-32",
            source=source,
            row="section 5: CBC with 32 bits of key",
            column="key",
            unit="bits",
            said=32.0,
            found=float(KEY_BITS),
            **_print(32.0, float(KEY_BITS), "its own title and section 2 have 256 bits"),
            note="section 2 says 32 bytes, and the title 256 bits",
        ),
        _claim(
            id="integrity",
            source=source,
            row="section 2: the block mode provides integrity and authentication",
            column="of CBC",
            unit="",
            said="integrity",
            found="none",
            value=float(CBC_TAG_BYTES),
            expected=Bound("above", 0.0),
            cause="SP 800-38A: CBC has no tag",
            note="CBC authenticates nothing: bits flip at will in the next block, and padding "
            "errors leak the "
            "plaintext (Vaudenay, EUROCRYPT 2002)",
        ),
        _claim(
            id="no-expansion",
            source=source,
            row="section 5: AES expands only by the last block's padding",
            column="C / T",
            unit="",
            said="a few bytes",
            found=f"{printed.mean([printed.factor(row) for row in printed.of('C')]):.2f}",
            **_print(
                float(most_added), Bound("at most", AES_BLOCK_BITS / 8), "its own sizes more than double"
            ),
            note="true of AES; what doubles the bytes is the hex string, which nothing asked for",
        ),
        _claim(
            id="secures",
            source=source,
            row="section 1: encryption secures RF communication",
            column="IV in table 1",
            unit="bytes",
            said="not mentioned",
            found=float(IV_BYTES_SENT),
            value=float(IV_BYTES_SENT),
            expected=Bound("above", 0.0),
            cause="no IV is sent, so equal messages are equal ciphertexts",
            note="the printed sizes leave no room for an IV: it is fixed, so equal messages (and equal "
            "beginnings) are equal ciphertexts; sent as it should be it costs 16 bytes, two packets at most",
        ),
    ]
