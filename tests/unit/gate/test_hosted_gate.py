"""The GitHub Action and the GitLab template: their steps are run as the services run them; our own gate."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from motecrypt.gate.plan import read_gate_plan
from tool_sets import needs_tool_set

ROOT = Path(__file__).resolve().parents[3]
ACTION, TEMPLATE = ROOT / "ci" / "action.yml", ROOT / "ci" / "gitlab.yml"
PLAN = """
devices = ["uno"]
base = "main"

[[library]]
folder = "bench"
ciphers = ["rc4"]
bytes = [16]
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A user's checkout with one commit on main, and one that makes the library slower on a branch."""
    place = tmp_path_factory.mktemp("hosted") / "tree"
    shutil.copytree(ROOT / "examples" / "mylibrary", place / "bench")
    (place / "motecrypt.toml").write_text(PLAN)
    source = place / "bench" / "src" / "arcfour.c"
    git(place, "init", "-q", "-b", "main", ".")
    git(place, "add", "-A")
    git(place, "commit", "-qm", "first")
    git(place, "update-ref", "refs/remotes/origin/main", "HEAD")
    git(place, "checkout", "-qb", "change")
    line = "rc4->i++;"
    source.write_text(
        source.read_text().replace(line, f"for (volatile unsigned char w = 0; w < 9; w++) {{}}\n{line}")
    )
    git(place, "commit", "-qam", "slower")
    return place


def git(place: Path, *words: str) -> None:
    named = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *named, *words], cwd=place, check=True, capture_output=True, timeout=60)


def environment(tmp_path: Path) -> dict[str, str]:
    """What a hosted machine has, without a pull request's own variables."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("GITHUB_", "CI_", "PYTHON"))}
    return {**kept, "MOTECRYPT_VENV": sys.prefix, "MOTECRYPT_DB": str(tmp_path / "results.db")}


def run(script: str, shell: list[str], place: Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*shell, script], cwd=place, env=env, capture_output=True, text=True, timeout=280, check=False
    )


def action_step() -> tuple[dict[str, str], str, dict[str, str]]:
    """Environment, line and inputs' defaults of the action's one step."""
    text = ACTION.read_text()
    assert text.count("- shell: sh\n") == text.count("run: ") == 1, "the test runs one step"
    inputs = dict(re.findall(r"^  (\w+):\n    description: .+\n    default: (.+)$", text, re.MULTILINE))
    env = dict(re.findall(r"^        (\w+): (.+)$", text, re.MULTILINE))
    line = re.search(r"^      run: (.+)$", text, re.MULTILINE)
    assert line and set(inputs) == {"config", "base", "out"}
    plain = {name: value.strip('"') for name, value in inputs.items()}
    return {name: value.strip('"') for name, value in env.items()}, line[1], plain


def filled(value: str, inputs: dict[str, str]) -> str:
    """An expression of the workflow language, of those that the action has."""
    known = {f"inputs.{name}": given for name, given in inputs.items()}
    return re.sub(r"\$\{\{ (.+?) \}\}", lambda found: known[found[1]], value)


@pytest.mark.long
@needs_tool_set("git", "avr")
def test_the_action_fails_a_slower_pull_request_and_passes_its_base(tree: Path, tmp_path: Path) -> None:
    env, line, inputs = action_step()
    given = {**inputs, "out": str(tmp_path / "out")}
    summary = tmp_path / "summary.md"
    hosted = {
        **environment(tmp_path),
        **{name: filled(value, given) for name, value in env.items()},
        "GITHUB_ACTION_PATH": str(ACTION.parent),
        "GITHUB_STEP_SUMMARY": str(summary),
        "GITHUB_BASE_REF": "main",
    }
    worse = run(line, ["sh", "-e", "-c"], tree, hosted)
    assert worse.returncode == 1, worse.stderr
    assert "against origin/main" in worse.stdout
    assert "❌" in summary.read_text() and "arcfour\\_crypt +" in summary.read_text()
    assert {p.name for p in (tmp_path / "out").iterdir()} == {"summary.md", "junit.xml", "bencher.json"}
    same = run(line, ["sh", "-e", "-c"], tree, {**hosted, "BASE": "change"})
    assert same.returncode == 0 and "✅" in summary.read_text(), same.stderr
    wrong = run(line, ["sh", "-e", "-c"], tree, {**hosted, "CONFIG": "none.toml"})
    assert wrong.returncode == 2 and "none.toml: no such file" in wrong.stderr
    assert not list((tmp_path / "out").iterdir()), "no summary of an earlier run"


@needs_tool_set("git")
@pytest.mark.parametrize("hosted", [True, False])
def test_git_trusts_the_checkout_of_another_user_where_the_container_has_it(
    hosted: bool, tmp_path: Path
) -> None:
    """The host's path of the workspace, which the workflow's expressions give, is another."""
    env, _, inputs = action_step()
    assert {filled(value, inputs) for value in env.values()} <= {*inputs.values()}, "no path of the host"
    checkout, program = tmp_path / "checkout", tmp_path / "program"
    (program / "ci").mkdir(parents=True)
    shutil.copy(ACTION.parent / "gate.sh", program / "ci")
    (program / "motecrypt").write_text("#!/bin/sh\ngit config bench.mine && git rev-parse --show-toplevel\n")
    (program / "motecrypt").chmod(0o755)
    checkout.mkdir()
    git(checkout, "init", "-q", "-b", "main", ".")
    another = {
        **environment(tmp_path),
        "HOME": str(tmp_path),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TEST_ASSUME_DIFFERENT_OWNER": "1",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "bench.mine",
        "GIT_CONFIG_VALUE_0": "kept",
        **({"GITHUB_WORKSPACE": str(checkout)} if hosted else {}),
    }
    refused = run("git rev-parse --show-toplevel", ["sh", "-c"], checkout, another)
    assert "dubious ownership" in refused.stderr, "git takes the checkout for another user's"
    done = run(str(program / "ci" / "gate.sh"), ["sh"], checkout, another)
    assert done.returncode == 0 and done.stdout.split() == ["kept", str(checkout)], done.stderr


@pytest.mark.long
@needs_tool_set("git", "avr")
def test_the_lines_of_the_template_run_in_order(tree: Path, tmp_path: Path) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("no git checkout")
    text = TEMPLATE.read_text()
    before, script = (
        re.findall(r"^    - (.+)$", part, re.MULTILINE)
        for part in (
            text.split("before_script:")[1].split("  script:")[0],
            text.split("  script:")[1].split("  cache:")[0],
        )
    )
    variables = dict(
        re.findall(r"^    (\w+): (.+?)(?: #.*)?$", text.split("before_script:")[0], re.MULTILINE)
    )
    job = tmp_path / "job"
    shutil.copytree(tree, job, symlinks=True)
    base = subprocess.run(
        ["git", "rev-parse", "main"], cwd=job, capture_output=True, text=True, timeout=60, check=True
    ).stdout.strip()
    known = {name: value.strip('"').replace("$CI_PROJECT_DIR", str(job)) for name, value in variables.items()}
    hosted = {
        **environment(tmp_path),
        **{name: value for name, value in known.items() if name != "MOTECRYPT_CACHE"},
        "CI_PROJECT_DIR": str(job),
        "CI_MERGE_REQUEST_DIFF_BASE_SHA": base,
        "MOTECRYPT_REPOSITORY": str(ROOT),
        "MOTECRYPT_COMMIT": "HEAD",
    }
    there = [line for line in before if not line.startswith("apt-get")]
    assert [line.split()[0] for line in (*there, *script)] == ["git", "git", "sh"]
    for line in there:
        assert run(line, ["bash", "-c"], job, hosted).returncode == 0, line
    shutil.copytree(ROOT / "ci", job / ".motecrypt" / "ci", dirs_exist_ok=True)
    shutil.copytree(ROOT / "src", job / ".motecrypt" / "src", dirs_exist_ok=True)  # as it is now
    worse = run(script[0], ["bash", "-c"], job, hosted)
    assert worse.returncode == 1, worse.stderr
    report = re.search(r"junit: (.+)$", text, re.MULTILINE)
    assert report and (job / report[1].replace("$OUT", hosted["OUT"])).exists()


def test_pull_requests_of_this_repository_use_the_action() -> None:
    steps = re.findall(
        r"^ +- (uses|run): (.+)$", (ROOT / ".github" / "workflows" / "gate.yml").read_text(), re.MULTILINE
    )
    used = [what for kind, what in steps if kind == "uses"]
    assert used == ["actions/checkout@v4", f"./{ACTION.parent.relative_to(ROOT)}"]


@pytest.mark.long
@needs_tool_set("git", "avr", "pico")
def test_this_repository_keeps_its_own_budgets(tmp_path: Path) -> None:
    plan = read_gate_plan(ROOT / "motecrypt.toml")
    assert plan.own_program and {entry.cipher for entry in plan.measured} >= {"ascon-aead128"}
    words = ["ci", "--config", str(ROOT / "motecrypt.toml"), "--no-base"]
    done = subprocess.run(
        [sys.executable, "-m", "motecrypt", *words],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "passed: " in done.stdout


@pytest.mark.long
def test_each_branch_on_gitlab_writes_a_cache_of_its_own() -> None:
    """The cache has results and compiled simulators: a merge request must not write what another one runs."""
    cache = TEMPLATE.read_text().split("  cache:\n")[1].split("  artifacts:")[0]
    assert re.findall(r"\$\w+", cache) == ["$CI_COMMIT_REF_SLUG", "$CI_DEFAULT_BRANCH"]
    assert cache.index("key: motecrypt-$CI_COMMIT_REF_SLUG") < cache.index("fallback_keys:")


@needs_tool_set("git", "avr")
def test_the_base_of_this_repository_is_measured_by_its_own_program(tmp_path: Path) -> None:
    """A clone whose base has a slower cipher than its head: only its own program measures that one."""
    if not (ROOT / ".git").exists():
        pytest.skip("no git checkout")
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", "--no-local", ROOT, clone], check=True, timeout=120)
    source = clone / "src/motecrypt/firmware/ciphers/rc4/plain.c"
    (clone / "motecrypt.toml").write_text(
        'own_program = true\ndevices = ["uno"]\n'
        '[[cipher]]\nname = "rc4"\nlibraries = ["motecrypt"]\nvariants = ["plain"]\nbytes = [16]\n'
    )
    text = source.read_text()
    begin = text.index("{", text.index("cipher_encrypt")) + 1
    source.write_text(
        f"{text[:begin]}\n    for (volatile uint8_t w = 0; w < 200; w++) {{\n    }}\n{text[begin:]}"
    )
    git(clone, "add", "-A")
    git(clone, "commit", "-qm", "slower")
    source.write_text(text)
    git(clone, "commit", "-qam", "as before")
    done = run(
        "python3 -m motecrypt ci --base HEAD~1 --json".replace("python3", sys.executable),
        ["sh", "-c"],
        clone,
        {**environment(tmp_path), "PYTHONPATH": str(ROOT / "src")},
    )
    assert done.returncode == 0, done.stderr
    assert '"measure": "cycles",\n   "base"' in done.stdout
    assert '"equal": 0' not in done.stdout
