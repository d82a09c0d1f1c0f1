"""What Thumb and Thumb-2 instructions do to the stack. Source: Arm ARMv7-M Architecture Reference Manual, DDI
0403, section A7.7, encodings of each."""

from __future__ import annotations

from dataclasses import replace

from motecrypt.simulate.callgraph.code import Call, MachineCode, State, StepOutcome, forget, without

_SP, _LR, _PC = 13, 14, 15
_CALLER_SAVED = (0, 1, 2, 3, 12)
_CASES = "__gnu_thumb1_case"
"""Functions of libgcc that jump to a case by the table behind their call."""

# Of a register: ("stack", d): the stack pointer as it is at depth d; ("number", n): a constant;
# ("return", 0): where the function returns to.


def thumb_step(code: MachineCode, address: int, state: State) -> StepOutcome:
    """The step of a Cortex-M. In an IT block every instruction may be left out."""
    done = _step(code, address, state)
    if (not done.follows or done.state.depth != state.depth) and _in_it_block(code, address):
        return replace(done, follows=True, state=_deeper(done.state, state))
    return done


def _deeper(one: State, other: State) -> State:
    return one if one.depth > other.depth else other


def _in_it_block(code: MachineCode, address: int) -> bool:
    """Whether an IT up to four instructions before covers this one."""
    for back in range(2, 18, 2):
        word = code.half_at(address - back)
        if word is None or word & 0xFF00 != 0xBF00 or not word & 15:
            continue
        count = 4 - ((word & 15 & -(word & 15)).bit_length() - 1)
        at = address - back + 2
        for _ in range(count):
            if at == address:
                return True
            at += 4 if _is_wide(code.half_at(at) or 0) else 2
    return False


def _is_wide(word: int) -> bool:
    return word >> 11 in (0b11101, 0b11110, 0b11111)


def _step(code: MachineCode, address: int, state: State) -> StepOutcome:
    word = code.half_at(address) or 0
    if _is_wide(word):
        return _wide(code, address, state, word, code.half_at(address + 2) or 0)
    depth, known = state.depth, state.known
    if word & 0xFE00 == 0xB400:  # PUSH
        return StepOutcome(2, State(depth + 4 * (word & 0x1FF).bit_count(), known))
    if word & 0xFE00 == 0xBC00:  # POP
        popped = _listed(word & 0xFF)
        left = State(depth - 4 * (word & 0x1FF).bit_count(), without(known, *popped))
        if left.depth == 0 and popped:  # Thumb without interworking pops LR into a low register, last
            left = _set(left, popped[-1], ("return", 0))
        return StepOutcome(2, left, follows=not word & 0x100)
    if word & 0xFF00 == 0xB000:  # ADD, SUB (SP plus or minus immediate)
        number = 4 * (word & 0x7F)
        return StepOutcome(2, State(depth + number if word & 0x80 else depth - number, known))
    if word & 0xF800 == 0xA800:  # ADD (SP plus immediate)
        return StepOutcome(2, _set(state, word >> 8 & 7, ("stack", depth - 4 * (word & 0xFF))))
    if word & 0xFC00 == 0x4400:
        return _high(address, state, word)
    if word & 0xF000 == 0xD000 and word >> 8 & 15 < 14:  # B<c>
        return StepOutcome(2, state, targets=(address + 4 + 2 * _signed(word, 8),))
    if word & 0xFF00 == 0xDE00:  # UDF
        return StepOutcome(2, state, follows=False)
    if word & 0xF800 == 0xE000:  # B
        return StepOutcome(2, state, follows=False, targets=(address + 4 + 2 * _signed(word, 11),))
    if word & 0xF500 == 0xB100:  # CBZ, CBNZ
        return StepOutcome(2, state, targets=(address + 4 + (word >> 3 & 0x40 | word >> 2 & 0x3E),))
    return StepOutcome(2, _computed(code, address, state, word))


def _high(address: int, state: State, word: int) -> StepOutcome:
    """ADD, CMP, MOV, BX and BLX with high registers."""
    kind, to, source = word >> 8 & 3, word >> 4 & 8 | word & 7, word >> 3 & 15
    known, depth = state.known, state.depth
    value = {_SP: ("stack", depth), _LR: ("return", 0)}.get(source, known.get(source))
    if kind == 3:
        if word & 0x80:  # BLX
            return StepOutcome(2, _called(state), calls=(Call(address, None, depth, "pointer"),))
        return _left(address, state, source, by_table=False)
    if kind == 1:  # CMP
        return StepOutcome(2, state)
    if kind == 2:  # MOV
        if to == _PC:
            return _left(address, state, source, by_table=True)
        if to == _SP:
            return _stack_set(2, state, value)
        return StepOutcome(2, _set(state, to, value))
    if to == _SP:  # ADD
        number = value[1] if value and value[0] == "number" else None
        moved = None if number is None else ("stack", depth - number)
        return _stack_set(2, state, moved)
    if source == _SP and known.get(to, ("",))[0] == "number":
        return StepOutcome(2, _set(state, to, ("stack", depth - known[to][1])))
    return StepOutcome(2, _set(state, to, None), table=to == _PC, follows=to != _PC)


def _left(address: int, state: State, register: int, by_table: bool) -> StepOutcome:
    """A jump to a register: a return, a table's case, or a function that is called last."""
    if register == _LR or state.known.get(register, ("",))[0] == "return":
        return StepOutcome(2, state, follows=False)
    if by_table:
        return StepOutcome(2, state, follows=False, table=True)
    return StepOutcome(2, state, follows=False, calls=(Call(address, None, state.depth, "pointer"),))


def _stack_set(size: int, state: State, value: tuple[str, int] | None) -> StepOutcome:
    if value is not None and value[0] == "stack":
        return StepOutcome(size, State(value[1], state.known))
    return StepOutcome(size, state, dynamic=True)


def _computed(code: MachineCode, address: int, state: State, word: int) -> State:
    known = state.known
    if word & 0xF800 == 0x4800:  # LDR (literal)
        number = code.word_at((address + 4 & ~3) + 4 * (word & 0xFF))
        return _set(state, word >> 8 & 7, None if number is None else ("number", _signed(number, 32)))
    if word & 0xF800 == 0x2000:  # MOV (immediate)
        return _set(state, word >> 8 & 7, ("number", word & 0xFF))
    if word & 0xF000 == 0x3000:  # ADD, SUB (immediate)
        register, number = word >> 8 & 7, word & 0xFF
        return _added(state, register, register, -number if word & 0x800 else number)
    if word & 0xF800 == 0x0000:  # LSL (immediate)
        kind, value = known.get(word >> 3 & 7, ("", 0))
        shifted = ("number", _signed(value << (word >> 6 & 31), 32)) if kind == "number" else None
        if not word >> 6 & 31:  # MOVS
            return _set(state, word & 7, known.get(word >> 3 & 7))
        return _set(state, word & 7, shifted)
    if word & 0xFFC0 == 0x4240:  # RSB from 0
        kind, value = known.get(word >> 3 & 7, ("", 0))
        return _set(state, word & 7, ("number", -value) if kind == "number" else None)
    return forget(state, _written(word))


def _written(word: int) -> tuple[int, ...]:
    """The low registers that an instruction of 16 bits changes."""
    top = word >> 12
    if top in (0, 1):
        return (word & 7,)
    if word & 0xFC00 == 0x4000:
        return () if word >> 6 & 15 in (8, 10, 11) else (word & 7,)  # TST, CMP, CMN
    if top == 5:
        return (word & 7,) if word >> 9 & 7 >= 3 else ()
    if top in (6, 7, 8):
        return (word & 7,) if word & 0x800 else ()
    if top == 9:
        return (word >> 8 & 7,) if word & 0x800 else ()
    if top == 10:
        return (word >> 8 & 7,)
    if top == 11:
        return (word & 7,) if word >> 8 & 15 in (2, 10) else ()
    if top == 12:
        base = (word >> 8 & 7,)
        return (*base, *_listed(word & 0xFF)) if word & 0x800 else base
    return ()


def _wide(code: MachineCode, address: int, state: State, first: int, second: int) -> StepOutcome:
    depth, known = state.depth, state.known
    if first & 0xF800 == 0xF000 and second & 0x8000:
        return _branch(code, address, state, first, second)
    register, base = second >> 8 & 15, first & 15
    if first & 0xFFD0 == 0xE900 and base == _SP and first & 0x20:  # STMDB SP!
        return StepOutcome(4, State(depth + 4 * second.bit_count(), known))
    if first & 0xFFD0 == 0xE890:  # LDMIA
        popped = 4 * second.bit_count() if base == _SP and first & 0x20 else 0
        left = State(depth - popped, without(known, *_written_wide(first, second)))
        return StepOutcome(4, left, follows=not second & 0x8000)
    if first & 0xFFF0 == 0xF840 and base == _SP and second & 0x0900 == 0x0900:  # STR, with writeback
        number = second & 0xFF
        return StepOutcome(4, State(depth - number if second & 0x200 else depth + number, known))
    if first & 0xFFF0 == 0xF850 and base == _SP and second & 0x0900 == 0x0900:  # LDR, with writeback
        number = second & 0xFF
        left = State(depth - number if second & 0x200 else depth + number, without(known, second >> 12))
        return StepOutcome(4, left, follows=second >> 12 != _PC)
    if first & 0xFE40 == 0xE840 and base == _SP and first & 0x20:  # STRD, LDRD with writeback
        number = 4 * (second & 0xFF)
        taken = () if not first & 0x10 else (second >> 12, register)
        return StepOutcome(
            4, State(depth - number if first & 0x80 else depth + number, without(known, *taken))
        )
    if first & 0xFF7F in (0xED2D, 0xED6D):  # VPUSH
        return StepOutcome(4, State(depth + 4 * (second & 0xFF), known))
    if first & 0xFFBF == 0xECBD:  # VPOP
        return StepOutcome(4, State(depth - 4 * (second & 0xFF), known))
    if first & 0xFFF0 == 0xE8D0 and second & 0xFFE0 == 0xF000:  # TBB, TBH
        return StepOutcome(4, state, follows=False, table=True)
    if first & 0xFF70 == 0xF850 and second >> 12 == _PC:  # LDR PC; from the stack it returns
        return StepOutcome(4, state, follows=False, table=base != _SP)
    if first & 0xFBE0 in (0xF1A0, 0xF100) or first & 0xFBF0 in (0xF2A0, 0xF200):  # SUB, ADD (immediate)
        adds = first & 0xFBE0 == 0xF100 or first & 0xFBF0 == 0xF200
        number = _immediate(first, second) if adds else -_immediate(first, second)
        moved = _sum(state, base, number)
        return (
            _stack_set(4, state, moved) if register == _SP else StepOutcome(4, _set(state, register, moved))
        )
    if first & 0xFFE0 in (0xEBA0, 0xEB00) and register == _SP:  # SUB, ADD (register)
        kind, value = known.get(second & 15, ("", 0))
        value <<= second >> 10 & 0x1C | second >> 6 & 3
        plain = kind == "number" and base == _SP and not second & 0x30
        moved = ("stack", depth + (value if first & 0x80 else -value)) if plain else None
        return _stack_set(4, state, moved)
    if first & 0xFBF0 == 0xF240:  # MOVW
        number = (first & 15) << 12 | (first & 0x400) << 1 | (second & 0x7000) >> 4 | second & 0xFF
        return StepOutcome(4, _set(state, register, ("number", number)))
    if first & 0xFBEF == 0xF04F:  # MOV (immediate)
        return StepOutcome(4, _set(state, register, ("number", _signed(_immediate(first, second), 32))))
    if first & 0xFF7F == 0xF85F:  # LDR (literal)
        offset = second & 0xFFF
        word = code.word_at((address + 4 & ~3) + (offset if first & 0x80 else -offset))
        held = None if word is None else ("number", _signed(word, 32))
        return StepOutcome(4, _set(state, second >> 12, held))
    return StepOutcome(4, forget(state, _written_wide(first, second)))


def _written_wide(first: int, second: int) -> tuple[int, ...]:
    """Registers that another instruction of 32 bits may change."""
    pair = second >> 8 & 15, second >> 12
    if first & 0xFE00 == 0xF800:  # one load or store
        base = (first & 15,) if not first & 0x80 and second & 0x0900 == 0x0900 else ()
        return (*base, second >> 12) if first & 0x10 else base
    if first & 0xFE00 == 0xE800:  # several
        base = (first & 15,) if first & 0x20 else ()
        if not first & 0x40:  # STM, LDM
            return (*base, *_listed(second)) if first & 0x10 else base
        if first & 0x120:  # STRD, LDRD
            return (*base, *pair) if first & 0x10 else base
        return (*pair, second & 15)  # LDREX, STREX, of which the status is in one of these
    return pair


def _branch(code: MachineCode, address: int, state: State, first: int, second: int) -> StepOutcome:
    sign = first >> 10 & 1
    if second & 0xD000 == 0x8000:
        if first & 0x0380 == 0x0380:  # MSR, MRS, barriers
            return StepOutcome(4, forget(state, (second >> 8 & 15,)))
        low = sign << 20 | (second & 0x800) << 8 | (second & 0x2000) << 5
        number = _signed(low | (first & 0x3F) << 12 | (second & 0x7FF) << 1, 21)
        return StepOutcome(4, state, targets=(address + 4 + number,))
    i1, i2 = 1 ^ (second >> 13 & 1) ^ sign, 1 ^ (second >> 11 & 1) ^ sign
    number = _signed(sign << 24 | i1 << 23 | i2 << 22 | (first & 0x3FF) << 12 | (second & 0x7FF) << 1, 25)
    target = address + 4 + number
    if second & 0xD000 == 0xD000:  # BL
        if code.name(target).startswith(_CASES):
            return StepOutcome(4, state, follows=False, table=True)
        return StepOutcome(4, _called(state), calls=(Call(address, target, state.depth, "call"),))
    return StepOutcome(4, state, follows=False, targets=(target,))  # B


def _immediate(first: int, second: int) -> int:
    """ThumbExpandImm (A5.3.2), or the plain 12 bits of ADDW and SUBW."""
    number = (first & 0x400) << 1 | (second & 0x7000) >> 4 | second & 0xFF
    if first & 0x0200:
        return number
    byte = number & 0xFF
    if number >> 10 == 0:
        return (byte, byte << 16 | byte, byte << 24 | byte << 8, byte * 0x01010101)[number >> 8 & 3]
    turned, by = 0x80 | number & 0x7F, number >> 7
    return (turned >> by | turned << 32 - by) & 0xFFFFFFFF


def _sum(state: State, register: int, number: int) -> tuple[str, int] | None:
    """What a register holds with a number added; the stack grows downwards."""
    kind, value = ("stack", state.depth) if register == _SP else state.known.get(register, ("", 0))
    if kind == "stack":
        return "stack", value - number
    return ("number", value + number) if kind == "number" else None


def _added(state: State, to: int, source: int, number: int) -> State:
    return _set(state, to, _sum(state, source, number))


def _set(state: State, register: int, value: tuple[str, int] | None) -> State:
    kept = without(state.known, register)
    return State(state.depth, kept if value is None else {**kept, register: value})


def _called(state: State) -> State:
    return forget(state, _CALLER_SAVED)


def _listed(mask: int) -> list[int]:
    return [number for number in range(16) if mask >> number & 1]


def _signed(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> bits - 1 else value
