"""motecrypt ci over a library in a repository: a regression of size, cycles and stack; wrong set-ups."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tool_sets import needs_tool_set

ROOT = Path(__file__).resolve().parents[3]
PLAN = """
devices = ["uno"]
base = "main"
history = "history.jsonl"

[[library]]
folder = "bench"
ciphers = ["rc4"]
bytes = [16]

[battery]
battery = "3xAA"
radio = "srf"
every = "10s"
sleeps = true

[[budget]]
of = "uno/bench/rc4/128/encrypt/*"
battery_days = 1
"""
NAMES = {
    f"GIT_{who}_{what}": "bench@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
}
LOOP = "        rc4->i++;"
SLOWER = """        room[n & 7] = (unsigned char)(room[0] + n);
        rc4->i++;"""


class Repository:
    """A user's repository with a library and a motecrypt.toml."""

    def __init__(self, place: Path) -> None:
        self.place = place
        shutil.copytree(ROOT / "examples" / "mylibrary", place / "bench")
        self.write("motecrypt.toml", PLAN)
        self.environment = {
            **os.environ,
            **NAMES,
            "PYTHONPATH": str(ROOT / "src"),
            "MOTECRYPT_DB": str(place.parent / "results.db"),
        }
        self.git("init", "-q", "-b", "main", ".")
        self.commit("first")
        self.git("checkout", "-q", "-b", "change")

    def write(self, name: str, text: str) -> None:
        (self.place / name).write_text(text)

    def git(self, *words: str) -> str:
        done = subprocess.run(
            ["git", *words],
            cwd=self.place,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        return done.stdout

    def commit(self, what: str) -> str:
        self.git("add", "-A")
        self.git("commit", "-qm", what)
        return self.git("rev-parse", "HEAD").strip()

    def change(self, old: str, new: str) -> None:
        source = self.place / "bench" / "src" / "arcfour.c"
        text = source.read_text()
        assert old in text
        source.write_text(text.replace(old, new))

    def ci(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "motecrypt", "ci", *words],
            cwd=self.place,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=280,
            check=False,
        )

    def judged(self, *words: str) -> tuple[int, dict[str, Any]]:
        done = self.ci("--json", *words)
        assert done.returncode in (0, 1), done.stderr
        return done.returncode, json.loads(done.stdout)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    return Repository(tmp_path_factory.mktemp("user") / "tree")


@pytest.mark.long
@needs_tool_set("git", "avr")
def test_a_regression_of_size_cycles_and_stack_fails_and_names_the_function(repository: Repository) -> None:
    code, good = repository.judged()
    assert code == 0 and good["passed"] and good["figures"] == good["equal"] > 8
    days = {b["name"]: b["figures"].get("battery_days") for b in good["benchmarks"]}
    assert days["uno/bench/rc4/128/encrypt/16"] > 1
    repository.change(
        "    size_t n;\n    for",
        "    size_t n;\n    volatile unsigned char room[24];\n    room[0] = 1;\n    for",
    )
    repository.change(LOOP, SLOWER)
    worse = repository.commit("worse")
    files = ["--markdown", "out/s.md", "--junit", "out/j.xml", "--bencher", "out/b.json", "--asv", "out/asv"]
    code, bad = repository.judged(*files, "--record")
    assert code == 1 and not bad["passed"]
    failed = {(c["benchmark"].split("/")[-2], c["measure"]): c for c in bad["checks"] if not c["passed"]}
    grew = {measure for _, measure in failed}
    assert grew == {"flash", "cycles", "stack", "stack_worst"}
    for check in failed.values():
        assert check["value"] > check["base"] and check["rule"] == "growth"
        assert check["causes"][0].startswith("arcfour_crypt +"), check
    summary = (repository.place / "out" / "s.md").read_text()
    assert "❌" in summary and "arcfour\\_crypt +" in summary and "compiler: " in summary
    assert "<failure" in (repository.place / "out" / "j.xml").read_text()
    assert (repository.place / "out" / "asv" / "motecrypt" / f"{worse[:8]}-simulated.json").exists()
    bench = json.loads((repository.place / "out" / "b.json").read_text())
    assert bench["uno/bench/rc4"]["flash"]["value"] == next(
        c["value"] for c in bad["checks"] if c["measure"] == "flash"
    )
    history = (repository.place / "history.jsonl").read_text()
    assert history.count("\n") == len(bad["benchmarks"]) and worse in history
    code, _ = repository.judged("--no-base")
    assert code == 0, "without a base only the absolute budget counts"
    assert repository.git("worktree", "list").count("\n") == 1, "no tree is left behind"


@pytest.mark.long
@needs_tool_set("git", "avr")
def test_code_that_became_wrong_or_does_not_build_is_a_regression(repository: Repository) -> None:
    repository.git("checkout", "-q", "-B", "wrong", "main")
    repository.change("data[n] ^=", "data[n] +=")
    code, judged = repository.judged()
    broken = [c for c in judged["checks"] if not c["passed"]]
    assert code == 1 and {c["rule"] for c in broken} == {"runs"}
    assert broken[0]["reason"].startswith("wrong-output: ") and "(ran at the base)" in broken[0]["reason"]
    repository.git("checkout", "-q", "-f", "main")


@pytest.mark.long
@needs_tool_set("git", "avr")
def test_a_new_entry_does_not_hide_the_growth_of_another(repository: Repository) -> None:
    repository.git("checkout", "-q", "-B", "new", "main")
    shutil.copytree(repository.place / "bench", repository.place / "second")
    entry = '[[library]]\nfolder = "second"\nciphers = ["rc4"]\nbytes = [16]\n\n[battery]'
    repository.write("motecrypt.toml", PLAN.replace("[battery]", entry))
    repository.change(LOOP, f"for (volatile unsigned char w = 0; w < 9; w++) {{}}\n{LOOP}")
    code, judged = repository.judged()
    shutil.rmtree(repository.place / "second")
    repository.git("checkout", "-q", "-f", "main")
    assert code == 1 and {c["build"] for c in judged["checks"] if not c["passed"]} == {"uno/bench/rc4"}
    assert len(judged["notes"]) == 1 and "second on uno: new or changed in" in judged["notes"][0]


@pytest.mark.long
@needs_tool_set("git", "avr")
def test_what_is_set_up_wrong_is_one_line_and_2(repository: Repository) -> None:
    repository.git("checkout", "-q", "-f", "main")
    other = repository.place / "other.toml"
    for text, words, said in (
        (PLAN, ["--base", "nowhere"], "base 'nowhere': git has no such commit here"),
        (PLAN, ["--base", "main", "--no-base"], "omit one of the two"),
        (PLAN.replace('folder = "bench"', 'folder = "bnch"'), ["--no-base"], "no library.toml there"),
        (PLAN.replace('"rc4"', '"rc5"'), ["--no-base"], "unknown cipher 'rc5'"),
        (PLAN.replace('"uno"', '"unu"'), ["--no-base"], "unknown device 'unu'"),
        (PLAN.replace("battery_days = 1", "battery_days = 1\nflush = 2"), [], "did you mean 'flash'"),
        (PLAN.replace('of = "uno', 'of = "pico'), ["--no-base"], "'of' matches no benchmark"),
        (PLAN.replace('"srf"', '"srx"'), ["--no-base"], "srx"),
        (PLAN.replace("history", "# history"), ["--record"], "--record: no history file"),
        (PLAN, ["--config", "none.toml"], "none.toml: no such file"),
    ):
        other.write_text(text)
        done = repository.ci(*([] if "--config" in words else ["--config", "other.toml"]), *words)
        last = [line for line in done.stderr.strip().splitlines() if "measuring" not in line]
        assert done.returncode == 2, (said, done)
        assert len(last) == 1 and said in last[0], (said, done.stderr)
        assert not done.stdout
    other.unlink()


@needs_tool_set("git")
def test_histories_are_merged_by_the_command(repository: Repository) -> None:
    figures = '"build":"b","compiler":"c","figures":{"ram":%d}}\n'
    line = '{"v":1,"at":"t","commit":"%s","benchmark":"b",' + figures
    for name, text in (
        ("a.jsonl", line % ("1", 1)),
        ("b.jsonl", line % ("2", 2)),
        ("c.jsonl", line % ("2", 3)),
    ):
        (repository.place.parent / name).write_text(text)
    merged = repository.ci("--history", "../a.jsonl", "--merge", "../b.jsonl")
    assert (merged.returncode, merged.stdout) == (0, "../a.jsonl: 2 points\n"), merged
    assert (repository.place.parent / "a.jsonl").read_text() == line % ("1", 1) + line % ("2", 2)
    assert repository.ci("--history", "../a.jsonl", "--merge", "../b.jsonl").returncode == 0, "again"
    conflict = repository.ci("--history", "../a.jsonl", "--merge", "../c.jsonl")
    assert conflict.returncode == 1 and "the larger is kept where b at 2 has two figures" in conflict.stderr
    missing = repository.ci("--history", "../a.jsonl", "--merge", "../none.jsonl")
    assert missing.returncode == 2 and "none.jsonl" in missing.stderr
