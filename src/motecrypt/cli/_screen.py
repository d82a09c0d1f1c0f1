"""What draws tables. Imported only where something is drawn: it takes a while."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from motecrypt.base.text import printable


class Screen(Console):
    """A console that shows no control characters but those that it makes itself."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """What is shown, cleaned."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(printable(segment.text), segment.style)

    def on_broken_pipe(self) -> None:
        """A reader that closed the pipe is not a failure: main handles it."""
        raise BrokenPipeError
