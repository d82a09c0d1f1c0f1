"""What draws tables and the progress bar. Imported only where something is drawn: it takes a while."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.segment import Segment

from motecrypt.text import printable


class Screen(Console):
    """A console that shows no control characters but those that it makes itself."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """What is shown, cleaned."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(printable(segment.text), segment.style)

    def on_broken_pipe(self) -> None:
        """A reader that has seen enough is no failure: main knows what to do."""
        raise BrokenPipeError


@contextmanager
def bar(title: str, screen: Screen) -> Iterator[Callable[[int, int, str], None]]:
    """A progress bar with time left; yields a function of (done, total, what)."""
    columns = (
        *(TextColumn("{task.description}", markup=False), BarColumn()),
        *(MofNCompleteColumn(), TimeRemainingColumn()),
    )
    with Progress(*columns, console=screen, transient=True) as shown:
        task = shown.add_task(title, total=None)

        def told(done: int, total: int, what: str) -> None:
            shown.update(task, completed=done, total=total, description=f"{title}: {what}")

        yield told
