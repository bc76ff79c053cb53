"""Is the installation sound: `fedproof doctor`."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import platform
from pathlib import Path
from typing import Annotated, Any

import typer

from validate.commands import missing
from validate.commands.options import AsJson
from validate.commands.output import print_json, progress, table

FLOORS = ("theory", "sim", "validate")
HOME = Path(__file__).resolve().parents[2]
REQUIRED = {
    "numpy": "numbers",
    "scipy": "statistics",
    "sympy": "algebra",
    "python-flint": "exact numbers, enclosures",
    "torch": "simulator",
    "cvxpy": "mixing weights",
    "clarabel": "derivations, worst cases",
    "matplotlib": "figures",
    "fonttools": "formulas of the report",
    "jinja2": "report",
    "typer": "command line",
    "rich": "progress bars",
    "filelock": "sweeps",
}
"""By package that fedproof needs, what for."""
EXTRAS = {
    "smt": ("z3 proves that hypotheses cannot hold together", ("z3-solver",)),
    "data": ("experiments on digits", ("scikit-learn",)),
    "cluster": ("sweeps on a cluster", ("dask", "distributed")),
    "tables": ("sweeps exported as Parquet", ("pyarrow",)),
    "test": ("strategies and assertions for your own tests", ("hypothesis", "pytest")),
    "fuzz": ("random inputs to all that reads any", ("atheris",)),
    "dev": ("work on fedproof itself", ("pytest-xdist", "pepit", "ruff", "mypy", "numba")),
    "docs": ("the documentation's site", ("sphinx", "furo", "myst-parser", "myst-nb")),
}
"""By extra, what it is for, and its packages: those of pyproject.toml, but for what another extra has already."""
PACKAGES = (*REQUIRED, *(name for _, names in EXTRAS.values() for name in names))


def clashes() -> list[str]:
    """What else lays claim to the names of fedproof's packages.

    The names are generic: another distribution, or a folder on PYTHONPATH, may bring a package of the same name.
    """
    owners = importlib.metadata.packages_distributions()
    found = []
    for name in FLOORS:
        spec = importlib.util.find_spec(name)
        origin = Path(spec.origin).resolve() if spec is not None and spec.origin is not None else None
        if origin != HOME / name / "__init__.py":
            there = origin or "a folder without __init__.py"
            found.append(f"`import {name}` finds {there}, not fedproof's own package")
        others = sorted(set(owners.get(name, ())) - {"fedproof"})
        if others:
            found.append(f"the package {name} also belongs to the installed distribution {', '.join(others)}")
    return found


def versions() -> dict[str, str | None]:
    """The version of each package that fedproof uses; None for one that is not installed."""
    found: dict[str, str | None] = {}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = None
    return found


def devices() -> list[str]:
    """The devices on which the simulator can run; none where torch cannot be imported."""
    try:
        import torch
    except (ImportError, OSError):  # OSError for a library that torch loads itself
        return []
    names = [f"cuda:{i} ({torch.cuda.get_device_name(i)})" for i in range(torch.cuda.device_count())]
    return [f"cpu ({torch.get_num_threads()} threads)", *names]


def back_ends() -> dict[str, str | None]:
    """What can speed the simulator up, besides torch: by back end, what it would use; None for nothing."""
    from sim.native import build

    compiler = build.compiler()
    return {"native": None if compiler is None else compiler.version, "triton": _triton()}


def _triton() -> str | None:
    """The version of Triton, which torch brings where there are GPUs; None where it is not there."""
    try:
        return importlib.metadata.version("triton")
    except importlib.metadata.PackageNotFoundError:
        return None


def _choices(name: str) -> list[dict[str, str]]:
    """Which back end simulates an algorithm, by type of problem."""
    from validate.back_ends import back_ends_of
    from validate.instances.named import algorithm_named

    return [
        {
            "problem": one.problem, "back_end": one.taken, "why": one.why,
            "gpu_back_end": one.on_gpu, "gpu_why": one.why_on_gpu,
        }
        for one in back_ends_of(algorithm_named(name))
    ]  # fmt: skip


def doctor(
    algorithm: Annotated[
        str | None,
        typer.Argument(
            metavar="[ALGORITHM]",
            help="Also say which back end simulates this one, paper/name or file.py:name, and why.",
        ),
    ] = None,
    no_self_test: Annotated[
        bool, typer.Option("--no-self-test", help="Only look at what is there, and compute nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Look at the installation, and test it.

    Prints versions, what is optional and the extra that brings it, devices, back ends, and clashes of package names;
    then computes a handful of things twice. Exit status 1 when a needed package is missing, another package takes one
    of the names theory, sim and validate, or a self-test fails. Of an algorithm it says, by type of problem, which back
    end simulates it and why.

    Example: fedproof doctor algorithms/scaffold --no-self-test
    """
    choices = _choices(algorithm) if algorithm is not None else None
    facts: dict[str, Any] = {
        "fedproof": importlib.metadata.version("fedproof"),
        "python": platform.python_version(),
        "packages": versions(),
        "extras": {name: {"for": what, "packages": list(brings)} for name, (what, brings) in EXTRAS.items()},
        "devices": devices(),
        "back_ends": back_ends(),
        "choices": choices,
        "clashes": clashes(),
    }
    absent = [name for name in REQUIRED if facts["packages"][name] is None]
    facts |= {"missing": absent, "notes": missing.notes(), "self_test": None}
    if not as_json:
        _show(facts)
    failed = _tested(facts, as_json) if not no_self_test else False
    if as_json:
        print_json(facts)
    if failed or absent or facts["clashes"]:
        raise typer.Exit(1)


def _show(facts: dict[str, Any]) -> None:
    """The installation for a reader."""
    typer.echo(f"fedproof {facts['fedproof']}, Python {facts['python']}")
    installed = facts["packages"]
    table(["needed", "version", "for"], [[name, installed[name] or "MISSING", what] for name, what in REQUIRED.items()])
    typer.echo()
    rows = []
    for extra, (what, names) in EXTRAS.items():
        there = [f"{name} {installed[name]}" for name in names if installed[name] is not None]
        absent = [name for name in names if installed[name] is None]
        text = ", ".join([*there, *([f"not installed: {', '.join(absent)}"] if absent else [])])
        rows.append([extra, text, what])
    table(["extra", "packages", "for"], rows)
    typer.echo("pip install 'fedproof[EXTRA]' brings what an extra lacks")
    typer.echo()
    typer.echo(f"devices: {', '.join(facts['devices']) or 'none: torch cannot be imported'}")
    for name, what in facts["back_ends"].items():
        absent_because = {
            "native": "no C++ compiler found; set CXX",
            "triton": "not installed; torch brings it to Linux machines with a GPU",
        }
        typer.echo(f"back end {name}: {what or absent_because[name]}")
    if facts["choices"]:
        for place, names in (("the CPU", ("back_end", "why")), ("a GPU", ("gpu_back_end", "gpu_why"))):
            rows = [[choice["problem"], *(choice[name] for name in names)] for choice in facts["choices"]]
            typer.echo()
            table(["problem", f"on {place}", "why"], rows)
        typer.echo()
    for name in facts["missing"]:
        typer.echo(f"missing: {name}; pip install --upgrade fedproof brings it")
    for note in facts["notes"]:
        typer.echo(f"note: {note}")
    for clash in facts["clashes"]:
        typer.echo(f"clash: {clash}; install fedproof in an environment of its own")


def _tested(facts: dict[str, Any], as_json: bool) -> bool:
    """Add the self-test to the facts, and say whether a check failed."""
    from validate.self_test import self_test

    outcomes = []
    for found in self_test():
        outcomes.append(found)
        progress(f"self-test: {found.name}: {found.outcome}")
    facts["self_test"] = [found.to_json() for found in outcomes]
    failed = [found for found in outcomes if found.outcome == "FAILED"]
    if not as_json:
        typer.echo()
        rows = [[found.name, found.outcome, f"{found.seconds:.1f} s", found.detail] for found in outcomes]
        table(["self-test", "outcome", "time", "what was found"], rows)
        for found in failed:
            typer.echo(f"{found.name} FAILED: {found.remedy}")
    return bool(failed)
