"""The self-test of `fedproof doctor`: it passes here, and each of its checks fails when its subject is broken."""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

import sim
import sim.moments
import sim.simulate
import theory.derivation.search.searching
import theory.mixing
from sim.native import build
from tests.validate.command_line import call, printed
from theory import evaluate
from theory.feasible import smt
from validate import certificate, on_instance, self_test
from validate.certificate import files
from validate.commands import doctor
from validate.rounds import draws
from validate.verifier import launcher

ROOT = Path(__file__).parents[2]
Patch = pytest.MonkeyPatch


def named(name: str) -> self_test.Check:
    return next(check for check in self_test.checks() if check.name == name)


@pytest.mark.parametrize("check", self_test.checks(), ids=lambda check: check.name)
def test_each_check_passes_here_or_says_why_it_is_skipped(check: self_test.Check) -> None:
    absent = {
        "z3": find_spec("z3") is None,
        "back end native": build.compiler() is None,
        "back end triton": not torch.cuda.is_available() or find_spec("triton") is None,
    }
    if absent.get(check.name):
        with pytest.raises(self_test.UnavailableError):
            check.run()
    else:
        assert check.run()


def wrong_bound(patch: Patch) -> None:
    original = evaluate.bound
    patch.setattr(evaluate, "bound", lambda *given: original(*given) * (1 + 1e-9))


def wrong_enclosure(patch: Patch) -> None:
    original = evaluate.enclose

    def wide(*given: Any) -> Any:
        found = original(*given)
        return evaluate.Enclosure(found.lower, str(float(found.upper) + 1), found.midpoint, found.terms)

    patch.setattr(evaluate, "enclose", wide)


def blind_verifier(patch: Patch) -> None:
    """A verifier that finds everything valid."""
    path = files._PACKAGE / "launcher.py"
    assert path == Path(launcher.__file__)

    def copied(folder: Path) -> None:
        (folder / "verify.py").write_text("raise SystemExit(0)", encoding="utf-8")

    patch.setattr(files, "copy_verifier", copied)


def stubborn_verifier(patch: Patch) -> None:
    """A verifier that cannot even be run."""
    patch.setattr(files, "copy_verifier", lambda folder: None)


def no_counterexample(patch: Patch) -> None:
    """Sides that never break anything."""
    original = on_instance.both

    def held(*given: Any) -> Any:
        found, how = original(*given)
        return replace(found, rows=tuple(replace(row, status="holds") for row in found.rows)), how

    patch.setattr(on_instance, "both", held)


def loaded_samples(patch: Patch) -> None:
    """Play that draws the first sample too often."""
    original = draws.batches

    def loaded(*given: Any) -> Any:
        (first, batch), *rest = original(*given)
        return ((first + first / 100, batch), *rest)

    patch.setattr(draws, "batches", loaded)


def wrong_moments(patch: Patch) -> None:
    original = sim.moments.moments_of

    def off(*given: Any, **options: Any) -> Any:
        found = original(*given, **options)
        return SimpleNamespace(norm2=lambda at: found.norm2(at) + Fraction(1, 10**9))

    patch.setattr(sim.moments, "moments_of", off)


def runs_that_are_all_the_same(patch: Patch) -> None:
    original = sim.simulate.simulate

    def same(*given: Any, **options: Any) -> Any:
        found = original(*given, **options)
        return SimpleNamespace(final={"x": 0 * found.final["x"] + found.final["x"][:1]})

    patch.setattr(sim.simulate, "simulate", same)


def wrong_weights(patch: Patch) -> None:
    original = theory.mixing.mixing_weights

    def off(*given: Any) -> Any:
        return SimpleNamespace(weights=original(*given).weights + 1e-9)

    patch.setattr(theory.mixing, "mixing_weights", off)


def wrong_solver(patch: Patch) -> None:
    original = theory.mixing.model
    patch.setattr(theory.mixing, "model", lambda z, n, lam: original(z, n, 2 * lam))


def search_for_everything(patch: Patch) -> None:
    """What is false is called proved by the lines of what is true."""
    original = theory.derivation.search.searching.search

    def found(claim: Any, *units: int) -> Any:
        return original(replace(claim, statement=claim.statement.replace("<= 1*", "<= 2*")), *units)

    patch.setattr(theory.derivation.search.searching, "search", found)


def search_for_nothing(patch: Patch) -> None:
    patch.setattr(theory.derivation.search.searching, "search", lambda claim, *units: SimpleNamespace(lines=None))


def verifier_of_everything(patch: Patch) -> None:
    patch.setattr(certificate, "verified", lambda made: SimpleNamespace(valid=True))


def optimistic_z3(patch: Patch) -> None:
    patch.setattr(smt, "decide", lambda system: smt.Answer("sat"))


def closed_cache(patch: Patch) -> None:
    patch.setattr(build, "cache_directory", lambda: Path("/dev/null/cache"))


def other_numbers(patch: Patch) -> None:
    """Back ends other than torch that draw other numbers."""

    def others(original: Callable[..., Any]) -> Callable[..., Any]:
        def run(*given: Any, backend: str, seed: int, **options: Any) -> Any:
            options = {k: "cpu" if k == "device" else v for k, v in options.items()}
            return original(*given, backend="torch", seed=seed + (backend != "torch"), **options)

        return run

    patch.setattr(sim.simulate, "simulate", others(sim.simulate.simulate))
    patch.setattr(build, "compiler", lambda: build.Compiler(("c++",), "c++ 99.1"))
    patch.setattr(self_test, "_with_gpu", lambda: None)
    patch.setattr(self_test, "find_spec", lambda name: SimpleNamespace())


BROKEN: list[tuple[str, Callable[[Patch], None]]] = [
    ("bounds", wrong_bound),
    ("bounds", wrong_enclosure),
    ("exact play", loaded_samples),
    ("moments of programs", wrong_moments),
    ("simulated programs", runs_that_are_all_the_same),
    ("certificates", blind_verifier),
    ("certificates", stubborn_verifier),
    ("certificates", no_counterexample),
    ("mixing weights", wrong_weights),
    ("mixing weights", wrong_solver),
    ("proofs", search_for_everything),
    ("proofs", search_for_nothing),
    ("proofs", verifier_of_everything),
    ("z3", optimistic_z3),
    ("cache", closed_cache),
    ("back end native", other_numbers),
    ("back end triton", other_numbers),
]


@pytest.mark.parametrize(("name", "breaks"), BROKEN, ids=[f"{name}-{breaks.__name__}" for name, breaks in BROKEN])
def test_each_check_fails_when_its_subject_is_broken(
    name: str, breaks: Callable[[Patch], None], monkeypatch: Patch
) -> None:
    if name == "z3":
        pytest.importorskip("z3")
    breaks(monkeypatch)
    with pytest.raises(self_test.SelfTestError):
        named(name).run()


def test_every_check_is_broken_above() -> None:
    assert [check.name for check in self_test.checks()] == list(dict.fromkeys(name for name, _ in BROKEN))


def test_whatever_a_check_raises_is_its_outcome(monkeypatch: Patch) -> None:
    def raises(error: Exception) -> str:
        raise error

    errors = [self_test.UnavailableError("absent"), self_test.SelfTestError("wrong"), OSError(28, "disk\nfull")]
    made = [self_test.Check(str(at), lambda e=error: raises(e), "do this") for at, error in enumerate(errors)]  # type: ignore[misc]
    monkeypatch.setattr(self_test, "checks", lambda: [*made, self_test.Check("fine", lambda: "compared", "")])
    found = list(self_test.self_test())
    assert [(o.outcome, o.remedy) for o in found] == [
        ("skipped", None), ("FAILED", "do this"), ("FAILED", "do this"), ("ok", None)
    ]  # fmt: skip
    assert [o.detail for o in found] == ["absent", "wrong", "OSError: [Errno 28] disk full", "compared"]
    document = printed("doctor", status=1)
    assert [set(entry) for entry in document["self_test"]] == [{"name", "outcome", "seconds", "detail", "remedy"}] * 4
    result = call("doctor")
    assert result.exit_code == 1
    assert "1 FAILED: do this" in result.stdout
    monkeypatch.setattr(self_test, "checks", lambda: [self_test.Check("fine", lambda: "compared", "")])
    assert call("doctor").exit_code == 0


def test_doctor_groups_the_packages_as_pyproject_does() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    def names(requirements: list[str]) -> set[str]:
        """`dask[distributed]` brings both."""
        return {name for text in requirements for name in re.findall(r"[a-z][\w-]*", re.split("[><=;]", text)[0])}

    assert names(project["dependencies"]) == set(doctor.REQUIRED)
    extras = project["optional-dependencies"]
    whole = set(re.findall(r"\w+", extras.pop("all")[0])) - {"fedproof"}
    assert set(extras) == set(doctor.EXTRAS)
    assert whole == set(extras) - {"fuzz", "dev", "docs"}
    for extra, requirements in extras.items():
        _, packages = doctor.EXTRAS[extra]
        assert set(packages) <= names(requirements)
        assert extra == "dev" or names(requirements) <= set(doctor.PACKAGES)
    assert len(set(doctor.PACKAGES)) == len(doctor.PACKAGES)


def test_a_missing_package_is_named(monkeypatch: Patch) -> None:
    versions = doctor.versions()
    monkeypatch.setattr(doctor, "versions", lambda: {**versions, "cvxpy": None, "pyarrow": None})
    found = printed("doctor", "--no-self-test", status=1)
    assert found["missing"] == ["cvxpy"]
    said = call("doctor", "--no-self-test").stdout
    assert "missing: cvxpy; pip install --upgrade fedproof brings it" in said
    assert "not installed: pyarrow" in said


@pytest.mark.parametrize(
    "options", [["--no-self-test"], pytest.param([], marks=pytest.mark.slow)], ids=["look", "test"]
)
def test_doctor_works_without_what_is_optional_and_without_a_compiler(options: list[str], tmp_path: Path) -> None:
    """As from a wheel in an environment of its own: in a process from which all that is optional is hidden."""
    hidden = ("z3", "numba", "sklearn", "dask", "distributed", "pyarrow", "hypothesis", "pytest", "atheris")
    program = (
        f"import sys\nfor name in {hidden!r}: sys.modules[name] = None\n"
        f"from validate.cli import app\nsys.exit(app({['doctor', '--json', *options]!r}, standalone_mode=False))"
    )
    environment = {"PATH": str(tmp_path), "HOME": str(tmp_path), "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["back_ends"]["native"] is None
    if options:
        return
    outcomes = {entry["name"]: entry["outcome"] for entry in found["self_test"]}
    skipped = {"z3", "back end native", "back end triton"}
    assert outcomes == {check.name: "skipped" if check.name in skipped else "ok" for check in self_test.checks()}
