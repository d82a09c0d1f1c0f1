"""The closed-form 802.11 model: by hand, by the literature, and by its own laws."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from motecrypt.air.wlan import dcf
from motecrypt.base.errors import InputError


def test_802_11b_frame_by_hand() -> None:
    b = dcf.phy("b", "adhoc")
    assert b.difs_us == 50
    assert b.mean_backoff_us == 310
    assert b.air_us(1536, 11) == pytest.approx(192 + 1536 * 8 / 11)
    assert b.air_us(14, 1) == pytest.approx(304)


def test_802_11b_theoretical_maximum_of_the_literature() -> None:
    # Jun, Peddabachagari, Sichitiu, "Theoretical Maximum Throughput of IEEE 802.11" (NCA 2003):
    # 1500-byte MSDU, 34 bytes of MAC, control frames at 1 Mbit/s, mean back-off: 6.06 Mbit/s.
    b = dcf.phy("b", "adhoc")
    us = b.difs_us + b.mean_backoff_us + b.air_us(1534, 11) + b.sifs_us + b.air_us(14, 1)
    assert us == pytest.approx(1982, abs=1)
    assert 1500 * 8 / us == pytest.approx(6.06, abs=0.01)


def test_802_11b_1500_bytes_in_2277_us() -> None:
    # 1500 bytes take 2277 us under three assumptions: an Ethernet header replaces 802.11's, the whole first
    # window of 31 slots is waited instead of its mean, and the acknowledgement is sent at 1 Mbit/s.
    b = dcf.phy("b", "adhoc")
    us = b.difs_us + b.cw_min * b.slot_us + b.air_us(1514, 11) + b.sifs_us + b.air_us(14, 1)
    assert us == pytest.approx(2277, abs=1)


def test_802_11g_frame_by_hand() -> None:
    g = dcf.phy("g", "infrastructure")
    assert (g.difs_us, g.mean_backoff_us) == (28, 67.5)
    assert g.air_us(1536, 54) == 20 + 4 * 57 + 6  # 12310 bits in symbols of 216
    assert dcf.phy("g", "adhoc").slot_us == 20


@given(
    st.integers(1, 20_000_000),
    st.sampled_from(dcf.MODES),
    st.sampled_from(["b", "g"]),
    st.sampled_from(dcf.PROTOCOLS),
    st.integers(0, 40),
)
def test_more_bytes_never_take_less(size: int, mode: str, name: str, protocol: str, extra: int) -> None:
    plain = dcf.transfer(size, mode=mode, phy_name=name, protocol=protocol)
    secured = dcf.transfer(size, mode=mode, phy_name=name, protocol=protocol, security_bytes=extra)
    assert secured.us >= plain.us
    longer = dcf.transfer(size + 1448 * 4, mode=mode, phy_name=name, protocol=protocol)
    assert longer.us > plain.us
    assert plain.air_bytes > size * (2 if mode == "infrastructure" else 1)
    assert plain.sender_tx_us + plain.sender_rx_us < plain.us


def test_an_access_point_doubles_and_security_adds_little() -> None:
    direct = dcf.transfer(5_000_000)
    through = dcf.transfer(5_000_000, mode="infrastructure")
    assert 1.8 < through.us / direct.us < 2.1
    for extra in (8, 16, 20):
        ratio = dcf.transfer(5_000_000, security_bytes=extra).us / direct.us
        assert 1.0 < ratio < 1.012


def test_a_poor_link_costs_more_and_says_it_is_an_estimate() -> None:
    good = dcf.transfer(1_000_000)
    link = dcf.Link({rate: 9.0 - rate for rate in dcf.DSSS}, fading=True)
    poor = dcf.transfer(1_000_000, link=link)
    assert poor.us > good.us
    assert poor.retries_per_frame > 0
    assert good.applies and not poor.applies
    assert "estimate" in poor.note


@pytest.mark.parametrize("margin_db", [-3.0, 0.0, 2.0, 10.0])
def test_a_frame_is_sent_again_seven_times_at_most(margin_db: float) -> None:
    # dot11ShortRetryLimit is 7. The chance of each sending is that all before it were lost.
    link = dcf.Link(dict.fromkeys(dcf.DSSS, margin_db), fading=True)
    lost = 1 - link.success(11)
    again = sum(lost**sending for sending in range(1, 8))
    assert dcf.transfer(100_000, link=link).retries_per_frame == pytest.approx(again)


def test_the_window_doubles_with_each_repetition_up_to_1023_slots() -> None:
    b = dcf.phy("b", "adhoc")
    windows = [63, 127, 255, 511, 1023, 1023, 1023]
    for success in (0.2, 0.7):
        lost = 1 - success
        slots = sum(lost**number * window / 2 for number, window in enumerate(windows, start=1))
        assert dcf._retry_backoff_us(b, success) == pytest.approx(slots * b.slot_us)
    assert dcf._retry_backoff_us(b, 1.0) == 0


@pytest.mark.parametrize(
    ("protocol", "full", "head", "answers"), [("tcp", 1448, 88, 4), ("udp", 1472, 64, 0)]
)
def test_an_ad_hoc_transfer_by_hand(protocol: str, full: int, head: int, answers: int) -> None:
    b, packets, security = dcf.phy("b", "adhoc"), 7, 16
    size = packets * full
    got = dcf.transfer(size, protocol=protocol, security_bytes=security)
    data_bytes, answer_bytes = full + head + security, head + security
    data_us, answer_us = (b.air_us(count, 11) for count in (data_bytes, answer_bytes))
    # The acknowledgement goes at the highest of the rates 1, 2, 5.5 and 11 that the network holds for it.
    ack_us = b.air_us(14, b.ack_rate(11))
    exchange_us = b.difs_us + b.sifs_us + ack_us
    collisions = answers / 32 * (exchange_us + data_us + b.mean_backoff_us)
    us = (
        packets * (exchange_us + data_us + b.mean_backoff_us)
        + answers * (exchange_us + answer_us)
        + collisions
    )
    assert got.us == pytest.approx(us) and got.seconds == pytest.approx(us / 1e6)
    assert got.data_frames == packets + answers
    assert got.air_bytes == packets * data_bytes + answers * answer_bytes
    assert got.sender_tx_us == pytest.approx(packets * data_us + answers * ack_us)
    assert got.sender_rx_us == pytest.approx(answers * answer_us + packets * ack_us)
    assert got.receiver_tx_us == pytest.approx(got.sender_rx_us)
    assert got.receiver_rx_us == pytest.approx(got.sender_tx_us)
    assert (got.rate_mbit, got.retries_per_frame, got.applies, got.note) == (11, 0, True, "")


def test_a_transfer_through_an_access_point_by_hand() -> None:
    g = dcf.phy("g", "infrastructure")
    got = dcf.transfer(7 * 1448, mode="infrastructure", phy_name="g")
    data_us, answer_us, ack_us = g.air_us(1536, 54), g.air_us(88, 54), g.air_us(14, g.ack_rate(54))
    exchange_us = g.difs_us + g.sifs_us + ack_us
    us = 2 * (7 * (exchange_us + data_us) + 4 * (exchange_us + answer_us)) + 11 * g.mean_backoff_us
    us += 11 / 16 * (exchange_us + data_us + g.mean_backoff_us)
    assert got.us == pytest.approx(us * (1 + 1230 / 102_400))
    assert (got.data_frames, got.air_bytes) == (22, 2 * (7 * 1536 + 4 * 88))
    heard = 7 * data_us + 4 * answer_us + 11 * ack_us
    assert got.sender_tx_us == pytest.approx(7 * data_us + 4 * ack_us)
    assert got.sender_rx_us == pytest.approx(4 * answer_us + 7 * ack_us + heard)
    assert got.receiver_tx_us == pytest.approx(4 * answer_us + 7 * ack_us)
    assert got.receiver_rx_us == pytest.approx(7 * data_us + 4 * ack_us + heard)


def test_received_power_follows_the_log_distance_law() -> None:
    near = dcf.received_dbm(5, transmit_dbm=16, walls_db=0, exponent=3)
    far = dcf.received_dbm(50, transmit_dbm=16, walls_db=4, exponent=3)
    assert near - far == pytest.approx(34)
    assert dcf.received_dbm(1, transmit_dbm=0, walls_db=0, exponent=3) == pytest.approx(-40.2, abs=0.1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"payload_bytes": 0}, "at least one byte"),
        ({"payload_bytes": 1, "mode": "mesh"}, "adhoc, infrastructure"),
        ({"payload_bytes": 1, "phy_name": "n"}, "b or g"),
        ({"payload_bytes": 1, "protocol": "sctp"}, "tcp, udp"),
        ({"payload_bytes": 1, "link": dcf.Link(dict.fromkeys(dcf.DSSS, -40.0), True)}, "no rate"),
    ],
)
def test_bad_input_says_what_to_do(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        dcf.transfer(**arguments)  # type: ignore[arg-type]
