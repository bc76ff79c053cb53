"""Many rounds: the state's moments from round to round, and a round as one linear map where that pays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from sim.moments.around import Around, Treatment
from sim.moments.curvatures import Curvatures
from sim.moments.initial import initial
from sim.moments.law import Law, Linear, Own, Shared, Value
from sim.moments.meeting import Output
from sim.moments.numbers import (
    FLOATS,
    Array,
    Numbers,
    checked_rounds,
    checked_start,
    rationals,
    symmetric_basis,
)
from sim.moments.results import Frame, Layout, Moments
from sim.moments.rounds import executed
from sim.moments.scalars import Parameters, evaluate, one, whole
from sim.moments.unrolled import Unrolled, unrolled
from sim.problems.linear_algebra import minimise
from sim.problems.quadratic import Quadratic
from theory.program import LINEAR_GIVEN_DRAWS, Formula, Instruction, Kind, Loop, Program, flat, names_in, work

OF_SERVER = ("server", "past")
FAR = 1e5
"""How many times as far as the first round goes a fixed point may lie to be the origin of floats."""
LARGEST_BATCH = 20_000_000
"""Entries of the moments that are carried at once."""


class DivergenceError(ValueError):
    """The moments leave the range of float64: the iterates diverge in mean square."""


def moments_of(
    program: Program, problem: Quadratic, parameters: Mapping[str, Any], *, start: Any, rounds: int
) -> Moments:
    """The first and second moments of the state after k = 0..K rounds from a fixed start; those of taps when asked for.

    Args:
        program: linear given its draws (`theory.program.LINEAR_GIVEN_DRAWS`).
        problem: `Quadratic`; exact (Fractions) iff ``problem.exact``, and then all numbers must be rational.
        parameters: by the program's names: a number, a list of one a client, a `Schedule` over k, W (N, N) of ``mix``,
            alpha (J,) of ``combine``.
        start: (d,), x0.
        rounds: K >= 0.

    Raises:
        ValueError: an argument outside its domain; an instruction that moments do not follow, and why; or iterates that
            diverge beyond the range of float64 (`DivergenceError`).
    """
    if not isinstance(problem, Quadratic):
        raise ValueError(f"problem={problem!r} is not a Quadratic: exact moments exist for quadratics only")
    rounds = checked_rounds(rounds)
    for step in flat(program.body):
        if step.op not in LINEAR_GIVEN_DRAWS and not isinstance(step, Loop):
            line = f" (line {step.line})" if step.line else ""
            raise ValueError(
                f"{step.op}{line} is not linear in the state: moments are of programs that are linear given the draws"
            )
    run = _Run(program, problem, parameters, start, rounds)
    with np.errstate(over="ignore", invalid="ignore"):
        seconds, shifts = run.seconds()
    if not run.numbers.exact and not all(np.isfinite(s).all() for s in seconds):
        raise DivergenceError(f"the moments of {rounds} rounds leave the range of float64: the iterates diverge")
    return Moments(
        run.numbers, run.layout, seconds, shifts, lambda k: run.frame(k, seconds[k], shifts[k], shifts[k + 1])
    )


class _Run:
    def __init__(
        self, program: Program, problem: Quadratic, parameters: Mapping[str, Any], start: Any, rounds: int
    ) -> None:
        self.program, self.problem, self.rounds = program, problem, rounds
        self.numbers: Numbers = rationals() if problem.exact else FLOATS
        self.start = checked_start(start, problem.dim, self.numbers)
        missing = [name for name in program.parameters if name not in parameters and name not in ("N", "d")]
        if missing:
            raise ValueError(f"parameters has no {missing[0]!r}; the program takes {', '.join(program.parameters)}")
        known = (*program.parameters, *_lengths(program))
        given = {name: parameters[name] for name in known if name in parameters}
        lags = {len(given[step.label]) for step in program.steps if step.op == "combine"}  # type: ignore[union-attr]
        if len(lags) == 1:  # J is known from the weights of what is remembered
            given = {**dict.fromkeys(_lengths(program), next(iter(lags))), **given}
        self.parameters = Parameters(given, self.numbers, problem.clients, problem.dim, rounds)
        best = None if self.numbers.exact else minimise(problem.mean_hessian, problem.mean_linear)
        self.best = None if best is None or not self._near(best[0]) else best[0]
        point = self.numbers.zeros(problem.dim) if self.best is None else self.best
        self.curvatures = Curvatures.of(problem, self.numbers, point)
        mean = (self.numbers.array(problem.mean_hessian), self.numbers.array(problem.mean_linear), problem.clients)
        self.mean = mean
        self.treatment = Treatment()
        self._rounds: dict[tuple[int, ...], Unrolled] = {}
        self.lengths = [self._length(s.length) for s in program.state]
        self.layout = self._layout()
        used = {name for step in flat(program.body) for f in _formulas(step) for name in names_in(f)}
        labels = {step.label for step in flat(program.body) if isinstance(step, Instruction)}
        self.alike = "k" not in used and not any(self.parameters.changes(name) for name in used | labels)

    def _near(self, point: Array) -> bool:
        """Whether a minimiser is not so far that floats around it would lose the iterates' digits."""
        problem = self.problem
        curvature = np.abs(problem.client_hessian).max(axis=(1, 2))
        forces = np.abs(problem.client_linear).max(axis=1)
        own = np.divide(forces, curvature, out=np.zeros_like(forces), where=curvature > 0)
        scale = max(float(np.abs(self.start).max()), float(own.max()))
        return bool(np.abs(point).max() <= FAR * scale)

    # sizes

    def _number(self, formula: Formula, k: int, turns: Mapping[str, int]) -> Array:
        def lookup(name: str) -> Array:
            if name in turns:
                return one(self.numbers, turns[name])
            return one(self.numbers, k) if name == "k" else self.parameters.scalar(name, k)

        return evaluate(formula, self.numbers, lookup)

    def _length(self, formula: Formula | None) -> int:
        if formula is None:
            return 1
        return whole(self._number(formula, 0, {}), "the number of remembered vectors")

    def _layout(self) -> Layout:
        problem = self.problem
        places: dict[tuple[str, tuple[int, ...]], tuple[Kind, int, int]] = {}
        width, own_width = 1, 0
        for state, length in zip(self.program.state, self.lengths, strict=True):
            rows = problem.dim * (problem.samples if state.kind == "table" else length)
            if state.kind in OF_SERVER:
                places[state.name, ()] = (state.kind, width, rows)
                width += rows
            else:
                places[state.name, ()] = (state.kind, own_width, rows)
                own_width += rows
        return Layout(places, width, own_width, problem.clients, problem.dim, problem.samples)

    def begin(self, start: Array) -> Array:
        """(D,), the state before the first round from x0 = start, with 1 in front."""
        out = self.numbers.zeros(self.layout.size)
        out[0] = self.numbers.ratio(1, 1)

        def scalar(formula: Formula) -> Any:
            return self._number(formula, 0, {})[0, 0]

        for state, length in zip(self.program.state, self.lengths, strict=True):
            value = initial(state, self.problem, start, self.numbers, scalar)
            value = np.concatenate([value] * length, axis=-1)
            _, place, rows = self.layout.places[state.name, ()]
            if state.kind in OF_SERVER:
                out[place : place + rows] = value
                continue
            for n in range(self.problem.clients):
                at = self.layout.width + n * self.layout.own_width + place
                out[at : at + rows] = value[n].ravel()
        return out

    def unrolled(self, k: int) -> Unrolled:
        """The round k; rounds with loops of equal lengths are one."""
        counts: list[int] = []

        def count(formula: Formula, turns: Mapping[str, int]) -> int:
            counts.append(whole(self._number(formula, k, turns), "the number of turns"))
            return counts[-1]

        if self.alike and self._rounds:
            return next(iter(self._rounds.values()))
        found = unrolled(self.program, count)
        return self._rounds.setdefault(tuple(counts), found)

    # one round

    def law(self, P: Array, shift: Array) -> tuple[Law, dict[str, Value]]:
        """The law before a round, its values by state name."""
        layout, numbers = self.layout, self.numbers
        law = Law(self.curvatures, P, layout.width, layout.own_width)
        own = shift[layout.width :].reshape(layout.clients, layout.own_width)
        values: dict[str, Value] = {}
        for state in self.program.state:
            _, place, rows = layout.places[state.name, ()]
            if state.kind in OF_SERVER:
                B = numbers.zeros(rows, layout.width)
                B[:, 0] = shift[place : place + rows]
                B[range(rows), range(place, place + rows)] = numbers.ratio(1, 1)
                values[state.name] = Shared(B)
            else:
                wide = numbers.zeros(1, layout.clients, rows, law.local_width)
                wide[0, :, :, 0] = own[:, place : place + rows]
                start = layout.width + place
                wide[:, :, range(rows), range(start, start + rows)] = numbers.ratio(1, 1)
                values[state.name] = Own(Linear(wide, {}))
        return law, values

    def outputs(self, round_: Unrolled, joint: bool) -> tuple[list[Output], dict[Any, Any]]:
        """What a round is to leave, and its layout."""
        found, places = [], {}
        width, own_width = 1, 0
        named = [
            (s.name, s.kind, v, n) for s, v, n in zip(self.program.state, round_.results, self.lengths, strict=True)
        ]
        every: list[tuple[tuple[str, tuple[int, ...]], Kind, int, int]]
        every = [((name, ()), kind, v, n) for name, kind, v, n in named]
        if joint:
            before = zip(self.program.state, round_.inputs, self.lengths, strict=True)
            every = [((s.name, ()), s.kind, v, n) for s, v, n in before]
            every += [((label, turns), self.program.taps[label][0], v, 1) for (label, turns), v in round_.taps.items()]
            every += [((name + "'", ()), kind, v, n) for name, kind, v, n in named]
        for key, kind, value, length in every:
            rows = self.problem.dim * (self.problem.samples if kind == "table" else length)
            if kind in OF_SERVER:
                places[key] = (kind, width, rows)
                width += rows
            else:
                places[key] = (kind, own_width, rows)
                own_width += rows
            found.append(Output(value, each=kind not in OF_SERVER))
        return found, places

    def after(
        self,
        P: Array,
        shift: Array,
        k: int,
        joint: bool = False,
        reference: Array | None = None,
        treatment: Treatment | None = None,
    ) -> tuple[Array, Array, Layout]:
        """E[ww'] after round k, (b, D, D), of w less the shift that comes next, and the layout.

        With a treatment of draws of its own it has been counted before.

        Raises:
            ValueError: where a server's state has become the clients'.
        """
        round_ = self.unrolled(k)
        law, values = self.law(P, shift)
        for name, state in zip(round_.inputs, self.program.state, strict=True):
            law.values[name] = values[state.name]
        outputs, places = self.outputs(round_, joint)
        everyone = tuple(range(self.problem.clients))
        around = Around(self.curvatures, self.parameters, k, everyone, False, treatment or self.treatment, self.mean)
        if treatment is None:
            self.counted(round_)
        done = executed(around, round_.operations, law, [out.number for out in outputs])
        for out, (name, _) in zip(outputs, places, strict=True):
            for end in done.laws:
                if not out.each and isinstance(end.values[out.number], Own):
                    raise ValueError(f"{name} is a server's value and is one a client after the round")
        if self.numbers.exact:
            reference = None
        made = done.finish(outputs, self._zero(places) if self.numbers.exact else reference)
        problem = self.problem
        layout = Layout(places, made.width, made.own_width, problem.clients, problem.dim, problem.samples)
        return made.second, made.reference, layout

    def counted(self, round_: Unrolled, times: int = 1) -> None:
        """Count a round so many times."""
        work.count(times * len(round_.operations) * (10 + self.layout.size // 10))

    def _zero(self, places: Mapping[Any, Any]) -> Array:
        width = 1 + sum(rows for kind, _, rows in places.values() if kind in OF_SERVER)
        own = sum(rows for kind, _, rows in places.values() if kind not in OF_SERVER)
        return self.numbers.zeros(width + own * self.problem.clients)

    def means(self, shift: Array, k: int, reference: Array) -> Callable[[], Array]:
        """Gives (D', D), E of what comes after round k less `reference`, given the state less `shift`.

        It is counted here, so that a budget does not hang on whether it is asked for.
        """
        D = self.layout.size
        step = max(1, LARGEST_BATCH // (D * D))
        self.counted(self.unrolled(k), -(-D // step))
        treatment = Treatment(dict(self.treatment.how))
        return lambda: self._means(shift, k, reference, treatment, step)

    def _means(self, shift: Array, k: int, reference: Array, treatment: Treatment, step: int) -> Array:
        D, columns = self.layout.size, []
        for at in range(0, D, step):
            here = range(at, min(D, at + step))
            P = self.numbers.zeros(len(here), D, D)
            for row, j in enumerate(here):
                P[row, 0, j] = P[row, j, 0] = self.numbers.ratio(1, 1)
            second, _, _ = self.after(P, shift, k, True, reference, treatment)
            columns.append(second[:, :, 0])
        return np.concatenate(columns).T

    # many rounds

    def seconds(self) -> tuple[list[Array], list[Array]]:
        """E[(y - shift)(y - shift)'] after every round, and the shifts."""
        begin = self.begin(self.start)
        D, numbers = self.layout.size, self.numbers
        size = D * (D + 1) // 2
        most = self.rounds if numbers.exact else 4 * self.rounds
        if self.alike and self.rounds > 1 and size <= most and size * D * D <= LARGEST_BATCH:
            return self._as_one_map(begin)
        shift = numbers.zeros(D) if numbers.exact else np.concatenate([numbers.zeros(1), begin[1:]])
        y = begin - shift
        seconds, shifts = [np.outer(y, y)], [shift]
        for k in range(self.rounds):
            found, reference, _ = self.after(seconds[-1][None], shifts[-1], k)
            second = found[0]
            if not numbers.exact:
                # from here on around the mean: squares of what converges keep their digits
                move = second[:, 0].copy()
                move[0] = 0
                second = (second + second.T) / 2 - np.outer(move, move)
                second[0, 1:] = second[1:, 0] = 0
                reference = reference + move
            seconds.append(second)
            shifts.append(reference)
        return seconds, shifts

    def _as_one_map(self, begin: Array) -> tuple[list[Array], list[Array]]:
        """Every round is the same linear map of the moments: it is found on a basis."""
        D, numbers = self.layout.size, self.numbers
        basis, upper = symmetric_basis(numbers, D), np.triu_indices(D)
        if numbers.exact:
            basis = basis + numbers.ratio(0, 1)
            shift = numbers.zeros(D)
        else:
            shift = np.concatenate([np.zeros(1), (begin if self.best is None else self.begin(self.best))[1:]])
        second, _, _ = self.after(basis, shift, 0, reference=shift)
        found = self._repeated(second[:, upper[0], upper[1]], begin - shift)
        if not numbers.exact and _certain(found[-1]):
            better = self._fixed_point(begin, shift, second[:D, :, 0].T)
            if better is not None:
                shift = better
                second, _, _ = self.after(basis, shift, 0, reference=shift)
                found = self._repeated(second[:, upper[0], upper[1]], begin - shift)
        return list(found), [shift] * len(found)

    def _repeated(self, step: Array, y: Array) -> Array:
        """(K + 1, D, D), E[yy'] of every round, `step` a round as a map of upper triangles, rows from the left."""
        D = len(y)
        upper = np.triu_indices(D)
        rows = [np.outer(y, y)[upper]]
        for _ in range(self.rounds):
            rows.append(rows[-1] @ step)
        found = np.empty((len(rows), D, D), dtype=self.numbers.dtype)
        found[:, upper[0], upper[1]] = found[:, upper[1], upper[0]] = np.stack(rows)
        return found

    def _fixed_point(self, begin: Array, shift: Array, mean: Array) -> Array | None:
        """Where the mean stays, so that what converges there keeps its digits; None for `shift` itself.

        Args:
            begin: (D,), the state at the start.
            shift: (D,), where `mean` is centred.
            mean: (D, D), E[y' - shift | y] as a function of (1, state - shift).
        """
        move, drift = mean[1:, 1:] - np.eye(len(begin) - 1), mean[1:, 0]
        if not (np.isfinite(move).all() and np.isfinite(drift).all()) or len(drift) == 0:
            return None
        start = begin[1:] - shift[1:]
        first = drift + move @ start
        if np.abs(drift).max() <= 1e-9 * np.abs(first).max():
            return None
        found = np.linalg.lstsq(move, -first, rcond=1e-12)[0]
        size = float(np.abs(first).max())
        reach = max(size, float(np.abs(begin[1:]).max()))
        point = shift.copy()
        stays = np.abs(move @ found + first).max() <= 1e-9 * size
        point[1:] = begin[1:] + found if stays and np.abs(found).max() <= FAR * reach else begin[1:]
        if self.best is not None:
            scale = max(float(np.abs(point).max()), float(np.abs(self.best).max()))
            for at in range(1, len(point), self.problem.dim):
                if np.abs(point[at : at + self.problem.dim] - self.best).max() <= 1e-9 * scale:
                    point[at : at + self.problem.dim] = self.best
        return None if np.array_equal(point, shift) else point

    def frame(self, k: int, second: Array, shift: Array, following: Array) -> Frame:
        """The round k with its taps."""
        found, reference, layout = self.after(second[None], shift, k, True)
        if not self.numbers.exact:
            # the states are to have the shifts that they have everywhere else
            for (name, _), (kind, start, rows) in self.layout.places.items():
                for key, source in ((name, shift), (name + "'", following)):
                    there = layout.places[key, ()][1]
                    for here, goal in _places(self.layout, layout, kind, start, there):
                        reference[goal : goal + rows] = source[here : here + rows]
            found, _, _ = self.after(second[None], shift, k, True, reference)
        return Frame(layout, found[0], reference, self.means(shift, k, reference))


def _certain(second: Array) -> bool:
    """Whether some coordinate varies so little around its mean, which is not 0, that digits are lost."""
    square = second[1:, 0] ** 2
    variance = np.diagonal(second)[1:] - square
    return bool(np.any(variance < 1e-6 * square))


def _places(one: Layout, two: Layout, kind: str, start: int, there: int) -> list[tuple[int, int]]:
    if kind in OF_SERVER:
        return [(start, there)]
    return [(one.width + n * one.own_width + start, two.width + n * two.own_width + there) for n in range(one.clients)]


def _lengths(program: Program) -> list[str]:
    """The names in the numbers of remembered vectors."""
    return [name for s in program.state if s.length is not None for name in names_in(s.length)]


def _formulas(step: Any) -> list[Formula]:
    if isinstance(step, Loop):
        return [] if step.count is None else [step.count]
    return list(step.numbers)
