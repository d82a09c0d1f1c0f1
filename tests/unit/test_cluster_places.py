"""A cluster's addresses, certificates and worker processes."""

from __future__ import annotations

import signal
import ssl
import stat
import time
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from cryptography import x509

from command_line import run
from motecrypt.base.errors import InputError
from motecrypt.measuring.cluster import keys
from motecrypt.measuring.cluster.keys import make_keys
from motecrypt.measuring.cluster.places import place_of
from unit.test_cluster import plan_of

# --- addresses and certificates ------------------------------------------------------------------------


@pytest.fixture
def tls(tmp_path: Path) -> Path:
    return make_keys(tmp_path / "keys", ["here"], 2)[0]


def test_a_scheduler_is_reached_with_tls_only(tls: Path) -> None:
    assert place_of("tls://10.0.0.1:99", tls, "--cluster").address == "tls://10.0.0.1:99"
    assert place_of("server", tls, "--cluster").address == "tls://server:8786"
    assert place_of("[fd00::1]:5", tls, "--cluster").address == "tls://[fd00::1]:5"
    for text, own, said in (
        ("10.0.0.1", None, "needs certificates"),
        ("127.0.0.1:8786", None, "needs certificates"),
        ("localhost:8786", None, "needs certificates"),
        ("tcp://127.0.0.1:8786", None, "write tls://"),
        ("tcp://10.0.0.1:8786", tls, "write tls://"),
        ("tls://10.0.0.1:8786", None, "--tls DIR"),
        ("ws://127.0.0.1:8786", None, "write tls://"),
        ("inproc://127.0.0.1:8786", None, "write tls://"),
        ("10.0.0.1:x", tls, "not an address"),
        ("10.0.0.1:70000", tls, "not an address"),
        ("", tls, "not an address"),
        ("10.0.0.1", tls.parent, "has no cert.pem"),
    ):
        with pytest.raises(InputError, match=r"^--") as told:
            place_of(text, own, "--cluster")
        assert said in str(told.value)


def _limits_what_it_is_for(certificate: x509.Certificate, uses: tuple[str, ...]) -> None:
    """Both limits are critical: a program that does not know them must refuse the certificate."""
    usage = certificate.extensions.get_extension_for_class(x509.KeyUsage)
    basic = certificate.extensions.get_extension_for_class(x509.BasicConstraints)
    assert usage.critical and basic.critical
    every = (
        "digital_signature",
        "content_commitment",
        "key_encipherment",
        "data_encipherment",
        "key_agreement",
    )
    every += ("key_cert_sign", "crl_sign")
    assert tuple(use for use in every if getattr(usage.value, use)) == uses
    authority = "key_cert_sign" in uses
    assert (basic.value.ca, basic.value.path_length) == (authority, 0 if authority else None)


def test_certificates_are_of_one_authority_and_keys_are_private(tmp_path: Path) -> None:
    first, second = make_keys(tmp_path / "keys", ["a", "b"], 3)
    (third,) = make_keys(tmp_path / "keys", ["c"], 300)
    own = [(place / "ca.pem").read_bytes() for place in (first, second, third, tmp_path / "keys")]
    assert len(set(own)) == 1
    authority = x509.load_pem_x509_certificate(own[0])
    for place in (first, second, third):
        certificate = x509.load_pem_x509_certificate((place / "cert.pem").read_bytes())
        certificate.verify_directly_issued_by(authority)
        _limits_what_it_is_for(certificate, ("digital_signature",))
        assert certificate.not_valid_after_utc <= authority.not_valid_after_utc
        assert stat.S_IMODE((place / "key.pem").stat().st_mode) == 0o600
        assert sorted(path.name for path in place.iterdir()) == ["ca.pem", "cert.pem", "key.pem"]
    _limits_what_it_is_for(authority, ("key_cert_sign", "crl_sign"))
    assert stat.S_IMODE((tmp_path / "keys" / "ca-key.pem").stat().st_mode) == 0o600
    for names in (["a"], ["../a"], [""]):
        with pytest.raises(InputError):
            make_keys(tmp_path / "keys", names, 3)


def test_certificates_stand_a_strict_check_at_both_ends(tmp_path: Path) -> None:
    """As Python does from 3.13 on: an error of either certificate would end the handshake."""
    places = make_keys(tmp_path / "keys", ["a", "b"], 3)
    to, fro = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = []
    for place, side, ways in zip(
        places, (ssl.PROTOCOL_TLS_SERVER, ssl.PROTOCOL_TLS_CLIENT), ((to, fro), (fro, to)), strict=True
    ):
        context = ssl.SSLContext(side)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_REQUIRED
        context.verify_flags |= ssl.VERIFY_X509_STRICT
        context.load_verify_locations(place / "ca.pem")
        context.load_cert_chain(place / "cert.pem", place / "key.pem")
        ends.append(context.wrap_bio(*ways, server_side=side == ssl.PROTOCOL_TLS_SERVER))
    for _ in range(4):
        for end in ends:
            with suppress(ssl.SSLWantReadError):
                end.do_handshake()
    assert all(end.version() and end.getpeercert() for end in ends)


def test_certificates_are_made_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "keys"
    for name in ("ca.pem", "ca-key.pem", "CA.pem"):
        with pytest.raises(InputError, match="is a file of the authority"):
            make_keys(folder, ["a", name], 3)
    assert not folder.exists()
    make_keys(folder, ["a"], 3)
    write = keys._write

    def full(path: Path, data: bytes) -> None:
        if path.parts[-2:] == ("c", "key.pem"):
            raise InputError("no room")
        write(path, data)

    monkeypatch.setattr(keys, "_write", full)
    with pytest.raises(InputError, match="no room"):
        make_keys(folder, ["b", "c"], 3)
    assert sorted(path.name for path in folder.iterdir()) == ["a", "ca-key.pem", "ca.pem"]
    for name, other in (("ca.pem", "ca-key.pem"), ("ca-key.pem", "ca.pem")):
        half = tmp_path / f"half-{name}"
        half.mkdir()
        (half / name).write_bytes((folder / name).read_bytes())
        with pytest.raises(InputError, match=rf"{name}: is there without {other}; delete it"):
            make_keys(half, ["a"], 3)
        assert [path.name for path in half.iterdir()] == [name]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--cluster", "local:0"], "local:N"),
        (["--cluster", "local"], "local:N"),
        (["--cluster", ""], "is not an address"),
        (["--cluster", "localhost:x"], "is not an address"),
        (["--cluster", "local:2", "--jobs", "2"], "cannot be combined"),
        (["--cluster", "tcp://192.0.2.1:8786"], "write tls://"),
        (["--cluster", "127.0.0.1:8786"], "needs certificates"),
        (["--tls", "keys"], "is for --cluster"),
    ],
)
def test_a_wrong_cluster_is_one_line(
    tmp_path: Path, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    db = str(tmp_path / "r.db")
    code, _, error = run(capsys, "sweep", str(plan_of(tmp_path, "16")), *words, "--db", db)
    assert code == 2 and said in error and error.count("\n") == 1


# --- processes ----------------------------------------------------------------------------------------


def test_a_worker_that_dies_is_started_again_and_one_without_scheduler_ends_all(
    tls: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from motecrypt.measuring.cluster import start

    codes: list[int | None] = []
    stopped: list[int] = []
    said: list[str] = []

    def begin(*words: str) -> Any:
        codes.append(None)
        number = len(codes) - 1
        process = SimpleNamespace(
            pid=number, poll=lambda: codes[number], stdin=SimpleNamespace(close=lambda: None)
        )
        return SimpleNamespace(
            process=process, stop=lambda: stopped.append(number), last_error=lambda: "Killed"
        )

    monkeypatch.setattr(start, "Child", begin)
    monkeypatch.setattr(start, "AGAIN_S", 0)
    workers = start.Workers(place_of("127.0.0.1:1", tls, "ADDRESS"), 3, 7, said.append)
    workers.keep()
    assert workers.pids == [0, 1, 2]
    codes[1] = -signal.SIGKILL
    workers.keep()
    assert workers.pids == [0, 3, 2] and stopped == [1]
    for _ in range(start.SOON_MAX):
        codes[workers.pids[0]] = 1
        workers.keep()
    assert len(workers.pids) == 2 and not {0, 1} & set(workers.pids)
    assert said == [
        "a worker ended 5 times within 20 s of its start, with exit code 1: Killed; it is not started again, "
        "2 go on"
    ]
    codes[2] = start.NO_SCHEDULER
    with pytest.raises(InputError, match=r"no scheduler at tls://127\.0\.0\.1:1 for 7 s"):
        workers.keep()
    workers.stop()
    assert sorted(stopped) == list(range(len(codes)))


def test_a_worker_that_always_ends_at_its_start_is_given_up_with_its_last_words(
    tls: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from motecrypt.measuring.cluster import start

    class Broken(start.Child):
        def __init__(self, *_: str) -> None:
            super().__init__("worker")

    monkeypatch.setattr(start, "Child", Broken)
    monkeypatch.setattr(start, "AGAIN_S", 0)
    monkeypatch.setattr(start, "SOON_S", 3600)  # a busy computer starts slowly
    workers = start.Workers(place_of("127.0.0.1:1", tls, "ADDRESS"), 1, 7, print)
    begun = set(workers.pids)
    with pytest.raises(
        InputError, match=r"the last worker ended 5 times within 3600 s .* with exit code 1: \w*Error"
    ):
        for _ in range(30_000):
            workers.keep()
            begun |= set(workers.pids)
            time.sleep(0.01)
    workers.stop()
    assert len(begun) == start.SOON_MAX
