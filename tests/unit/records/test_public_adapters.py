"""The adapters of public code call it as its own users do: what they add would count as its cycles."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PUBLIC = Path(__file__).resolve().parents[3] / "benchmarks" / "public"
SOURCES = sorted(PUBLIC.glob("*/*.c"))
WRAPPER = re.compile(r"^(?:static )?(?:inline )?void (?:block_(?:en|de)crypt|chacha20_block)\(", re.MULTILINE)


def test_a_wrapper_is_found() -> None:
    assert SOURCES
    for text in (
        "void block_encrypt(const struct block_key *key, uint8_t *block) {\n",
        "void chacha20_block(uint32_t *b",
    ):
        assert WRAPPER.search("#include <a.h>\n" + text)


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_no_adapter_wraps_a_block_in_a_function_of_its_own(source: Path) -> None:
    """A call of a call and its copies took up to a tenth of the cycles; a mode calls the library itself."""
    assert not WRAPPER.search(source.read_text())


@pytest.mark.parametrize("name", ["cortexm-aes", "aes-armcortexm"])
def test_aligned_messages_are_not_copied(name: str) -> None:
    """The direct loop comes first; blocks are moved only where the library cannot load them."""
    text = (PUBLIC / name / "ecb_mode.c").read_text()
    direct = text.index("CALL(function, rounds, in, out)")
    assert text.index("if (is_aligned(io))") < direct < text.index("load(words, in);")
    assert "memcpy(words, in" not in text
