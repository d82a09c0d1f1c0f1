"""The secure link: frames, fragments, acknowledgements, replay window, counters that are never reused.

The protocol is state machines without clocks or ports: bytes and the time go in, bytes come out. So the
same code runs over a real serial port (ports/) and over radios in virtual time (tests, experiments).
"""

from motecrypt.link.frames import frame_bytes, largest_message_bytes
from motecrypt.link.keys import create_key_file, read_hex_key, read_key_file
from motecrypt.link.receiver import Receiver
from motecrypt.link.sender import Sender, SendOutcome
from motecrypt.link.state import Counters, FileStore, MemoryStore, Store, Window
from motecrypt.link.timing import Timing

__all__ = [
    "Counters",
    "FileStore",
    "MemoryStore",
    "Receiver",
    "SendOutcome",
    "Sender",
    "Store",
    "Timing",
    "Window",
    "create_key_file",
    "frame_bytes",
    "largest_message_bytes",
    "read_hex_key",
    "read_key_file",
]
