"""Is this code the algorithm of the theorem? Trials, the first value that differs, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from theory.claim import Claim
from theory.program import pseudo_lines
from validate.implementations.calling import Implementation, Refused, implementation
from validate.implementations.causes import cause
from validate.implementations.draws import ORDERS
from validate.implementations.explaining import slip_of
from validate.implementations.found import Diff, Smallest
from validate.implementations.holding import DOUBLE, SINGLE, Held, hold
from validate.implementations.reference import Reference
from validate.implementations.trials import SHAPES, Given, Shape, Trial, made, simpler
from validate.instances.roles import roles_in

LIKE_SINGLE = 1e-5
"""A difference no larger than this, of the numbers of a state, is of the size of single precision's rounding."""
Report = Callable[[str], None]


def diff(
    claim: Claim | str,
    function: Any,
    *,
    given: Given | None = None,
    rename: Mapping[str, str] | None = None,
    tolerance: float | None = None,
    report: Report | None = None,
) -> Diff:
    """Hold an implementation against the program of a claim's algorithm, on the same draws and problems.

    Args:
        claim: a claim of an algorithm, its id, or ``my_paper.py:label`` for one in a file, which is run.
        function: one round, a whole run, or a strategy (`validate.implementations.flower`, `fedjax`); or
            ``module:function``, ``file.py:function``. It is called with what it asks for by name.
        given: values of parameters, the same in all trials; the others are drawn.
        rename: names of the function's arguments and states, to the program's.
        tolerance: relative, in (0, 1); by default 1e-9, and 1e-4 where something comes back in single precision.
        report: told now and then what is being done.

    Returns:
        What came of it.

    Raises:
        ValueError: for a claim without an algorithm, an implementation that is not there, raises an error, is not
            reproducible or returns what is no state, and for arguments outside their domains.
        OSError: for a file that cannot be read.
    """
    from validate.measurement import claim_of

    found = claim_of(claim)
    if found.program is None:
        raise ValueError(f"{found.id} speaks of no algorithm, so there is nothing to hold an implementation against")
    if tolerance is not None and not 0 < tolerance < 1:
        raise ValueError(f"tolerance={tolerance} is outside (0, 1)")
    given = dict(given or {})
    unknown = sorted(set(given) - set(found.program.parameters))
    if unknown:
        raise ValueError(f"--set {unknown[0]}: the parameters are {', '.join(found.program.parameters) or 'none'}")
    what = implementation(function, rename)
    return _Diffing(found, what, given, tolerance, report or (lambda text: None)).found()


class _Diffing:
    def __init__(
        self, claim: Claim, what: Implementation, given: Given, tolerance: float | None, report: Report
    ) -> None:
        assert claim.program is not None
        self.claim, self.program, self.what, self.given = claim, claim.program, what, given
        self.tolerance, self.report = tolerance, report

    def found(self) -> Diff:
        held = self._held()
        different = [one for one in held if one.differs]
        notes = list(self._notes(held))
        single = any(one.single for one in held)
        tolerance = self.tolerance or (SINGLE if single else DOUBLE)
        first = slip = smallest = None
        tried = 0
        if different:
            first = cause(self.program, different[0])
            self.report("which line it is, by edits of the program")
            slip, tried = slip_of(self.program, held)
            self.report("the smallest setting at which they differ")
            smallest = self._smallest(different[0])
        return Diff(
            self.claim.id, self.program.name, self.what.called, not different, len(held),
            sum(len(one.rounds) for one in held), tolerance, max(one.worst for one in held),
            different[0].trial.told() if different else "", first, slip, tried, smallest,
            pseudo_lines(self.program).lines, tuple(notes),
        )  # fmt: skip

    def _held(self) -> list[Held]:
        """All trials, with draws handed out in the order in which the code is the program farthest."""
        best: list[Held] = []
        for order in self._orders():
            if best:
                self.report(f"once more, with single clients drawing {order}")
            held: list[Held] = []
            for trial in self._trials():
                held.append(hold(self.what, self.claim, trial, self.tolerance, order))
            if not held:
                raise ValueError(f"{self.claim.id}: the algorithm has no instance with the parameters that are given")
            if not best or _rank(held) > _rank(best):
                best = held
            if not any(one.differs for one in held):
                break
        return best

    def _orders(self) -> tuple[str, ...]:
        asks = not callable(self.what.function) or any(
            self.what.rename.get(name, name) == "rng" for name in self.what.arguments
        )
        own = self.program.operations & {"sample", "noise", "keep", "pass"}
        return ORDERS if asks and own else ORDERS[:1]

    def _trials(self) -> Iterator[Trial]:
        """Those in which the program has an instance."""
        problem: ValueError | None = None
        some = False
        for shape in SHAPES:
            try:
                trial = self._made(shape)
            except ValueError as error:
                problem = error
                continue
            if not some:
                self.what.check(self.program, trial)
            some = True
            yield trial
        if not some and problem is not None:
            raise problem

    def _made(self, shape: Shape) -> Trial:
        """A trial that the program can be played in; clients have equally many samples where they have to."""
        try:
            return self._playable(shape)
        except ValueError:
            return self._playable(replace(shape, samples=(min(shape.samples),) * shape.clients))

    def _playable(self, shape: Shape) -> Trial:
        trial = made(shape, self.claim, self.given)
        reference = Reference(self.program, trial)
        state = reference.start()
        for k in range(trial.rounds):
            state = reference.round(k, state).after
        if not all(np.isfinite(value).all() for value in state.values()):
            raise ValueError(f"{self.program.name} does not stay finite with {trial.told()}")
        return trial

    def _notes(self, held: list[Held]) -> Iterator[str]:
        changed = dict.fromkeys(name for one in held for name in one.changed)
        if changed:
            names = ", ".join(changed)
            yield f"{self.what.called} changes its argument {names} in place: who keeps the old state has the new one"
        orders = {one.order for one in held}
        if len(self._orders()) > 1 and ORDERS[0] not in orders:
            yield f"single clients' draws were handed out {orders.pop()}"
        gaps = [one.gap.size for one in held if one.gap is not None]
        if gaps and max(gaps) <= LIKE_SINGLE:
            size = f"{max(gaps):.1g}"
            yield f"the differences are at most {size}, as of single precision: if that is meant, --tolerance 1e-4"
        if held[0].of_run and held[0].rounds:
            left = [s.name for s in self.program.state if s.name not in held[0].rounds[0].theirs]
            if left:
                yield f"not compared, as the run does not return it: {', '.join(left)}"

    # the smallest setting

    def _smallest(self, held: Held) -> Smallest:
        roles, agrees = roles_in(self.claim), dict[str, None]()
        here = held
        while True:
            agrees.clear()
            for words, shape in simpler(here.trial.shape, here.trial.parameters, roles, self.given):
                there = self._again(shape, held.order)
                if there is not None and there.differs:
                    here = there
                    break
                if there is not None:
                    agrees[words] = None
            else:
                return Smallest(here.trial.told(), cause(self.program, here), tuple(agrees))

    def _again(self, shape: Shape, order: str) -> Held | None:
        try:
            return hold(self.what, self.claim, self._playable(shape), self.tolerance, order)
        except (Refused, ValueError):
            return None


def _rank(held: list[Held]) -> tuple[int, int, int]:
    """How far an implementation is the program: no strange draw, then rounds."""
    alike = sum(not one.differs for one in held)
    return alike, -sum(bool(one.unlike) for one in held), sum(len(one.rounds) for one in held)
