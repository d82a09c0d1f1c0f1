"""The questions that the Wi-Fi study raises: what doubles a transfer, and what security, walls, access
points and ciphers cost next to the radio. Pure."""

from __future__ import annotations

from motecrypt import energy
from motecrypt.catalog.processors import processor
from motecrypt.energy import Battery
from motecrypt.findings.host_speed import NO_AES
from motecrypt.model import Comparison
from motecrypt.studies.claim_ids import ClaimId
from motecrypt.studies.wlan import plan
from motecrypt.studies.wlan.claims import claim, holds, over
from motecrypt.studies.wlan.plan import CIPHERS, DATA, Stored
from motecrypt.studies.wlan.tables import judge, total_seconds
from motecrypt.wlan import dcf, parameters
from motecrypt.wlan.protection import security
from motecrypt.wlan.samples import encoded_bytes


def costs(stored: Stored) -> list[Comparison]:
    """Each question with its answer."""
    return [
        *_doubling(stored),
        *_security(stored),
        *_modes(stored),
        *_blowfish(stored),
        *_share_on_host(stored),
        *_share_on_motes(stored),
    ]


def _doubling(stored: Stored) -> list[Comparison]:
    """Does encryption double a transfer? Bytes first, then the time of what would double them."""
    printed = plan.durations()
    said = [printed[d, "AES", "adhoc_open"] / printed[d, "none", "adhoc_open"] for d in plan.TABLES]
    span = f"{min(said):.2f} to {max(said):.2f}"
    size, sent = DATA["text"], plan.sent_bytes("text", "AES")
    rows = [
        claim(
            "encryption nearly doubles a transfer",
            "AES, bytes sent / file",
            "ratio",
            span,
            sent / size,
            "contradicted",
            f"{sent - size} bytes of padding and IV on {size:,}",
            ClaimId.WLAN_ENCRYPTION_DOUBLES,
        )
    ]
    plain = total_seconds(stored, "text", "none", "adhoc_open")
    for encoding in ("base64", "hex"):
        moved = stored.seconds(plan.transfer("text", "AES", "adhoc_open", encoding))
        own = over(moved.mean, plain) if moved else None
        near = own is not None and 0.9 * min(said) <= own <= 1.1 * max(said)
        note = f"{encoded_bytes(300, encoding) / 300:.2f} times the bytes"
        if near:
            note += ": such an encoding would explain the paper, no cipher does"
        where = f"AES, {encoding}"
        text = "an encoding makes the printed difference"
        row_id = ClaimId.WLAN_HEX_DOUBLES if encoding == "hex" else ""
        rows.append(claim(text, where, "ratio", span, own, holds(own, near), note, row_id))
    return rows


def _security(stored: Stored) -> list[Comparison]:
    """WEP, TKIP and CCMP: their bytes, by simulation and by the closed form."""
    printed = plan.durations()
    wep = printed["text", "none", "adhoc_wep"] / printed["text", "none", "adhoc_open"]
    tkip = printed["text", "none", "bss_wpa_tkip"] / printed["text", "none", "bss_open"]
    rows = []
    for mode, name, published in (
        ("adhoc", "wep", wep),
        ("infrastructure", "wep", None),
        ("infrastructure", "tkip", tkip),
        ("infrastructure", "ccmp", None),
    ):
        base = stored.seconds(plan.security_cost(mode, "open"))
        moved = stored.seconds(plan.security_cost(mode, name))
        added = security(name).frame_bytes
        form = dcf.transfer(plan.SECURITY_SIZE, mode=mode, security_bytes=added).us
        form /= dcf.transfer(plan.SECURITY_SIZE, mode=mode).us
        note = f"{added} bytes in each frame; closed form {form:.4f}"
        own = None
        if moved and base:
            own = moved.mean / base.mean
            note += f"; ours ± {(moved.half_width + base.half_width) / base.mean:.4f}"
        verdict = judge(own / published if own and published else None, own)
        if published and own and published - 1 > 5 * (own - 1):
            verdict = "contradicted"  # 10 % of a ratio near 1 would hide a cost many times too large
        if not published:
            note += "; not in the paper"
        where = f"{mode}, text"
        text = f"what {name.upper()} costs in time"
        rows.append(claim(text, where, "ratio to open", published, own, verdict, note))
    return rows


def _modes(stored: Stored) -> list[Comparison]:
    printed = plan.durations()["text", "none", "bss_open"] / plan.durations()["text", "none", "adhoc_open"]
    note = (
        "station, access point, station: each frame is sent twice; paper 1.52 text, 1.56 audio, 1.48 "
        "video; 802.11g has the short slot behind an access point, an ad hoc cell does not"
    )
    rows = []
    for phy in ("b", "g"):
        through, direct = (
            stored.seconds(plan.good("infrastructure", phy)),
            stored.seconds(plan.good("adhoc", phy)),
        )
        own = over(through.mean, direct.mean) if through and direct else None
        rows.append(claim("access point / ad hoc", f"802.11{phy}", "ratio", printed, own, note=note))
    poor, fine = (
        stored.seconds(plan.walls("adhoc", plan.WALLS[-1], "g")),
        stored.seconds(plan.good("adhoc", "g")),
    )
    own = over(poor.mean, fine.mean) if poor and fine else None
    note = "not in the paper; the higher rates reach less far, a poor signal costs 802.11g more"
    rows.append(claim("poor signal / good signal", "802.11g", "ratio", None, own, note=note))
    return rows


def _blowfish(stored: Stored) -> list[Comparison]:
    """Blowfish has better performance than AES: with AES instructions, without, and on motes."""
    text, unit, printed = "Blowfish has better performance than AES", "Blowfish / AES", 0.16
    row_id = ClaimId.WLAN_BLOWFISH_AGAINST_AES
    rows = []
    for where, library in (
        ("this host, our portable C", "motecrypt"),
        ("this host, OpenSSL with the processor's AES instructions", "openssl"),
        ("this host, OpenSSL without AES instructions", NO_AES),
    ):
        aes = stored.cycles_per_byte(*CIPHERS["AES"], library=library)
        blowfish = stored.cycles_per_byte(
            *CIPHERS["Blowfish"], library="openssl" if library == NO_AES else library
        )
        own = over(blowfish, aes)
        note = f"Blowfish {blowfish:.2f}, AES {aes:.2f} cycles/byte" if blowfish and aes else ""
        if library == "openssl" and stored.machine and not stored.machine.aes_instructions:
            note += "; this processor is not known to have AES instructions"
        rows.append(
            claim(text, where, unit, printed, own, holds(own, own is not None and own < 1), note, row_id)
        )
    for device in plan.DEVICES:
        quick, slow = stored.mote(device, *CIPHERS["Blowfish"]), stored.mote(device, *CIPHERS["AES"])
        if quick is None or slow is None:
            reason = stored.mote_reason(device, *CIPHERS["Blowfish"])
            measured = None if reason is None else "does not run"
            note = reason or plan.NOT_MEASURED
            rows.append(claim(text, device, unit, printed, measured, holds(measured, False), note, row_id))
            continue
        own = quick.cycles_per_byte / slow.cycles_per_byte
        note = (
            f"Blowfish {quick.cycles_per_byte:.0f}, AES {slow.cycles_per_byte:.0f} cycles/byte; key set-up "
            f"{quick.setup_cycles:,.0f} against {slow.setup_cycles:,.0f} cycles"
        )
        rows.append(claim(text, device, unit, printed, own, holds(own, own < 1), note, row_id))
    return rows


_SHARE = "most resources are consumed by transmission, not by computation"


def _share_on_host(stored: Stored) -> list[Comparison]:
    """The cipher's part of the sender's energy, under two processors."""
    radio = stored.joule(plan.transfer("text", "AES", "adhoc_open"))
    if radio is None:
        return [claim(_SHARE, "this host", "% of energy", "claim", None)]
    battery = Battery.parse(plan.BATTERY)
    whole = 100 * radio.mean / battery.energy_j
    rows = []
    for name in CIPHERS:
        nanoseconds = stored.ns_per_byte(name)
        if nanoseconds is None:
            rows.append(claim(_SHARE, f"{name}, this host", "% of energy", "claim", None))
            continue
        shares = []
        for cpu in (processor(plan.PROCESSOR), processor("pentium-m-1500")):
            joule = energy.energy_uj(cpu.supply_v, cpu.current_ma, nanoseconds * DATA["text"] / 1000) / 1e6
            shares.append(100 * joule / (joule + radio.mean))
        note = (
            f"the source's 0.27 W processor; {shares[1]:.1f} % with a Pentium M's 24.5 W; the radio takes "
            f"{radio.mean:.2f} J, {whole:.4f} % of a {plan.BATTERY} battery"
        )
        verdict = holds(shares[0], max(shares) < 50)
        rows.append(claim(_SHARE, f"{name}, this host", "% of energy", "claim", shares[0], verdict, note))
    return rows


def _share_on_motes(stored: Stored) -> list[Comparison]:
    """The same on motes, next to a node's Wi-Fi."""
    size, card = DATA["text"], parameters.card("esp8266")
    moved = dcf.transfer(size)
    radio = parameters.radio_joule(card, moved.seconds, moved.sender_tx_us / 1e6, moved.sender_rx_us / 1e6)
    rows = []
    for device_name in plan.DEVICES:
        for name, (cipher, bits) in CIPHERS.items():
            where = f"{name}, {device_name}"
            cost = stored.mote(device_name, cipher, bits)
            if cost is None:
                reason = stored.mote_reason(device_name, cipher, bits) or plan.NOT_MEASURED
                rows.append(claim(_SHARE, where, "% of energy", "claim", None, "not measured", reason))
                continue
            device = stored.catalog.device(device_name)
            active = device.current("active")
            if active is None:
                note = f"{cost.seconds(size):.1f} s; the device's descriptor has no current"
                rows.append(claim(_SHARE, where, "% of energy", "claim", None, "not measured", note))
                continue
            joule = energy.energy_uj(device.volts, active.milliamperes, cost.seconds(size) * 1e6) / 1e6
            part = 100 * joule / (joule + radio)
            note = f"{cost.seconds(size):.1f} s and {joule:.2f} J for 2 MB; an ESP8266: {radio:.2f} J"
            rows.append(claim(_SHARE, where, "% of energy", "claim", part, holds(part, part < 50), note))
    return rows
