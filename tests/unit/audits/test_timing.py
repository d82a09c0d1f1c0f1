"""Traces, splits, verdicts and taint reports, on made-up data."""

from motecrypt.attack.audits import taint, timing
from motecrypt.attack.audits.taint import Sighting
from motecrypt.measuring.audits.taint import read_report

NONE = "ffffffff"


def trace(*steps):
    return next(timing.read_dump("".join(f"{step}\n" for step in (*steps, "end"))))


def memory(address):
    return "flash" if address >= 0x1000 else "ram"


def loop(rounds, address="10"):
    """A loop of `rounds` rounds at 2, then a fixed loop of 3 rounds at 8 that touches `address`."""
    steps = [f"0 {NONE}"] + [f"2 {NONE}", f"4 {NONE}"] * rounds + [f"6 {NONE}"]
    return trace(*steps, *([f"8 {address}", f"a {NONE}"] * 3), f"c {NONE}")


def test_equal_traces_do_not_part():
    assert timing.splits([loop(3), loop(3), loop(3)], memory) == ()
    assert timing.verdict([5, 5], (), flash_cached=False) == "constant"


def test_a_longer_loop_is_blamed_and_nothing_behind_it():
    found = timing.splits([loop(3), loop(5)], memory)
    assert found == (timing.Split(4, "branch"),)
    assert timing.verdict([5, 9], found, flash_cached=False) == "cycles vary"
    assert timing.verdict([5, 5], found, flash_cached=False) == "branches, equal cycles"


def test_a_parting_shows_what_each_trace_did_there():
    found = timing.parting([loop(3), loop(5)], timing.Split(4, "branch"))
    assert found == timing.Parting(0, ((2, 2, 6), (2, 2, 2, 2, 6)))
    found = timing.parting([loop(40), loop(42)], timing.Split(4, "branch"))
    assert found.first == 39 - 4, "four executions before the one that differs"
    assert found.sequences == ((2,) * 4 + (6,), (2,) * 6 + (6,))
    found = timing.parting([loop(1, "1010"), loop(1, "1020")], timing.Split(8, "address", "flash"))
    assert found == timing.Parting(0, ((0x1010,) * 3, (0x1020,) * 3))
    long = timing.parting([loop(9), loop(99)], timing.Split(4, "branch"))
    assert [len(one) for one in long.sequences] == [9 - 4, 32]
    assert timing.parting([loop(1)], timing.Split(99, "branch")) == timing.Parting(0, ((),))


def test_addresses_count_by_the_memory_they_lie_in():
    flash = timing.splits([loop(3, "1010"), loop(3, "1020")], memory)
    ram = timing.splits([loop(3, "10"), loop(3, "20")], memory)
    assert flash == (timing.Split(8, "address", "flash"),) and ram == (timing.Split(8, "address", "ram"),)
    assert timing.verdict([5, 5], flash, flash_cached=False) == "addresses only, no cache"
    assert timing.verdict([5, 5], flash, flash_cached=True) == "addresses only, cached flash"
    assert timing.verdict([5, 61], flash, flash_cached=True) == "addresses only, cached flash"
    assert timing.verdict([5, 5], ram, flash_cached=True) == "addresses only, no cache"


def test_several_accesses_of_one_instruction_are_not_a_branch():
    pushes = [f"0 {NONE}", "0 10", "0 14", f"2 {NONE}"]
    found = trace(*pushes)
    assert found.successors == {0: ["2"]} and found.addresses == {0: ["10", "14"]} and found.instructions == 2


def test_every_verdict_has_a_meaning():
    assert [weight for weight, _ in timing.MEANING.values()] == ["good", "good", "bad", "note", "bad"]


def branch(line, times):
    return Sighting("branch", "f", line, times)


def test_the_outcome_of_a_tag_check_is_excused_and_an_early_exit_is_not():
    even = {"encrypt": [], "decrypt": [branch("a.c:9", 1)], "refuse": [branch("a.c:9", 1)]}
    verdict, found, excused = taint.judge(even, has_tag=True)
    assert verdict == "no secret dependence" and not found and excused == (branch("a.c:9", 1),)
    early = {"encrypt": [], "decrypt": [branch("a.c:5", 8)], "refuse": [branch("a.c:5", 1)]}
    assert taint.judge(early, has_tag=True)[0] == "secrets choose branches"
    both = [branch("a.c:5", 1), branch("a.c:9", 1)]
    two = {"encrypt": [], "decrypt": both, "refuse": both}
    assert taint.judge(two, has_tag=True)[0] == "secrets choose branches"
    assert taint.judge(even, has_tag=False)[0] == "secrets choose branches"


def test_a_branch_that_encryption_has_too_is_never_excused():
    runs = {operation: [branch("a.c:9", 1)] for operation in ("encrypt", "decrypt", "refuse")}
    assert taint.judge(runs, has_tag=True)[0] == "secrets choose branches"


def test_tables_are_addresses():
    runs = {"encrypt": [Sighting("address", "f", "a.c:3", 160)], "decrypt": []}
    assert taint.judge(runs, has_tag=False)[0] == "secrets choose addresses"


def test_memchecks_report_is_read():
    report = """<?xml version="1.0"?><valgrindoutput>
    <error><unique>0x0</unique><kind>UninitCondition</kind><stack>
      <frame><ip>0x1</ip><obj>libc.so</obj><fn>memcmp</fn></frame>
      <frame><ip>0x2</ip><fn>compare</fn><dir>./firmware/ciphers/x</dir><file>x.c</file><line>65</line></frame>
      <frame><ip>0x5</ip><fn>taint_decrypt</fn><file>taint.c</file><line>1</line></frame>
    </stack></error>
    <error><unique>0x1</unique><kind>UninitValue</kind><stack>
      <frame><ip>0x3</ip><fn>look</fn><file>y.c</file><line>7</line></frame></stack></error>
    <error><unique>0x2</unique><kind>InvalidRead</kind><stack><frame><ip>0x4</ip></frame></stack></error>
    <errorcounts><pair><count>8</count><unique>0x0</unique></pair></errorcounts></valgrindoutput>"""
    assert read_report(report) == {
        "encrypt": [Sighting("address", "look", "y.c:7", 1)],
        "decrypt": [Sighting("branch", "compare", "firmware/ciphers/x/x.c:65", 8)],
        "refuse": [],
    }


def test_regions_that_are_not_wanted_are_passed_over():
    dump = f"0 {NONE}\nend\n2 {NONE}\n4 {NONE}\nend\n6 {NONE}\nend\n"
    read = list(timing.read_dump(dump, [False, True, False]))
    assert [one.successors for one in read] == [{2: ["4"]}]
    assert [one.instructions for one in timing.read_dump(dump)] == [1, 2, 1]
