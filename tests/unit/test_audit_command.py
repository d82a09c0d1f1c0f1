"""`motecrypt audit`: results are stored, found again, and the same from the same seed."""

import json

import pytest

from command_line import run
from motecrypt.app.audit import AuditResult
from motecrypt.app.selection import select
from motecrypt.base.errors import InputError
from motecrypt.base.model import ExperimentResult
from motecrypt.catalog import Catalog
from motecrypt.measuring.audits import AuditRun, part_names
from motecrypt.present.terminal import TextAnswer
from motecrypt.present.terminal.audit import audit_view
from motecrypt.results import Results
from tool_sets import needs_tool_set


@needs_tool_set("host")
def test_an_experiment_is_stored_and_reproducible(tmp_path):
    part = AuditRun("rc4d", "attack:rc4d-chosen-plaintext", seed=7, quick=True)
    with Results(tmp_path / "a.db") as a, Results(tmp_path / "b.db") as b:
        assert part.find(a) is None
        first = part.ensure(a)
        assert part.ensure(a).made_at == first.made_at and part.find(a) is not None
        again = part.ensure(b)
        figures = ("keys", "recovered", "queries_mean", "queries_max", "unseen_messages_decrypted")
        assert [first.outcome["data"][k] for k in figures] == [again.outcome["data"][k] for k in figures]
        assert first.outcome["data"]["recovered"] == first.outcome["data"]["keys"]
        assert first.outcome["data"]["queries_mean"] <= 200


@needs_tool_set("host")
def test_ciphertexts_alone_are_enough_at_every_length(tmp_path):
    with Results(tmp_path / "r.db") as results:
        outcome = AuditRun("rc4d", "attack:rc4d-ciphertext-only", quick=True).ensure(results).outcome
    lengths = outcome["data"]["lengths"]
    assert [row["message_bytes"] for row in lengths] == [4, 16, 32, 64]
    assert all(row["recovered"] == row["keys"] and row["messages_max"] <= 1800 for row in lengths)
    assert all(row["unseen_messages_decrypted"] == 8 * row["keys"] for row in lengths)


@needs_tool_set("host")
@pytest.mark.slow
def test_the_whole_campaign(tmp_path):
    with Results(tmp_path / "r.db") as results:
        chosen = AuditRun("rc4d", "attack:rc4d-chosen-plaintext").ensure(results).outcome["data"]
        passive = AuditRun("rc4d", "attack:rc4d-ciphertext-only").ensure(results).outcome["data"]
    assert chosen["recovered"] == chosen["keys"] == 100 and chosen["queries_mean"] <= 200
    assert all(row["recovered"] == row["keys"] == 40 for row in passive["lengths"])
    assert all(row["messages_max"] <= 1800 for row in passive["lengths"])


@needs_tool_set("host", "aircrack")
@pytest.mark.crosscheck
def test_aircrack_finds_the_key_of_our_own_wep_frames(tmp_path):
    with Results(tmp_path / "r.db") as results:
        outcome = AuditRun("rc4", "attack:wep-capture", quick=True).ensure(results).outcome
    assert outcome["data"]["captures"][0]["found"], outcome


@needs_tool_set("host")
def test_the_command_prints_json_and_a_table(tmp_path, capsys):
    arguments = ["audit", "rc4", "--quick", "--part", "diffusion", "--part", "integrity"]
    code, out, _ = run(capsys, *arguments, "--db", str(tmp_path / "r.db"), "--json")
    told = json.loads(out)
    assert code == 0 and told["security"] == "broken"
    assert [part["part"] for part in told["parts"]] == ["diffusion", "integrity"]
    assert told["parts"][0]["data"]["encrypt"]["verdict"] == "none"
    code, out, _ = run(capsys, *arguments, "--db", str(tmp_path / "r.db"))
    assert code == 0 and "not authenticated" in out and "does not diffuse" in out
    assert (told["verdict"]["weight"], told["verdict"]["bad"]) == ("bad", ["integrity"])
    assert told["verdict"]["note"] == ["diffusion"] and told["verdict"]["good"] == []
    assert [line.split(":")[0] for line in out.splitlines() if line[:1].isupper()][-5:-1] == [
        *("Audited", "Security status", "Verdict", "Weak in"),
    ]
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert any(line.startswith("Security status: broken. Biased keystream") for line in lines)
    assert "Verdict: weak: 1 of 2 experiments found a weakness; 1 has a note" in lines
    assert lines[-2:] == ["Weak in: integrity", "Next: motecrypt list ciphers"]


@needs_tool_set("host")
@pytest.mark.parametrize(
    ("weights", "verdict", "said"),
    [
        (("good", "good"), "good", "2 of 2 experiments found no weakness"),
        (
            ("good", "note", "skipped"),
            "note",
            "1 of 3 experiments has a note; 1 found no weakness; 1 was skipped",
        ),
        (
            ("note", "bad", "good"),
            "bad",
            "1 of 3 experiments found a weakness; 1 has a note; 1 found no weakness",
        ),
        (("skipped",), "skipped", "1 of 1 experiment was skipped"),
        (("note", "note"), "note", "2 of 2 experiments have a note"),
    ],
)
def test_the_verdict_is_the_gravest_of_the_parts(weights, verdict, said):
    experiments = [
        ExperimentResult(
            "audit", 1, {"part": str(n)}, {"title": "t", "verdict": "v", "weight": weight, "sentences": []}
        )
        for n, weight in enumerate(weights)
    ]
    found = AuditResult(select(("rc4",)), tuple(experiments))
    assert found.verdict == verdict
    *_, told = audit_view(found.cipher, found.named, "it", found.verdict, found.others, "next")
    assert isinstance(told, TextAnswer) and dict(told.lines)["Verdict"].partition(": ")[2] == said
    those = [str(number) for number, weight in enumerate(weights) if weight == verdict]
    assert found.parts_of(verdict) == those


@needs_tool_set("host")
def test_an_audit_that_finds_no_weakness_goes_on_to_the_costs(tmp_path, capsys):
    db = ["--db", str(tmp_path / "r.db")]
    code, out, _ = run(capsys, "audit", "aes128-ccm8", "--quick", "--part", "integrity", *db)
    assert code == 0 and " ".join(out.split()).endswith(
        "Verdict: good: 1 of 1 experiment found no weakness "
        f"Next: motecrypt measure --cipher aes128-ccm8 {' '.join(db)}"
    )


def test_an_authenticated_cipher_passes_what_the_others_fail(tmp_path):
    with Results(tmp_path / "r.db") as results:
        for name, weight in (("integrity", "good"), ("diffusion", "good"), ("determinism", "note")):
            found = AuditRun("aes128-ccm8", name, quick=True).ensure(results)
            assert found.outcome["weight"] == weight, found.outcome["sentences"]


def test_what_does_not_apply_is_skipped_with_its_reason(tmp_path, capsys):
    db = ("--db", str(tmp_path / "r.db"))
    code, out, _ = run(capsys, "audit", "rc4", "--part", "attack:cbc-padding-oracle", *db, "--json")
    told = json.loads(out)
    (part,) = told["parts"]
    assert code == 0 and part["weight"] == "skipped" and "it needs CBC" in part["sentences"][0]
    assert {"part": "attack:rc4d-chosen-plaintext", "needs": "RC4D with one key"} in told["not_applicable"]


def test_wrong_names_are_one_line(capsys):
    code, _, err = run(capsys, "audit", "rc4x")
    assert code == 2 and err.count("\n") == 1 and "rc4" in err
    code, _, err = run(capsys, "audit", "rc4", "--part", "astrology")
    assert code == 2 and err.count("\n") == 1 and "diffusion" in err
    with pytest.raises(InputError):
        AuditRun("rc4", "diffusion", variant="no-such").asked()


def cipher(name):
    return Catalog.load().cipher(name)


def test_attacks_are_parts_of_the_ciphers_they_apply_to():
    assert "attack:rc4d-chosen-plaintext" in part_names(cipher("rc4d"))
    assert "attack:rc4d-chosen-plaintext" not in part_names(cipher("rc4"))
    assert "attack:cbc-padding-oracle" in part_names(cipher("aes128-cbc"))


@needs_tool_set("host")
def test_the_page_has_what_was_found(tmp_path, capsys):
    page = tmp_path / "page.html"
    words = ("audit", "rc4d", "--part", "determinism", "--part", "diffusion", "--quick", "--html", page)
    assert run(capsys, *words, "--db", tmp_path / "r.db")[0] == 0
    written = page.read_text()
    assert "Audit of rc4d" in written and written.count("data:image/png") == 3
    assert "A message of one byte is always sent unencrypted." in written
    (tmp_path / "folder").mkdir()
    code, _, said = run(capsys, *words[:-1], tmp_path / "folder", "--db", tmp_path / "r.db")
    assert code == 2 and len(said.splitlines()) == 1 and "--html" in said
