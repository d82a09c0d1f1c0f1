"""The content of the report, gathered from the results: every part from front to explorer. Draws nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from motecrypt import __version__
from motecrypt.adviser import exported
from motecrypt.adviser.hardware.bounds import bound_text, bound_told
from motecrypt.adviser.records.rows import RecordRow
from motecrypt.adviser.records.stored import read_rows
from motecrypt.base.model import SECURITY_STATUSES, Cipher, Measurement
from motecrypt.catalog import Catalog
from motecrypt.present.report import charts, explorer
from motecrypt.present.report.costs import Cost, best_by_device, join, one_cache, usual_length
from motecrypt.present.report.figure import Figure
from motecrypt.present.report.pareto import pareto_figure
from motecrypt.present.report.power import power_figure
from motecrypt.present.report.public_keys import PublicKeyPart, public_key_part
from motecrypt.present.report.sources import SourcePart, sources
from motecrypt.present.report.summaries import AuditSummary, CipherSummary, DeviceSummary
from motecrypt.present.report.tiles import Tile, tiles
from motecrypt.results import Results
from motecrypt.results.experiments.audit import AuditAnswer, DiffusionData

#: Lines in a figure of cost against length; more cannot be distinguished.
LINES_MAX = 6


@dataclass(frozen=True)
class Content:
    """The content of the report."""

    version: str
    measurements: int
    failed: int
    experiments: Mapping[str, int]
    first: str
    last: str
    devices: Sequence[DeviceSummary]
    libraries: Sequence[tuple[str, str, str, str]]
    sources: Sequence[SourcePart]
    ciphers: Sequence[CipherSummary]
    public_keys: PublicKeyPart
    figures: Sequence[Figure]
    tiles: Sequence[Tile]
    explorer: Mapping[str, Any]
    adviser: Mapping[str, Any]
    catalog: Catalog

    @property
    def bounds(self) -> Mapping[str, str]:
        """By device, how far its cycles are from those of real chips; empty where nothing was compared."""
        return {part.device.name: bound_text(part.device.name) for part in self.devices}

    @property
    def bounds_told(self) -> Mapping[str, str]:
        """The same, with what it is, of how many rows, what it covers, and of which code."""
        return {part.device.name: bound_told(part.device.name) for part in self.devices}

    @property
    def empty(self) -> bool:
        """Whether the results hold nothing at all."""
        return not self.measurements and not self.experiments

    def all_figures(self) -> list[Figure]:
        """Every figure, in the order of the page; an empty report has none."""
        if self.empty:
            return []
        found = list(self.figures)
        found += [figure for part in self.sources for figure in part.figures]
        found += [figure for part in self.ciphers for figure in part.figures]
        found += [self.public_keys.figure] if self.public_keys.figure else []
        return found


def gather(
    results: Results, catalog: Catalog, sleepers: Mapping[str, Sequence[str]] | None = None
) -> Content:
    """Read the content of the report. Does not measure.

    Parameters
    ----------
    sleepers
        By device name, the radios with which its exported example sleeps, for the adviser.

    Raises
    ------
    InputError
        When the results file cannot be read.
    """
    seen = _Seen()
    adviser = exported.Exporter(catalog)
    rows = explorer.ExplorerTable(catalog)
    audits = _audits(results)
    ciphers = []
    records = read_rows()
    for cipher in sorted(catalog.ciphers.values(), key=lambda cipher: cipher.name):
        # One cipher's measurements at a time: all of them together take hundreds of megabytes.
        measurements = results.newest_measurements(cipher=cipher.name)
        seen.add(measurements)
        adviser.add(cipher.name, measurements)
        costs = join(measurements, catalog.devices)
        rows.add(costs)
        ciphers.append(_cipher(cipher, costs, audits.get(cipher.name, []), records))
    ciphers.sort(key=lambda part: (SECURITY_STATUSES.index(part.cipher.security), part.cipher.name))
    # In the order of the results: the system's own compiler first.
    key_rows = list(results.each_newest(cipher=sorted(catalog.public_keys)))
    seen.add(key_rows)
    told = sources(results)
    return Content(
        version=__version__,
        measurements=sum(seen.cells.values()),
        failed=sum(seen.failed.values()),
        experiments=results.experiment_counts(),
        first=seen.first[:10],
        last=seen.last[:10],
        devices=_devices(seen, catalog),
        libraries=_libraries(seen, catalog),
        sources=told,
        ciphers=ciphers,
        public_keys=public_key_part(catalog, key_rows),
        tiles=tiles(told, ciphers),
        figures=_front_figures(ciphers, catalog),
        explorer=rows.whole(),
        adviser=adviser.whole(sleepers=sleepers),
        catalog=catalog,
    )


class _Seen:
    """What the report reports all measurements, counted as they go by."""

    def __init__(self) -> None:
        self.cells: Counter[str] = Counter()  # by device
        self.failed: Counter[str] = Counter()
        self.runners: dict[str, set[str]] = {}
        self.compilers: dict[str, set[str]] = {}
        self.libraries: dict[str, str] = {}  # when each was measured last
        self.first = self.last = ""

    def add(self, measurements: Sequence[Measurement]) -> None:
        for m in measurements:
            self.cells[m.device] += 1
            self.failed[m.device] += m.status != "ok"
            self.runners.setdefault(m.device, set()).add(m.runner)
            self.compilers.setdefault(m.device, set()).add(m.compiler)
            if m.measured_at > self.libraries.get(m.library, ""):
                self.libraries.pop(m.library, None)  # of equal times the one that came first stays first
                self.libraries[m.library] = m.measured_at
            self.first = min(m.measured_at, self.first or m.measured_at)
            self.last = max(m.measured_at, self.last)


def _devices(seen: _Seen, catalog: Catalog) -> list[DeviceSummary]:
    """Those with measurements, this computer last."""
    made = [
        DeviceSummary(
            device,
            seen.cells[device.name],
            seen.failed[device.name],
            tuple(sorted(seen.runners.get(device.name, set()) - {""})),
            tuple(sorted(seen.compilers.get(device.name, set()) - {""})),
        )
        for device in catalog.devices.values()
        if seen.cells[device.name]
    ]
    return sorted(made, key=lambda part: (part.device.name == "host", part.device.name))


def _libraries(seen: _Seen, catalog: Catalog) -> list[tuple[str, str, str, str]]:
    """Those measured last first."""
    used = sorted(seen.libraries, key=lambda name: seen.libraries[name], reverse=True)
    found = [catalog.libraries[name] for name in used if name in catalog.libraries]
    return [(library.name, library.title, library.version, library.licence) for library in found]


def _audits(results: Results) -> dict[str, list[tuple[AuditSummary, Mapping[str, Any]]]]:
    """By cipher the newest result of each part; a whole one before a quick one."""
    newest: dict[tuple[str, str], Any] = {}
    for experiment in results.experiments("audit"):
        key = (str(experiment.inputs.get("cipher")), str(experiment.inputs.get("part")))
        known = newest.get(key)
        if known is None or (known.inputs.get("quick") and not experiment.inputs.get("quick")):
            newest[key] = experiment
    made: dict[str, list[tuple[AuditSummary, Mapping[str, Any]]]] = {}
    for (cipher, name), experiment in sorted(newest.items(), key=lambda entry: entry[0]):
        answer = AuditAnswer.from_json(experiment.outcome)
        if answer is None:
            continue
        part = AuditSummary(
            part=name,
            title=answer.title,
            verdict=answer.verdict,
            weight=answer.weight,
            sentences=answer.sentences,
            implementation=str(experiment.inputs.get("implementation", "")),
            made_at=experiment.made_at[:10],
        )
        made.setdefault(cipher, []).append((part, answer.data))
    return made


# --- ciphers ---------------------------------------------------------------------------------------


def _cipher(
    cipher: Cipher,
    own: Sequence[Cost],
    audit: Sequence[tuple[AuditSummary, Mapping[str, Any]]],
    records: Sequence[RecordRow],
) -> CipherSummary:
    length = usual_length(own)
    at_length = [c for c in own if c.message_bytes == length and not c.ad_bytes]
    drawn = (
        pareto_figure(cipher, own, records),
        _length_figure(cipher, own),
        _heat_figure(cipher, audit),
        *(
            power_figure(cipher.name, part.part, data)
            for part, data in audit
            if part.part.startswith("power:")
        ),
    )
    figures = [figure for figure in drawn if figure is not None]
    return CipherSummary(
        cipher=cipher,
        message_bytes=length,
        best=best_by_device(own, length),
        costs=[*(c for c in at_length if c.ran), *_failures(own)],
        lengths=sorted({c.message_bytes for c in own}),
        audit=[part for part, _ in audit],
        figures=figures,
    )


def _failures(costs: Sequence[Cost]) -> list[Cost]:
    """One of the costs for each implementation and reason that did not run."""
    kept: dict[tuple[str, ...], Cost] = {}
    for cost in costs:
        if not cost.ran and cost.reason:
            kept.setdefault((cost.device, cost.implementation, cost.placement, cost.reason), cost)
    return list(kept.values())


def _length_figure(cipher: Cipher, costs: Sequence[Cost]) -> Figure | None:
    """Time against message length, the fastest implementations of each device."""
    series: dict[str, dict[int, float]] = {}
    kept = one_cache(costs)
    for cost in kept:
        time = cost.time_us("encrypt")
        if time is None or cost.ad_bytes:
            continue
        bits = f", {cost.key_bits} bit" if len(cipher.key_bits) > 1 else ""
        where = "" if cost.placement == "flash" else f" ({cost.placement})"
        name = f"{cost.device} {cost.implementation}{where}{bits}"
        line = series.setdefault(name, {})
        line[cost.message_bytes] = min(time, line.get(cost.message_bytes, time))
    lines = {name: line for name, line in series.items() if len(line) >= 3}
    if not lines:
        return None
    chosen = _spread(lines)
    values: list[dict[str, Any]] = [
        {
            "series": name,
            "device": name.split()[0],
            "message_bytes": length,
            "value": round(time, 3),
        }
        for name in chosen
        for length, time in sorted(lines[name].items())
    ]
    lengths = sorted({value["message_bytes"] for value in values})
    dropped = len(lines) - len(chosen)
    return Figure(
        name=f"{cipher.name}-length",
        title=f"{cipher.name}: time against message length",
        caption=(
            f"Time to encrypt one message with {cipher.name}, key already set up, against its length; median "
            "over the inputs, the call itself subtracted. Between the measured lengths (points) "
            f"time goes up in steps; the lines only join points.{_caches(kept)}"
            + (
                f" The fastest of each device; {dropped} slower implementations are omitted."
                if dropped
                else ""
            )
        ),
        command=_measure(cipher.name, {c.device for c in costs}, lengths),
        specification=charts.by_length(values, "time to encrypt, µs"),
    )


def _caches(costs: Iterable[Cost]) -> str:
    """Which flash caches were cold or warm, as the end of a caption; empty where no device has one."""
    devices: dict[str, set[str]] = {}
    for cost in costs:
        if cost.cache:
            devices.setdefault(cost.cache, set()).add(cost.device)
    told = [f"{cache} on {', '.join(sorted(names))}" for cache, names in sorted(devices.items())]
    return f" Flash cache: {'; '.join(told)}." if told else ""


def _spread(lines: Mapping[str, Mapping[int, float]]) -> list[str]:
    """The fastest lines, in turns from each device."""
    by_device: dict[str, list[str]] = {}
    for name in sorted(lines, key=lambda n: min(t / max(length, 1) for length, t in lines[n].items())):
        by_device.setdefault(name.split()[0], []).append(name)
    turns = [names[i] for i in range(LINES_MAX) for names in by_device.values() if i < len(names)]
    return sorted(turns[:LINES_MAX])


def _heat_figure(cipher: Cipher, audit: Sequence[tuple[AuditSummary, Mapping[str, Any]]]) -> Figure | None:
    titles = {
        "encrypt": "plaintext to ciphertext",
        "decrypt": "ciphertext to plaintext",
        "key": "key to ciphertext",
        "tag": "plaintext to tag",
        "nonce": "nonce to ciphertext",
    }
    for part, data in audit:
        if part.part != "diffusion":
            continue
        maps = {
            title: found.matrix
            for name, title in titles.items()
            if (found := DiffusionData.from_json(data.get(name))) is not None
        }
        if not maps:
            return None
        return Figure(
            name=f"{cipher.name}-diffusion",
            title=f"{cipher.name}: where one changed bit shows",
            caption=(
                f"Diffusion of {cipher.name} ({part.implementation}): how often flipping one input bit "
                "changed an output byte, over random inputs; each row the mean over the 8 bits of an input "
                "byte. Dark: always. Light: never."
            ),
            command=f"motecrypt audit {cipher.name} --part diffusion",
            specification=charts.heat_maps(maps),
            rows=charts.heat_rows(maps),
        )
    return None


def _measure(cipher: str, devices: set[str], lengths: Sequence[int]) -> str:
    chosen = " ".join(f"--device {name}" for name in sorted(devices))
    return f"motecrypt measure {chosen} --cipher {cipher} --bytes {','.join(map(str, lengths))}"


# --- front -----------------------------------------------------------------------------------------


def _front_figures(ciphers: Sequence[CipherSummary], catalog: Catalog) -> list[Figure]:
    """Every cipher on every device, by time and by energy."""
    times, energies = [], []
    for part in ciphers:
        for device, cost in part.best.items():
            label = f"{part.cipher.name} ({part.cipher.security})"
            here: dict[str, Any] = {
                "cipher": label,
                "device": device,
                "implementation": cost.implementation,
                "message_bytes": part.message_bytes,
            }
            time = cost.time_us("encrypt")
            energy = cost.energy_uj("encrypt", catalog.devices.get(device))
            per_byte = max(part.message_bytes, 1)
            if time is not None:
                times.append({**here, "value": round(time / per_byte, 6)})
            if energy is not None:
                energies.append({**here, "value": round(energy / per_byte, 6)})
    fastest = (
        "of the fastest implementation measured on each device, at the message length measured most (16 "
        "bytes for most); set-up of the key not counted"
    )
    caches = "." + _caches(cost for part in ciphers for cost in part.best.values())
    made = []
    lengths = sorted({part.message_bytes for part in ciphers if part.best})
    devices = {device for part in ciphers for device in part.best}
    command = _measure(" --cipher ".join(part.cipher.name for part in ciphers if part.best), devices, lengths)
    if times:
        made.append(
            Figure(
                name="time-by-cipher",
                title="Time for a byte, every cipher on every device",
                caption=f"Time to encrypt, µs for a byte, {fastest}{caches}",
                command=command,
                specification=charts.by_cipher(times, "time to encrypt, µs/byte"),
            )
        )
    if energies:
        made.append(
            Figure(
                name="energy-by-cipher",
                title="Energy for a byte, every cipher on every device",
                caption=(
                    f"Energy to encrypt, µJ for a byte, {fastest}; energy is supply voltage x active current "
                    f"x time, with the currents of the devices' descriptors{caches}"
                ),
                command=command,
                specification=charts.by_cipher(energies, "energy to encrypt, µJ/byte"),
            )
        )
    return made
