"""`provision --oscore` and `gateway --bare`: what they write, and what is refused in one line."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest
from click.testing import CliRunner

from motecrypt.base.errors import InputError
from motecrypt.cli.gateway import command as gateway
from motecrypt.cli.provision import command as provision
from motecrypt.link.gateway.protocols.coap.context import CONTEXT_BYTES, has_context
from motecrypt.link.keys import create_master_file
from motecrypt.link.native import STORAGE_BYTES
from node_native import NativeNode, compiled_node
from tool_sets import needs_tool_set

pytestmark = [needs_tool_set("host", "link")]


def run(tool: object, folder: Path, *words: str) -> InputError | None:
    """What a command refuses, if it does."""
    told = CliRunner().invoke(tool, [*words, "--key", str(folder / "gateway.key")])  # type: ignore[arg-type]
    assert told.exception is None or isinstance(told.exception, InputError), told.exception
    return told.exception


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    create_master_file(tmp_path / "gateway.key")
    return tmp_path


def test_a_context_goes_into_the_eeprom_and_into_the_clients_folder(folder: Path) -> None:
    client, eeprom = folder / "client", folder / "node.eeprom"
    assert run(provision, folder, "7", "--eeprom", str(eeprom), "--oscore", str(client)) is None
    storage = eeprom.read_bytes()
    assert len(storage) == 1024 and has_context(storage, STORAGE_BYTES)
    node = NativeNode(compiled_node(folder / "node.so", "-O2", "-shared", "-fPIC"), storage)
    assert node.status == 0
    settings = json.loads((client / "settings.json").read_text())
    assert (settings["sender-id_hex"], settings["recipient-id_hex"]) == ("80", "07")
    for path in (eeprom, *folder.glob("gateway.key*")):
        for name in ("secret_hex", "salt_hex"):
            assert bytes.fromhex(settings[name]) not in path.read_bytes(), "only the client's folder has them"
            assert settings[name].encode() not in path.read_bytes()
    assert stat.S_IMODE(client.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in client.iterdir()} == {0o600}


def test_a_second_context_of_a_node_is_another(folder: Path) -> None:
    kept = []
    for name in ("a", "b"):
        words = ("7", "--eep", str(folder / f"{name}.eep"), "--oscore", str(folder / name))
        assert run(provision, folder, *words) is None
        kept.append(json.loads((folder / name / "settings.json").read_text()))
        assert (
            len((folder / f"{name}.eep").read_text().splitlines())
            == -(-(STORAGE_BYTES + CONTEXT_BYTES) // 16) + 1
        )
    assert kept[0]["secret_hex"] != kept[1]["secret_hex"] and kept[0]["salt_hex"] != kept[1]["salt_hex"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("7", "--oscore", "c"), "only --eep and --eeprom hold a context"),
        (("7", "--oscore", "c", "--eep", "e", "--block"), "only --eep and --eeprom hold a context"),
        (("7", "--oscore", "c", "--eep", "e", "--image", "i"), "only --eep and --eeprom hold a context"),
        (("group", "--oscore", "c", "--eep", "e"), "a context is for one node"),
        (("--oscore", "c", "--eep", "e"), "a context is for one node"),
        (("7", "--oscore", "c", "--eep", "e", "--sends-only"), "omit --sends-only"),
        (("7", "--oscore", ".", "--eep", "e"), "give a new folder's name"),
        (("7", "--oscore", "no/c", "--eep", "e"), "give a new folder's name"),
        (("7", "--oscore", "c", "--eeprom", "e", "--eeprom-at", "800"), "address 800 of an UNO's EEPROM"),
    ],
)
def test_what_cannot_have_a_context_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], told: str
) -> None:
    monkeypatch.chdir(folder)
    refused = run(provision, folder, *words)
    assert refused is not None and told in str(refused) and "\n" not in str(refused)
    assert not (folder / "c").exists() and not (folder / "e").exists()


def test_a_suite_without_ccm_has_no_contexts(tmp_path: Path) -> None:
    create_master_file(tmp_path / "gateway.key", "ascon-aead128")
    refused = run(provision, tmp_path, "7", "--oscore", str(tmp_path / "c"), "--eep", str(tmp_path / "e"))
    assert refused is not None and "AES-CCM is required" in str(refused)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--bare", "7"), "--bare: such nodes speak CoAP"),
        (("--bare", "7", "--tftp", "0"), "--bare: such nodes speak CoAP"),
        (("--bare", "7", "--speaks", "6-8", "--coap", "0"), "node 7 is in both"),
        (("--bare", "63", "--coap", "0"), "--bare 63: node numbers are 0 to 62"),
        (("--bare", "x", "--coap", "0"), "--bare x: no nodes"),
    ],
)
def test_a_gateway_that_cannot_be_is_refused(folder: Path, words: tuple[str, ...], told: str) -> None:
    refused = run(gateway, folder, "port", *words)
    assert refused is not None and told in str(refused), refused
