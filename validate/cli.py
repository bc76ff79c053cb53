"""The command `fedproof`.

Exit status: 0 done; 1 a verdict is `refuted` or `vacuous`, or a certificate failed; 2 bad usage or bad input, with one
line on stderr that starts with ``error:``; 3 the values given violate a hypothesis of the claim (the value is printed
all the same); 70 a defect of fedproof; 130 interrupted (docs/command-line.md). A command's module is imported when it
is called, and heavy packages by the commands that use them, so that the others are quick.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from collections.abc import Iterator, MutableMapping, Sequence
from contextlib import nullcontext
from importlib import import_module
from typing import Annotated, Any

# Ctrl-C while the modules below are loaded ends the command, without a traceback of theirs.
_ours = threading.current_thread() is threading.main_thread()
_ours = _ours and signal.getsignal(signal.SIGINT) is signal.default_int_handler  # and not one that ignores interrupts
if _ours:
    signal.signal(signal.SIGINT, signal.SIG_DFL)

import typer  # noqa: E402
from typer.core import TyperGroup  # noqa: E402

from validate.commands import messages  # noqa: E402
from validate.commands.output import json_alone, noticing_interrupts, say  # noqa: E402
from validate.memory import collect_seldom  # noqa: E402

if _ours:
    signal.signal(signal.SIGINT, signal.default_int_handler)

logger = logging.getLogger(__name__)

INTERRUPTED = 130
JSON = "fedproof.json"  # under which the context has whether JSON is asked for
DEFECT = 70  # EX_SOFTWARE of sysexits.h, as 1 says something about claims

MODULES = {
    "claims": "catalogue",
    "show": "catalogue",
    "bound": "catalogue",
    "prove": "prove",
    "replay": "proof",
    "export": "exporting",
    "feasible": "feasibility",
    "weights": "weights",
    "radius": "radius",
    "falsify": "falsification",
    "repair": "repairing",
    "mutate": "mutation",
    "sharpen": "sharpening",
    "new": "own",
    "read": "reading",
    "moments": "oracle",
    "measure": "measuring",
    "compare": "comparing",
    "diff": "differing",
    "audit": "auditing",
    "check": "evidence",
    "verify": "evidence",
    "report": "evidence",
    "review": "reviewing",
    "reproduce": "evidence",
    "simulate": "simulation",
    "sweep": "sweeping",
    "doctor": "doctor",
}
"""By command, the module of `validate.commands` with the function of that name; in the order of the help."""


class Loaded(MutableMapping[str, Any]):
    """The commands by name, each made from its function when it is first asked for."""

    def __init__(self) -> None:
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            function = getattr(import_module(f"validate.commands.{MODULES[name]}"), name)
            alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
            alone.command(name)(function)
            self._made[name] = typer.main.get_command(alone)
        return self._made[name]

    def __setitem__(self, name: str, command: Any) -> None:
        self._made[name] = command

    def __delitem__(self, name: str) -> None:
        del self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(MODULES)

    def __len__(self) -> int:
        return len(MODULES)


class Commands(TyperGroup):
    """The group of all commands; it turns every error that the user can mend into one line and a status."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = Loaded()

    def list_commands(self, ctx: Any) -> list[str]:
        """The names of the commands, of which none is loaded."""
        return list(self.commands)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Note whether the command is asked for JSON, with which nothing else may stand on stdout.

        Raises:
            ValueError: for an argument that is empty; as a path it would be the working folder.
        """
        for before, argument in zip(["", *args], args, strict=False):
            if not argument or (argument.startswith("--") and argument.endswith("=")):
                name = argument.rstrip("=") or (before if before.startswith("-") else "an argument")
                raise ValueError(f"{name} is empty; give a value, or leave it out")
        ctx.meta[JSON] = "--json" in (args[: args.index("--")] if "--" in args else args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run a command; a reader that has seen enough, such as `head`, ends it without an error."""
        try:
            with noticing_interrupts(), json_alone() if ctx.meta[JSON] else nullcontext():
                return super().invoke(ctx)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit from None

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run a command; returns its status when not `standalone_mode`, else exits with it."""
        try:
            status = super().main(args, prog_name, complete_var, False, windows_expand_args, **extra) or 0
        except (ValueError, OSError) as error:
            logger.debug("the error came from here", exc_info=error)
            say(f"error: {messages.bad_input(error)}")
            status = 2
        except MemoryError as error:
            logger.debug("the error came from here", exc_info=error)
            say("error: this needs more memory than there is")
            status = 2
        except Exception as error:
            called = [word for word in (sys.argv[1:] if args is None else args) if word in MODULES]
            message = messages.misuse(error, " ".join(["fedproof", *called[:1]]))
            if message is None:
                raise
            say(f"error: {message}")
            status = 2
        if status == INTERRUPTED:
            say("interrupted")
        if standalone_mode:
            sys.exit(status)
        return status


app = typer.Typer(
    name="fedproof",
    cls=Commands,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
)


def show_version(wanted: bool) -> None:
    """Print the version and leave."""
    if wanted:
        from importlib.metadata import version

        typer.echo(f"fedproof {version('fedproof')}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Print the version.")
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Log to stderr, with tracebacks of errors.")] = False,
) -> None:
    """Puts the theorems of federated optimisation to the test.

    Exit status: 0 done; 1 a claim is refuted, or a check failed; 2 bad usage or bad input (one line on stderr); 3 the
    values violate a hypothesis; 70 a defect of fedproof; 130 interrupted. Results go to stdout, progress and errors to
    stderr; every command has --json. More: docs/command-line.md.
    """
    if verbose:
        logging.basicConfig(stream=sys.stderr, format="%(name)s: %(message)s")
        for floor in ("theory", "sim", "validate"):
            logging.getLogger(floor).setLevel(logging.DEBUG)
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def _open_streams() -> None:
    """Open what the caller has closed of stdin, stdout and stderr, as the null device.

    Else the next file that is opened would get the number of one of them, and all that is printed.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115


def main() -> None:
    """Entry point of the console script; a defect has its traceback on stderr, and a status of its own."""
    _open_streams()
    collect_seldom()
    try:
        app()
    except Exception:
        import traceback

        say(traceback.format_exc())
        say("error: this is a defect of fedproof, not of your input; please report the lines above")
        sys.exit(DEFECT)


if __name__ == "__main__":
    main()
