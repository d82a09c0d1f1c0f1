"""RSA by OpenSSL, through cryptography. Its keys were made for this file and are used for nothing else."""

from __future__ import annotations

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.hashes import SHA256

EXPONENT = 65537
FACTORS = (
    (
        int(
            "ef3a6a922c42d46b462251145048cc175ea0500359122bc74f21a1eeee4a309e"
            "e35be610f289e06e86c953ee7bcbc74d0f6487f725f582965369954455695522"
            "870447faa325b9cfb52e723f02cfbc0909218c4d5d5d31da2f72c255949894e5"
            "b4620a9d587429479e03efe7762efb52ad6fd649750506dfd924553ca449413b",
            16,
        ),
        int(
            "bb9d915f8c0aac6a5d6688e4547b0d544830b92111141269f0d75d6a2ef97a26"
            "e3a9f2884156d3ac8435acf0e4dd1f75f2deb4ca9af8c6e0319574614bfb41f8"
            "5dea7f771ce052f3aa136a7676d62ece2745c8882b9c523b70ed671821eef176"
            "55b835e0243cb14547624aa83b32948fed4757e14e029e3f51eba6aaf7d3fb61",
            16,
        ),
    ),
    (
        int(
            "e6afdfe39521719fa6a1b342339f1ba79d6240daff46cef1a70daa1c4f40b7f8"
            "cb035ce600ec9ecd78e650ec371ee0df3c1b95caa9bae288815f154da89c22ea"
            "776a30c26dac625c894bb7d485f88b48de9c95f31f74c0faaf9df235a015609f"
            "e4ef4b2c27fafd61fe473401ddf4a98aff4d47356f066d552385ee8ae57d63d5",
            16,
        ),
        int(
            "c0670754b86722165156ea7b97d6a263ebd18b43990312217a8164848c25e129"
            "5a07b00657117eeba037b7fd7905d8b316c020ee71abd3f5d57007a9b7e448fb"
            "7fc7b536f7df06bc8d1eb7e238c2bca318c5c7f615f92a69423ab7e360e1d6c2"
            "c05cec11163000f9f7b62f8df22c1c465c2fb66f4e4bb91929f77569e672df79",
            16,
        ),
    ),
    (
        int(
            "f30d35f24acb508aa6b52a1723a1acceefc0663a91798402060e307e763d25da"
            "dd6d3c0ff39c0b5f747f7a55be42725bc8fc6e82f3226ce2150a8d6aa4030384"
            "df2892a46c0d4ea63c4ea46b440b7cff5cbbab50250bf8dc40fe6c7b6fec9892"
            "8b59fafa0f00850a3f83707ddb3f215d20587fc28bb97e3525686effbe66bbc1",
            16,
        ),
        int(
            "ebb221c0cde60cc206f5069185eb1e0039d1c8fff6a12bcb23479a0f5582ba76"
            "862f2ebbb15a220b68fe4dea31044cf053f9b6f38dd1be62fe813e7260c8a358"
            "c1ec25ae10c40a79187f491e5cf7356ffd94b1a3d97e8c0299b9062bb9abc583"
            "8eb05365c95fdf0872e3e1cfbf4413383bdd7f40616c02e2567583f0e2d7c1f5",
            16,
        ),
    ),
)


def _key(p: int, q: int) -> rsa.RSAPrivateKey:
    d = pow(EXPONENT, -1, (p - 1) * (q - 1))
    public = rsa.RSAPublicNumbers(EXPONENT, p * q)
    return rsa.RSAPrivateNumbers(p, q, d, d % (p - 1), d % (q - 1), pow(q, -1, p), public).private_key()


def keygen(name: str, seed: bytes) -> tuple[bytes, bytes]:
    """One of the keys: p, q, d mod p - 1, d mod q - 1, 1/q mod p; and the modulus."""
    p, q = FACTORS[seed[0] % len(FACTORS)]
    numbers = _key(p, q).private_numbers()
    parts = (p, q, numbers.dmp1, numbers.dmq1, numbers.iqmp)
    return b"".join(part.to_bytes(128) for part in parts), (p * q).to_bytes(256)


def sign(name: str, secret: bytes, message: bytes) -> bytes:
    """The signature."""
    p, q = int.from_bytes(secret[:128]), int.from_bytes(secret[128:256])
    return _key(p, q).sign(message, padding.PKCS1v15(), SHA256())


def verify(name: str, public: bytes, signature: bytes, message: bytes) -> bool:
    """Whether the signature is right."""
    key = rsa.RSAPublicNumbers(EXPONENT, int.from_bytes(public)).public_key()
    try:
        key.verify(signature, message, padding.PKCS1v15(), SHA256())
    except InvalidSignature:
        return False
    return True
