"""Profile any firmware: what each of its functions and source lines costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from motecrypt.app.run import RunRequest, RunResult, started
from motecrypt.base.paths import cache_dir
from motecrypt.catalog import FIRMWARE
from motecrypt.simulate.emulate.profiling import Profile
from motecrypt.simulate.emulate.profiling import profile as profile_image

#: Folders of the compilers' own sources and of Debian's Arduino core.
SYSTEM_SOURCES = (Path("/usr/share/arduino"), Path("/usr/lib/avr"), Path("/usr/lib/gcc"))


@dataclass(frozen=True)
class ProfileResult(RunResult):
    """How a run ended, and what was counted in it.

    Attributes
    ----------
    profile : calls, cycles and stack of each function, cycles of each source line, and the tree of callers.
    """

    profile: Profile

    def page(self, sources: Sequence[Path] = (), command: str = "") -> str:
        """A page as HTML: flame graph, call tree, source with cycles, stack over time.

        Parameters
        ----------
        sources
            Folders whose sources it may show, too; the firmware's own and the compilers' are read anyway.
        command
            What it says that it was made with.
        """
        from motecrypt.present.pages.profile_page import profile_page
        from motecrypt.simulate.emulate.annotate import annotate

        file, device = Path(self.request.firmware), self.device
        folders = (file.absolute().parent, *sources, FIRMWARE, cache_dir() / "sources", *SYSTEM_SOURCES)
        listings = annotate(self.profile, self.image, device, folders)
        return profile_page(self.profile, listings, file.name, device.name, device.clock_hz, command)


def profile(request: RunRequest) -> ProfileResult:
    """Run a firmware and count what each function takes; the firmware needs no change.

    Raises
    ------
    InputError
        As `run`.
    """
    image, device, how = started(request)
    sent = bytearray()
    found = profile_image(image, device, how, sent.extend)
    return ProfileResult(request, device, image, found.ended, bytes(sent), found)
