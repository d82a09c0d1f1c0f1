"""What AVR instructions do to the stack. Source: Atmel AVR Instruction Set Manual, 0856L, opcodes of each."""

from __future__ import annotations

from collections.abc import Mapping

from motecrypt.simulate.callgraph.code import Call, MachineCode, State, Step, StepOutcome, forget, without

TABLE_JUMP = "__tablejump"
_SPL, _SPH = 0x3D, 0x3E
_RET, _RETI, _SLEEP = 0x9508, 0x9518, 0x9588
_IJMP, _EIJMP, _ICALL, _EICALL = 0x9409, 0x9419, 0x9509, 0x9519
_Known = Mapping[int, tuple[str, int]]

# Of a register: ("low", d): the low byte of the stack pointer as it is at depth d; ("high", d): the high.
# ("less", d << 8 | n): the low byte of depth d from which n was subtracted, before its high byte follows.


def avr_step(return_bytes: int) -> Step:
    """The step of a chip whose calls push so many bytes (2, or 3 with more than 128 KB of flash)."""

    def step(code: MachineCode, address: int, state: State) -> StepOutcome:
        return _step(code, address, state, return_bytes)

    return step


def _size(code: MachineCode, address: int) -> int:
    """Bytes of the instruction: LDS, STS, JMP and CALL have a second word."""
    word = code.half_at(address) or 0
    return 4 if word & 0xFC0F == 0x9000 or word & 0xFE0C == 0x940C else 2


def _step(code: MachineCode, address: int, state: State, return_bytes: int) -> StepOutcome:
    word = code.half_at(address) or 0
    size, depth, after = _size(code, address), state.depth, address + 2
    if word in (_RET, _RETI):
        return StepOutcome(size, state, follows=False)
    if word in (_IJMP, _EIJMP):
        return StepOutcome(size, state, follows=False, table=True)
    if word in (_ICALL, _EICALL):
        return StepOutcome(size, _called(state), calls=(Call(address, None, depth, "pointer"),))
    if word & 0xFE0E == 0x940C:  # JMP
        return _jumped(code, size, state, _far(code, address, word))
    if word & 0xFE0E == 0x940E:  # CALL
        return StepOutcome(
            size, _called(state), calls=(Call(address, _far(code, address, word), depth, "call"),)
        )
    if word & 0xF000 == 0xC000:  # RJMP
        return _jumped(code, size, state, after + 2 * _signed(word, 12))
    if word & 0xF000 == 0xD000:  # RCALL; to the next instruction it only takes room
        target = after + 2 * _signed(word, 12)
        if target == after:
            return StepOutcome(size, State(depth + return_bytes, state.known))
        return StepOutcome(size, _called(state), calls=(Call(address, target, depth, "call"),))
    if word & 0xF800 == 0xF000:  # BRBS, BRBC
        return StepOutcome(size, state, targets=(after + 2 * _signed(word >> 3, 7),))
    if word & 0xFC00 == 0x1000 or word & 0xFD00 == 0x9900 or word & 0xFC08 == 0xFC00:  # CPSE, SBIC/S, SBRC/S
        return StepOutcome(size, state, targets=(after + _size(code, after),))
    if word & 0xFE0F == 0x920F:  # PUSH
        return StepOutcome(size, State(depth + 1, state.known))
    if word & 0xFE0F == 0x900F:  # POP
        return StepOutcome(size, State(depth - 1, without(state.known, word >> 4 & 31)))
    if word & 0xF800 == 0xB800:  # OUT
        return _out(size, word, state)
    return StepOutcome(size, _computed(word, state))


def _jumped(code: MachineCode, size: int, state: State, target: int) -> StepOutcome:
    """A jump; one to the function of libgcc that reads tables is to a case of this function."""
    if code.name(target).startswith(TABLE_JUMP):
        return StepOutcome(size, state, follows=False, table=True)
    return StepOutcome(size, state, follows=False, targets=(target,))


def _out(size: int, word: int, state: State) -> StepOutcome:
    register, port = word >> 4 & 31, word >> 5 & 0x30 | word & 15
    if port != _SPL:
        return StepOutcome(size, state)
    kind, value = state.known.get(register, ("", 0))
    if kind == "less":
        kind, value = "low", (value >> 8) + _signed(value, 8)
    if kind == "low":
        return StepOutcome(size, State(value, state.known))
    return StepOutcome(size, state, dynamic=True)


def _computed(word: int, state: State) -> State:
    """After an instruction that computes: what it writes is known only where it moves the stack pointer."""
    known, depth = state.known, state.depth
    register = word >> 4 & 31
    if word & 0xF800 == 0xB000:  # IN
        port = word >> 5 & 0x30 | word & 15
        kept = without(known, register)
        if port in (_SPL, _SPH):
            return State(depth, {**kept, register: ("low" if port == _SPL else "high", depth)})
        return State(depth, kept)
    if word & 0xFF00 == 0x0100:  # MOVW
        to, source = 2 * (word >> 4 & 15), 2 * (word & 15)
        kept = without(known, to, to + 1)
        return State(depth, {**kept, **{to + n: known[source + n] for n in (0, 1) if source + n in known}})
    if word & 0xFC00 == 0x2C00:  # MOV
        source = word >> 5 & 16 | word & 15
        kept = without(known, register)
        return State(depth, {**kept, register: known[source]} if source in known else kept)
    if word & 0xFE00 == 0x9600:  # ADIW, SBIW
        low, number = 24 + 2 * (word >> 4 & 3), word >> 2 & 0x30 | word & 15
        return _moved(state, low, -number if word & 0x100 == 0 else number)
    high = 16 + (word >> 4 & 15)
    immediate = word >> 4 & 0xF0 | word & 15
    if word & 0xF000 == 0x5000 and known.get(high, ("",))[0] == "low":  # SUBI
        return State(depth, {**known, high: ("less", known[high][1] << 8 | immediate)})
    if word & 0xF000 == 0x4000 and known.get(high - 1, ("",))[0] == "less":  # SBCI
        return _borrowed(state, high, immediate)
    if word & 0xFE0F == 0x0801 and known.get(register - 1, ("",))[0] == "less":  # SBC with r1, which is 0
        return _borrowed(state, register, 0)
    return forget(state, _written(word))


def _borrowed(state: State, high: int, number: int) -> State:
    """After the high byte of a 16-bit subtraction has followed."""
    before, low = divmod(state.known[high - 1][1], 256)
    moved = before + _signed(number << 8 | low, 16)
    return State(state.depth, {**state.known, high - 1: ("low", moved), high: ("high", moved)})


def _moved(state: State, low: int, number: int) -> State:
    known = dict(state.known)
    for register, kind in ((low, "low"), (low + 1, "high")):
        if known.get(register, ("",))[0] == kind:
            known[register] = (kind, known[register][1] + number)
        else:
            known.pop(register, None)
    return State(state.depth, known)


def _written(word: int) -> tuple[int, ...]:
    """The registers that an instruction changes, of those that do not move the stack pointer."""
    register, top = word >> 4 & 31, word >> 12
    if top == 0:
        if word & 0xFE00 == 0x0200:  # MULS, MULSU, FMUL...
            return 0, 1
        return (register,) if word & 0x0C00 in (0x0800, 0x0C00) else ()
    if top == 1:
        return (register,) if word & 0x0800 else ()  # SUB, ADC; CPSE and CP write none
    if top == 2:
        return (register,)
    if top in (4, 5, 6, 7, 14):  # with an immediate
        return (16 + (word >> 4 & 15),)
    if top in (8, 10):  # LDD, STD
        return () if word & 0x0200 else (register,)
    if top == 9:
        return _written_by_nine(word, register)
    return (register,) if word & 0xFE08 == 0xF800 else ()  # BLD


def _written_by_nine(word: int, register: int) -> tuple[int, ...]:
    pointer = {0x1: 30, 0x2: 30, 0x5: 30, 0x7: 30, 0x9: 28, 0xA: 28, 0xD: 26, 0xE: 26}
    if word & 0xFC00 == 0x9000:
        moves = pointer.get(word & 15) if word & 0x0200 == 0 or word & 15 not in (5, 7) else None
        loads = word & 0x0200 == 0 or word & 15 in (4, 5, 6, 7)
        return (*((register,) if loads else ()), *((moves, moves + 1) if moves is not None else ()))
    if word & 0xFE00 == 0x9400 and word & 15 in (0, 1, 2, 3, 5, 6, 7, 10):
        return (register,)
    if word in (0x95C8, 0x95D8):  # LPM, ELPM
        return (0,)
    if word == 0x95F8:  # SPM Z+
        return 30, 31
    return (0, 1) if word & 0xFC00 == 0x9C00 else ()  # MUL


def _called(state: State) -> State:
    """After a call: avr-gcc's functions keep r2 to r17, r28 and r29."""
    return forget(state, [0, 1, *range(18, 28), 30, 31])


def _far(code: MachineCode, address: int, word: int) -> int:
    high = word >> 3 & 0x3E | word & 1
    return 2 * (high << 16 | (code.half_at(address + 2) or 0))


def _signed(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> bits - 1 else value
