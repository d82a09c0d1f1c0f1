"""A results file with made-up figures, for tests of what reads one. Measures nothing."""

from __future__ import annotations

import random
from collections.abc import Sequence

from motecrypt.base.model import OPERATIONS, Measurement
from motecrypt.catalog import Catalog
from motecrypt.results import Results

LENGTHS = (16, 32, 48, 64, 128)
STACKS = {"setup": 60, "encrypt": 40, "decrypt": 52}
FAILURES = {
    "does-not-fit": "does not fit: needs 3,175 of 2,048 bytes of RAM",
    "wrong-output": "encrypt: byte 3 differs from the oracle",
}


def fill(
    results: Results,
    seed: int = 1,
    family: str = "",
    devices: Sequence[str] = ("uno", "pico"),
    lengths: Sequence[int] = LENGTHS,
) -> int:
    """Store every implementation of every cipher (or of a family) on devices; returns how many cells."""
    draw = random.Random(seed)
    catalog = Catalog.load()
    stored: dict[str, Measurement] = {}
    for body in catalog.implementations:
        cipher = catalog.ciphers[body.cipher]
        if family not in ("", cipher.family):
            continue
        for device in devices:
            speed = draw.lognormvariate(4, 1) if device == "uno" else draw.lognormvariate(2, 1)
            flash, ram = draw.randrange(200, 12000), draw.randrange(16, 1500)
            fits = draw.random() > 0.06
            varies = draw.choice((0, 0, 7))
            caches = catalog.devices[device].placements["flash"].caches
            cache = "cold" if "cold" in caches else caches[0]
            failure = draw.choice(tuple(FAILURES))
            for length in lengths:
                if not cipher.message.allows(length):
                    continue
                for operation in OPERATIONS:
                    cycles = round(speed * (length if operation != "setup" else 9) * draw.uniform(14, 18))
                    m = Measurement(
                        device=device,
                        library=body.library,
                        configuration=body.configuration,
                        cipher=body.cipher,
                        variant=body.variant,
                        key_bits=body.key_bits[0],
                        operation=operation,
                        message_bytes=length,
                        ad_bytes=0,
                        tag_bytes=cipher.tag_bytes,
                        placement="flash",
                        cache=cache,
                        cycles_min=cycles if fits else None,
                        cycles_median=cycles if fits else None,
                        cycles_max=cycles + varies if fits else None,
                        inputs=8,
                        timing_varies=varies > 0 if fits else None,
                        time_us=cycles / catalog.devices[device].clock_hz * 1e6 if fits else None,
                        flash_bytes=flash,
                        flash_symbol_bytes=flash,
                        ram_bytes=ram,
                        eeprom_bytes=0,
                        stack_bytes=STACKS[operation] if fits else None,
                        status="ok" if fits else failure,
                        reason="" if fits else FAILURES[failure],
                        compiler="gcc <made up> & co",
                        flags=" ".join(
                            (*catalog.devices[device].compiler.machine_flags, "-Os", *body.c_flags)
                        ),
                        runner="made-up",
                        cycles_exact=True,
                        elf_sha256="00",
                        measured_at="2026-01-01T00:00:00+00:00",
                        motecrypt_version="0",
                    )
                    stored[f"{device} {body.cipher} {body.name} {operation} {length}"] = m
    results.store(stored)
    matrix = [[100] * 16 if bit < 64 else [0] * 16 for bit in range(128)]
    shown = {
        "input": "plaintext",
        "input_bytes": 16,
        "output_bytes": 16,
        "percent_changed_by_input_bit_and_output_byte": matrix,
    }
    results.store_experiment(
        "audit",
        1,
        {
            "cipher": "rc4d",
            "part": "diffusion",
            "implementation": "motecrypt/plain",
            "seed": 1,
            "quick": False,
        },
        {
            "title": "Diffusion",
            "verdict": "full <made up>",
            "weight": "note",
            "sentences": ["See https://example.org/made-up & more."],
            "data": {"encrypt": {"matrix": shown}},
        },
    )
    return len(stored)
