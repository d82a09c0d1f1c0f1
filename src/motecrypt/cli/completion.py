"""motecrypt completion: completion of commands and options for bash, zsh and fish."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

SHELLS = ("bash", "zsh", "fish")
VARIABLE = "_MOTECRYPT_COMPLETE"
"""What the printed script sets to ask; click answers it before any command runs."""


@click.command(epilog='Example: eval "$(motecrypt completion bash)"')
@click.argument("shell", type=click.Choice(SHELLS))
def command(shell: str) -> None:
    """Print the script that completes commands and options in SHELL.

    bash: put eval "$(motecrypt completion bash)" into ~/.bashrc. zsh: the same with zsh, into ~/.zshrc, after
    compinit. fish: motecrypt completion fish > ~/.config/fish/completions/motecrypt.fish
    """
    root = click.get_current_context().find_root()
    found = get_completion_class(shell)
    assert found is not None, "click knows these shells"
    print(found(root.command, {}, "motecrypt", VARIABLE).source())
