"""`advise --keys`: how the node gets its keys, as a table."""

from __future__ import annotations

from collections.abc import Sequence

from motecrypt.adviser import api as advise
from motecrypt.adviser.keys import KeyPlan, advised
from motecrypt.adviser.publickey.entropy import entropy_of
from motecrypt.adviser.shown import days, number, percent, plural
from motecrypt.base.model import Device
from motecrypt.present.terminal import TextAnswer, TextBlock, TextTable, TextWords

COLUMNS = (
    *("", "keys", "handshake ms", "packets", "mJ each", "of the energy", "life", "flash", "RAM"),
    *("a captured node", "what was recorded before"),
)
LEAST = ("RAM", "flash", "packets", "handshake ms", "mJ each")


def keys_view(asked: str, entry: advise.Entry, plans: Sequence[KeyPlan], device: Device) -> list[TextBlock]:
    """The advised way, then all of them, with what each costs and protects."""
    best = advised(plans)
    entropy = entropy_of(device.chip)
    stronger = [plan for plan in plans if plans.index(plan) > plans.index(best)]
    watch = best.warning or f"{best.way.gateway} (the gateway)"
    lines = [
        ("Keys", best.way.title),
        ("Costs", _cost_text(best, entry)),
        ("Protects", f"a captured node {best.way.captured}; {best.way.past}"),
        ("Randomness", f"{entropy.title}: {entropy.quality}"),
        ("Watch out", watch),
    ]
    lines += [("Not", f"{plan.way.title}: {_against(plan)}") for plan in stronger]
    rows = [_row(number_, plan) for number_, plan in enumerate(plans, start=1)]
    text = (
        "from the weakest to the strongest; handshake ms: computing and air time; of the energy, life: next "
        f"to and with the messages of {entry.candidate.name}; flash, RAM: of the largest operation, next to "
        "the cipher's"
    )
    text += "".join(f"; {told}" for told in dict.fromkeys(told for plan in plans for told in plan.behind))
    sources = "EDHOC's sizes, what is not counted, where randomness comes from"
    return [
        TextAnswer(asked, lines),
        TextTable("Ways to keys", COLUMNS, rows, text, LEAST),
        TextWords(f"{sources}: docs/public-key.md, docs/pairing.md"),
    ]


def _cost_text(plan: KeyPlan, entry: advise.Entry) -> str:
    if not plan.handshake_us:
        return f"nothing on the node beyond the messages: {days(plan.life_days)} of battery life"
    return (
        f"{plan.handshake_us / 1000:,.0f} ms, {plural(plan.packets, 'packet')} and "
        f"{plan.handshake_uj / 1000:,.2f} mJ a handshake; {percent(plan.energy_percent)} of the energy of a "
        f"year; {days(plan.life_days)} of battery life, {days(entry.costs.life_days)} without{_behind(plan)}"
    )


def _behind(plan: KeyPlan) -> str:
    return "".join(f"; {text}" for text in plan.behind)


def _against(plan: KeyPlan) -> str:
    """Why a stronger way is not advised."""
    return plan.why_not or f"it takes {percent(plan.energy_percent)} more energy"


def _row(number_: int, plan: KeyPlan) -> list[object]:
    protects = (plan.way.captured, plan.way.past)
    if not plan.runs:
        return [number_, plan.way.title, *[""] * 4, "does not run", "", "", *protects]
    if not plan.handshake_us:
        return [number_, plan.way.title, *[""] * 4, days(plan.life_days), "", "", *protects]
    return [
        *(number_, plan.way.title, f"{plan.handshake_us / 1000:,.1f}", plan.packets),
        *(f"{plan.handshake_uj / 1000:,.2f}", percent(plan.energy_percent), days(plan.life_days)),
        *(number(plan.flash_bytes), number(plan.ram_bytes), *protects),
    ]
