"""Requests from options: a record of `app` gets each option that is named as one of its fields."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

import click

Record = TypeVar("Record")

FILE = click.Path(path_type=Path, dir_okay=False)
FOLDER = click.Path(path_type=Path, file_okay=False)
PATH = click.Path(path_type=Path)
jobs_option = click.option(
    "--jobs", type=click.IntRange(1, 256), help="Number of firmwares to run at the same time."
)


class FiniteRange(click.FloatRange):
    """Numbers from one limit to another, without infinity and what is not a number."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """As of `click.FloatRange`."""
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"'{value}' is not a finite number; give one such as 10", param, ctx)
        return number


seconds_option = click.option("--seconds", type=FiniteRange(0), help="Stop after this time.")


def taken(record: Callable[..., Record], given: Mapping[str, Any]) -> Record:
    """A record, and the records in it, from these options; what no option is named for has its default."""
    values = {}
    for each in fields(cast("Any", record)):
        if each.name in given:
            values[each.name] = given[each.name]
        elif is_dataclass(each.default_factory):
            values[each.name] = taken(cast("Any", each.default_factory), given)
    return record(**values)
