"""Result sets: published, signed, verified and joined; what was changed or is someone else's is refused."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from command_line import run
from motecrypt.results import Results
from tool_sets import needs_tool_set
from unit.test_results import measurement

WHO = "me@example.org"


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    """Three figures of two devices, one of them varying, and one that failed for the moment."""
    path = tmp_path / "results.db"
    with Results(path) as results:
        results.store(
            {
                "a1": measurement(device="uno", cycles_median=7),
                "b2": replace(measurement(device="uno-board", cycles_median=8), cycles_exact=False),
                "c3": measurement(device="uno", cycles_median=9, reason="ä\nb"),
                "d4": measurement(device="uno", extra={"transient": True}),
            }
        )
    return path


@pytest.fixture
def key(tmp_path: Path) -> Path:
    path = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)], check=True, timeout=60)
    (tmp_path / "signers").write_text(f"{WHO} {path.with_suffix('.pub').read_text()}")
    return path


def cycles(path: Path) -> dict[str, int | None]:
    with Results(path) as results:
        found = {name: results.measurement(name) for name in ("a1", "b2", "c3", "d4")}
    return {name: m.cycles_median for name, m in found.items() if m}


@needs_tool_set("signing")
def test_a_set_is_read_as_it_was_published(
    stored: Path, key: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, fetched, signers = tmp_path / "set", tmp_path / "fetched.db", tmp_path / "signers"
    words = ["results", "publish", str(folder), "--name", WHO, "--key", str(key), "--db", str(stored)]
    code, out, error = run(capsys, *words)
    assert (code, error) == (0, "") and f"3 measurements, signed, as {WHO}" in out
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix == ".jsonl"}
    assert len(before) == 2
    assert run(capsys, *words)[0] == 0  # the same again
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix == ".jsonl"} == before
    fetch = ["results", "fetch", str(folder), "--signers", str(signers), "--db", str(fetched)]
    for told in ("3 new, 0 there already", "0 new, 3 there already"):
        code, out, error = run(capsys, *fetch)
        assert (code, error) == (0, "") and told in out
    assert cycles(fetched) == {"a1": 7, "b2": 8, "c3": 9}
    with Results(fetched) as new, Results(stored) as old:
        assert new.measurement("c3") == old.measurement("c3")


@needs_tool_set("signing")
def test_what_is_changed_or_not_signed_by_them_is_refused_and_nothing_is_stored(
    stored: Path, key: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, fetched, signers = tmp_path / "set", tmp_path / "fetched.db", tmp_path / "signers"
    words = ["results", "publish", str(folder), "--name", WHO, "--key", str(key), "--db", str(stored)]
    fetch = ["results", "fetch", str(folder), "--signers", str(signers), "--db", str(fetched)]
    manifest, allowed = folder / "manifest.json", signers.read_text()

    def refused(said: str) -> None:
        code, _, error = run(capsys, *fetch)
        assert code == 2 and said in error and error.count("\n") == 1, error
        assert cycles(fetched) == {}

    assert run(capsys, *words)[0] == 0
    signers.write_text(allowed.replace("me@", "you@"))
    refused(f"not signed by {WHO}")
    signers.write_text(allowed)
    told = json.loads(manifest.read_text())
    manifest.write_text(json.dumps({**told, "motecrypt": "9"}))
    refused(f"not signed by {WHO}")
    (folder / "manifest.json.sig").unlink()
    refused("has no signature")
    assert run(capsys, *words)[0] == 0
    part = next(path for path in folder.glob("*.jsonl") if "uno-board" not in path.name)
    part.write_text(part.read_text().replace('"cycles_median": 7', '"cycles_median": 6'))
    refused("not as the list says")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"format": 2}, "from a newer motecrypt"),
        ({"format": None}, "not the list of a result set"),
        ({"parts": [{"file": "../x.jsonl", "sha256": "0" * 64}]}, "damaged"),
        ({"parts": [{"file": f"uno-{'0' * 64}.jsonl", "sha256": "1" * 64}]}, "damaged"),
        ({"parts": [{"file": f"uno-{'0' * 64}.jsonl", "sha256": "0" * 64}]}, "cannot be read"),
        ({"publisher": "a\0b"}, "damaged"),
        ({"publisher": "\ud800"}, "damaged"),
        ({"publisher": "someone@else"}, ""),
    ],
)
def test_a_list_that_is_damaged_is_one_line(
    stored: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], change: dict[str, object], said: str
) -> None:
    folder = tmp_path / "set"
    publish = ["results", "publish", str(folder), "--name", WHO, "--db", str(stored)]
    assert run(capsys, *publish)[0] == 0
    manifest = folder / "manifest.json"
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), **change}))
    fetch = ["results", "fetch", str(folder), "--unsigned", "--db", str(tmp_path / "f.db")]
    code, _, error = run(capsys, *fetch)
    assert code == (2 if said else 0) and said in error
    if not said:  # and a set of someone else is not replaced
        code, _, error = run(capsys, *publish)
        assert code == 2 and "has the set of someone@else" in error


def test_rows_that_are_none_are_refused(
    stored: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import hashlib

    folder = tmp_path / "set"
    publish = ["results", "publish", str(folder), "--name", WHO, "--device", "uno-board", "--db", str(stored)]
    assert run(capsys, *publish)[0] == 0
    part = next(folder.glob("uno-board-*.jsonl"))
    sound = json.loads(part.read_text())
    for row, said in (
        ("no json", "a line that is not a measurement"),
        (json.dumps({**sound, "cycles_median": "many"}), "cycles_median"),
        (json.dumps({**sound, "colour": "red"}), "other columns: colour"),
        (json.dumps({**sound, "key": "../x"}), "key"),
    ):
        digest = hashlib.sha256(row.encode()).hexdigest()
        name = f"uno-board-{digest}.jsonl"
        (folder / name).write_text(row)
        told = json.loads((folder / "manifest.json").read_text())
        told["parts"] = [{"file": name, "sha256": digest, "measurements": 1}]
        (folder / "manifest.json").write_text(json.dumps(told))
        code, _, error = run(
            capsys, "results", "fetch", str(folder), "--unsigned", "--db", str(tmp_path / "f.db")
        )
        assert code == 2 and said in error and error.count("\n") == 1
    for words in (["--unsigned", "--signers", "x"], []):
        code, _, error = run(capsys, "results", "fetch", str(folder), *words)
        assert code == 2 and "--signers FILE, or --unsigned" in error
    code, _, error = run(
        capsys, "results", "publish", str(folder), "--name", "two words", "--db", str(stored)
    )
    assert code == 2 and "one word" in error
