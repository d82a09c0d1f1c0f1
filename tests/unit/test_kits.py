"""Kits: what set-up installs, and what a missing one means."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest

from motecrypt.errors import InputError
from motecrypt.setup.kits import Kit

#: The module; `motecrypt.setup.kits` names its function.
kits_module = sys.modules[Kit.__module__]

NOWHERE = Kit(
    name="nowhere",
    title="A thing that no package brings",
    debian=("nothing",),
    commands=(),
    files=("/nonexistent/thing",),
    python=(),
    download_mb=1,
    optional=False,
    note="nothing is lost",
)


@pytest.mark.parametrize("optional", [False, True])
def test_what_an_installation_did_not_bring_ends_only_what_cannot_go_on_without_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], optional: bool
) -> None:
    told: list[tuple[str, str]] = []
    monkeypatch.setattr(kits_module, "kits", lambda: {"nowhere": replace(NOWHERE, optional=optional)})
    monkeypatch.setattr(kits_module, "_install_debian", lambda kit: None)
    monkeypatch.setattr(kits_module, "left_out", lambda what, why: told.append((what, why)))
    if optional:
        kits_module.need("nowhere")
        assert told[0][0] == NOWHERE.title and "/nonexistent/thing missing" in told[0][1]
        assert "nothing is lost" in capsys.readouterr().err
    else:
        with pytest.raises(InputError, match="/nonexistent/thing missing"):
            kits_module.need("nowhere")
        assert not told
