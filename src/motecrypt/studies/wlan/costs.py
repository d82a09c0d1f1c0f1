"""The questions that the Wi-Fi study raises: what doubles a transfer, and what security, walls, access
points and ciphers cost next to the radio. Pure."""

from __future__ import annotations

from dataclasses import replace

from motecrypt.air.wlan import dcf, parameters
from motecrypt.air.wlan.protection import security
from motecrypt.air.wlan.samples import encoded_bytes
from motecrypt.base import energy
from motecrypt.base.energy import parse_battery
from motecrypt.catalog.processors import processor
from motecrypt.results.findings.host_speed import NO_AES
from motecrypt.studies.claim_ids import ClaimId
from motecrypt.studies.facts import Comparison, Tolerance
from motecrypt.studies.judge import Between, Bound, Evidence
from motecrypt.studies.wlan import plan
from motecrypt.studies.wlan.claims import OTHER_CODE, OURS, claim, of, over
from motecrypt.studies.wlan.plan import CIPHERS, DATA, Stored
from motecrypt.studies.wlan.tables import cell_id, total_seconds


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
            "doubles",
            "encryption nearly doubles a transfer",
            "AES, bytes sent / file",
            "ratio",
            span,
            sent / size,
            expected=Between(min(said), max(said)),
            evidence=Evidence(
                "same algorithm, ours",
                cause="a ciphertext has its plaintext's length, an IV and at most a block more",
                known="shown by experiment",
                command="motecrypt wlan --sample text:2M --cipher aes128-cbc",
            ),
            note=f"{sent - size} bytes of padding and IV on {size:,}",
            topic=ClaimId.WLAN_ENCRYPTION_DOUBLES,
        )
    ]
    plain = total_seconds(stored, "text", "none", "adhoc_open")
    for encoding in ("base64", "hex"):
        moved = stored.seconds(plan.transfer("text", "AES", "adhoc_open", encoding))
        own = over(moved.mean, plain) if moved else None
        made = claim(
            f"doubles-{encoding}",
            "an encoding makes the printed difference",
            f"AES, {encoding}",
            "ratio",
            span,
            own,
            kind="derived",
            expected=Between(min(said), max(said)),
            evidence=replace(
                of("claim-doubles"),
                cause="Base64 sends 4 bytes for 3" if encoding == "base64" else "",
                known="shown by experiment",
                command=f"motecrypt wlan --sample text:2M --cipher aes128-cbc --encoding {encoding}",
            ),
            note=f"{encoded_bytes(300, encoding) / 300:.2f} times the bytes",
            topic=ClaimId.WLAN_HEX_DOUBLES if encoding == "hex" else "",
        )
        if made.verdict == "matches":
            note = f"{made.note}: such an encoding would explain the paper, no cipher does"
            made = replace(made, note=note)
        rows.append(made)
    return rows


#: What a security protocol adds is below one per cent, as much as runs differ: the added cost is judged.
ADDED = Tolerance(0.0, 0.01, "model: the spread of simulated runs")


def _security(stored: Stored) -> list[Comparison]:
    """WEP, TKIP and CCMP: their bytes, by simulation and by the closed form."""
    printed = plan.durations()
    wep = printed["text", "none", "adhoc_wep"] / printed["text", "none", "adhoc_open"]
    tkip = printed["text", "none", "bss_wpa_tkip"] / printed["text", "none", "bss_open"]
    rows = []
    for mode, name, published, cells in (
        ("adhoc", "wep", wep, ("adhoc_wep", "adhoc_open")),
        ("infrastructure", "wep", None, ("bss_open",)),
        ("infrastructure", "tkip", tkip, ("bss_wpa_tkip", "bss_open")),
        ("infrastructure", "ccmp", None, ("bss_open",)),
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
        if not published:
            note += "; not in the paper"
        rows.append(
            claim(
                f"security-{mode}-{name}",
                f"what {name.upper()} costs in time",
                f"{mode}, text",
                "ratio to open",
                published,
                own,
                kind="derived",
                expected=None if published is None else published - 1,
                found=None if own is None else own - 1,
                tolerance=ADDED,
                evidence=replace(
                    of(*(cell_id("text", "none", cell) for cell in cells)), cause=_spread(published, own)
                ),
                note=note,
            )
        )
    return rows


def _spread(published: float | None, own: float | None) -> str:
    """Two single transfers differ; what differs by no more may be nothing else."""
    noise = plan.NOISE["good"]
    if published is None or own is None or abs(published - own) > noise:
        return ""
    return f"within the spread of single transfers ({100 * noise:.0f} %)"


def _modes(stored: Stored) -> list[Comparison]:
    printed = plan.durations()["text", "none", "bss_open"] / plan.durations()["text", "none", "adhoc_open"]
    cells = of(*(cell_id("text", "none", column) for column in ("bss_open", "adhoc_open")))
    note = (
        "station, access point, station: each frame is sent twice; paper 1.52 text, 1.56 audio, 1.48 "
        "video; 802.11g has the short slot behind an access point, an ad hoc cell does not"
    )
    rows = []
    cells = replace(cells, cause="802.11g instead of b (hypotheses in --rows)")
    for phy in ("b", "g"):
        through, direct = (
            stored.seconds(plan.good("infrastructure", phy)),
            stored.seconds(plan.good("adhoc", phy)),
        )
        own = over(through.mean, direct.mean) if through and direct else None
        made, text, where = f"access-point-{phy}", "access point / ad hoc", f"802.11{phy}"
        rows.append(
            claim(made, text, where, "ratio", printed, own, kind="derived", evidence=cells, note=note)
        )
    poor, fine = (
        stored.seconds(plan.walls("adhoc", plan.WALLS[-1], "g")),
        stored.seconds(plan.good("adhoc", "g")),
    )
    own = over(poor.mean, fine.mean) if poor and fine else None
    note = "not in the paper; the higher rates reach less far, a poor signal costs 802.11g more"
    text, where = "poor signal / good signal", "802.11g"
    evidence = Evidence("other")
    rows.append(claim("poor-802.11g", text, where, "ratio", None, own, evidence=evidence, note=note))
    return rows


def _blowfish(stored: Stored) -> list[Comparison]:
    """Blowfish has better performance than AES: with AES instructions, without, and on motes."""
    text, unit, printed = "Blowfish has better performance than AES", "Blowfish / AES", 0.16
    better, rows = Bound("below", 1.0), []
    for made, where, library in (
        ("blowfish", "this host, our portable C", "motecrypt"),
        ("blowfish-instructions", "this host, OpenSSL with the processor's AES instructions", "openssl"),
        ("blowfish-openssl", "this host, OpenSSL without AES instructions", NO_AES),
    ):
        aes = stored.cycles_per_byte(*CIPHERS["AES"], library=library)
        blowfish = stored.cycles_per_byte(
            *CIPHERS["Blowfish"], library="openssl" if library == NO_AES else library
        )
        note = f"Blowfish {blowfish:.2f}, AES {aes:.2f} cycles/byte" if blowfish and aes else ""
        if library == "openssl" and stored.machine and not stored.machine.aes_instructions:
            note += "; this processor is not known to have AES instructions"
        first = library == "motecrypt"
        rows.append(
            claim(
                made,
                text,
                where,
                unit,
                printed,
                over(blowfish, aes),
                kind="claim" if first else "derived",
                expected=better,
                evidence=replace(OURS if first else of("claim-blowfish"), cause=OTHER_CODE),
                note=note,
                topic=ClaimId.WLAN_BLOWFISH_AGAINST_AES,
            )
        )
    for device in plan.DEVICES:
        quick, slow = stored.mote(device, *CIPHERS["Blowfish"]), stored.mote(device, *CIPHERS["AES"])
        own: float | str | None = None
        if quick is None or slow is None:
            reason = stored.mote_reason(device, *CIPHERS["Blowfish"])
            own, note = None if reason is None else "does not run", reason or plan.NOT_MEASURED
        else:
            own = quick.cycles_per_byte / slow.cycles_per_byte
            note = (
                f"Blowfish {quick.cycles_per_byte:.0f}, AES {slow.cycles_per_byte:.0f} cycles/byte; key "
                f"set-up {quick.setup_cycles:,.0f} against {slow.setup_cycles:,.0f} cycles"
            )
        # The source's claim is of a laptop: on a mote it is neither right nor wrong.
        made = f"blowfish-{device}"
        rows.append(
            claim(
                made,
                text,
                device,
                unit,
                None,
                own,
                note=note,
                topic=ClaimId.WLAN_BLOWFISH_AGAINST_AES,
            )
        )
    return rows


_SHARE = "most resources are consumed by transmission, not by computation"


#: The radio takes most of the energy while the cipher takes less than half, in per cent.
MINOR = Bound("below", 50.0)


def _share_on_host(stored: Stored) -> list[Comparison]:
    """The cipher's part of the sender's energy, under two processors."""
    radio = stored.joule(plan.transfer("text", "AES", "adhoc_open"))
    battery = parse_battery(plan.BATTERY)
    rows = []
    for name in CIPHERS:
        nanoseconds, shares, note = stored.ns_per_byte(name), [], ""
        if radio is not None and nanoseconds is not None:
            for cpu in (processor(plan.PROCESSOR), processor("pentium-m-1500")):
                micro = energy.energy_uj(cpu.supply_v, cpu.current_ma, nanoseconds * DATA["text"] / 1000)
                shares.append(100 * micro / (micro + 1e6 * radio.mean))
            note = (
                f"the source's 0.27 W processor; {shares[1]:.1f} % with a Pentium M's 24.5 W; the radio "
                f"takes {radio.mean:.2f} J, {100 * radio.mean / battery.energy_j:.4f} % of a "
                f"{plan.BATTERY} battery"
            )
        first = name == next(iter(CIPHERS))
        rows.append(
            claim(
                "share" if first else f"share-{name.lower()}",
                _SHARE,
                f"{name}, this host",
                "% of energy",
                "yes",
                shares[0] if shares else None,
                kind="claim" if first else "derived",
                expected=MINOR,
                found=max(shares, default=0.0),
                evidence=OURS if first else of("claim-share"),
                note=note,
            )
        )
    return rows


def _share_on_motes(stored: Stored) -> list[Comparison]:
    """The same on motes, next to a node's Wi-Fi; the source speaks of laptops, so nothing is judged."""
    size, card = DATA["text"], parameters.card("esp8266")
    moved = dcf.transfer(size)
    radio = parameters.radio_joule(card, moved.seconds, moved.sender_tx_us / 1e6, moved.sender_rx_us / 1e6)
    rows = []
    for device_name in plan.DEVICES:
        for name, (cipher, bits) in CIPHERS.items():
            cost, part = stored.mote(device_name, cipher, bits), None
            device = stored.catalog.device(device_name)
            active = device.current("active")
            if cost is None:
                note = stored.mote_reason(device_name, cipher, bits) or plan.NOT_MEASURED
            elif active is None:
                note = f"{cost.seconds(size):.1f} s; the device's descriptor has no current"
            else:
                joule = energy.energy_uj(device.volts, active.milliamperes, cost.seconds(size) * 1e6) / 1e6
                part = 100 * joule / (joule + radio)
                note = f"{cost.seconds(size):.1f} s and {joule:.2f} J for 2 MB; an ESP8266: {radio:.2f} J"
            made, where = f"share-{device_name}-{name.lower()}", f"{name}, {device_name}"
            rows.append(claim(made, _SHARE, where, "% of energy", None, part, note=note))
    return rows
