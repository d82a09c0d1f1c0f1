"""The adviser's notes next to its ranking: what a reader would miss."""

from __future__ import annotations

from dataclasses import replace

import pytest
from advise_parts import ASKED, BOARD, LINK, NONE, PICO, PLAIN_802, SRF, THREE_AA, UNO, ask, made, notes_of

from motecrypt.adviser import api as advise
from motecrypt.adviser.costs import patience_us
from motecrypt.adviser.exchange import message_bytes_max
from motecrypt.air.radios import load_radio


def test_a_length_that_takes_one_packet_is_named() -> None:
    """20 bytes and the link's 12 in pieces of 9 bytes: 36, of which 4 are filling; 6 bytes fit one packet."""
    answer = ask(made())
    costs_ = answer.entries[0].costs
    assert (costs_.packet_sizes, costs_.sealed_bytes, costs_.overhead_bytes) == ((12,) * 4, 44, 24)
    assert "Each message goes long: 4 packets of 12 bytes; 24 bytes are the link's." in answer.notes
    assert "4 more bytes of message cost no extra air time" in notes_of(answer, "filled up")
    six = ask(made(), question=replace(ASKED, message_bytes=6)).entries[0].costs
    assert six.packet_sizes == (12,) and six.tag_bytes == 4
    saved = (1 - six.energy.total_uj / costs_.energy.total_uj) * 100
    assert (
        f"A message of exactly 6 bytes would be one short packet: {saved:.0f} % less energy." in answer.notes
    )
    only = made(points=(replace(made().points[1], message_bytes=20),))  # its cycles are used for 6 bytes
    assert notes_of(ask(only), "6 bytes would be one short packet: ")
    short = ask(made(), question=replace(ASKED, message_bytes=6))
    assert "Each message goes short: 1 packet of 12 bytes; 6 bytes are the link's." in short.notes
    assert not notes_of(short, "filled up") and not notes_of(short, "would be one")
    wide = ask(made(), radio=PLAIN_802, question=replace(ASKED, message_bytes=111))
    assert "2 packets of up to 116 bytes" in notes_of(wide, "goes long")
    assert "A message of up to 110 bytes" in notes_of(wide, "would be one")


@pytest.mark.parametrize(
    ("delivery", "said"),
    [
        (
            "unconfirmed",
            "and one in 32 are sent long, in 2 packets, and one in 128 confirmed, so that both ends stay",
        ),
        ("confirmed", "The first message after a start is sent long, in 2 packets."),
        (
            "one-way",
            "a start and one in 32 are sent long, in 2 packets, so that the gateway stays synchronised.",
        ),
    ],
)
def test_the_long_messages_between_short_ones_are_told(delivery: str, said: str) -> None:
    question = replace(ASKED, message_bytes=6, delivery=delivery)
    assert said in notes_of(ask(made(), question=question), "The first message")
    assert not notes_of(ask(made(), question=replace(ASKED, delivery=delivery)), "The first message")


def test_losses_are_told() -> None:
    question = replace(ASKED, message_bytes=6, loss=0.1)
    answer = ask(made(), question=question)
    once = 0.1 * 124 / 128 + 0.19 * 3 / 128
    assert answer.entries[0].costs.lost == pytest.approx(once, abs=1e-6)
    assert "With 10 % of the packets lost, 10 % of the messages are lost" in notes_of(answer, "are lost")
    answer = ask(made(), question=replace(question, delivery="confirmed"))
    assert "a message takes 1.23 packets on average, and 0.00 % of the messages are given up after 10" in (
        notes_of(answer, "on average")
    )
    assert not notes_of(ask(made()), "packets lost")
    alone = ask(made(), question=replace(question, needs=("integrity",)))
    assert "without the secure link (--need replay) nothing retransmits them." in notes_of(alone, "are lost")


def test_warnings_are_the_notes_to_act_on_the_gravest_first() -> None:
    assert ask(made()).warnings == ()
    lossy = replace(ASKED, message_bytes=6, loss=0.1)
    coin = replace(THREE_AA, pulse_ma=1.0)
    awake = replace(BOARD, sleeps=False)
    answer = ask(made(timing_varies=True), question=lossy, battery=coin, device=awake, chip=UNO)
    kinds = (
        "timing may leak",
        "gives pulses",
        "are lost",
        "The stock board",
        "of its charge",
        "No sleep",
    )
    assert [kind for one in answer.warnings for kind in kinds if kind in one] == list(kinds)
    assert set(answer.warnings) < set(answer.notes)
    confirmed = ask(made(), question=replace(lossy, delivery="confirmed"))
    assert notes_of(confirmed, "packets lost") and confirmed.warnings == ()
    assert ask(question=lossy, battery=coin).warnings == ()


def test_the_duty_cycle_of_the_band_is_told_and_kept() -> None:
    """Four packets of 0.8 ms each time; 1 % of the time may be used at 868 MHz."""
    answer = ask(made())
    assert answer.entries[0].costs.air_time_us == pytest.approx(4 * 800)
    assert "The node is on the air 0.03 % of the time; its band allows 1 %." in answer.notes
    kept = ask(made(), question=replace(ASKED, interval_s=0.33))
    assert len(kept.entries) == 1
    broken = ask(made(), question=replace(ASKED, interval_s=0.31))
    assert broken.exclusions[0].budgets == ("duty",)
    assert broken.exclusions[0].reason == (
        "is on the air 1.0 % of the time, 0.03 % more than its band allows"
    )
    assert "--every excludes 1" in broken.notes[0]
    twice = ask(made(), question=replace(ASKED, interval_s=0.001))
    assert twice.exclusions[0].budgets == ("interval", "duty")
    assert "reasons; --every excludes 1 (1 for this reason alone). The nearest" in twice.notes[0]
    assert not notes_of(ask(made(), radio=PLAIN_802), "on the air 0")


def test_a_slow_radio_waits_longer_for_its_answers() -> None:
    """A packet of 222 bytes at SF9 takes 1,107 ms; exports wait for four of them."""
    lora = advise.radio_part(load_radio("lora"))
    assert patience_us(LINK, lora) == 4_500_000 and patience_us(LINK, SRF) == 250_000
    question = replace(ASKED, delivery="confirmed", interval_s=3600)
    said = notes_of(ask(made(), radio=lora, question=question), "a node waits")
    assert "Over lora a node waits 4,500 ms for an answer, not 250 ms" in said
    one_way = replace(question, delivery="one-way")
    assert not notes_of(ask(made(), radio=lora, question=one_way), "a node waits")
    assert not notes_of(ask(made(), question=question), "a node waits")


@pytest.mark.parametrize(
    ("question", "radio", "said"),
    [
        (
            replace(ASKED, message_bytes=124),
            SRF,
            "--bytes 124: the link takes messages of up to 123 bytes in",
        ),
        (replace(ASKED, answer_bytes=124), SRF, "--answer 124: the link takes messages of up to 123 bytes"),
        (replace(ASKED, message_bytes=123), SRF, ""),
        (ASKED, replace(SRF, packet_bytes=11), "srf has packets of 11 bytes; the link takes 12 to 255"),
        (replace(ASKED, answer_bytes=1, delivery="one-way"), SRF, "a one-way node receives none"),
        (replace(ASKED, message_bytes=200, needs=("integrity",)), SRF, ""),
    ],
)
def test_what_the_link_does_not_take_is_refused(
    question: advise.Question, radio: advise.RadioPart, said: str
) -> None:
    refusal = advise.link_refusal(LINK, radio, question)
    assert said in refusal and bool(said) == bool(refusal)
    answer = ask(made(), question=question, radio=radio)
    assert answer.refusal == refusal and bool(answer.entries) != bool(said)
    assert message_bytes_max(LINK, SRF) == 123


def test_the_shares_of_the_energy_are_told() -> None:
    answer = ask(made())
    energy = answer.entries[0].costs.energy
    share = f"{energy.cpu_uj / energy.total_uj * 100:.1f} %"
    assert f"Encryption is {share} of the energy" in notes_of(answer, "Encryption")


def test_misfits_vary_and_supplies_are_told() -> None:
    misfit = made(implementation="lib/rom", status="does-not-fit", reason="does not fit: needs 3 of 2 bytes")
    other = replace(misfit, cipher="ascon-aead128")
    wrong = made(implementation="lib/wrong", status="wrong-output", reason="computes wrong outputs here: x")
    answer = ask(made(timing_varies=True), misfit, other, wrong, battery=THREE_AA)
    assert notes_of(answer, "lib/wrong computes wrong outputs here: x.")
    assert "lib/rom does not fit: needs 3 of 2 bytes for aes128-ccm8 (and 1 more)." in answer.notes
    assert notes_of(answer, "depend on the data")
    assert "only 29 % of its charge" in notes_of(answer, "3xAA stays above")
    coin = ask(made(), battery=advise.battery_part("2xCR2032"), regulator=NONE, device=PICO)
    assert coin.refusal.startswith("2xCR2032 gives up to 6.4 V")
    coin = ask(made(), battery=advise.battery_part("CR2032"), device=PICO)
    assert "gives pulses of 15 mA" in notes_of(coin, "pulses")
