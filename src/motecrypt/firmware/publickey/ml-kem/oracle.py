"""ML-KEM written from FIPS 203, algorithm by algorithm, with hashlib's SHA-3."""

from __future__ import annotations

from hashlib import sha3_256, sha3_512, shake_128, shake_256

Polynomial = list[int]
Q, N = 3329, 256
PARAMETERS = {"ml-kem-512": (2, 3, 2, 10, 4), "ml-kem-768": (3, 2, 2, 10, 4)}  # k, eta1, eta2, du, dv
ZETAS = [pow(17, int(f"{i:07b}"[::-1], 2), Q) for i in range(128)]
GAMMAS = [pow(17, 2 * int(f"{i:07b}"[::-1], 2) + 1, Q) for i in range(128)]


def _encode(values: Polynomial, bits: int) -> bytes:
    """ByteEncode, algorithm 5."""
    return sum(value << bits * i for i, value in enumerate(values)).to_bytes(32 * bits, "little")


def _decode(data: bytes, bits: int) -> Polynomial:
    """ByteDecode, algorithm 6."""
    number = int.from_bytes(data, "little")
    return [(number >> bits * i) % (1 << bits) % (Q if bits == 12 else 1 << bits) for i in range(N)]


def _compress(values: Polynomial, bits: int) -> Polynomial:
    return [((value << bits) + Q // 2) // Q % (1 << bits) for value in values]


def _decompress(values: Polynomial, bits: int) -> Polynomial:
    return [(value * Q + (1 << bits - 1)) >> bits for value in values]


def _uniform(seed: bytes) -> Polynomial:
    """SampleNTT, algorithm 7."""
    stream, found, at = shake_128(seed).digest(1344), list[int](), 0
    while len(found) < N:
        low = stream[at] + 256 * (stream[at + 1] % 16)
        high = stream[at + 1] // 16 + 16 * stream[at + 2]
        found += [value for value in (low, high) if value < Q]
        at += 3
    return found[:N]


def _binomial(seed: bytes, number: int, eta: int) -> Polynomial:
    """SamplePolyCBD, algorithm 8, of the PRF."""
    bits = int.from_bytes(shake_256(seed + bytes([number])).digest(64 * eta), "little")
    mask = (1 << eta) - 1
    return [
        ((bits >> 2 * i * eta & mask).bit_count() - (bits >> (2 * i + 1) * eta & mask).bit_count()) % Q
        for i in range(N)
    ]


def _ntt(values: Polynomial) -> Polynomial:
    """Algorithm 9."""
    f, i, length = list(values), 1, 128
    while length >= 2:
        for start in range(0, N, 2 * length):
            for j in range(start, start + length):
                t = ZETAS[i] * f[j + length] % Q
                f[j], f[j + length] = (f[j] + t) % Q, (f[j] - t) % Q
            i += 1
        length //= 2
    return f


def _inverse_ntt(values: Polynomial) -> Polynomial:
    """Algorithm 10."""
    f, i, length = list(values), 127, 2
    while length <= 128:
        for start in range(0, N, 2 * length):
            for j in range(start, start + length):
                t = f[j]
                f[j], f[j + length] = (t + f[j + length]) % Q, ZETAS[i] * (f[j + length] - t) % Q
            i -= 1
        length *= 2
    return [value * 3303 % Q for value in f]


def _times(f: Polynomial, g: Polynomial) -> Polynomial:
    """MultiplyNTTs, algorithms 11 and 12."""
    product = []
    for i, gamma in enumerate(GAMMAS):
        (a, b), (c, d) = f[2 * i : 2 * i + 2], g[2 * i : 2 * i + 2]
        product += [(a * c + b * d * gamma) % Q, (a * d + b * c) % Q]
    return product


def _sum(*several: Polynomial) -> Polynomial:
    return [sum(values) % Q for values in zip(*several, strict=True)]


def _dot(f: list[Polynomial], g: list[Polynomial]) -> Polynomial:
    return _sum(*(_times(a, b) for a, b in zip(f, g, strict=True)))


def _parts(data: bytes, count: int) -> list[bytes]:
    size = len(data) // count
    return [data[i * size : (i + 1) * size] for i in range(count)]


def keygen(name: str, seed: bytes) -> tuple[bytes, bytes]:
    """ML-KEM.KeyGen_internal, algorithms 16 and 13; the seed is d, then z."""
    k, eta1, *_ = PARAMETERS[name]
    rho, sigma = _parts(sha3_512(seed[:32] + bytes([k])).digest(), 2)
    matrix = [[_uniform(rho + bytes([j, i])) for j in range(k)] for i in range(k)]
    s = [_ntt(_binomial(sigma, i, eta1)) for i in range(k)]
    e = [_ntt(_binomial(sigma, k + i, eta1)) for i in range(k)]
    t = [_sum(_dot(row, s), error) for row, error in zip(matrix, e, strict=True)]
    public = b"".join(_encode(part, 12) for part in t) + rho
    secret = b"".join(_encode(part, 12) for part in s)
    return secret + public + sha3_256(public).digest() + seed[32:], public


def _encrypt(name: str, public: bytes, message: bytes, coins: bytes) -> bytes:
    """K-PKE.Encrypt, algorithm 14."""
    k, eta1, eta2, du, dv = PARAMETERS[name]
    t, rho = [_decode(part, 12) for part in _parts(public[:-32], k)], public[-32:]
    matrix = [[_uniform(rho + bytes([j, i])) for j in range(k)] for i in range(k)]
    y = [_ntt(_binomial(coins, i, eta1)) for i in range(k)]
    columns = [[matrix[i][j] for i in range(k)] for j in range(k)]
    u = [_sum(_inverse_ntt(_dot(columns[j], y)), _binomial(coins, k + j, eta2)) for j in range(k)]
    noise = _binomial(coins, 2 * k, eta2)
    v = _sum(_inverse_ntt(_dot(t, y)), noise, _decompress(_decode(message, 1), 1))
    return b"".join(_encode(_compress(part, du), du) for part in u) + _encode(_compress(v, dv), dv)


def encapsulate(name: str, public: bytes, random: bytes) -> tuple[bytes, bytes]:
    """ML-KEM.Encaps_internal, algorithm 17: ciphertext and shared secret; `random` is m."""
    shared, coins = _parts(sha3_512(random + sha3_256(public).digest()).digest(), 2)
    return _encrypt(name, public, random, coins), shared


def decapsulate(name: str, secret: bytes, ciphertext: bytes) -> bytes:
    """ML-KEM.Decaps_internal, algorithm 18."""
    k, _, _, du, dv = PARAMETERS[name]
    key, public = secret[: 384 * k], secret[384 * k : 768 * k + 32]
    digest, z = secret[768 * k + 32 : 768 * k + 64], secret[768 * k + 64 :]
    s = [_decode(part, 12) for part in _parts(key, k)]
    split = 32 * du * k
    u = [_ntt(_decompress(_decode(part, du), du)) for part in _parts(ciphertext[:split], k)]
    v = _decompress(_decode(ciphertext[split:], dv), dv)
    w = _sum(v, [-value for value in _inverse_ntt(_dot(s, u))])
    message = _encode(_compress(w, 1), 1)
    shared, coins = _parts(sha3_512(message + digest).digest(), 2)
    if ciphertext != _encrypt(name, public, message, coins):
        return shake_256(z + ciphertext).digest(32)
    return shared
