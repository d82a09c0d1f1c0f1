"""Where a scheduler is, and how it is reached: by TLS, with certificates at both ends."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from motecrypt.base.errors import InputError

AUTHORITY, CERTIFICATE, KEY = "ca.pem", "cert.pem", "key.pem"
PORT = 8786
"""Dask's usual port of a scheduler."""


@dataclass(frozen=True)
class ClusterAddress:
    """An address of Dask, such as tls://10.0.0.1:8786, and the folder of this computer's certificate."""

    host: str
    port: int
    tls: Path

    @property
    def address(self) -> str:
        """As Dask writes it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"tls://{host}:{self.port}"

    def security(self) -> Any:
        """Dask's settings: everybody shows a certificate of the same authority, and checks it."""
        from distributed import Security

        own = {"cert": str(self.tls / CERTIFICATE), "key": str(self.tls / KEY)}
        return Security(
            tls_ca_file=str(self.tls / AUTHORITY),
            require_encryption=True,
            **{
                f"tls_{who}_{what}": f for who in ("scheduler", "worker", "client") for what, f in own.items()
            },
        )


def place_of(text: str, tls: Path | None, option: str) -> ClusterAddress:
    """The place that an option names.

    Parameters
    ----------
    text
        HOST:PORT or HOST, with tls:// in front or without.
    tls
        The folder with ca.pem, cert.pem and key.pem, which is needed: workers run what they are sent.
    option
        Its name, for complaints.

    Raises
    ------
    InputError
        It is not an address, or there is no certificate.
    """
    scheme, mark, rest = text.rpartition("://")
    if mark and scheme != "tls":
        raise InputError(f"{option} '{text}': write tls://HOST:PORT")
    host, port = _parted(rest, text, option)
    if tls is None:
        raise InputError(
            f"{option} '{text}': workers run what they are sent, so this needs certificates: make them with "
            "'motecrypt cluster keys', then add --tls DIR"
        )
    tls = tls.resolve()
    for name in (AUTHORITY, CERTIFICATE, KEY):
        if not (tls / name).is_file():
            raise InputError(f"--tls {tls}: has no {name}; 'motecrypt cluster keys' makes such a folder")
    return ClusterAddress(host, port, tls)


def _parted(rest: str, text: str, option: str) -> tuple[str, int]:
    host, mark, port = rest.rpartition(":")
    if not mark or rest.endswith("]"):
        host, port = rest, str(PORT)
    host = host.removeprefix("[").removesuffix("]")
    sound = host and all(c.isascii() and (c.isalnum() or c in ".-_:%") for c in host)
    if not sound or not (port.isascii() and port.isdigit() and int(port) < 65536):
        raise InputError(f"{option} '{text}': is not an address; write HOST:PORT, such as 10.0.0.1:{PORT}")
    return host, int(port)
