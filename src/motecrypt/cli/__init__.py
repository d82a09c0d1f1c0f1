"""The command line. Each module here whose name has no leading underscore is one command.

A command module defines ``command`` (a click command): it parses, ensures what it needs, calls a
view and prints. Modules are imported only when their command is asked for, and what is heavy only where it
is used, so start-up stays fast; the list of all commands reads their summaries without importing any.
Nothing else in the project imports this package.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys
from pathlib import Path
from typing import Any

import click
from click.formatting import HelpFormatter

from motecrypt import __version__
from motecrypt.base.errors import MotecryptError
from motecrypt.base.text import Door
from motecrypt.cli._interrupt import CODE, Interrupts, interrupts

TYPED = "motecrypt.typed"
"""The name under which the context keeps the words of the command as they were typed."""

RENAMED = {"link": "airtime", "mote": "node"}
"""Commands by the name that they had in the version before. It works, and prints the new one."""


class _Commands(click.Group):
    """Finds commands as modules of this package."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(m.name.replace("_", "-") for m in pkgutil.iter_modules(__path__) if m.name[0] != "_")

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        module = importlib.import_module(f"{__name__}.{cmd_name.replace('-', '_')}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: HelpFormatter) -> None:
        """The list of commands in `motecrypt --help`, each with its summary."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, _summary(name)) for name in self.list_commands(ctx)])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] in RENAMED:
            old, args = args[0], [RENAMED[args[0]], *args[1:]]
            print(
                f"motecrypt: '{old}' is '{args[0]}' now; the old name goes with the next version",
                file=sys.stderr,
            )
        if args and not args[0].startswith("-") and args[0] not in self.list_commands(ctx):
            from motecrypt.catalog import nearest  # reads what every command would wait for

            raise click.UsageError(nearest("command", args[0], self.list_commands(ctx)))
        ctx.meta[TYPED] = tuple(args)
        return super().resolve_command(ctx, args)


def _summary(name: str) -> str:
    """What a command is, by the first line of its module ("motecrypt NAME: SUMMARY."); empty if there is
    none. The module is not imported: to import all of them takes ten times as long."""
    path = Path(__file__).with_name(f"{name.replace('-', '_')}.py")
    try:
        with path.open(encoding="utf-8") as file:
            line = file.readline()
    except OSError:
        return ""
    told = line.strip().removesuffix('"""').removesuffix(".").partition(f"motecrypt {name}: ")[2]
    return told[:1].upper() + told[1:]


FIRST = """\
motecrypt measures what encryption costs on small wireless devices. Three things to try:

  motecrypt demo
      from a choice to a simulated node and its gateway, in about a minute.
  motecrypt advise --device uno --radio srf --bytes 20 --every 10s --battery 3xAA
      which cipher to use, what it costs, how long the battery lasts.
  motecrypt reproduce rc4d
      a published study compared with our measurements.

All commands: motecrypt --help. Completion of commands and options: motecrypt completion bash
"""


@click.command(
    cls=_Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="motecrypt")
@click.pass_context
def application(context: click.Context) -> None:
    """Compare encryption for small wireless devices: cycles, memory, air time, battery, security.

    Example: motecrypt reproduce rc4d
    """
    if context.invoked_subcommand is None:
        print(FIRST, end="")


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; every failure is one line on standard error and an exit code."""
    # Work is divided into processes and threads here; products of small matrices are slower in several.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    _prepare_streams()
    doors = _close_doors()
    with interrupts() as interrupted:
        code = _run(arguments, interrupted)
    if code != CODE:
        interrupted.cancel()
    _tell_shortages()
    for (
        name,
        door,
    ) in doors.items():  # not after an exception that nobody expected: its trace goes through too
        if getattr(sys, name) is door:
            setattr(sys, name, door.behind)
    sys.exit(code)


def _run(arguments: list[str] | None, interrupted: Interrupts) -> int:
    try:
        result = application.main(args=arguments, prog_name="motecrypt", standalone_mode=False)
        code = result if isinstance(result, int) else 0
        sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as error:
        print(error.format_message(), file=sys.stderr)
        code = 2
    except click.exceptions.Exit as stop:
        code = stop.exit_code
    except click.ClickException as error:
        hint = ""
        if isinstance(error, click.UsageError) and error.ctx is not None:
            hint = f" (see '{error.ctx.command_path} --help')"
        print(f"motecrypt: {' '.join(error.format_message().split())}{hint}", file=sys.stderr)
        code = 2
    except (click.exceptions.Abort, KeyboardInterrupt):
        interrupted.tell()
        code = CODE
    except MotecryptError as error:
        print(f"motecrypt: {' '.join(str(error).split())}", file=sys.stderr)
        code = error.exit_code
    except OSError as error:
        code = _output_failed(error)
    except SystemExit as stop:  # click's own answer to a closed pipe
        code = 0 if "PacifyFlushWrapper" in type(sys.stdout).__name__ else _code_of(stop)
    return code


def _tell_shortages() -> None:
    """One line of what the command continued without; a command that never loaded set-up missed nothing."""
    setup = sys.modules.get("motecrypt.build.setup")
    line = setup.summary() if setup is not None else ""
    if line:
        print(f"motecrypt: {line}", file=sys.stderr)


def _prepare_streams() -> None:
    """Standard streams that can be written to: closed ones lead nowhere, and µ never ends a table."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - until the end
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def _close_doors() -> dict[str, Any]:
    """From now on, control characters are removed from everything printed to a terminal, also by
    libraries."""
    doors = {name: Door(getattr(sys, name)) for name in ("stdout", "stderr")}
    for name, door in doors.items():
        setattr(sys, name, door)
    return doors


def _output_failed(error: OSError) -> int:
    """A reader that closed the pipe is not a failure; a full disk is."""
    sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - nothing more can be said there
    if isinstance(error, BrokenPipeError):
        return 0
    print(f"motecrypt: {error.filename or 'output'}: {error.strerror or error}", file=sys.stderr)
    return 1


def _code_of(stop: SystemExit) -> int:
    return stop.code if isinstance(stop.code, int) else int(stop.code is not None)
