"""The command `fedproof`.

Exit status: 0 done; 1 a verdict is `refuted` or `vacuous`, or a certificate failed; 2 bad usage or bad input, with one
line on stderr that starts with ``error:``; 3 the values given violate a hypothesis of the claim (the value is printed
all the same); 130 interrupted. Heavy packages are imported by the commands that use them, so that the others are quick.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from validate.commands import (
    auditing,
    catalogue,
    doctor,
    evidence,
    falsification,
    feasibility,
    mutation,
    oracle,
    own,
    proof,
    radius,
    simulation,
    sweeping,
    weights,
)

logger = logging.getLogger(__name__)

INTERRUPTED = 130


def usage_message(error: Exception) -> str | None:
    """What typer has to say about a misused command in one line, or None when `error` is not of that kind."""
    describe = getattr(error, "format_message", None)
    if describe is None:
        return None
    message = one_line(str(describe())).rstrip(".")
    context = getattr(error, "ctx", None)
    return f"{message} (see `{context.command_path} --help`)" if context is not None else message


def input_message(error: ValueError | OSError) -> str:
    """A bad input in one line."""
    if isinstance(error, OSError) and error.strerror:
        return one_line(f"{error.filename}: {error.strerror}" if error.filename is not None else error.strerror)
    return one_line(str(error)) or type(error).__name__


def one_line(text: str) -> str:
    """A text in one line that a terminal may show: what is not printable, escape sequences above all, as its code."""
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in " ".join(text.split()))


class Commands(TyperGroup):
    """The group of all commands; it turns every error that the user can mend into one line and a status."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command; a reader that has seen enough, such as `head`, ends it without an error."""
        try:
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
            typer.echo(f"error: {input_message(error)}", err=True)
            status = 2
        except MemoryError as error:
            logger.debug("the error came from here", exc_info=error)
            typer.echo("error: this needs more memory than there is", err=True)
            status = 2
        except Exception as error:
            message = usage_message(error)
            if message is None:
                raise
            typer.echo(f"error: {message}", err=True)
            status = 2
        if status == INTERRUPTED:
            typer.echo("interrupted", err=True)
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

    Exit status: 0 done; 1 a verdict or certificate failed; 2 bad usage or bad input; 3 a hypothesis of the claim is
    violated by the values given.
    """
    if verbose:
        logging.basicConfig(stream=sys.stderr, format="%(name)s: %(message)s")
        for floor in ("theory", "sim", "validate"):
            logging.getLogger(floor).setLevel(logging.DEBUG)
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


for command in (
    catalogue.claims,
    catalogue.show,
    catalogue.bound,
    proof.replay,
    feasibility.feasible,
    weights.weights,
    radius.radius,
    falsification.falsify,
    mutation.mutate,
    own.new,
    oracle.moments,
    auditing.audit,
    evidence.check,
    evidence.verify,
    evidence.report,
    evidence.reproduce,
    simulation.simulate,
    sweeping.sweep,
    doctor.doctor,
):
    app.command()(command)


def main() -> None:
    """Entry point of the console script."""
    app()
