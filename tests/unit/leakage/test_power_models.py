"""Models: their channels, weighted sums, and files of coefficients that are refused in one line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from motecrypt.attack.leakage.models import MODELS, read_coefficients
from motecrypt.attack.leakage.recording import CHANNELS
from motecrypt.base.errors import InputError

SAMPLES = np.arange(2 * len(CHANNELS) * 3, dtype=np.uint8).reshape(2, len(CHANNELS), 3)


def test_weight_and_distance_are_all_channels_together() -> None:
    assert MODELS["weight"].of(SAMPLES).tolist() == SAMPLES[:, :1].tolist()
    assert MODELS["distance"].of(SAMPLES).tolist() == SAMPLES[:, 1:].tolist()
    assert MODELS["both"].rows == CHANNELS


def test_coefficients_weigh_channels_whatever_was_recorded(tmp_path: Path) -> None:
    path = tmp_path / "m0.toml"
    path.write_text("[coefficients]\ndata = 2\nresult = 0.5\ncell = 0\n")
    model = read_coefficients(path)
    assert (model.name, model.channels, model.rows) == ("m0.toml", ("result", "data"), ("sum",))
    wanted = 0.5 * SAMPLES[:, 0] + 2.0 * SAMPLES[:, CHANNELS.index("data")]
    assert model.of(SAMPLES)[:, 0].tolist() == wanted.tolist()
    some = SAMPLES[:, [0, 1, CHANNELS.index("data")]]
    assert model.of(some, ("result", "register", "data"))[:, 0].tolist() == wanted.tolist()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[coefficients", "not valid TOML"),
        ("x = 1", "'coefficients' is missing"),
        ("[coefficients]\nbus = 1", "coefficients: unknown 'bus'"),
        ("[coefficients]\ndata = true", "'data' is True; expected a number"),
        ("[coefficients]\ndata = nan", "data: is nan"),
        ("[coefficients]\ndata = 0", "every coefficient is 0"),
    ],
)
def test_a_wrong_file_is_one_line(text: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / "c.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=told) as error:
        read_coefficients(path)
    assert "\n" not in str(error.value)
