"""What draws the progress bar. Imported only where there is one: a terminal that waits."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn
from rich.table import Column
from rich.text import Text

from motecrypt.base.text import printable
from motecrypt.cli._screen import Screen
from motecrypt.present.terminal.progress import Stage


class Bar:
    """A progress bar, and below it what is done, running and left; a function of (done, total, what)."""

    def __init__(self, title: str, shown: Progress) -> None:
        self._title, self._shown = title, shown
        self._stage = Stage(time.monotonic)
        self._task = shown.add_task(title, total=None, stage=self._stage)

    def __call__(self, done: int, total: int, what: str) -> None:
        """Some parts of all are done."""
        self._stage.report(done, total, what)
        self._shown.update(self._task, completed=done, total=total or None)

    def running(self, titles: Sequence[str]) -> None:
        """What is running now."""
        self._stage.running = tuple(titles)


class _StateColumn(ProgressColumn):
    """The words next to the bar; drawn again several times a second, as the time continues."""

    def render(self, task: Task) -> Text:
        stage: Stage = task.fields["stage"]
        names = stage.names()
        return Text(printable(stage.state() + (f": {names}" if names else "")), overflow="ellipsis")


@contextmanager
def bar(title: str, screen: Screen) -> Iterator[Bar]:
    """A progress bar with what is done, running and left, and the time until the end."""
    words = _StateColumn(table_column=Column(ratio=1, no_wrap=True))
    columns = (TextColumn("{task.description}", markup=False), BarColumn(bar_width=20), words)
    with Progress(*columns, console=screen, transient=True, expand=True) as shown:
        yield Bar(title, shown)
