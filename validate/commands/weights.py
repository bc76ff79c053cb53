"""Who learns with whom: `fedproof weights`."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from validate.commands.options import AsJson
from validate.commands.output import number, print_json, table

if TYPE_CHECKING:
    import numpy as np

    from theory.mixing import Weights


def numbers(name: str, text: str) -> list[float]:
    """Numbers with commas between them: decimals or fractions.

    Raises:
        ValueError: one of them is neither, or not finite as a float.
    """
    return [entry(f"{name}[{place}]", word.strip()) for place, word in enumerate(text.split(","))]


def entry(name: str, text: str) -> float:
    """One decimal or fraction.

    Raises:
        ValueError: it is neither, or not finite as a float.
    """
    try:
        value = float(Fraction(text)) if "/" in text else float(text)
    except (ValueError, ZeroDivisionError, OverflowError):
        value = math.nan
    if "_" in text or not math.isfinite(value):
        raise ValueError(f"{name}={text[:80]!r} is not a finite number")
    return value


def read_gradients(path: Path) -> np.ndarray:
    """The matrix in a .npy file. Pickled objects are refused, as loading them would run code.

    Raises:
        ValueError: the file holds something else.
        OSError: it cannot be read.
    """
    import numpy as np

    with path.open("rb") as file:
        if file.read(6) != b"\x93NUMPY":
            raise ValueError(f"{path} is not a .npy file")
        file.seek(0)
        try:
            found = np.load(file, allow_pickle=False)
        except (ValueError, EOFError, SyntaxError, TypeError, MemoryError) as error:
            raise ValueError(f"{path} is not a .npy file of numbers: {error}") from error
    if found.ndim != 2 or found.dtype.kind not in "iuf":
        raise ValueError(f"{path} holds {found.dtype} of shape {found.shape}; real numbers of shape (N, d) are needed")
    return np.asarray(found)


def solve(
    z: str | None, gradients: Path | None, n: str, lam: str, vc: str | None, client: int | None
) -> tuple[Weights, list[float]]:
    """The weights, and the numbers of samples.

    Raises:
        ValueError: for a bad input.
        OSError: when the file cannot be read.
    """
    from theory.mixing import discrepancies, mixing_weights

    if (z is None) == (gradients is None):
        raise ValueError("either --z or --gradients is needed" if z is None else "--z excludes --gradients")
    if client is not None and gradients is None:
        raise ValueError("--client chooses a row of --gradients; --z is about one client already")
    counts, penalty = numbers("n", n), entry("lam", lam)
    complexities = None if vc is None else numbers("vc", vc)
    costs: Any
    if gradients is None:
        assert z is not None
        costs = numbers("z", z)
    else:
        costs = discrepancies(read_gradients(gradients), client)
    return mixing_weights(costs, counts, penalty, vc=complexities), counts


def show(solution: Weights, counts: list[float]) -> None:
    """Print the weights for a reader: one client's as a table, those of all as a line a client."""
    if solution.weights.ndim == 1:
        pairs = zip(counts, solution.weights, strict=True)
        rows = [[str(j), number(n), number(float(a))] for j, (n, a) in enumerate(pairs, 1)]
        table(["client", "n", "weight"], rows)
        for name in ("multiplier", "objective", "kkt_residual"):
            typer.echo(f"{name} = {number(float(getattr(solution, name)))}")
        return
    each = zip(solution.weights, solution.multiplier, strict=True)
    rows = [
        [str(i), ", ".join(f"{j}: {a:.4g}" for j, a in enumerate(row, 1) if a > 0), number(float(multiplier))]
        for i, (row, multiplier) in enumerate(each, 1)
    ]
    table(["client", "weights", "multiplier"], rows)
    typer.echo(f"kkt_residual <= {number(float(solution.kkt_residual.max()))}")


def weights(
    n: Annotated[str, typer.Option("--n", metavar="N1,N2,...", help="Numbers of samples of the clients.")],
    lam: Annotated[str, typer.Option("--lam", metavar="LAMBDA", help="Penalty on sum_j a_j^2/n_j, positive.")],
    z: Annotated[str | None, typer.Option("--z", metavar="Z1,Z2,...", help="Discrepancies to the clients.")] = None,
    gradients: Annotated[
        Path | None, typer.Option("--gradients", metavar="FILE.npy", help="Their gradients, one a row.")
    ] = None,
    client: Annotated[
        int | None, typer.Option("--client", help="With --gradients: only the client of this row, from 0.")
    ] = None,
    vc: Annotated[
        str | None, typer.Option("--vc", metavar="VC1,VC2,...", help="Complexities: adds sqrt(vc_j/n_j) to z_j.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Solve for mixing weights of the clients.

    They minimise sum_j a_j z_j + lam sum_j a_j^2/n_j over the simplex (Deng et al., 2). With --gradients, z_ij is the
    squared distance between the gradients of clients i and j, and every client gets its weights.

    Example: fedproof weights --z 0,0.5,2 --n 500,100,1000 --lam 200
    """
    from dataclasses import fields

    solution, counts = solve(z, gradients, n, lam, vc, client)
    if as_json:
        print_json({field.name: getattr(solution, field.name) for field in fields(solution)})
    else:
        show(solution, counts)
