"""Random CoAP messages for tests, whole and damaged, and how aiocoap reads them."""

from __future__ import annotations

import random

from motecrypt.link.gateway.protocols.coap.message import CoapKind, CoapMessage

Read = tuple[int, int, int, bytes, tuple[tuple[int, bytes], ...], bytes]
"""Type, code, message ID, token, options, payload."""

TEXTS = {3, 8, 11, 15, 20, 35, 39}
"""Options whose values aiocoap reads as UTF-8."""
NUMBERS = {6, 7, 12, 14, 16, 17, 23, 27, 28, 60, 258}
"""Options whose values it reads as numbers, so that leading zero bytes are lost."""
_DRAWN = (1, 3, 4, 6, 8, 11, 11, 14, 15, 20, 23, 35, 200, 2000)


def mutated(random_: random.Random) -> bytes:
    """A message, often with some bytes changed or its end cut off."""
    options = []
    for _ in range(random_.randrange(4)):
        number = random_.choice(_DRAWN)
        length = random_.randrange(3 if number in NUMBERS else 20)
        value = (
            bytes(random_.choices(b"abcxyz/=", k=length)) if number in TEXTS else random_.randbytes(length)
        )
        options.append((number, value))
    message = CoapMessage(
        CoapKind(random_.randrange(4)),
        random_.choice((1, 2, 3, 69, 132)),
        random_.randrange(65536),
        random_.randbytes(random_.randrange(9)),
        tuple(sorted(options)),
        random_.randbytes(random_.randrange(10)),
    )
    data = bytearray(message.encode())
    for _ in range(random_.randrange(3)):
        data[random_.randrange(len(data))] = random_.randrange(256)
    return bytes(data[: random_.choice((len(data), random_.randrange(len(data) + 1)))])


def texts_are_utf8(read: Read) -> bool:
    """Whether aiocoap can read its options."""
    try:
        for number, value in read[4]:
            if number in TEXTS:
                value.decode()
    except UnicodeDecodeError:
        return False
    return True


def as_aiocoap(read: Read) -> Read:
    """The same without what aiocoap forgets."""
    options = tuple((n, value.lstrip(b"\0") if n in NUMBERS else value) for n, value in read[4])
    return (*read[:4], options, read[5])


def read_by_aiocoap(data: bytes) -> Read:
    """What aiocoap's codec reads."""
    import aiocoap

    message = aiocoap.Message.decode(data)
    options = tuple((int(each.number), each.encode()) for each in message.opt.option_list())
    return int(message.mtype), int(message.code), message.mid, message.token, options, message.payload
