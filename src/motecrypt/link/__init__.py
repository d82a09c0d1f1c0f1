"""The secure link's ends on a computer (docs/link.md): a gateway, a node, their keys, records and files.

The core in C (firmware/link, toolchain/link.py) has the protocol, without clocks or ports: packets and the
time go in, packets come out. So the same code runs over a real serial port (ports/) and over radios in
virtual time (tests, experiments).
"""

from motecrypt.link.keys import create_key_file, read_hex_key, read_key_file

__all__ = ["create_key_file", "read_hex_key", "read_key_file"]
