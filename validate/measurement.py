"""One claim on one scenario: both its sides, and the certificate where it is broken.

This module imports the standard library alone, so that `import validate` costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import ModuleType

    from theory.claim import Claim
    from theory.written import Claim as Written
    from validate.bounds import Cases
    from validate.on_instance import OnInstance

    Measure = Callable[[Claim, Any], "Cases | None"]


@dataclass(frozen=True, eq=False)
class Occasion:
    """A claim on a scenario, measured.

    Attributes:
        claim: the claim.
        scenario: the scenario.
        module: measures the claims of the paper, or None.
        cases: the left side and the parameters; None where the claim does not speak of the scenario.
    """

    claim: Claim
    scenario: Any
    module: ModuleType | None
    cases: Cases | None

    @property
    def named(self) -> str:
        """The scenario, in a line."""
        parts = [
            f"{key}={getattr(self.scenario, key)!r}"
            for key in ("problem", "algorithm", "rounds")
            if hasattr(self.scenario, key)
        ]
        kind, name = type(self.scenario).__name__, getattr(self.scenario, "name", "")
        return f"{kind} {name!r} ({', '.join(parts)})"

    def violations(self) -> Iterator[tuple[int, tuple[str, ...]]]:
        """The cases in which hypotheses are violated, with the names of these."""
        from validate.assumptions import unmet

        assert self.cases is not None
        seen: dict[tuple[Any, ...], tuple[str, ...]] = {}
        for i in range(len(self.cases)):
            values = self.cases.parameters_at(i)
            key = tuple(tuple(v) if hasattr(v, "__len__") else v for v in values.values())
            if key not in seen:
                seen[key] = unmet(self.claim, self.scenario, values)
            if seen[key]:
                yield i, seen[key]


def occasion(claim: Claim | str, scenario: Any, cases: Measure | None = None) -> Occasion:
    """A claim on a scenario; arguments as in `measure`.

    Raises:
        ValueError: a claim that is not known, has no right side, or that nobody can measure.
        OSError: for a file that cannot be read.
    """
    from validate.scenario import read_scenario

    claim, module, cases = _measured(claim, cases)
    if isinstance(scenario, Mapping):
        scenario = read_scenario(scenario, exact=True)
    found = cases(claim, scenario)
    return Occasion(claim, scenario, module, found if found is not None and len(found) else None)


def measure(
    claim: Claim | Written | str,
    scenario: Any,
    *,
    cases: Measure | None = None,
    constants: Mapping[str, Any] | None = None,
) -> Any:
    """Both sides of a claim on a scenario that satisfies its hypotheses, at every index of which it speaks.

    Args:
        claim: a claim, its id, or ``my_paper.py:label`` for one in a file, which is run.
        scenario: of a claim that is a sentence an instance (`validate.instances`), or its JSON form as plain data; else
            a scenario, or its specification, which is read in Fractions.
        cases: measures the left side and the parameters, as `cases` of a paper's module does; by default that of the
            claim's paper. Not for a sentence.
        constants: of a sentence's assumptions, where not the best of the instance are meant.

    Returns:
        Of a sentence `validate.on_instance.OnInstance`, which also says which hypotheses are violated; else `Sides`:
        left and right side, index and parameters, in Fractions for an exact scenario, else in float64.

    Raises:
        ValueError: when the claim does not speak of the scenario, or a hypothesis is violated, which it names; for a
            claim that is not known, has no right side, or that nobody can measure.
        OSError: for a file that cannot be read.
    """
    from theory.written import Claim as New
    from validate.bounds import sides
    from validate.own import files

    claim = files.find(claim) if isinstance(claim, str) else claim
    if isinstance(claim, New):
        return _of_sentence(claim, scenario, constants)
    found = occasion(claim, scenario, cases)
    if found.cases is None:
        raise ValueError(f"{found.claim.id} does not speak of {found.named}: it has no left side there")
    for i, names in found.violations():
        at = "".join(f", at {name} = {value}" for name, value in found.cases.index_at(i).items())
        raise ValueError(f"{found.claim.id}: {found.named} violates {', '.join(map(repr, names))}{at}")
    return sides(found.claim, found.cases, found.scenario.exact)


def _of_sentence(claim: Written, given: Any, constants: Mapping[str, Any] | None) -> OnInstance:
    from validate.instances import Instance
    from validate.instances.specs import instance_from
    from validate.on_instance import on_instance

    instance = given if isinstance(given, Instance) else instance_from(given, claim)
    return on_instance(claim, instance, constants)


def certify(claim: Claim | str, spec: Mapping[str, Any], out: str | Path, *, cases: Measure | None = None) -> Path:
    """The certificate of an instance that breaks a claim, with the stand-alone verifier beside it.

    Args:
        claim: as in `measure`.
        spec: the specification of a scenario; it is computed in Fractions.
        out: the folder; made if need be.
        cases: as in `measure`.

    Returns:
        The path of the JSON file.

    Raises:
        ValueError: when the instance does not break the claim where its hypotheses hold, or no certificate can hold it;
            otherwise as `measure`.
        OSError: for a file that cannot be read or written.
    """
    from validate import certificate
    from validate.falsify import confirm, rounds_certificate

    if not isinstance(spec, Mapping):
        raise ValueError(f"spec={spec!r} is not the specification of a scenario, a mapping")
    claim, _, cases = _measured(claim, cases)
    found = confirm(claim, dict(spec), cases)
    if found is None:
        raise ValueError(f"{claim.id} is not broken, its hypotheses satisfied, on spec={dict(spec)}")
    return certificate.write(rounds_certificate(claim, found), out)


def _measured(claim: Claim | str, cases: Measure | None) -> tuple[Claim, ModuleType | None, Measure]:
    """The claim, the module of its paper, and what measures the claim."""
    from validate import papers
    from validate.own import files

    claim = files.find(claim) if isinstance(claim, str) else claim
    if not claim.has_bound:
        raise ValueError(f"{claim.id} has no right side that can be compared")
    module = papers.module(claim.paper) or _own(claim)
    cases = cases or getattr(module, "cases", None)
    if cases is None:
        raise ValueError(f"{claim.id}: nobody measures the claims of {claim.paper!r}; give `cases`")
    return claim, module, cases


def _own(claim: Claim) -> ModuleType | None:
    """What measures a claim made by `validate.own.claim`, of which the catalogue need not know."""
    from theory.claim import Paper
    from validate.own.claims import MeasuredClaim
    from validate.own.module import OwnModule

    if not isinstance(claim, MeasuredClaim):
        return None
    return OwnModule(Paper(claim.paper, claim.paper, "", (replace(claim, amends=None),)))
