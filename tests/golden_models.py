"""What the models say: the air, Wi-Fi, costs of files, energy, as text kept in tests/golden/models.json.

After a change of a model that is meant, look at the difference that this makes:

    PYTHONPATH=src:tests .venv/bin/python tests/golden_models.py && git diff tests/golden/models.json
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from itertools import product
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from goldens import frozen
from goldens.noting import Noting
from goldens.text import digest, plain, written
from goldens.wifi import capture_parts, links, sealed_frames
from motecrypt.air.radios import load_radio, plots, radio_names
from motecrypt.air.radios.costs import costs
from motecrypt.air.radios.survey import survey
from motecrypt.air.wlan import account, capture, dcf, filecost, parameters, protection, samples
from motecrypt.base import energy
from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.base.model import Measurement, MessageLengths
from motecrypt.catalog import Catalog
from motecrypt.catalog.processors import processors

PLACE = Path(__file__).parent / "golden" / "models.json"
COMMAND = "PYTHONPATH=src:tests .venv/bin/python tests/golden_models.py"


def refusal(call: Callable[[], object]) -> Any:
    """What a call gives, or the line with which it is refused."""
    try:
        return plain(call())
    except (InputError, MotecryptError) as error:
        return f"{type(error).__name__}: {error}"


# --- Wi-Fi --------------------------------------------------------------------------------------------------


def wifi_times() -> dict[str, Any]:
    """Transfers by the closed form, and the physical layers that they rest on."""
    found: dict[str, Any] = {}
    for phy_name, mode in product("bg", dcf.MODES):
        timing = dcf.phy(phy_name, mode)
        found[f"layer {phy_name} {mode}"] = [
            [asdict(timing), timing.difs_us, timing.mean_backoff_us],
            *(
                [
                    *(rate, timing.ack_rate(rate), timing.air_us(1, rate), timing.air_us(1501, rate)),
                    *(timing.exchange_us(100, rate), timing.exchange_us(1501, rate, 3.5)),
                ]
                for rate in timing.rates
            ),
        ]
    for phy_name, mode, protocol, card in product("bg", dcf.MODES, dcf.PROTOCOLS, parameters.names("card")):
        rows = []
        for over, size, security in product(
            (
                *(parameters.signal(name) for name in parameters.names("signal")),
                replace(parameters.signal("good"), distance_m=10.5, walls_db=7.0),
                replace(parameters.signal("good"), distance_m=10.0),
                replace(parameters.signal("poor"), walls_db=24.0),
            ),
            (1, 1473, 123_457),
            ("open", "tkip"),
        ):
            link = parameters.link(over, parameters.card(card), mode)
            settings = {"mode": mode, "phy_name": phy_name, "protocol": protocol, "link": link}
            extra = protection.security(security).frame_bytes

            def moved(size: int = size, extra: int = extra, settings: Any = settings) -> list[Any]:
                made = dcf.transfer(size, security_bytes=extra, **settings)
                return [made.seconds, 8 * made.payload_bytes / made.us, *asdict(made).values()]

            rows.append(refusal(moved))
        found[f"transfer {phy_name} {mode} {protocol} {card}"] = rows
    found["received"] = [
        dcf.received_dbm(d, transmit_dbm=t, walls_db=w, exponent=e)
        for d, t, w, e in (
            (1.0, 15.0, 0.0, 3.0),
            (0.5, 15.0, 0.0, 3.0),
            (51.0, 17.5, 6.0, 2.7),
            (4.0, 0, 0, 2),
        )
    ]
    wavelan = parameters.card("wavelan")
    found["radio's energy"] = [
        parameters.radio_joule(wavelan, *times)
        for times in ((10.0, 2.0, 3.0), (1.0, 2.0, 3.0), (5.0, 0.0, 5.0))
    ]
    found["refused"] = [
        refusal(call)
        for call in (
            lambda: dcf.transfer(0),
            lambda: dcf.transfer(10, mode="mesh"),
            *(lambda name=name: dcf.transfer(10, phy_name=name) for name in "nacfhz"),  # type: ignore[misc]
            lambda: dcf.transfer(10, protocol="sctp"),
            lambda: parameters.card("none"),
            lambda: parameters.signal("none"),
            lambda: protection.security("none"),
        )
    ]
    return found


def wifi_frames() -> dict[str, Any]:
    """Captures, and the frames of an authentication: sizes, times and bytes."""
    found: dict[str, Any] = {}
    payload = bytes(range(256)) * 14
    with tempfile.TemporaryDirectory(prefix="motecrypt-") as folder:
        for mode, name, phy_name, protocol in (
            *product(dcf.MODES, protection.SECURITIES, "b", ("tcp",)),
            ("adhoc", "ccmp", "g", "udp"),
            ("infrastructure", "wep", "g", "udp"),
            ("infrastructure", "tkip", "b", "udp"),
        ):
            path = Path(folder) / "c.pcap"
            settings = {"mode": mode, "security_name": name, "phy_name": phy_name, "protocol": protocol}
            made = capture.write_capture(path, capture.pieces(payload, protocol), **settings)  # type: ignore[arg-type]
            kept = path.read_bytes()
            times = [kept[at : at + 8].hex() for at in _records(kept)]
            found[f"capture {mode} {name} {phy_name} {protocol}"] = [
                [made.frames, made.data_frames, made.air_bytes, made.seconds, list(made.data_frame_bytes)],
                [made.tshark, hashlib.sha256(kept).hexdigest()[:16], digest(times)],
            ]
        found["no such folder"] = [
            str(refusal(lambda: capture.write_capture(Path("/no/such/c.pcap"), iter(()))))
        ]
    for mode, name, phy_name in product(dcf.MODES, ("open", "wep"), "bg"):
        found[f"authentication {mode} {name} {phy_name}"] = [
            [s.source, s.target, s.us, s.summary, hashlib.sha256(s.frame).hexdigest()[:12]]
            for s in capture.handshake(name, mode, phy_name)
        ]
    return found


def _records(pcap: bytes) -> list[int]:
    found, at = [], 24
    while at < len(pcap):
        found.append(at)
        at += 16 + int.from_bytes(pcap[at + 8 : at + 12], "little")
    return found


def files_made() -> dict[str, Any]:
    """Sample data, encodings and sizes."""

    def digest(data: bytes) -> str:
        return f"{len(data)} {hashlib.sha256(data).hexdigest()[:16]} {samples.bits_per_byte(data):.6f}"

    text = samples._text(3000)
    cut = [text[:1], text[1:3], text[3:1000], text[1000:]]
    drawn: list[Noting] = []
    with mock.patch.object(samples.random, "Random", lambda seed: drawn.append(Noting(seed)) or drawn[-1]):
        samples._audio(48)
        samples._text(200)
    return {
        "ranges": [each.ranges for each in drawn],
        "samples": [digest(samples._text(n)) for n in (1, 50, 3000)]
        + [digest(samples._audio(n)) for n in (48, 51, 44 + 4 * 2756, 44 + 4 * 2757 + 2)],
        "fill": [
            digest(samples._fill(b"\xff\xd8rest", 6 + n))
            for n in (0, 4, 5, 65_537, 65_538, 65_540, 65_541, 140_000)
        ],
        "kinds": [plain(kind) for kind in samples.KINDS.values()],
        "encoded": [[samples.encoded_bytes(n, e) for n in (0, 1, 2, 3, 4, 100)] for e in samples.ENCODINGS],
        "encodings": [digest(b"".join(samples.encode(cut, e))) for e in samples.ENCODINGS],
        "entropy": [samples.bits_per_byte(b) for b in (b"aaaa", b"abab", b"aaab", bytes(range(256)))],
        "refused": [
            refusal(call)
            for call in (
                lambda: samples.encoded_bytes(1, "rot13"),
                lambda: list(samples.encode([b"x"], "rot13")),
                lambda: str(samples.sample("smell", 1)),
                lambda: str(samples.sample("text", samples.SAMPLE_BYTES_MAX + 1)),
                lambda: samples._audio(47).hex(),
                lambda: samples._image(3999).hex(),
            )
        ],
        "sizes": [
            refusal(lambda text=text: account.parse_size(text))  # type: ignore[misc]
            for text in (
                "500000",
                "500k",
                "5M",
                "0.5G",
                "1g",
                "0",
                "0.4",
                "0.5",
                "0.6",
                "-3",
                "k",
                "",
                "1e400",
                "x",
            )
        ],
    }


def _measurement(**changes: Any) -> Measurement:
    usual: dict[str, Any] = {
        "device": "uno",
        "library": "motecrypt",
        "configuration": "",
        "cipher": "aes128-cbc",
        "variant": "fast",
        "key_bits": 128,
        "operation": "encrypt",
        "message_bytes": 16,
        "status": "ok",
        "cycles_median": 1000,
        "time_us": None,
    }
    names = Measurement.__dataclass_fields__
    return Measurement(**{**dict.fromkeys(names), **usual, **changes})  # type: ignore[arg-type]


def file_costs() -> dict[str, Any]:
    """What encrypting files costs, from made-up measurements."""
    catalog = Catalog.load()
    uno, pico, host = (catalog.device(name) for name in ("uno", "pico", "host"))
    m = _measurement
    fast = [m(), m(message_bytes=64, cycles_median=3400), m(operation="setup", cycles_median=70)]
    other = [
        m(variant="small", cycles_median=900),
        m(variant="small", message_bytes=32, cycles_median=1500),
        m(variant="small", message_bytes=64, cycles_median=3540),
    ]
    bits = [m(key_bits=192), m(key_bits=192, message_bytes=64, cycles_median=1096)]
    clock = [m(), m(message_bytes=64, cycles_median=3400, time_us=17.0)]
    failed = [replace(one, status="fault") for one in bits]
    odd = [
        [m()],
        [m(), m(cycles_median=5)],
        [m(cycles_median=None), m(message_bytes=64)],
        [m(), m(message_bytes=64, cycles_median=None)],
        [m(device="pico"), m(device="pico", message_bytes=64)],
        [],
    ]
    found: dict[str, Any] = {
        "best": [
            plain(filecost.best(uno, group))
            for group in (
                fast,
                other,
                [*fast, *other],
                [*other, *fast],
                [*fast, *bits],
                [*fast, *failed],
                clock,
            )
        ],
        "none": [filecost.best(uno, group) for group in odd],
        "two set-ups": [
            plain(filecost.best(uno, [*fast, m(operation="setup", cycles_median=60)])),
            plain(filecost.best(uno, [*fast[:2], m(operation="setup", cycles_median=None)])),
        ],
    }
    cost = filecost.best(uno, fast)
    assert cost is not None
    found["of a size"] = [[cost.cycles(n), cost.seconds(n)] for n in (0, 1, 1000)]
    processor = processors()["strongarm"]
    battery = energy.Battery(1200, 3.7)
    for device in (uno, pico, host):
        found[f"share of {device.name}"] = [
            [*plain(part).values(), part.energy_share, part.time_share]
            for part in (
                account.share(cost, 5000, device, processor, 3.5, 2.25, battery),
                account.share(cost, 1, device, processor, 0.0, 0.0, battery),
            )
        ]
    nothing = account.Share("d", "i", 0.0, 0.0, 0.0, 0.0, 0.0, "m")
    found["share of nothing"] = [nothing.energy_share, nothing.time_share]
    found["payload"] = [
        [plain(made), made.growth]
        for made in (
            account.payload(1000, 1016, size, p) for size in (1460, 1461, 2048) for p in dcf.PROTOCOLS
        )
    ]
    ciphers = (
        "aes128-cbc",
        "aes128-ctr",
        "aes128-ccm8",
        "rc4",
        "rc4d",
        "des-cbc",
        "aes128-hctr2",
        "aes128-cts",
    )
    for name in (name for name in ciphers if name in catalog.ciphers):
        cipher = catalog.cipher(name)
        found[f"ciphertext of {name}"] = [
            [
                refusal(lambda n=n, s=s, c=cipher: filecost.ciphertext_bytes(c, n, s))
                for n in (0, 1, 15, 16, 17, 100)
            ]  # type: ignore[misc]
            for s in (True, False)
        ]
        found[f"lengths of {name}"] = [filecost.lengths(device, cipher) for device in (uno, pico, host)]
        for device in (uno, pico, host):
            found[f"cells of {name} on {device.name}"] = [
                [tuple(map(str, cell.identity)) for cell in cells]
                for cells in (
                    filecost.cells(catalog, device.name, name),
                    filecost.cells(catalog, device.name, name, 192, without=()),
                    filecost.cells(
                        catalog, device.name, name, 128, message_bytes=(3, 5), without=("fast", "small")
                    ),
                )
            ]
    cipher = catalog.cipher("aes128-cbc")
    found["lengths at the limits"] = [
        filecost.lengths(
            replace(uno, bench={"message": held}),
            replace(cipher, message=MessageLengths(0, most, multiple)),
        )
        for held in (64, 128, 256, 257, 300, 4096, 1 << 20)
        for most in (64, 1 << 24)
        for multiple in (1, 16, 24)
    ]
    return found


# --- serial radios and energy -------------------------------------------------------------------------------

NUMBERS = (1, 2, 11, 12, 13, 24, 31, 32, 33, 60, 100, 250, 251)


def radio_costs() -> dict[str, Any]:
    """What messages cost on every radio, and the best lengths and packets."""
    found: dict[str, Any] = {}
    for name in radio_names():
        radio = load_radio(name)
        found[f"costs on {name}"] = [
            [n, *(float(v) for v in vars(costs(radio, n)).values())]
            for n in NUMBERS  # type: ignore[arg-type]
        ]
        told = survey(radio, np.array(NUMBERS, dtype=np.int64))
        found[f"survey of {name}"] = [
            [told.best_message, plain(told.best_packet), plain(told.best_packet_padded), len(told.packets)],
            digest([plain(choice) for choice in told.packets]),
            *(list(plain(row).values()) for row in told.rows()),
        ]
    series = [("*", "one & two", [float(n * n % 37) for n in NUMBERS]), ("o", "zero", [0.5] * len(NUMBERS))]
    found["text plot"] = plots.text_plot(NUMBERS, series, "ms").splitlines()
    long = list(range(3, 203))
    values = [("*", "a", [abs(100.0 - n) for n in long]), ("+", "b", [float(n) for n in long])]
    found["long text plot"] = plots.text_plot(long, values, "us").splitlines()
    found["plot of zeros"] = plots.text_plot([5], [("x", "none", [0.0])], "us").splitlines()
    found["drawn plot"] = plots.svg_plot(
        "A <title>", NUMBERS, [("red", "a&b", series[0][2]), ("#00f", "c", series[1][2])], "ms & s"
    ).splitlines()
    found["drawn plot of one"] = plots.svg_plot("T", [7], [("red", "a", [0.0])], "us").splitlines()
    return found


def energies() -> dict[str, Any]:
    """Time, charge, energy and life."""

    battery = energy.Battery(1200, 3.7)
    texts = ("1200mAh,3.7V", "1.2 Ah, 3.7", "1200MAH,3.7v", "1200,3.7V", "0mAh,3V", "1mAh,0V", "-1mAh,3V")
    texts += ("infmAh,3V", "1mAh,infV", "1mAh", "", "nanmAh,3V", "0.001Ah,0.01V", "x Ah,3V")
    return {
        "work": [
            [name, plain(energy.work(cycles, processor))]
            for name, processor in sorted(processors().items())
            for cycles in (0, 1, 123_456_789)
        ],
        "batteries": [refusal(lambda t=t: energy.parse_battery(t)) for t in texts],  # type: ignore[misc]
        "energy": [
            battery.energy_j,
            energy.time_us(16, 8e6),
            energy.energy_uj(3.3, 2.0, 500.0),
            energy.battery_percent(5e9, battery),
        ],
    }


GOLDEN: Mapping[str, Callable[[], dict[str, Any]]] = {
    "Wi-Fi times": wifi_times,
    "Wi-Fi links": links,
    "Wi-Fi protection": sealed_frames,
    "Wi-Fi captures": capture_parts,
    "Wi-Fi frames": wifi_frames,
    "files": files_made,
    "costs of files": file_costs,
    "radios": radio_costs,
    "energy": energies,
}


def main() -> None:
    """Write the file again."""
    with frozen.catalogue():
        found = {f"{name}: {k}": v for name, made in GOLDEN.items() for k, v in made().items()}
    PLACE.write_text(written(found))


if __name__ == "__main__":
    main()
