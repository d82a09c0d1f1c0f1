"""The questions that the Wi-Fi study raises: what doubles a transfer, and what security, walls, access
points and ciphers cost next to the radio. Pure."""

from __future__ import annotations

from motecrypt.air.wlan import dcf, parameters
from motecrypt.air.wlan.protection import security
from motecrypt.air.wlan.samples import encoded_bytes
from motecrypt.base import energy
from motecrypt.base.energy import parse_battery
from motecrypt.catalog.processors import processor
from motecrypt.results.experiments.host_speed import NO_AES
from motecrypt.studies.facts import Comparison
from motecrypt.studies.judge import Between
from motecrypt.studies.wlan import plan
from motecrypt.studies.wlan.claims import first_of, ids, over
from motecrypt.studies.wlan.plan import CIPHERS, DATA, Stored
from motecrypt.studies.wlan.tables import cell_id, row, total_seconds


def costs(stored: Stored) -> list[Comparison]:
    """Each question with its answer."""
    return [
        *_doubling(stored),
        *_security(stored),
        *_modes(stored),
        *_blowfish(stored),
        *_share_on_host(stored),
        *_share_on_nodes(stored),
    ]


def _doubling(stored: Stored) -> list[Comparison]:
    """Does encryption double a transfer? Bytes first, then the time of what would double them."""
    printed = plan.durations()
    said = [printed[d, "AES", "adhoc_open"] / printed[d, "none", "adhoc_open"] for d in plan.TABLES]
    span = f"{min(said):.2f} to {max(said):.2f}"
    size, sent = DATA["text"], plan.sent_bytes("text", "AES")
    told = {"span": span, "expected": Between(min(said), max(said))}
    rows = [row("doubles", **told, measured=sent / size, added=sent - size, size=size)]
    plain = total_seconds(stored, "text", "none", "adhoc_open")
    for encoding in ("base64", "hex"):
        moved = stored.seconds(plan.transfer("text", "AES", "adhoc_open", encoding))
        told |= {"encoding": encoding, "bytes": encoded_bytes(300, encoding) / 300}
        told |= {"measured": over(moved.mean, plain) if moved else None}
        made = row(f"doubles-{encoding}", **told, explains=False)
        explains = made.verdict == "matches"
        rows.append(row(f"doubles-{encoding}", **told, explains=True) if explains else made)
    return rows


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
        own = over(moved.mean, base.mean) if moved and base else None
        rows.append(
            row(
                "security",
                mode=mode,
                name=name,
                title=name.upper(),
                published=published,
                measured=own,
                expected=None if published is None else published - 1,
                found=None if own is None else own - 1,
                derived_from=ids(*(cell_id("text", "none", cell) for cell in cells)),
                added=added,
                form=form,
                spread=(moved.half_width + base.half_width) / base.mean if moved and base else None,
                noise=100 * plan.NOISE["good"] if _near(published, own) else None,
            )
        )
    return rows


def _near(published: float | None, own: float | None) -> bool:
    """Two single transfers differ; what differs by no more may be nothing else."""
    return published is not None and own is not None and not abs(published - own) > plan.NOISE["good"]


def _modes(stored: Stored) -> list[Comparison]:
    printed = plan.durations()["text", "none", "bss_open"] / plan.durations()["text", "none", "adhoc_open"]
    cells = ids(*(cell_id("text", "none", column) for column in ("bss_open", "adhoc_open")))
    rows = []
    for phy in ("b", "g"):
        through, direct = (
            stored.seconds(plan.good("infrastructure", phy)),
            stored.seconds(plan.good("adhoc", phy)),
        )
        own = over(through.mean, direct.mean) if through and direct else None
        rows.append(row("access-point", phy=phy, published=printed, measured=own, derived_from=cells))
    poor, fine = (
        stored.seconds(plan.walls("adhoc", plan.WALLS[-1], "g")),
        stored.seconds(plan.good("adhoc", "g")),
    )
    return [*rows, row("poor-g", measured=over(poor.mean, fine.mean) if poor and fine else None)]


def _blowfish(stored: Stored) -> list[Comparison]:
    """Blowfish has better performance than AES: with AES instructions, without, and on nodes."""
    rows = []
    for made, name, library in (
        ("blowfish", "blowfish-motecrypt", "motecrypt"),
        ("blowfish-instructions", "blowfish-openssl", "openssl"),
        ("blowfish-openssl", "blowfish-no-aes", NO_AES),
    ):
        aes = stored.cycles_per_byte(*CIPHERS["AES"], library=library)
        blowfish = stored.cycles_per_byte(
            *CIPHERS["Blowfish"], library="openssl" if library == NO_AES else library
        )
        machine, whole = stored.machine, bool(blowfish and aes)
        rows.append(
            row(
                name,
                name=made,
                **first_of(library == "motecrypt", "claim-blowfish"),
                measured=over(blowfish, aes),
                blowfish=blowfish if whole else None,
                aes=aes if whole else None,
                unknown=library == "openssl" and machine is not None and not machine.aes_instructions,
            )
        )
    for device in plan.DEVICES:
        quick, slow = stored.node(device, *CIPHERS["Blowfish"]), stored.node(device, *CIPHERS["AES"])
        if quick is None or slow is None:
            reason = stored.node_reason(device, *CIPHERS["Blowfish"])
            told = {"measured": reason and "does not run", "note": reason or plan.NOT_MEASURED}
        else:
            own = quick.cycles_per_byte / slow.cycles_per_byte
            told = {"measured": own, "blowfish": quick, "aes": slow}  # type: ignore[dict-item]
        rows.append(row("blowfish-node", device=device, **told))
    return rows


def _share_on_host(stored: Stored) -> list[Comparison]:
    """The cipher's part of the sender's energy, under two processors."""
    radio = stored.joule(plan.transfer("text", "AES", "adhoc_open"))
    battery = parse_battery(plan.BATTERY)
    rows = []
    for name in CIPHERS:
        nanoseconds, shares = stored.ns_per_byte(name), []
        if radio is not None and nanoseconds is not None:
            for cpu in (processor(plan.PROCESSOR), processor("pentium-m-1500")):
                micro = energy.energy_uj(cpu.supply_v, cpu.current_ma, nanoseconds * DATA["text"] / 1000)
                shares.append(100 * micro / (micro + 1e6 * radio.mean))
        rows.append(
            row(
                "share",
                **first_of(name == next(iter(CIPHERS)), "claim-share"),
                name=name.lower(),
                cipher=name,
                measured=shares[0] if shares else None,
                found=max(shares, default=0.0),
                laptop=shares[1] if shares else None,
                radio=radio.mean if radio else None,
                drained=100 * radio.mean / battery.energy_j if radio else None,
                battery=plan.BATTERY,
            )
        )
    return rows


def _share_on_nodes(stored: Stored) -> list[Comparison]:
    """The same on nodes, next to a node's Wi-Fi; the source speaks of laptops, so nothing is judged."""
    size, card = DATA["text"], parameters.card("esp8266")
    moved = dcf.transfer(size)
    radio = parameters.radio_joule(card, moved.seconds, moved.sender_tx_us / 1e6, moved.sender_rx_us / 1e6)
    rows = []
    for device_name in plan.DEVICES:
        for name, (cipher, bits) in CIPHERS.items():
            cost, part, joule = stored.node(device_name, cipher, bits), None, None
            device = stored.catalog.device(device_name)
            active = device.current("active")
            if cost is not None and active is not None:
                joule = energy.energy_uj(device.volts, active.milliamperes, cost.seconds(size) * 1e6) / 1e6
                part = 100 * joule / (joule + radio)
            reason = stored.node_reason(device_name, cipher, bits) or plan.NOT_MEASURED
            rows.append(
                row(
                    "share-node",
                    device=device_name,
                    name=name.lower(),
                    cipher=name,
                    measured=part,
                    reason=reason if cost is None else None,
                    bare=cost is not None and active is None,
                    seconds=None if cost is None else cost.seconds(size),
                    joule=joule,
                    radio=radio,
                )
            )
    return rows
