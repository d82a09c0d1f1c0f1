"""Say which cipher to use on a device, over a radio or with a storage, on a battery and within budgets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from motecrypt.adviser import api, protection
from motecrypt.adviser.costs import Setting, taken_bytes
from motecrypt.adviser.gather import candidate
from motecrypt.adviser.hardware.bounds import bound_fields
from motecrypt.adviser.hardware_notes import hardware_document
from motecrypt.adviser.rank import ORDER
from motecrypt.adviser.shown import life_percent
from motecrypt.air.radios import Radio
from motecrypt.app.ensure import ensure
from motecrypt.app.selection import Selection, select
from motecrypt.base.errors import InputError
from motecrypt.base.model import Cell, Device, Measurement
from motecrypt.catalog import Catalog
from motecrypt.catalog.accelerators import accelerator_of
from motecrypt.catalog.cells import cells_for, public_key_cells
from motecrypt.exports.targets import example_sleeps
from motecrypt.results import Results, opened
from motecrypt.studies import Needs

if TYPE_CHECKING:
    from motecrypt.adviser.keys import KeyPlan
    from motecrypt.base.progress import Progress

Wanted = tuple[api.Candidate, list[Cell]]


@dataclass(frozen=True)
class NodeStorage:
    """What a node without a radio stores its records in.

    Attributes
    ----------
    name : "eeprom", "flash", "sd" or "sd-slow".
    write_ma, idle_ma : what the chip or card draws while it writes, and otherwise; None: not counted.
    """

    name: str
    write_ma: float | None = None
    idle_ma: float | None = None


@dataclass(frozen=True)
class AdviseRequest:
    """What to consider.

    Attributes
    ----------
    device : its name, or the path of a folder.
    to : where messages go: `load_radio(name, packet_bytes)`, or a storage.
    ciphers, libraries : names, families or paths of folders; empty: all.
    power_resistance : only implementations that are protected against power analysis.
    keys : also say what each way to keys costs and protects.
    """

    device: str
    question: api.Question
    supply: api.Supply
    to: Radio | NodeStorage
    ciphers: Sequence[str] = ()
    libraries: Sequence[str] = ()
    power_resistance: bool = False
    keys: bool = False


@dataclass(frozen=True)
class AdvisePlan:
    """A request with what it names, and the candidates with the cells to measure for them.

    Attributes
    ----------
    weighed : the catalog with the implementations that are considered.
    """

    request: AdviseRequest
    chosen: Selection
    node: api.Node
    setting: Setting
    weighed: Catalog
    found: Sequence[Wanted]


@dataclass(frozen=True)
class ExportStep:
    """What exports an answer.

    Attributes
    ----------
    command : the command; empty where nothing can be exported.
    refused : why nothing can be.
    instead : what it exports where that is not the first rank, and what that takes.
    """

    command: str = ""
    refused: str = ""
    instead: str = ""


def instead(device: Device, first: api.Entry, taken: api.Entry) -> str:
    """What is exported where it is not what is advised, and what that takes."""
    if taken is first:
        return ""
    one = first.candidate
    ours = one.implementation.startswith("motecrypt/")
    plain = f"the export for {device.title} is plain C, without assembly for its core"
    why = plain if ours else f"{one.implementation} is not ours to export"
    return (
        f"This exports rank {taken.rank}, {taken.candidate.name}: {why}. Encrypting a message takes "
        f"{taken.costs.cycles:,.0f} cycles, {first.costs.cycles:,.0f} with rank 1."
    )


@dataclass(frozen=True)
class AdviseResult:
    """The answer.

    Attributes
    ----------
    answer : `entries` are ranked, best first; `exclusions` have a reason each; then notes and warnings.
    keys : the ways to keys from the weakest to the strongest, if asked for.
    note : that stored figures are shown because something could not be measured here; or empty.
    """

    plan: AdvisePlan
    answer: api.Advice
    keys: tuple[KeyPlan, ...] = ()
    note: str = ""

    def export_step(self) -> ExportStep:
        """The command that exports the first of the ranked that is ours, with the link for this radio where
        the link carries the messages."""
        from motecrypt.exports.commands import LinkRadio, next_link_step, next_step

        request, chosen = self.plan.request, self.plan.chosen
        if request.power_resistance:
            return ExportStep(
                refused="store a secret seed in each device and copy the sources: docs/protection.md"
            )
        for entry in self.answer.entries:
            one = entry.candidate
            named = (chosen.catalog, chosen.device, one.cipher, one.implementation, one.placement)
            if not isinstance(request.to, Radio) or not request.question.linked:
                step = next_step(*named)
            else:
                only = LinkRadio(request.to, request.question.delivery == "one-way")
                try:
                    step = next_link_step(*named, only)
                except InputError as error:
                    why = f"the link cannot be exported for these ({error})"
                    return ExportStep(refused=f"ask with other packets or messages: {why}")
            if step:
                return ExportStep(step, instead=instead(chosen.device, self.answer.entries[0], entry))
        return ExportStep(refused="none of the ranked implementations can be exported")

    def rows(self) -> list[dict[str, Any]]:
        """One dictionary a rank, as a table of pandas takes them."""
        return [self._row(entry) for entry in self.answer.entries]

    def document(self) -> dict[str, Any]:
        """The answer as JSON: flat enough to be read without knowing the records."""
        setting, answer, request = self.plan.setting, self.answer, self.plan.request
        device = self.plan.chosen.device
        first = answer.entries[0] if answer.entries else None
        told: dict[str, Any] = {
            "question": setting.question.document(),
            "usable_charge": answer.usable,
            "plaintext": asdict(answer.plaintext) if answer.plaintext else None,
            "ranked": self.rows(),
            "excluded": [
                {**_named(e.candidate), "group": e.group, "budgets": e.budgets, "reason": e.reason}
                for e in answer.exclusions
            ],
            "notes": answer.notes,
            "warnings": answer.warnings,
            "device": setting.device.title,
            **bound_fields(device.name),
            **({"storage": asdict(setting.storage)} if setting.storage else {"radio": setting.radio.title}),
            "battery": {key: getattr(setting.battery, key) for key in ("name", "volts", "capacity_mah")},
            "regulator": setting.regulator.name,
            "cipher_hardware": hardware_document(accelerator_of(device.chip), first),
        }
        if request.power_resistance:
            told["power_resistance"] = protection.document(answer)
        if self.keys:
            from motecrypt.adviser.keys import keys_document

            told["keys"] = keys_document(self.keys)
        return told

    def _row(self, entry: api.Entry) -> dict[str, Any]:
        one, costs = entry.candidate, entry.costs
        return {
            "rank": entry.rank,
            **_named(one),
            **{key: getattr(one, key) for key in ("flash_bytes", "ram_bytes", "stack_bytes")},
            "ram_with_stack_bytes": one.ram_taken,
            **asdict(costs),
            "packets": costs.packets,
            "air_bytes": costs.air_bytes,
            **costs.per_kb(self.plan.setting.question.message_bytes),
            "more_energy_percent": entry.more_energy_percent,
            "cpu_energy_percent": costs.energy.cpu_percent,
            "life_percent_of_plaintext": life_percent(entry, self.answer.plaintext),
            "timing_varies": one.timing_varies,
            "reason": entry.reason,
        }


def _named(candidate: api.Candidate) -> dict[str, Any]:
    keys = ("cipher", "implementation", "key_bits", "placement", "cache", "security")
    return {key: getattr(candidate, key) for key in keys}


def plan(request: AdviseRequest) -> AdvisePlan:
    """The candidates for a request.

    Raises
    ------
    InputError
        A name that does not exist, or what cannot work: needs that exclude each other, a supply that does not
        run the device, messages that the link does not take.
    """
    question, resists = request.question, request.power_resistance
    unknown = [need for need in question.needs if need not in api.NEEDS]
    if unknown:
        known = ", ".join((*api.NEEDS, protection.NEED))
        raise InputError(f"--need '{unknown[0]}': unknown; choose from {known}")
    if resists and question.linked:
        raise InputError(
            f"--need {','.join((*question.needs, protection.NEED))}: the secure link, which protects against "
            "replay, has no protected variant; omit replay"
        )
    chosen = select(request.ciphers, request.libraries, [request.device])
    catalog, device = chosen.catalog, chosen.device
    if isinstance(request.to, NodeStorage):
        if request.keys:
            raise InputError(
                "--keys: a node with --storage has no radio to agree on keys over; omit one of the two"
            )
        from motecrypt.results.experiments.pico_file import storage_times

        given = None if request.to.write_ma is None else (request.to.write_ma, request.to.idle_ma)
        storage = api.storage_part(device, request.to.name, storage_times(), given)
        if question.linked:
            raise InputError(
                "--need replay: a storage cannot detect that it was replaced by an older copy; omit it"
            )
        longest = max(  # of what is added to a message: nonce, tag and padding
            cipher.nonce_bytes + cipher.tag_bytes + cipher.message.min + cipher.message.multiple
            for cipher in catalog.ciphers.values()
        )
        node = api.node_of(device, storage.as_radio(question.message_bytes + longest), (), storage)
    else:
        node = api.node_of(device, api.radio_part(request.to), example_sleeps(device, catalog))
    setting = api.setting_of(node, question, request.supply)
    weighed = replace(catalog, implementations=catalog.protected) if resists else catalog
    found = wanted(weighed, device, question, chosen.ciphers, chosen.libraries)
    if resists and not found:
        raise InputError(
            f"--need {protection.NEED}: no protected implementation fits {device.name} and these options; "
            "there are some of aes128-ccm4, -ccm8, -ccm16 and aes128-ctr for AVR, Cortex-M0 and M0+"
        )
    return AdvisePlan(request, chosen, node, setting, weighed, found)


def advise(
    request: AdviseRequest,
    results: Path | str | Results | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> AdviseResult:
    """Measure what is not stored yet, and say which cipher to use.

    Ranks go by security status, then by energy for each message. Broken ciphers are never ranked. The other
    parameters are those of `measure`; InputError as in `plan`, or where a tool is missing and nothing is
    stored.
    """
    made = plan(request)
    with opened(results) as store:
        return advise_plan(made, store, jobs, progress)


def advise_plan(
    made: AdvisePlan, results: Results, jobs: int | None = None, progress: Progress | None = None
) -> AdviseResult:
    """As `advise`, for a request that is planned."""
    made.chosen.prove_own()
    request, setting, device = made.request, made.setting, made.chosen.device
    needs = Needs(tool_sets=(device.tool_set,), cells=[cell for _, cells in made.found for cell in cells])
    note = ensure("advise", needs, results, made.weighed, jobs, progress or (lambda *_: None))
    measured = results.newest(needs.cells)
    candidates = filled(made.weighed, device, setting.question, made.found, measured)
    answer = api.answered(made.node, setting, candidates)
    if request.power_resistance and answer.entries:
        answer = protection.by_resistance(answer, protection.resistances(), ORDER)
    keys = _key_plans(made, answer, results) if request.keys and answer.entries else ()
    return AdviseResult(made, answer, tuple(keys), note)


def _key_plans(made: AdvisePlan, answer: api.Advice, results: Results) -> Sequence[KeyPlan]:
    """Every way to keys for this node, the advised cipher's costs being the base: by the recorded figures of
    its device, and what the results file has for it in their place."""
    from motecrypt.adviser.keys import KeyNode, key_plans
    from motecrypt.adviser.publickey.baseline import aes_costs
    from motecrypt.adviser.publickey.entropy import entropy_of
    from motecrypt.adviser.publickey.handshakes import compute, handshakes
    from motecrypt.adviser.publickey.rows import recorded, row_of

    catalog, device, setting = made.chosen.catalog, made.chosen.device, made.setting
    shake = handshakes()["edhoc"]
    rows = {(r.device, r.algorithm, r.implementation, r.operation): r for r in recorded()}
    cells = [
        cell
        for name in sorted({algorithm for algorithm, _ in shake.operations})
        for body in catalog.public_key_implementations_of(name, device.name)
        for cell in public_key_cells(catalog, device, body, message_bytes=())
        if cell.cache != "cold"
    ]
    for m in results.newest(cells).values():
        row = row_of(m)
        rows[row.device, row.algorithm, row.implementation, row.operation] = row
    computed = compute(shake, device, list(rows.values()), aes_costs().get(device.name))
    node = KeyNode(
        setting.question, setting.device, setting.radio, setting.battery, setting.regulator, answer.usable
    )
    return key_plans(node, answer.entries[0], shake, computed, entropy_of(device.chip))


def wanted(
    catalog: Catalog,
    device: Device,
    question: api.Question,
    ciphers: Sequence[str] = (),
    libraries: Sequence[str] = (),
) -> list[Wanted]:
    """Every candidate with the cells that decide on it: none where no figure could help it."""
    link = api.link_facts()
    found: list[Wanted] = []
    lengths = asked_lengths(question)
    for body, bits, placement, cache in api.placed(catalog, device):
        if (ciphers and body.cipher not in ciphers) or (libraries and body.library not in libraries):
            continue
        bare = candidate(catalog.cipher(body.cipher), body, bits, placement, cache)
        cells: list[Cell] = []
        if api.unfit(bare, question, link) is None:
            cells = cells_for(
                catalog,
                device,
                body,
                message_bytes=list(dict.fromkeys(m for n in lengths for m in _measured(bare, device, n))),
                key_bits=[bits],
                placements=[placement],
                caches=[cache],
            )
        found.append((bare, cells))
    return found


def asked_lengths(question: api.Question) -> list[int]:
    """The lengths of the messages that are sent and received."""
    return [n for n in (question.message_bytes, question.answer_bytes) if n > 0]


def _measured(bare: api.Candidate, device: Device, message_bytes: int) -> tuple[int, ...]:
    """The lengths to measure for a message: its own, or, where the firmware holds none so long, two for the
    straight line through them; one is the longest that it holds."""
    taken, most = taken_bytes(bare, message_bytes), int(device.bench["message"])
    if taken <= most:
        return (taken,)
    multiple = bare.message_bytes_multiple
    return tuple(max(bare.message_bytes_min, n // multiple * multiple) for n in (most // 2, most))


def filled(
    catalog: Catalog,
    device: Device,
    question: api.Question,
    found: Sequence[Wanted],
    measured: Mapping[Cell, Measurement],
) -> list[api.Candidate]:
    """The same candidates with the measurements of their cells."""
    made, lengths = [], asked_lengths(question)
    for bare, cells in found:
        if cells:
            cell, cipher = cells[0], catalog.cipher(bare.cipher)
            own = [measured[one] for one in cells if one in measured]
            bare = candidate(cipher, cell.implementation, cell.key_bits, cell.placement, cell.cache, own)
        made.append(_extended(bare, device, lengths))
    return made


def _extended(one: api.Candidate, device: Device, lengths: Sequence[int]) -> api.Candidate:
    """The candidate with a point for each length beyond what the firmware holds, on the straight line through
    the two that were measured for it."""
    points = list(one.points)
    for message_bytes in lengths:
        taken, pair = taken_bytes(one, message_bytes), _measured(one, device, message_bytes)
        found = [p for p in one.points if p.message_bytes in pair]
        if len(pair) < 2 or len(found) < 2:
            continue
        low, high = found[0], found[-1]
        part = (taken - low.message_bytes) / (high.message_bytes - low.message_bytes)
        points.append(
            api.Point(
                taken,
                high.setup_cycles,
                low.encrypt_cycles + part * (high.encrypt_cycles - low.encrypt_cycles),
                low.decrypt_cycles + part * (high.decrypt_cycles - low.decrypt_cycles),
            )
        )
    return replace(one, points=tuple(sorted(points, key=lambda point: point.message_bytes)))
