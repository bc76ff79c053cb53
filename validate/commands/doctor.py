"""Is the installation sound: `fedproof doctor`."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import platform
from pathlib import Path
from typing import Annotated

import typer

from validate.commands.output import print_json

FLOORS = ("theory", "sim", "validate")
HOME = Path(__file__).resolve().parents[2]
PACKAGES = (
    "numpy",
    "scipy",
    "sympy",
    "cvxpy",
    "clarabel",
    "torch",
    "matplotlib",
    "python-flint",
    "typer",
    "rich",
    "jinja2",
    "numba",
    "scikit-learn",
    "triton",
    "z3-solver",
    "dask",
    "distributed",
    "pyarrow",
    "filelock",
)


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
    """The devices on which the simulator can run."""
    import torch

    names = [f"cuda:{i} ({torch.cuda.get_device_name(i)})" for i in range(torch.cuda.device_count())]
    return [f"cpu ({torch.get_num_threads()} threads)", *names]


def back_ends() -> dict[str, str | None]:
    """What can speed the simulator up, besides torch: by back end, what it would use; None for nothing."""
    from sim.native import build

    compiler, installed = build.compiler(), versions()
    return {
        "native": None if compiler is None else compiler.version,
        "numba": installed["numba"],
        "triton": installed["triton"],
    }


def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Print versions, devices, back ends, and clashes of package names.

    Exit status 1 when another package takes one of the names theory, sim and validate.

    Example: fedproof doctor
    """
    own, python = importlib.metadata.version("fedproof"), platform.python_version()
    packages, places, kernels, found = versions(), devices(), back_ends(), clashes()
    if as_json:
        facts = {"fedproof": own, "python": python, "packages": packages, "devices": places, "back_ends": kernels}
        print_json({**facts, "clashes": found})
    else:
        typer.echo(f"fedproof {own}, Python {python}")
        for name, version in packages.items():
            typer.echo(f"  {name} {version or '(not installed; optional)'}")
        typer.echo(f"devices: {', '.join(places)}")
        for name, what in kernels.items():
            missing = "no C++ compiler found; set CXX" if name == "native" else "not installed"
            typer.echo(f"back end {name}: {what or missing}")
        for clash in found:
            typer.echo(f"clash: {clash}; install fedproof in an environment of its own")
    if found:
        raise typer.Exit(1)
