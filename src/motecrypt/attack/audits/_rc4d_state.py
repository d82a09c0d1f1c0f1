"""RC4D as an attacker sees it: a secret table that a key sets up once. No oracle, no I/O.

S_t is the table after step t of RC4's generator and K_t the byte that the step outputs. RC4D's two
passes both use the functions F_a(x) = K_(a+1) ^ S_(a+1)[x], where a is the position in the message. They
depend on the key and the position only, never on data or length, since there is no nonce. So anyone who
learns one table after some step has them all: RC4's step can be undone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

#: The constant used as the byte before the first.
FEEDBACK_START = 42


def functions(state: Sequence[int], message_bytes: int) -> list[bytes]:
    """Return F_0 ... F_(n-1), each as 256 bytes, from the table that the key schedule leaves."""
    s, j, found = bytearray(state), 0, []
    for step in range(1, message_bytes + 1):
        i = step & 255
        v = s[i]
        j = (j + v) & 255
        s[i] = w = s[j]
        s[j] = v
        k = s[(v + w) & 255]
        found.append(bytes(s).translate(_XOR[k]))
    return found


def encrypt(state: Sequence[int], message: bytes, second: Sequence[int] | None = None) -> bytes:
    """Encrypt as RC4D does, from recovered tables instead of keys; `second`: the second pass has its own."""
    for start in (state, state if second is None else second):
        tables = functions(start, len(message))
        previous, out = FEEDBACK_START, bytearray()
        for table, byte in zip(tables, message, strict=True):
            previous = table[previous] ^ byte
            out.append(previous)
        message = bytes(reversed(out))
    return bytes(out)


def decrypt(state: Sequence[int], ciphertext: bytes, second: Sequence[int] | None = None) -> bytes:
    """Decrypt as RC4D does, from recovered tables instead of keys."""
    for start in (state if second is None else second, state):
        tables = functions(start, len(ciphertext))
        before = bytes([FEEDBACK_START]) + ciphertext[:-1]
        out = bytes(
            table[previous] ^ byte for table, previous, byte in zip(tables, before, ciphertext, strict=True)
        )
        ciphertext = out[::-1]
    return out


def undo(table: Sequence[int], steps: int, j: int) -> tuple[bytes, int]:
    """Undo RC4's last `steps` steps: from table and j after them, return both before them."""
    s = bytearray(table)
    for i in _places_back(steps):
        v = s[j]
        s[j] = s[i]
        s[i] = v
        j = (j - v) & 255
    return bytes(s), j


def _places_back(steps: int) -> list[int]:
    """The generator's i at each of its first steps, from the last of them back."""
    return [step & 255 for step in range(steps, 0, -1)]


def starts_through_output(g: bytes, c: int, first: int) -> Iterator[bytes]:
    """Yield the key-schedule tables behind the table after two steps, known up to c ^ K_2.

    A guess of K_2, the byte that the second step gave out, fixes j: S[(S[2] + S[j])] = K_2. Kept is what
    leads back to j = 0 and has F_0(42) = `first`; of 256 guesses, chance keeps one in 256.
    """
    inverse = bytearray(256)
    for x, y in enumerate(g):
        inverse[y] = x
    for k in range(256):
        mask = c ^ k  # S_2[x] = g[x] ^ mask
        s2 = g[2] ^ mask
        sj = (inverse[c] - s2) & 255
        j2 = inverse[sj ^ mask]
        j1 = (j2 - sj) & 255
        s1j = s2 if j1 == j2 else sj if j1 == 2 else g[j1] ^ mask
        if s1j != j1:  # the generator's first j is their difference, which is 0
            continue
        state, _ = undo(g.translate(_XOR[mask]), 2, j2)
        if functions(state, 1)[0][FEEDBACK_START] == first:
            yield state


def starts(table: Sequence[int], steps: int) -> list[tuple[int, int, bytes]]:
    """Return every way in which a table known up to one constant can have come from a key.

    Parameters
    ----------
    table
        S after `steps` steps, each entry combined by exclusive or with one unknown constant.
    steps
        Steps since the key schedule, at least 1.

    Returns
    -------
    list of (constant, j, state)
        All of the 65,536 guesses of the constant and of j that lead back to j = 0, which is where the
        generator starts: about 256 of them. `state` is the table that the key schedule left.
    """
    try:
        return _starts_vectorised(table, steps)
    except ImportError:
        return _starts_plain(table, steps)


def _starts_plain(table: Sequence[int], steps: int) -> list[tuple[int, int, bytes]]:
    """`starts` with nothing but Python: 0.3 s at 64 steps."""
    places = _places_back(steps)
    found = []
    for constant in range(256):
        base = bytearray(bytes(table).translate(_XOR[constant]))
        for guess in range(256):
            s, j = base[:], guess
            for i in places:
                v = s[j]
                s[j] = s[i]
                s[i] = v
                j = (j - v) & 255
            if not j:
                found.append((constant, guess, bytes(s)))
    return found


def _starts_vectorised(table: Sequence[int], steps: int, constants: int = 8) -> list[tuple[int, int, bytes]]:
    """`starts` over 8 x 256 guesses at a time (as many as fit a processor's cache): ten times as fast."""
    import numpy as np

    entries = np.frombuffer(bytes(table), dtype=np.uint8)
    row = np.arange(constants * 256) * 256
    found = []
    for first in range(0, 256, constants):
        constant = np.repeat(np.arange(first, first + constants, dtype=np.uint8), 256)
        s = (entries[None, :] ^ constant[:, None]).ravel()
        j = np.tile(np.arange(256, dtype=np.uint8), constants)
        for i in _places_back(steps):
            at_i, at_j = row + i, row + j
            v = s[at_j]
            s[at_j] = s[at_i]
            s[at_i] = v
            j = j - v
        states = s.reshape(-1, 256)
        found += [(first + int(k) // 256, int(k) % 256, states[k].tobytes()) for k in np.flatnonzero(j == 0)]
    return found


_XOR = tuple(bytes(value ^ constant for value in range(256)) for constant in range(256))
