"""`.ci/release`: what it prepares is what it then accepts, and what is missing is named."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tool_sets import needs_tool_set

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A repository with what a release reads, and one fragment."""
    root = tmp_path / "clone"
    for name in (
        ".ci/release",
        ".ci/changes",
        "CITATION.cff",
        "src/motecrypt/__init__.py",
        "changes/README.md",
    ):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, root / name)
    (root / "CHANGELOG.md").write_text("# Changelog\n\n## 0.1.0 (unreleased)\n\n- The first.\n")
    (root / "changes" / "all").mkdir()
    (root / "changes" / "all" / "news.md").write_text("Something is new.\n")
    git(root, "init", "-q")
    commit(root)
    return root


def git(root: Path, *words: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", "-C", root, *identity, *words], check=True, capture_output=True, timeout=60)


def commit(root: Path) -> None:
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "all")


def release(root: Path, *words: str) -> tuple[int, str]:
    done = subprocess.run(
        [root / ".ci/release", *words], capture_output=True, text=True, timeout=60, check=False
    )
    return done.returncode, done.stdout + done.stderr


@needs_tool_set("git")
def test_what_is_prepared_is_accepted(clone: Path) -> None:
    code, said = release(clone, "check")
    assert code == 1 and "CHANGELOG.md does not begin" in said and "changes/ has fragments" in said
    assert release(clone, "prepare", "9.8.7", "2030-01-31")[0] == 0
    code, said = release(clone, "check")
    assert code == 1 and said == "the working tree has changes: commit them\n"
    commit(clone)
    assert release(clone, "check") == (0, "git tag -s v9.8.7 -m 'motecrypt 9.8.7'\ngit push origin v9.8.7\n")
    assert release(clone, "notes") == (0, "### All\n\n- Something is new.\n")
    assert '__version__ = "9.8.7"' in (clone / "src/motecrypt/__init__.py").read_text()
    git(clone, "tag", "v9.8.7")
    assert "the tag v9.8.7 exists" in release(clone, "check")[1]
    (clone / "CITATION.cff").write_text("version: 1.0.0\n")
    assert "CITATION.cff is not of 9.8.7" in release(clone, "check")[1]


@needs_tool_set("git")
@pytest.mark.parametrize("words", [(), ("prepare", "9.8"), ("prepare", "9.8", "2030-01-31"), ("publish",)])
def test_wrong_words_change_nothing(clone: Path, words: tuple[str, ...]) -> None:
    assert release(clone, *words)[0] == 2
    assert release(clone, "check")[1].count("\n") == 2  # the working tree is as it was


@needs_tool_set("site")  # which brings PyYAML
def test_the_workflow_uses_what_there_is() -> None:
    import yaml

    text = (ROOT / ".github/workflows/release.yml").read_text()
    for name in (".ci/package", ".ci/release notes", "./test lint"):
        assert name in text and (ROOT / name.split()[0]).is_file()
    workflow = yaml.safe_load(text)
    packages, made = workflow["jobs"]["packages"], workflow["jobs"]["release"]
    assert workflow["permissions"] == {"contents": "read"} and "permissions" not in packages
    assert "github.token" not in str(packages) and made["needs"] == "packages"
    said = str(made)  # who may write runs nothing of the repository, and no package of a registry
    assert "checkout" not in said and "./" not in said and " pip " not in said and "apt-get" not in said
