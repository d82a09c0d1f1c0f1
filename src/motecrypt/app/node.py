"""Build the firmware of an Arduino UNO that sends over the secure link, and make its EEPROM."""

from __future__ import annotations

from pathlib import Path

from motecrypt.app.key import NodeKeyRequest
from motecrypt.base.errors import InputError
from motecrypt.base.paths import read_regular
from motecrypt.build.setup import need
from motecrypt.catalog import Catalog
from motecrypt.exports.link import plan_sketch
from motecrypt.link.gateway.protocols.coap.context import has_context
from motecrypt.link.keys import read_master_file
from motecrypt.link.native import STORAGE_BYTES, VERSION, VERSION_2_0
from motecrypt.simulate.paper_node import build_example

EEPROM_BYTES = 1024
EXAMPLE = "thermometer"


def build_node(
    elf: Path,
    eeprom: Path,
    node: NodeKeyRequest,
    key_file: Path,
    state: Path | None = None,
    example: str = EXAMPLE,
    interval_ms: int | None = None,
) -> None:
    """Build an example of the exported link for a node; `eeprom` gets its keys, where it is not there yet.

    InputError for an example or an EEPROM of no use, or a number that has keys already.
    """
    need("avr", "arduino")
    suite, _ = read_master_file(key_file)
    sketch = plan_sketch(Catalog.load(), suite, example)
    if interval_ms is not None and not sketch.interval:
        raise InputError(f"--interval-ms: the example '{example}' has no interval; leave it out")
    there = eeprom.exists()
    if sketch.context and not (there and has_context(read_regular(eeprom, EEPROM_BYTES), STORAGE_BYTES)):
        raise InputError(
            f"--eeprom {eeprom}: the example '{example}' needs an OSCORE context; make a new file with "
            f"'motecrypt provision {node.node} --key {key_file} --eeprom FILE --oscore FOLDER'"
        )

    def build() -> None:
        build_example(sketch.library.files, sketch.path, elf, interval_ms)

    if there:
        _check(eeprom, node.node)
        build()
    else:
        node.write(eeprom, lambda storage: storage.ljust(EEPROM_BYTES, b"\xff"), key_file, state, build)


def _check(memory: Path, node: int) -> None:
    """An EEPROM that is there already is that node's."""
    content = read_regular(memory, EEPROM_BYTES)
    if len(content) < STORAGE_BYTES or content[0] not in (VERSION_2_0, VERSION):
        raise InputError(f"--eeprom {memory}: contains no node; name a new file")
    if content[1] != node:
        raise InputError(f"--eeprom {memory}: is node {content[1]}'s; name a new file for node {node}")
