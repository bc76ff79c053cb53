"""The floor plan: who imports whom, and what a plain import costs."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FLOORS = ("theory", "sim", "validate")


def sources(floor: str) -> list[Path]:
    """The Python files of a package."""
    found = sorted((ROOT / floor).rglob("*.py"))
    assert found, f"{floor} has no source"
    return found


SHARED = "theory.program"
"""Where theory and sim meet: the language of algorithms."""


def imported(tree: ast.AST) -> Iterator[str]:
    """The top-level names of all that a piece of code imports, wherever it does; `SHARED` has its whole name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield node.module if node.module == SHARED else (node.module or "").split(".")[0]


def imported_at_once(tree: ast.Module) -> Iterator[str]:
    """The same, for what runs when the module is imported (outside functions and TYPE_CHECKING)."""
    todo: list[ast.AST] = list(tree.body)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            todo.extend(node.orelse)
            continue
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from imported(node)
        todo.extend(ast.iter_child_nodes(node))


def test_the_reader_of_imports_sees_what_there_is() -> None:
    tree = ast.parse(
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import sympy\nelse:\n    import a.b\n"
        "class C:\n    import c\n    def f(self):\n        from d.e import g\n"
    )
    assert set(imported(tree)) == {"typing", "sympy", "a", "c", "d"}
    assert set(imported_at_once(tree)) == {"typing", "a", "c"}
    assert set(imported(ast.parse("from theory.program import walk\nfrom theory.program.data import flat"))) == {
        SHARED,
        "theory",
    }


@pytest.mark.parametrize(("floor", "forbidden"), [("theory", {"sim", "validate"}), ("sim", {"theory", "validate"})])
def test_floors_do_not_import_each_other(floor: str, forbidden: set[str]) -> None:
    for path in sources(floor):
        assert not forbidden & set(imported(ast.parse(path.read_text(encoding="utf-8")))), path


def test_the_simulator_needs_only_numpy_and_torch() -> None:
    standard = set(sys.stdlib_module_names)
    for path in sources("sim"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        assert set(imported_at_once(tree)) <= standard | {"sim", "numpy", "torch", SHARED}, path
        assert set(imported(tree)) <= standard | {
            "sim",
            SHARED,
            "numpy",
            "torch",
            "flint",
            "rich",
            "numba",
            "triton",
            "sklearn",
        }, path


def test_the_verifier_stands_alone() -> None:
    """The package imports its own modules and the standard library, for it is copied beside the certificates."""
    for path in sources("validate/verifier"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.level > 0:
                assert node.level == 1, path
                assert (path.parent / f"{node.module}.py").exists(), path
            elif isinstance(node, ast.Import | ast.ImportFrom):
                assert set(imported(node)) <= set(sys.stdlib_module_names), path


def loaded(statement: str) -> set[str]:
    """The packages that a fresh interpreter has loaded after `statement`."""
    code = f"import sys\n{statement}\nprint(*sorted({{name.split('.')[0] for name in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize("floor", FLOORS)
def test_importing_a_floor_is_cheap(floor: str) -> None:
    assert not {"torch", "sympy", "cvxpy", "matplotlib", "scipy", "flint", "z3"} & loaded(f"import {floor}")


def test_importing_the_catalogue_is_cheap() -> None:
    statement = "import theory.catalog; theory.catalog.claims()"
    assert not {"torch", "sympy", "cvxpy", "matplotlib", "scipy", "flint"} & loaded(statement)


def test_public_functions_are_not_hidden_by_modules_of_the_same_name() -> None:
    code = (
        "import theory\n"
        "theory.claims(); import theory.papers.fedavg_svrg\n"
        "assert all(callable(getattr(theory, name)) for name in ('claim', 'claims', 'paper', 'papers'))\n"
        "from theory import papers; assert papers()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr


# --- law 5: no code outside a paper's file, tests and examples asks for the name of an algorithm, a paper or a claim --

WORDS = re.compile(r"(?i:fedmim|inertial|shuffling|open.fl\b|fedavg.?svrg|\bperm\b)")


def core() -> Iterator[str]:
    """The core's files, as they are named here, without the papers."""
    for floor in FLOORS:
        for path in sources(floor):
            name = path.relative_to(ROOT).as_posix()
            if not name.startswith(("theory/papers/", "theory/landmarks/")):
                yield name


def test_the_core_names_no_paper_and_none_of_their_algorithms() -> None:
    assert not [name for name in core() if WORDS.search((ROOT / name).read_text(encoding="utf-8"))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('if claim.paper == "perm":', True),
        ("from sim.shuffling import run_shuffling", True),
        ('method = "FedAvg-SVRG"', True),
        ("# as in open-fl", True),
        ("    Example: fedproof check fedavg-svrg --quick", True),
        ("what is permitted is permuted", False),
    ],
)
def test_the_words_are_seen_where_they_stand(text: str, expected: bool) -> None:
    assert bool(WORDS.search(text)) is expected
