"""What random programs for Cortex-M cores consist of: registers r0 to r7, and r8 to r12 where an instruction
has room."""

from __future__ import annotations

import random
from collections.abc import Callable

from lockstep.engine import Piece

SCRATCH, SCRATCH_BYTES = 0x20001000, 64
CORNERS = (0, 1, 2, 31, 32, 0x7F, 0x80, 0xFF, 0x8000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
SHIFTS = ("lsl", "lsr", "asr", "ror")
CONDITIONS = ("eq", "ne", "cs", "cc", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le")


def _low(rng: random.Random) -> str:
    return f"r{rng.randrange(8)}"


def _any(rng: random.Random) -> str:
    return f"r{rng.randrange(13)}"


def arithmetic(rng: random.Random) -> Piece:
    two = (
        "adcs",
        "sbcs",
        "ands",
        "eors",
        "orrs",
        "bics",
        "mvns",
        "muls",
        "rsbs",
        "lsls",
        "lsrs",
        "asrs",
        "rors",
    )
    kind = rng.randrange(6)
    if kind == 0:
        return f"{rng.choice(('adds', 'subs'))} {_low(rng)}, {_low(rng)}, {_low(rng)}"
    if kind == 1:
        return f"{rng.choice(('adds', 'subs'))} {_low(rng)}, #{rng.choice((0, 1, 255, rng.randrange(256)))}"
    if kind == 2:
        name = rng.choice(("lsls", "lsrs", "asrs"))
        return f"{name} {_low(rng)}, {_low(rng)}, #{rng.choice((1, 31, rng.randrange(1, 32)))}"
    if kind == 3:
        name = rng.choice(("sxtb", "sxth", "uxtb", "uxth", "rev", "rev16", "revsh"))
        return f"{name} {_low(rng)}, {_low(rng)}"
    if kind == 4:
        return f"{rng.choice(('mov', 'add'))} {_any(rng)}, {_any(rng)}"
    name, low = rng.choice(two), _low(rng)
    if name == "rsbs":
        return f"rsbs {low}, {_low(rng)}, #0"
    return f"muls {low}, {_low(rng)}, {low}" if name == "muls" else f"{name} {low}, {_low(rng)}"


def chain(rng: random.Random) -> Piece:
    """Numbers of 64 bits."""
    name, carry = rng.choice((("adds", "adcs"), ("subs", "sbcs")))
    a, b = _low(rng), _low(rng)
    return f"{name} {a}, {a}, {_low(rng)}\n{carry} {b}, {_low(rng)}\n{carry} {a}, {_low(rng)}"


def branch(rng: random.Random) -> Piece:
    inner = "\n".join(arithmetic(rng) for _ in range(rng.randrange(1, 4)))
    compare = rng.choice(
        (f"cmp {_any(rng)}, {_any(rng)}", f"cmn {_low(rng)}, {_low(rng)}", f"tst {_low(rng)}, {_low(rng)}")
    )
    if compare.startswith("cmp") and len(set(compare[4:].split(", "))) == 1:
        compare = f"cmp {_low(rng)}, #{rng.randrange(256)}"
    return f"{compare}\nb{rng.choice(CONDITIONS)} 8f\n{inner}\n8:"


def _base(rng: random.Random, room: int = 32) -> tuple[str, str]:
    """A low register that points into the scratch memory, and the line that makes it."""
    base = _low(rng)
    return base, f"ldr {base}, ={SCRATCH + 4 * rng.randrange((SCRATCH_BYTES - room) // 4):#x}"


def access(rng: random.Random) -> Piece:
    base, lines = _base(rng)
    for _ in range(rng.randrange(1, 4)):
        other = rng.choice([f"r{n}" for n in range(8) if f"r{n}" != base])
        name, unit = rng.choice((("ldr", 4), ("str", 4), ("ldrb", 1), ("strb", 1), ("ldrh", 2), ("strh", 2)))
        lines += f"\n{name} {other}, [{base}, #{unit * rng.randrange(28 // unit)}]"
    if rng.random() < 0.3:
        index = rng.choice([f"r{n}" for n in range(8) if f"r{n}" != base])
        target = rng.choice([f"r{n}" for n in range(8) if f"r{n}" != base])
        name = rng.choice(("ldrsb", "ldrsh", "ldr", "str", "strb", "ldrh"))
        lines += f"\nmovs {index}, #{4 * rng.randrange(7)}\n{name} {target}, [{base}, {index}]"
    return lines


def multiple(rng: random.Random) -> Piece:
    base, lines = _base(rng)
    rest = [f"r{n}" for n in range(8) if f"r{n}" != base]
    names = sorted(rng.sample(rest, rng.randrange(1, 6)), key=lambda name: int(name[1:]))
    return (
        f"{lines}\n{rng.choice(('ldmia', 'stmia'))} {base}!, {{{', '.join(names)}}}\n"
        f"movs {base}, #{rng.randrange(256)}"
    )


def stack(rng: random.Random) -> Piece:
    names = sorted(rng.sample(range(8), rng.randrange(1, 6)))
    listed = "{" + ", ".join(f"r{n}" for n in names) + "}"
    size = 4 * rng.randrange(1, 9)
    inside = (
        f"sub sp, #{size}\nstr {_low(rng)}, [sp, #{size - 4}]\n{arithmetic(rng)}\n"
        f"ldr {_low(rng)}, [sp, #{size - 4}]\nadd sp, #{size}"
    )
    return f"push {listed}\n{inside}\npop {listed}"


def call(rng: random.Random) -> Piece:
    """A function right here that saves its registers, or a leaf; called directly or by a register."""
    saved = "push {r4, lr}\n", "\npop {r4, pc}"
    before, after = rng.choice((saved, ("", "\nbx lr")))
    low = rng.choice([f"r{n}" for n in range(4)])
    how = rng.choice(
        ("bl 5f", f"ldr {low}, =5f\nadds {low}, #1\nblx {low}\nmovs {low}, #{rng.randrange(256)}")
    )
    return (
        f"{how}\nb 6f\n.balign 2\n5: {before}movs r3, #{rng.randrange(256)}\n{arithmetic_low(rng)}{after}\n6:"
    )


def arithmetic_low(rng: random.Random) -> Piece:
    """Nothing that changes lr or reads a register with an address."""
    return f"{rng.choice(('adds', 'eors', 'adcs', 'muls'))} r3, r3, r3".replace(
        "eors r3, r3, r3", "eors r3, r3"
    ).replace("adcs r3, r3, r3", "adcs r3, r3")


def loop(rng: random.Random) -> Piece:
    counter, others = rng.choice([(f"r{n}", [m for m in range(8) if m != n]) for n in range(8)])
    a, b = (f"r{rng.choice(others)}" for _ in range(2))
    return (
        f"movs {counter}, #{rng.randrange(1, 12)}\n7: adds {a}, {a}, {b}\nrors {b}, {a}\n"
        f"subs {counter}, #1\nbne 7b"
    )


def literal(rng: random.Random) -> Piece:
    return f"ldr {_low(rng)}, ={rng.choice((*CORNERS, rng.getrandbits(32))):#x}"


def wide_arithmetic(rng: random.Random) -> Piece:
    name = rng.choice(("add", "sub", "adc", "sbc", "and", "eor", "orr", "bic", "orn", "rsb")) + rng.choice(
        ("", "s")
    )
    shift = rng.choice(SHIFTS)
    last = rng.choice(
        (
            f"{_any(rng)}, {shift} #{rng.randrange(1, 32)}",
            f"#{rng.choice((0, 255, 0xFF00, 0xAB00AB, 0x80000000, 0xFF000000, 0x1FE))}",
            _any(rng),
        )
    )
    return f"{name}.w {_any(rng)}, {_any(rng)}, {last}"


def fields(rng: random.Random) -> Piece:
    low = rng.randrange(32)
    size, by = rng.randrange(1, 33 - low), rng.randrange(1, 32)
    one, two = _any(rng), _any(rng)
    return rng.choice(
        (
            f"{rng.choice(('ubfx', 'sbfx', 'bfi'))} {_any(rng)}, {_any(rng)}, #{low}, #{size}",
            f"bfc {_any(rng)}, #{low}, #{size}",
            f"movw {_any(rng)}, #{rng.randrange(65536)}",
            f"movt {_any(rng)}, #{rng.randrange(65536)}",
            f"{rng.choice(('clz', 'rbit', 'rev.w', 'rev16.w'))} {one}, {two}",
            f"{rng.choice(('usat', 'ssat'))} {one}, #{by}, {two}, {rng.choice(('lsl', 'asr'))} #{by}",
            f"{rng.choice(('sxtb', 'sxth', 'uxtb', 'uxth'))}.w {one}, {two}, ror #{rng.choice((8, 16, 24))}",
            f"{rng.choice(SHIFTS)}{rng.choice(('', 's'))}.w {one}, {two}, {_any(rng)}",
        )
    )


def products(rng: random.Random) -> Piece:
    low, high = rng.sample(range(13), 2)
    return rng.choice(
        (
            f"{rng.choice(('mla', 'mls'))} {_any(rng)}, {_any(rng)}, {_any(rng)}, {_any(rng)}",
            f"{rng.choice(('umull', 'smull', 'umlal', 'smlal'))} r{low}, r{high}, {_any(rng)}, {_any(rng)}",
            f"{rng.choice(('udiv', 'sdiv'))} {_any(rng)}, {_any(rng)}, {_any(rng)}",
            f"mul.w {_any(rng)}, {_any(rng)}, {_any(rng)}",
        )
    )


def conditional(rng: random.Random) -> Piece:
    """An IT block of up to four instructions."""
    first = rng.choice(CONDITIONS)
    opposite = CONDITIONS[CONDITIONS.index(first) ^ 1]
    rest = [rng.random() < 0.5 for _ in range(rng.randrange(4))]
    lines = [f"cmp {_low(rng)}, {_low(rng)}", "it" + "".join("te"[not same] for same in rest) + f" {first}"]
    for same in (True, *rest):
        condition = first if same else opposite
        name = rng.choice(("add", "sub", "eor", "orr", "mov", "lsl"))
        operands = f"{_low(rng)}, {_low(rng)}" + (
            "" if name == "mov" else f", {rng.choice((_low(rng), '#3'))}"
        )
        lines.append(f"{name}{condition}.w {operands}")
    return "\n".join(lines)


def table(rng: random.Random) -> Piece:
    low = _low(rng)
    cases = rng.randrange(2, 5)
    lines = [f"movs {low}, #{rng.randrange(cases)}", f"tbb [pc, {low}]", "0:"]
    lines += [f".byte (1{n}f - 0b) / 2" for n in range(cases)]
    lines.append(".balign 2")
    for n in range(cases):
        lines += [f"1{n}: {wide_arithmetic(rng)}", "b 9f"]
    return "\n".join([*lines, "9:"])


def nonzero(rng: random.Random) -> Piece:
    return f"{rng.choice(('cbz', 'cbnz'))} {_low(rng)}, 8f\n{wide_arithmetic(rng)}\n{arithmetic(rng)}\n8:"


def wide_access(rng: random.Random) -> Piece:
    base, line = _base(rng)
    one, two = rng.sample([n for n in range(13) if f"r{n}" != base], 2)
    return (
        f"{line}\n"
        + rng.choice(
            (
                f"{rng.choice(('ldrd', 'strd'))} r{one}, r{two}, [{base}, #{4 * rng.randrange(6)}]",
                f"{rng.choice(('ldr', 'str'))}.w r{one}, [{base}], #4\nldrb.w r{two}, [{base}, #-1]!",
                f"str.w r{one}, [{base}, #8]!\nldrsh.w r{two}, [{base}, #2]",
                f"ldrsb.w r{one}, [{base}, #{rng.randrange(28)}]",
                f"ldr.w r{one}, [{base}, #{rng.randrange(24)}]",
                f"movs r{one % 8}, #3\nldr.w r{two}, [{base}, r{one % 8}, lsl #2]"
                if f"r{one % 8}" != base
                else "nop.w",
            )
        )
        + f"\nmovs {base}, #{rng.randrange(256)}"
    )


def signal(rng: random.Random) -> Piece:
    a, b, c, d = (_any(rng) for _ in range(4))
    low, high = rng.sample(range(13), 2)
    return rng.choice(
        (
            f"{rng.choice(('smlabb', 'smlatb', 'smlad', 'smlsd', 'smlawb', 'smmla'))} {a}, {b}, {c}, {d}",
            f"{rng.choice(('smulbb', 'smultt', 'smuad', 'smusdx', 'smulwt', 'smmul'))} {a}, {b}, {c}",
            f"{rng.choice(('smlald', 'smlalbt', 'umaal', 'smlsld'))} r{low}, r{high}, {c}, {d}",
            f"{rng.choice(('uadd8', 'usub8', 'sadd16', 'ssub8', 'uasx'))} {a}, {b}, {c}\nsel {d}, {a}, {b}",
            f"{rng.choice(('uqadd8', 'qadd16', 'shadd8', 'uhsub16', 'qsub8'))} {a}, {b}, {c}",
            f"{rng.choice(('qadd', 'qsub', 'qdadd', 'qdsub'))} {a}, {b}, {c}",
            f"{rng.choice(('pkhbt', 'uxtab', 'sxtah', 'usad8'))} {a}, {b}, {c}",
            f"{rng.choice(('uxtb16', 'sxtb16'))} {a}, {b}",
            f"{rng.choice(('usat16', 'ssat16'))} {a}, #{rng.randrange(1, 15)}, {b}",
        )
    )


Maker = Callable[[random.Random], Piece]
NARROW: list[Maker] = [
    arithmetic,
    arithmetic,
    arithmetic,
    chain,
    branch,
    branch,
    access,
    access,
    multiple,
    stack,
    call,
    loop,
    literal,
]
WIDE: list[Maker] = [
    wide_arithmetic,
    wide_arithmetic,
    fields,
    fields,
    products,
    conditional,
    conditional,
    table,
    nonzero,
    wide_access,
    wide_access,
]
DSP: list[Maker] = [signal, signal, signal]


def pended(rng: random.Random) -> Piece:
    """PendSV, SysTick's exception or both become pending, with or without a mask for some instructions; or
    SVC. The stack may be at a multiple of four."""
    base, bits, saved = (f"r{n}" for n in rng.sample(range(8), 3))
    exceptions = rng.choice((1 << 28, 1 << 26, 1 << 28 | 1 << 26))
    lines = f"ldr {base}, =0xe000ed04\nldr {bits}, ={exceptions:#x}\n"
    some = "\n".join(arithmetic(rng) for _ in range(rng.randrange(1, 4)))
    lines += rng.choice(
        (
            f"str {bits}, [{base}]\ndsb\nisb",
            f"cpsid i\nstr {bits}, [{base}]\ndsb\n{some}\ncpsie i\nisb",
            f"svc #{rng.randrange(256)}",
        )
    )
    return f"push {{{saved}}}\n{lines}\npop {{{saved}}}" if rng.random() < 0.5 else lines


PENDING: list[Maker] = [pended, pended, pended]
