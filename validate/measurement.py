"""One claim on one scenario: both its sides, and the certificate where it is broken.

This module imports the standard library alone, so that `import validate` costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import ModuleType

    from theory.claim import Claim
    from theory.written import Claim as Written
    from validate.bounds import Cases, Sides
    from validate.instances.occasion import Occasion as OnInstance

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


def measure(claim: Claim | Written | str, scenario: Any, *, cases: Measure | None = None) -> Sides:
    """Both sides of a claim on a scenario that satisfies its hypotheses, at every index of which it speaks.

    Args:
        claim: a claim with a right side, its id, or ``my_paper.py:label`` for one in a file, which is run.
        scenario: of a claim that says what it means an instance or its JSON form
            (`validate.instances.occasion.occasion`); of any other a scenario, or its specification, read in Fractions.
        cases: not for a claim that says what it means: measures the left side and the parameters, as `cases` of a
            paper's module does; by default that of the claim's paper.

    Returns:
        Left and right side, index and parameters, in Fractions for an exact scenario, else in float64.

    Raises:
        ValueError: when the claim does not speak of the scenario, or a hypothesis is violated, which it names; for a
            claim that is not known, has no right side, or that nobody can measure.
        OSError: for a file that cannot be read.
    """
    from validate.bounds import sides

    named = claim_of(claim)
    if is_written(named):
        one = on_instance(named, scenario, cases)
        if one.unmet:
            raise ValueError(f"{named.id}: the instance violates {', '.join(map(repr, one.unmet))}")
        return one.sides()
    found = occasion(named, scenario, cases)
    if found.cases is None:
        raise ValueError(f"{found.claim.id} does not speak of {found.named}: it has no left side there")
    for i, names in found.violations():
        at = "".join(f", at {name} = {value}" for name, value in found.cases.index_at(i).items())
        raise ValueError(f"{found.claim.id}: {found.named} violates {', '.join(map(repr, names))}{at}")
    return sides(found.claim, found.cases, found.scenario.exact)


def certify(
    claim: Claim | Written | str, spec: Mapping[str, Any], out: str | Path, *, cases: Measure | None = None
) -> Path:
    """The certificate of an instance that breaks a claim, with the stand-alone verifier beside it.

    Args:
        claim: as in `measure`.
        spec: the specification of a scenario, or an instance, as in `measure`; it is computed in Fractions.
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
    named = claim_of(claim)
    if is_written(named):
        from validate.examine import certificate_of_break

        return certificate.write(certificate_of_break(on_instance(named, spec, cases)), out)
    claim, _, cases = _measured(named, cases)
    found = confirm(claim, dict(spec), cases)
    if found is None:
        raise ValueError(f"{claim.id} is not broken, its hypotheses satisfied, on spec={dict(spec)}")
    return certificate.write(rounds_certificate(claim, found), out)


def claim_of(claim: Claim | Written | str) -> Any:
    """The claim itself, of an id or of ``my_paper.py:label`` too.

    Raises:
        ValueError: for one that is not known.
        OSError: for a file that cannot be read.
    """
    if not isinstance(claim, str):
        return claim
    from validate import files

    return files.find(claim)


def is_written(claim: Any) -> bool:
    """Whether a claim says itself what it means (`theory.written.Claim`)."""
    from theory.written import Claim as Written

    return isinstance(claim, Written)


def on_instance(claim: Written, instance: Any, cases: Measure | None = None) -> OnInstance:
    """A claim that says what it means on an instance.

    Raises:
        ValueError: for what is no instance of which it speaks; for `cases`, as its sentence says how it is measured.
    """
    from validate.instances.occasion import occasion as occasion_of

    if cases is not None:
        raise ValueError(f"cases is given, and the sentence of {claim.id} says itself what is measured")
    return occasion_of(claim, instance)


def _measured(claim: Claim | str, cases: Measure | None) -> tuple[Claim, ModuleType | None, Measure]:
    """The claim, the module of its paper, and what measures the claim."""
    from validate import papers

    found: Claim = claim_of(claim)
    if not found.has_bound:
        raise ValueError(f"{found.id} has no right side that can be compared")
    module = papers.module(found.paper)
    cases = cases or getattr(module, "cases", None)
    if cases is None:
        raise ValueError(f"{found.id}: nobody measures the claims of {found.paper!r}; give `cases`")
    return found, module, cases
