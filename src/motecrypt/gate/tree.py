"""The commits that a gate compares: which one is the base, and its files in a folder. Runs git."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from motecrypt.base import process
from motecrypt.base.errors import InputError

_SETTINGS = ("core.hooksPath=/dev/null", "core.fsmonitor=false", "log.showSignature=false")
_PLAIN = tuple(word for setting in _SETTINGS for word in ("-c", setting))


@dataclass(frozen=True)
class Commit:
    """A commit: its hash and its time (seconds since 1970)."""

    hash: str
    time_s: int

    @property
    def at(self) -> str:
        """Its time as ISO 8601, in UTC."""
        return f"{datetime.fromtimestamp(self.time_s, UTC):%Y-%m-%dT%H:%M:%SZ}"


def _git(folder: Path, *words: str) -> process.Outcome:
    return process.run(["git", *_PLAIN, "-C", folder, *words])


def top_of(folder: Path) -> Path:
    """The root of the repository that a folder is in.

    Raises
    ------
    InputError
        There is none, or no git.
    """
    outcome = _git(folder, "rev-parse", "--show-toplevel")
    if not outcome.ok:
        raise InputError(
            f"{folder}: no git repository to compare in ({outcome.first_error}); --no-base compares with "
            "nothing"
        )
    return Path(outcome.output.strip())


def commit_of(folder: Path, name: str) -> Commit:
    """The commit of a name such as HEAD or origin/main.

    Raises
    ------
    InputError
        There is none of that name, as in a shallow clone.
    """
    outcome = _git(folder, "log", "-1", "--format=%H %ct", "--end-of-options", f"{name}^{{commit}}", "--")
    if not outcome.ok:
        raise InputError(
            f"base '{name}': git has no such commit here; fetch it (a clone of CI is often shallow: "
            "fetch-depth: 0), or give another --base"
        )
    found, seconds = outcome.output.split()
    return Commit(found, int(seconds))


def base_of(folder: Path, name: str) -> Commit:
    """The commit where HEAD's branch left `name`: what others changed there since is not this branch's doing.

    Raises
    ------
    InputError
        There is no such commit, or the two have none in common.
    """
    other = commit_of(folder, name)
    outcome = _git(folder, "merge-base", "HEAD", other.hash)
    if not outcome.ok:
        raise InputError(
            f"base '{name}': has no commit in common with HEAD; fetch the whole history (fetch-depth: 0)"
        )
    return commit_of(folder, outcome.output.strip())


def is_changed(folder: Path) -> bool:
    """Whether tracked files differ from HEAD: such figures are of no commit.

    Raises
    ------
    InputError
        git cannot compare them, as with a damaged index.
    """
    outcome = _git(folder, "status", "--porcelain", "--untracked-files=no")
    if not outcome.ok:
        raise InputError(f"{folder}: git cannot compare the files with HEAD: {outcome.first_error}")
    return bool(outcome.output.strip())


@contextmanager
def checked_out(top: Path, commit: Commit) -> Iterator[Path]:
    """A folder with the commit's files, for as long as it is used. The repository's own files are left alone.

    Raises
    ------
    InputError
        git cannot make it.
    """
    with tempfile.TemporaryDirectory(prefix="motecrypt-base.") as scratch:
        place = Path(scratch) / "tree"
        made = _git(top, "worktree", "add", "--quiet", "--detach", str(place), commit.hash)
        if not made.ok:
            raise InputError(f"{top}: git cannot check out {commit.hash[:12]}: {made.first_error}")
        try:
            yield place
        finally:
            _git(top, "worktree", "remove", "--force", str(place))
