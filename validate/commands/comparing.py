"""What theory promises for a reader's numbers: `fedproof compare`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from validate.commands.options import AsJson
from validate.commands.output import number, print_json, progress, table

if TYPE_CHECKING:
    from theory.claim import Claim
    from validate.compare.comparison import Comparison, Row

SEVERAL = 3
"""Ids that are listed of claims that lack the same."""
LONGEST = 70
"""Characters of what they lack; JSON has all."""


def compare(
    L: Annotated[float, typer.Option("--L", help="Every function is L-smooth.")],
    N: Annotated[int, typer.Option("--N", help="Clients.")],
    rounds: Annotated[int, typer.Option("--rounds", help="Rounds of the algorithm.")],
    mu: Annotated[float, typer.Option("--mu", help="Every function is mu-strongly convex; 0: convex.")] = 0.0,
    H: Annotated[int | None, typer.Option("--H", help="Local steps, turns of loops.")] = None,
    sigma2: Annotated[float | None, typer.Option("--sigma2", help="Variance of a client's sampled gradient.")] = None,
    zeta: Annotated[
        float | None,
        typer.Option("--zeta", help="Root mean square distance of the clients' gradients from their mean."),
    ] = None,
    distance: Annotated[float, typer.Option("--distance", help="From the start to the minimiser.")] = 1.0,
    S: Annotated[int | None, typer.Option("--S", help="Clients that take part in a round.")] = None,
    batch: Annotated[int | None, typer.Option("--batch", help="Samples of a minibatch.")] = None,
    kept: Annotated[int | None, typer.Option("--kept", help="Coordinates that a compression keeps.")] = None,
    n: Annotated[int | None, typer.Option("--n", help="Samples of a client.")] = None,
    d: Annotated[int | None, typer.Option("--d", help="Coordinates.")] = None,
    G2: Annotated[
        float | None, typer.Option("--G2", help="Bound on E norm2 of every gradient that a run uses.")
    ] = None,
    quantity: Annotated[
        str | None,
        typer.Option("--quantity", help="distance, gap or gradient; else distance where mu > 0, and gap where not."),
    ] = None,
    only: Annotated[
        bool, typer.Option("--only", help="No bounds of other quantities, which bound this one through mu or L.")
    ] = False,
    assignments: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="ID:NAME=VALUE", help="A number of one claim that nothing else says."),
    ] = None,
    also: Annotated[
        list[str] | None, typer.Option("--also", metavar="PAPER.py", help="Claims of your own, from a file.")
    ] = None,
    measured: Annotated[
        bool, typer.Option("--measured", help="Run the algorithms at these steps, and hold both together.")
    ] = False,
    verdicts: Annotated[Path, typer.Option("--verdicts", help="Folder in which `check` left its verdicts.")] = Path(
        "fedproof-out"
    ),
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FIGURE", help="Draw what is promised: .svg, .png or .pdf.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say which algorithm and step theory promises most for.

    Every claim that bounds the quantity is evaluated at these numbers, its free steps chosen within its conditions so
    that it promises most; the best promise comes first. What a number that is not given would decide is listed under
    what it needs. Refuted claims are shown, and not ranked.

    Example: fedproof compare --mu 0.1 --L 10 --N 10 --H 5 --rounds 1000 --sigma2 0.5 --zeta 2 --n 4
    """
    from validate.compare.comparison import QUANTITIES
    from validate.compare.comparison import compare as compared
    from validate.compare.numbers import Numbers

    numbers = Numbers(
        L=L, N=N, rounds=rounds, mu=mu, H=H, sigma2=sigma2, zeta=zeta, distance=distance, S=S, batch=batch, kept=kept,
        n=n, d=d, G2=G2,
    )  # fmt: skip
    chosen: Any = quantity or ("distance" if mu > 0 else "gap")
    if chosen not in QUANTITIES:
        raise ValueError(f"--quantity={quantity} is none of {', '.join(QUANTITIES)}")
    if out is not None:
        _drawable(out)
    claims = _claims(also or [])
    found = compared(
        claims, numbers, chosen, verdicts=_verdicts(claims, verdicts), measuring=measured, only=only,
        given=_given(assignments or [], claims),
    )  # fmt: skip
    if out is not None:
        from validate.compare.figure import draw

        draw(found, QUANTITIES[found.measure], out)
        progress(f"{out} has the figure")
    if as_json:
        print_json({"numbers": dict(vars(numbers)), **found.to_json()})
    else:
        _print(found)


def _claims(files: list[str]) -> tuple[Claim, ...]:
    """The catalogue's claims, those of its collections and of files among them."""
    from theory import catalog
    from validate.commands import own

    for path in files:
        if not path.endswith(".py"):
            raise ValueError(f"--also={path} is no Python file")
    own.known(files)
    return (*catalog.claims(), *(claim for name in catalog.COLLECTIONS for claim in catalog.claims(name)))


def _verdicts(claims: tuple[Claim, ...], folder: Path) -> dict[str, str]:
    """What checks said of the claims as they stand."""
    from validate import kept

    known = kept.known(folder)
    return {c.id: str(known[c.id]["verdict"]) for c in claims if c.id in known and kept.current(known[c.id], c)}


def _given(assignments: list[str], claims: tuple[Claim, ...]) -> dict[str, dict[str, float]]:
    """By claim, the values of its own names."""
    found: dict[str, dict[str, float]] = {}
    ids = {claim.id for claim in claims}
    for text in assignments:
        name, equals, value = text.rpartition("=")
        id_, colon, own = name.rpartition(":")
        if not equals or not colon or id_ not in ids:
            raise ValueError(f"--set {text!r} is not ID:NAME=VALUE with the id of a claim")
        try:
            found.setdefault(id_, {})[own.strip()] = float(value)
        except ValueError:
            raise ValueError(f"--set {text!r}: {value!r} is no number") from None
    return found


def _drawable(out: Path) -> None:
    if out.suffix not in (".svg", ".png", ".pdf"):
        raise ValueError(f"--out={out} does not end in .svg, .png or .pdf")
    if not out.absolute().parent.is_dir():
        raise ValueError(f"--out={out}: there is no folder {out.absolute().parent}")


def _print(found: Comparison) -> None:
    from validate.compare.comparison import QUANTITIES

    typer.echo(f"{QUANTITIES[found.measure]}: what is promised, the least first")
    measured = any(row.measured is not None for row in (*found.rows, *found.struck))
    heads = ["", "claim", "algorithm", "promises", "of", "at", "class", "gradients", "communications", "verdict"]
    rows = [_cells(str(at + 1), row, measured) for at, row in enumerate(found.rows)]
    rows += [_cells("-", row, measured) for row in found.struck]
    table([*heads, *(["measured", "ratio"] if measured else []), "source"], rows)
    for what, lacking in (("needs", found.needs), ("cannot hold", found.cannot)):
        by: dict[tuple[str, ...], list[str]] = {}
        for claim, why in lacking.items():
            by.setdefault(why, []).append(claim)
        for why, ids in sorted(by.items(), key=lambda one: -len(one[1])):
            more = f" and {len(ids) - SEVERAL} more" if len(ids) > SEVERAL else ""
            words = [_option(name) if what == "needs" else name for name in why]
            shown = ", ".join(word if len(word) <= LONGEST else f"{word[:LONGEST]}..." for word in words)
            typer.echo(f"{what} {shown}: {', '.join(ids[:SEVERAL])}{more}")


def _option(name: str) -> str:
    from dataclasses import fields

    from validate.compare.numbers import Numbers

    return f"--{name}" if name in {f.name for f in fields(Numbers)} else name


def _cells(place: str, row: Row, measured: bool) -> list[str]:
    from validate.compare.comparison import WHERE, class_of

    one = row.promise
    of = one.claim.of
    at = ", ".join(f"{name} = {_tuned(value)}" for name, value in one.steps.items())
    where = WHERE[one.quantity.where] + (f", times {row.through}" if row.through else "")
    cost = ["", ""] if row.costs is None else [number(row.costs.gradients), number(row.costs.communications)]
    truth = [number(row.truth), number(row.ratio)] if measured else []
    verdict = row.struck if row.struck and row.struck != row.verdict else row.verdict or "not checked"
    verdict += f" ({one.claim.sure})" if one.claim.sure else ""
    algorithm = "" if of is None else of.name
    return [
        place, one.claim.id, algorithm, number(row.value), where, at, class_of(one.claim), *cost, verdict, *truth,
        one.claim.source,
    ]  # fmt: skip


def _tuned(value: float) -> str:
    """A number of the algorithm; at the ends of what is tried it goes to 0, or grows without end."""
    return "-> 0" if value < 1e-11 else "-> inf" if value > 1e11 else f"{value:.6g}"
