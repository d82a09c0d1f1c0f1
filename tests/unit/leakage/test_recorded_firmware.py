"""A cipher's benchmark firmware is recorded as it is measured, and encrypts in the window."""

from __future__ import annotations

import numpy as np
import pytest
from Crypto.Cipher import AES

from motecrypt.attack.leakage.bench_firmware import bench_recorder
from motecrypt.attack.leakage.recording import CHANNELS
from motecrypt.base.errors import InputError
from motecrypt.catalog import Catalog
from tool_sets import needs_tool_set

CATALOG = Catalog.load()
KEY = bytes(range(16))


@pytest.mark.parametrize("device", ["uno", "pico", pytest.param("hifive1", marks=needs_tool_set("riscv"))])
def test_the_ciphertext_of_each_message_is_stored_in_the_window(device: str) -> None:
    target = CATALOG.device(device)
    body = CATALOG.implementations_of("aes128-ecb", device, ("motecrypt",))[0]
    what = bench_recorder(target, body, CATALOG.cipher("aes128-ecb"), "encrypt", KEY, b"", bytes(16))
    assert (what.window.function, what.input_bytes) == ("cipher_encrypt", 16)
    inputs = np.random.default_rng(3).integers(0, 256, (2, 16), dtype=np.uint8)
    for row, (_, detail) in zip(inputs, what.details(inputs), strict=True):
        stores = detail["meetings"][:, CHANNELS.index("cell")]
        wanted = AES.new(KEY, AES.MODE_ECB).encrypt(row.tobytes())
        base = what.pokes[0].address & (0xFFFF if device == "uno" else 0xFFFFFFFF)
        memory = dict.fromkeys(range(16), 0)
        for store in stores:
            offset = int(store["place"]) - base
            if 0 <= offset < 16 and store["before"] | store["after"]:
                memory[offset] = int(store["after"]) & 0xFF
        assert bytes(memory.values()) == wanted


@pytest.mark.parametrize("vary", ["nonsense", "nonce"])
def test_what_the_firmware_is_not_given_cannot_vary(vary: str) -> None:
    target = CATALOG.device("uno")
    body = CATALOG.implementations_of("aes128-ecb", "uno", ("motecrypt",))[0]
    with pytest.raises(InputError, match=f"cannot replace '{vary}'"):
        bench_recorder(target, body, CATALOG.cipher("aes128-ecb"), "encrypt", KEY, b"", bytes(16), vary=vary)
