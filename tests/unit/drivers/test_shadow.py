"""The shadow stack of profiles, given calls and returns: by hand, and next to a second model of it."""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from natively import ask, compiled

from tool_sets import needs_tool_set

pytestmark = needs_tool_set("host")

ROOT_SP = 2**32 - 1
Lines = list[tuple[object, ...]]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled("shadow_harness.c", tmp_path_factory.mktemp("shadow"))


@dataclass
class Told:
    """What a run wrote."""

    functions: dict[int, dict[str, Any]] = field(default_factory=dict)
    nodes: dict[int, dict[str, Any]] = field(default_factory=dict)
    answers: list[int] = field(default_factory=list)
    left_out: dict[str, int] | None = None
    stack: dict[str, Any] = field(default_factory=dict)

    def paths(self) -> dict[tuple[int, ...], tuple[int, int]]:
        """Calls and cycles by the functions from the root on."""

        def path(node: int) -> tuple[int, ...]:
            return (*path(self.nodes[node]["parent"]), self.nodes[node]["of"]) if node else ()

        return {path(n): (told["calls"], told["self"]) for n, told in self.nodes.items()}


def run(program: Path, folder: Path, lines: Iterable[tuple[object, ...]], functions: int = 5) -> Told:
    """Pass events to the shadow stack."""
    (folder / "functions").write_text(
        "".join(f"{16 * n:x} {16 * n + 14:x}\n" for n in range(1, functions + 1))
    )
    all_lines = [("open", 2), *lines, ("put",)]
    told = Told(answers=ask(program, folder / "functions", folder / "out", lines=all_lines)[1:-1])
    for text in (folder / "out").read_text().splitlines():
        record = json.loads(text)
        if "dropped" in record:
            told.left_out = record
            continue
        if "slots" in record:
            told.stack = record
            continue
        kind = "function" if "function" in record else "node"
        (told.functions if kind == "function" else told.nodes)[record.pop(kind)] = record
    return told


# --- by hand -------------------------------------------------------------------------------------------


def test_a_call_inside_a_call(program: Path, tmp_path: Path) -> None:
    told = run(
        program,
        tmp_path,
        [
            ("begin", 1, 100, 5),
            ("call", 2, 100, 98, 7, 15),
            ("stack", 90),
            ("stack", 92),
            ("call", 3, 90, 88, 8, 25),
            ("stack", 80),
            ("back", 90, 8, 45),
            ("back", 100, 7, 50),
            ("call", 2, 100, 98, 9, 60),
            ("back", 100, 9, 63),
            ("end", 70),
        ],
    )
    assert told.functions == {
        1: {"start": 16, "calls": 1, "inclusive": 65, "self": 10 + 10 + 7, "stack": 0},
        2: {
            "start": 32,
            "calls": 2,
            "inclusive": 38,
            "self": 18,
            "stack": 20,
            "inclusive_range": [3, 3, 35],
            "self_range": [3, 3, 15],
            "every": 1,
        },
        3: {
            "start": 48,
            "calls": 1,
            "inclusive": 20,
            "self": 20,
            "stack": 10,
            "inclusive_range": [20, 20, 20],
            "self_range": [20, 20, 20],
            "every": 1,
        },
    }
    assert told.nodes == {
        1: {"parent": 0, "of": 1, "calls": 1, "self": 27},
        2: {"parent": 1, "of": 2, "calls": 2, "self": 18},
        3: {"parent": 2, "of": 3, "calls": 1, "self": 20},
    }


def test_functions_have_the_ends_that_they_are_told(program: Path, tmp_path: Path) -> None:
    lines: Lines = [("add", 0x100, 0x120), ("add", 0x200, 0)]
    told = run(
        program, tmp_path, [*lines, *(("end_of", n) for n in range(5)), ("begin", 1, 9, 0)], functions=2
    )
    assert told.answers[:7] == [3, 4, 0, 16 + 14, 32 + 14, 0x120, 0]


def test_after_a_reset_the_interrupts_before_it_are_no_more_subtracted(program: Path, tmp_path: Path) -> None:
    told = run(
        program,
        tmp_path,
        [
            ("begin", 1, 100, 0),
            ("interrupt", 2, 100, 98, 20, 10),
            ("back", 100, 20, 17),
            ("end", 20),
            ("begin", 1, 100, 30),
            ("end", 42),
        ],
    )
    assert told.functions[1] == {"start": 16, "calls": 2, "inclusive": 13 + 12, "self": 13 + 12, "stack": 0}
    assert told.functions[2]["inclusive"] == 7


def test_an_interrupts_cycles_and_stack_are_its_own(program: Path, tmp_path: Path) -> None:
    told = run(
        program,
        tmp_path,
        [
            ("begin", 1, 100, 0),
            ("call", 2, 100, 98, 7, 10),
            ("interrupt", 0, 98, 96, 20, 15),
            ("jump", 3, 96, 18),
            ("stack", 50),
            ("call", 4, 50, 48, 9, 20),
            ("interrupt", 0, 48, 46, 30, 22),
            ("jump", 5, 46, 23),
            ("back", 48, 30, 29),
            ("back", 50, 9, 30),
            ("back", 98, 20, 40),
            ("back", 100, 7, 50),
            ("end", 51),
        ],
    )
    two, three, four, five = (told.functions[n] for n in (2, 3, 4, 5))
    assert (two["inclusive"], two["self"], two["stack"]) == (15, 15, 2)
    assert (three["inclusive"], three["self"], three["stack"]) == (18, 15, 50)
    assert (four["inclusive"], four["self"], four["stack"]) == (3, 3, 2)
    assert (five["inclusive"], five["self"], five["stack"]) == (7, 7, 2)
    assert told.functions[1]["inclusive"] == 51 - 25
    assert 0 not in told.functions
    assert told.paths() == {
        (1,): (1, 11),
        (1, 2): (1, 15),
        (1, 2, 0): (0, 0),
        (1, 2, 3): (1, 15),
        (1, 2, 3, 4): (1, 3),
        (1, 2, 3, 4, 0): (0, 0),
        (1, 2, 3, 4, 5): (1, 7),
    }


def test_recursion_counts_its_outermost_call(program: Path, tmp_path: Path) -> None:
    told = run(program, tmp_path, [("begin", 1, 1000, 0), ("nest", 2, 10, 1000, 5), ("end", 30)])
    two = told.functions[2]
    assert (two["calls"], two["inclusive"], two["self"], two["stack"]) == (10, 19, 19, 20)
    assert two["inclusive_range"] == [1, 9, 19] and two["self_range"] == [1, 2, 2]
    assert len(told.nodes) == 11
    deep = run(program, tmp_path, [("begin", 1, 5000, 0), ("nest", 2, 300, 5000, 0), ("end", 600)])
    assert deep.answers[1] == 300
    assert len(deep.nodes) == 200, "below that depth recursion shares a node"
    assert max(calls for calls, _ in deep.paths().values()) == 300 - 198
    assert sum(cycles for _, cycles in deep.paths().values()) == 600


def test_calls_beyond_the_last_frame_are_counted(program: Path, tmp_path: Path) -> None:
    frames = 1 << 15
    for depth, dropped in ((frames - 1, 0), (frames, 1), (frames + 9, 10)):
        lines: Lines = [
            ("begin", 1, 200_000, 0),
            ("nest", 2, depth, 200_000, 0),
            ("dropped",),
            ("end", 10**6),
        ]
        told = run(program, tmp_path, lines)
        assert told.answers[1:3] == [min(depth, frames - 1), dropped]
        assert told.functions[2]["calls"] == min(depth, frames - 1)
        assert told.left_out == ({"dropped": dropped, "shared": 0} if dropped else None)


def test_a_full_tree_grows_no_more(program: Path, tmp_path: Path) -> None:
    outer, inner = range(10, 10 + 217), range(1000, 1000 + 301)
    assert 1 + len(outer) * (1 + len(inner)) == (1 << 16) - 1, "the root's and all of these have a node"
    now = 0
    lines: Lines = [("begin", 1, 100, 0)]
    for caller in outer:
        lines.append(("call", caller, 100, 98, 7, now))
        for callee in inner:
            lines += [("call", callee, 98, 96, 8, now), ("back", 98, 8, now + 3)]
            now += 3
        lines.append(("back", 100, 7, now))
    for function in (10, 2, 3):  # a known one, and two new ones
        lines += [("call", function, 100, 98, 7, now), ("back", 100, 7, now + 5)]
        now += 5
    # Again in a function that the tree does not know: it shares the node of the first.
    lines += [("end", now), ("begin", 4, 100, now), ("end", now + 2)]
    told = run(program, tmp_path, lines, functions=1300)
    assert told.left_out == {"dropped": 0, "shared": 3}
    assert len(told.nodes) == (1 << 16) - 1
    paths = told.paths()
    assert paths[1,] == (1 + 2 + 1, 2 * 5 + 2)
    assert paths[1, 10] == (2, 5) and paths[1, 226, 1300] == (1, 3)
    assert [told.functions[n]["self"] for n in (10, 2, 3, 4, 1300)] == [5, 5, 5, 2, 217 * 3]


@pytest.mark.parametrize(("calls", "every"), [(32768, 1), (32769, 2), (65536, 2), (65537, 4), (131073, 8)])
def test_of_many_durations_every_second_one_is_kept(
    program: Path, tmp_path: Path, calls: int, every: int
) -> None:
    told = run(program, tmp_path, [("begin", 1, 100, 0), ("repeat", 2, calls, 0), ("end", 10**12)])
    two = told.functions[2]
    assert (two["calls"], two["inclusive"], two["every"]) == (calls, calls * (calls + 1) // 2, every)
    least, median, most = two["inclusive_range"]
    assert (least, most) == (1, calls) and two["self_range"] == two["inclusive_range"]
    assert abs(median - (calls + 1) / 2) <= every
    kept = list(range(1, calls + 1))
    # The plainest account of what is kept: when the room is full every second one goes, and is taken.
    samples: list[int] = []
    stride = skipped = 0
    stride = 1
    for n in kept:
        skipped += 1
        if skipped < stride:
            continue
        skipped = 0
        if len(samples) == 32768:
            samples = samples[::2]
            stride *= 2
        samples.append(n)
    assert median == sorted(samples)[(len(samples) - 1) // 2]


def test_more_functions_than_there_was_room_for(program: Path, tmp_path: Path) -> None:
    lines: Lines = [("begin", 1, 100, 0)]
    for n in range(1, 301):
        lines += [("call", n, 100, 98, 7, 10 * n), ("back", 100, 7, 10 * n + n)]
    told = run(program, tmp_path, [*lines, ("add", 9000, 9002), ("end", 10**4)], functions=300)
    assert told.answers[-2] == 301, "the first is for code of no function"
    assert {n: f["inclusive"] for n, f in told.functions.items() if n > 1} == {n: n for n in range(2, 301)}
    assert told.functions[300]["start"] == 4800


def test_a_file_of_functions_that_is_not_there(program: Path, tmp_path: Path) -> None:
    answer = ask(program, tmp_path / "none", tmp_path / "out", lines=[("open", 2)])
    assert answer == [2**64 - 1]


def test_room_doubles_when_it_is_full(program: Path, tmp_path: Path) -> None:
    lines: Lines = [("begin", 1, 100, 0), ("room", 0), ("room", 1)]
    for n in range(58):  # with five functions, that of no function, and the root and its node: 64 of each
        lines += [("add", 1000 + 2 * n, 0), ("room", 0)]
    lines += [("add", 2000, 0), ("room", 0)]
    for n in range(62):
        lines += [("call", n, 100, 98, 7, n), ("back", 100, 7, n), ("room", 1)]
    lines += [("call", 63, 100, 98, 7, 99), ("room", 1), ("end", 100)]
    answers = run(program, tmp_path, lines).answers
    assert answers[1:3] == [64, 64]
    assert answers[4 : 4 + 2 * 58 : 2] == [64] * 58 and answers[4 + 2 * 58] == 128
    assert answers[7 + 2 * 58 : 7 + 2 * 58 + 3 * 62 : 3] == [64] * 62 and answers[-2] == 128


def test_without_memory_it_says_so_and_ends(program: Path, tmp_path: Path) -> None:
    (tmp_path / "functions").write_text("10 20\n")
    command = [program, tmp_path / "functions", tmp_path / "out"]
    done = subprocess.run(
        command, input="out_of_memory 1\nopen 2\n", capture_output=True, text=True, timeout=20, check=False
    )
    assert (done.returncode, done.stderr) == (2, "no memory for the profile\n")
    lines: Lines = [("begin", 1, 100, 0), ("call", 2, 100, 98, 7, 5), ("back", 100, 7, 9), ("end", 9)]
    told = run(program, tmp_path, [*lines, ("out_of_memory", 1)])
    assert told.functions[2]["inclusive_range"] == [4, 0, 4], "a median is not worth a run"


def test_a_run_may_begin_anew(program: Path, tmp_path: Path) -> None:
    lines: Lines = [("begin", 1, 100, 0), ("call", 2, 100, 98, 7, 5), ("begin", 1, 100, 9), ("end", 11)]
    assert run(program, tmp_path, lines).answers == [0, 1, 0, 0]


# --- next to a second model -----------------------------------------------------------------------------


@dataclass
class Frame:
    function: int
    path: tuple[int, ...]
    caller_sp: int
    least: int
    back: int
    start: int
    interrupts: int
    interrupt: bool = False
    own: int = 0


class Model:
    """The same account, kept as plainly as it can be: paths in place of a tree, lists in place of counts."""

    def __init__(self) -> None:
        self.frames: list[Frame] = []
        self.since = self.interrupts = 0
        self.paths: dict[tuple[int, ...], list[int]] = {}
        self.calls: dict[int, int] = {}
        self.own: dict[int, int] = {}
        self.inclusive: dict[int, int] = {}
        self.stack: dict[int, int] = {}
        self.ended: dict[int, list[tuple[int, int]]] = {}

    def _enter(self, frame: Frame) -> None:
        self.frames.append(frame)
        self.calls[frame.function] = self.calls.get(frame.function, 0) + 1
        self.paths.setdefault(frame.path, [0, 0])[0] += 1

    def _charge(self, now: int) -> None:
        top = self.frames[-1]
        top.own += now - self.since
        self.paths[top.path][1] += now - self.since
        self.since = now

    def _push(self, function: int, caller: int, sp: int, back: int, now: int, interrupt: bool) -> None:
        self._charge(now)
        path = (*self.frames[-1].path, function)
        self._enter(Frame(function, path, caller, sp, back, now, self.interrupts, interrupt))

    def _close(self, now: int) -> tuple[Frame, int]:
        frame = self.frames.pop()
        inclusive = now - frame.start - (self.interrupts - frame.interrupts)
        self.own[frame.function] = self.own.get(frame.function, 0) + frame.own
        if all(other.function != frame.function for other in self.frames):
            self.inclusive[frame.function] = self.inclusive.get(frame.function, 0) + inclusive
        if frame.caller_sp != ROOT_SP and frame.caller_sp > frame.least:
            depth = frame.caller_sp - frame.least
            self.stack[frame.function] = max(depth, self.stack.get(frame.function, 0))
        if frame.interrupt:
            self.interrupts += inclusive
        elif self.frames:
            self.frames[-1].least = min(self.frames[-1].least, frame.least)
        return frame, inclusive

    def _pop(self, now: int) -> None:
        self._charge(now)
        frame, inclusive = self._close(now)
        self.ended.setdefault(frame.function, []).append((inclusive, frame.own))

    def _leave(self, sp: int, now: int) -> None:
        while len(self.frames) > 1 and self.frames[-1].caller_sp < sp + 2:
            self._pop(now)

    def begin(self, function: int, sp: int, now: int) -> None:
        self.since = now
        self.frames = []
        self._enter(Frame(function, (function,), ROOT_SP, sp, 0, now, self.interrupts))

    def call(self, function: int, caller: int, sp: int, back: int, now: int) -> None:
        self._leave(caller, now)
        self._push(function, caller, sp, back, now, False)

    def interrupt(self, function: int, caller: int, sp: int, back: int, now: int) -> None:
        self._push(function, caller, sp, back, now, True)

    def jump(self, function: int, sp: int, now: int) -> None:
        self._leave(sp, now)
        top = self.frames[-1]
        if top.interrupt and top.function == 0:
            self._charge(now)
            path = (*self.frames[-2].path, function)
            calls, own = self.paths[top.path]
            self.paths[top.path] = [calls - 1, own - top.own]
            there = self.paths.setdefault(path, [0, 0])
            self.paths[path] = [there[0] + 1, there[1] + top.own]
            self.calls[0] -= 1
            self.calls[function] = self.calls.get(function, 0) + 1
            top.function, top.path = function, path
            return
        same = len(self.frames)
        while same > 1 and (self.frames[same - 1].caller_sp, self.frames[same - 1].back) == (
            top.caller_sp,
            top.back,
        ):
            same -= 1
            first = self.frames[same]
            if first.function == function:
                while len(self.frames) > same:
                    self._pop(now)
                self._push(function, first.caller_sp, sp, first.back, now, first.interrupt)
                return
        root = len(self.frames) == 1
        self._push(function, ROOT_SP if root else top.caller_sp, sp, 0 if root else top.back, now, False)

    def back(self, sp: int, target: int, now: int) -> int:
        ended = 0
        while len(self.frames) > 1:
            top = self.frames[-1]
            if top.caller_sp == ROOT_SP or top.caller_sp > sp or (top.caller_sp == sp and top.back != target):
                break
            self._pop(now)
            ended = 1
        return ended

    def land(self, function: int, sp: int, now: int) -> None:
        at = len(self.frames) - 1
        while at > 0 and self.frames[at].function != function and self.frames[at].caller_sp <= sp:
            at -= 1
        if function and self.frames[at].function == function:
            while len(self.frames) - 1 > at:
                self._pop(now)

    def deepen(self, sp: int) -> int:
        self.frames[-1].least = min(sp, self.frames[-1].least)
        return self.frames[-1].least

    def end(self, now: int) -> None:
        self._charge(now)
        while self.frames:
            self._close(now)


def story(seed: int, length: int) -> tuple[Lines, Model, list[int]]:
    """A random run, fed to the model, and the expected answers of the real one."""
    source = random.Random(seed)
    model = Model()
    now, sp = 0, 4000
    lines: Lines = [("begin", 1, sp, 0)]
    answers = [0]
    model.begin(1, sp, 0)
    for _ in range(length):
        now += source.choice((0, 1, 2, 7, 100))
        kind = source.choice(
            ("call", "call", "call", "interrupt", "jump", "jump", "back", "back", "back", "land", "stack")
        )
        function, top = source.randint(0, 5), model.frames[-1]
        depth = len(model.frames) - 1
        if kind in ("call", "interrupt") and depth < 60:
            caller = min(sp, 4000) - source.choice((0, 0, 0, 2, 6, -2))
            took = source.choice((0, 2, 2, 4))
            back = source.choice((7, 8))
            chosen = function if kind == "call" else source.choice((0, 0, function))
            getattr(model, kind)(chosen, caller, caller - took, back, now)
            lines.append((kind, chosen, caller, caller - took, back, now))
            answers.append(len(model.frames) - 1)
            sp = caller - took
        elif kind == "jump" and depth < 60:
            at = sp + source.choice((0, 0, 0, 2, -2))
            model.jump(function, at, now)
            lines.append(("jump", function, at, now))
            answers.append(len(model.frames) - 1)
        elif kind == "back":
            known = 4000 if top.caller_sp == ROOT_SP else top.caller_sp
            at = known + source.choice((0, 0, 0, 0, 1, -1, 4, 40))
            target = source.choice((top.back, top.back, 7, 8))
            answers.append(model.back(at, target, now))
            lines.append(("back", at, target, now))
            sp = min(at, 4000)
        elif kind == "land":
            at = sp + source.choice((0, 0, 2, 30))
            model.land(function, at, now)
            lines.append(("land", function, at, now))
            answers.append(len(model.frames) - 1)
        elif kind == "stack":
            at = sp - source.choice((0, 1, 10, 30))
            answers.append(model.deepen(at))
            lines.append(("stack", at))
    now += 3
    model.end(now)
    return [*lines, ("end", now)], model, [*answers, 0]


@pytest.mark.parametrize("seed", range(12))
def test_a_second_model_gives_the_same(program: Path, tmp_path: Path, seed: int) -> None:
    lines, model, answers = story(seed, 60 if seed < 6 else 1500)
    told = run(program, tmp_path, lines)
    assert told.answers == answers
    assert {n: f["calls"] for n, f in told.functions.items()} == {n: c for n, c in model.calls.items() if c}
    for number, found in told.functions.items():
        assert (found["self"], found["inclusive"], found["stack"]) == (
            model.own.get(number, 0),
            model.inclusive.get(number, 0),
            model.stack.get(number, 0),
        )
        for what, name in enumerate(("inclusive_range", "self_range")):
            ended = sorted(pair[what] for pair in model.ended.get(number, []))
            middle = [ended[0], ended[(len(ended) - 1) // 2], ended[-1]] if ended else None
            assert found.get(name) == middle
    assert told.paths() == {path: (calls, own) for path, (calls, own) in model.paths.items()}


# --- the stack over time -------------------------------------------------------------------------------


def test_the_stack_over_time_is_of_the_code_that_runs(program: Path, tmp_path: Path) -> None:
    lines: Lines = [
        ("begin", 1, 100, 0),
        ("call", 2, 96, 94, 7, 3),
        ("stack", 80),
        ("call", 3, 90, 88, 8, 5),
        ("interrupt", 4, 88, 86, 20, 6),
        ("back", 88, 20, 8),
        ("back", 90, 8, 9),
        ("back", 96, 7, 11),
        ("end", 12),
    ]
    expected = (
        [(100, 1)] * 3 + [(80, 2)] * 2 + [(88, 3)] + [(86, 4)] * 2 + [(88, 3)] + [(90, 2)] * 2 + [(96, 1)]
    )
    assert run(program, tmp_path, lines).stack == {
        "stack_top": 100,
        "slot_cycles": 1,
        "slots": [list(slot) for slot in expected],
    }


@pytest.mark.parametrize(("cycles", "slot"), [(1024, 1), (1025, 2), (2049, 4), (1_000_000, 1024)])
def test_slots_grow_with_the_run_and_keep_the_deepest(
    program: Path, tmp_path: Path, cycles: int, slot: int
) -> None:
    """Next to a model with one value for each cycle."""
    generator = random.Random(cycles)
    lines: Lines = [("begin", 1, 60_000, 0)]
    deep, now = [(60_000, 1)] * cycles, 0
    for _ in range(200):
        begin = now + generator.randrange(1, cycles // 250)
        now = begin + generator.randrange(1, cycles // 250)
        sp, function = generator.randrange(1000, 50_000), generator.randrange(2, 6)
        lines += [("call", function, 60_000, sp, 7, begin), ("back", 60_000, 7, now)]
        deep[begin:now] = [(sp, function)] * (now - begin)
    stack = run(program, tmp_path, [*lines, ("end", cycles)]).stack
    assert stack["slot_cycles"] == slot
    groups = [deep[first : first + slot] for first in range(0, cycles, slot)]
    assert [sp for sp, _ in stack["slots"]] == [min(sp for sp, _ in group) for group in groups]
    assert all(tuple(told) in group for told, group in zip(stack["slots"], groups, strict=True))


def test_a_stack_pointer_that_is_not_set_yet_is_not_shown(program: Path, tmp_path: Path) -> None:
    told = run(program, tmp_path, [("begin", 1, 0, 0), ("call", 2, 0, 0, 7, 4), ("stack", 70), ("end", 9)])
    assert told.stack == {"stack_top": 70, "slot_cycles": 1, "slots": [[0, 0]] * 4 + [[70, 2]] * 5}
    assert run(program, tmp_path, [("begin", 1, 0, 0), ("end", 9)]).stack == {}
