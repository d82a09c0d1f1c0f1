"""Certificates for the computers of a cluster, from an authority of its own."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, ExtensionOID, NameOID

from motecrypt.base.errors import InputError
from motecrypt.base.paths import make_dir, read_regular
from motecrypt.measuring.cluster.places import AUTHORITY, CERTIFICATE, KEY

AUTHORITY_KEY = "ca-key.pem"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}", re.ASCII)
_CLOCKS = timedelta(hours=1)
"""How far the clocks of two computers may be apart."""


def make_keys(folder: Path, names: Sequence[str], days: int) -> list[Path]:
    """Make a folder with authority, certificate and private key for each name; returns these folders.

    An authority that is there makes the new certificates, too, so that a computer can be added later.

    Raises
    ------
    InputError
        A name cannot be that of a folder, or has a certificate; or the authority cannot be read, is out of
        date, or has no key identifier. No folder of the names is there then.
    """
    for name in names:
        if not _NAME.fullmatch(name):
            raise InputError(
                f"'{name}': not a name; write letters, digits, dots and hyphens, such as server2"
            )
        if name.lower() in (AUTHORITY, AUTHORITY_KEY):
            raise InputError(f"'{name}': is a file of the authority; choose another name, such as server2")
        if (folder / name).exists():
            raise InputError(f"{folder / name}: is there; choose another name, or delete it")
    make_dir(folder)
    authority, key = _authority(folder, days)
    if authority.not_valid_after_utc < datetime.now(UTC) + timedelta(days=1):
        raise InputError(f"{folder / AUTHORITY}: out of date; make certificates in another folder")
    with tempfile.TemporaryDirectory(prefix=".new.", dir=folder) as scratch:
        for name in dict.fromkeys(names):
            _certify(Path(scratch) / name, authority, key, days)
        return [(Path(scratch) / name).rename(folder / name) for name in dict.fromkeys(names)]


def _certify(own: Path, authority: x509.Certificate, key: ec.EllipticCurvePrivateKey, days: int) -> None:
    """Make the folder of one computer."""
    make_dir(own)
    secret = ec.generate_private_key(ec.SECP256R1())
    until = min(authority.not_valid_after_utc, datetime.now(UTC) + timedelta(days=days))
    certificate = (
        _begun(own.name, authority.subject, secret.public_key(), until)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(authority=False), critical=True)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(key.public_key()), critical=False)
        .add_extension(
            x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]),
            critical=False,
        )
        .sign(key, hashes.SHA256())
    )
    _write(own / AUTHORITY, authority.public_bytes(serialization.Encoding.PEM))
    _write(own / CERTIFICATE, certificate.public_bytes(serialization.Encoding.PEM))
    _write(own / KEY, _private(secret))


def _authority(folder: Path, days: int) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    if (folder / AUTHORITY_KEY).exists():
        try:
            if not (folder / AUTHORITY).exists():
                raise InputError(f"{folder / AUTHORITY_KEY}: is there without {AUTHORITY}; delete it")
            key = serialization.load_pem_private_key(read_regular(folder / AUTHORITY_KEY), None)
            certificate = x509.load_pem_x509_certificate(read_regular(folder / AUTHORITY))
        except (ValueError, TypeError) as error:
            raise InputError(f"{folder}: its authority cannot be read; choose another folder") from error
        if not any(e.oid == ExtensionOID.SUBJECT_KEY_IDENTIFIER for e in certificate.extensions):
            raise InputError(
                f"{folder / AUTHORITY}: has no key identifier; make certificates in another folder"
            )
        if isinstance(key, ec.EllipticCurvePrivateKey) and key.public_key() == certificate.public_key():
            return certificate, key
        raise InputError(f"{folder}: the authority's key is another one's; choose another folder")
    if (folder / AUTHORITY).exists():
        raise InputError(f"{folder / AUTHORITY}: is there without {AUTHORITY_KEY}; delete it")
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "motecrypt cluster")])
    until = datetime.now(UTC) + timedelta(days=days)
    certificate = (
        _begun("motecrypt cluster", name, key.public_key(), until)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(authority=True), critical=True)
        .sign(key, hashes.SHA256())
    )
    _write(folder / AUTHORITY_KEY, _private(key))
    _write(folder / AUTHORITY, certificate.public_bytes(serialization.Encoding.PEM))
    return certificate, key


def _begun(
    name: str, issuer: x509.Name, key: ec.EllipticCurvePublicKey, until: datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(datetime.now(UTC) - _CLOCKS)
        .not_valid_after(until)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def _usage(authority: bool) -> x509.KeyUsage:
    """What a key is for; strict checks (RFC 5280, the default of Python from 3.13) require it."""
    return x509.KeyUsage(
        digital_signature=not authority,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=authority,
        crl_sign=authority,
        encipher_only=False,
        decipher_only=False,
    )


def _private(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def _write(path: Path, data: bytes) -> None:
    """Make a file that only its owner may read."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from error
