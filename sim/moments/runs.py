"""Many rounds: the state's moments from round to round, and a round as one linear map where that pays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from sim.arguments import integer
from sim.moments.around import Around, DifferentError, Treatment
from sim.moments.classes import classes_of
from sim.moments.curvatures import Curvatures
from sim.moments.initial import initial
from sim.moments.law import Law, Own
from sim.moments.meeting import Meeting, Output
from sim.moments.numbers import (
    FLOATS,
    Array,
    Numbers,
    checked_start,
    in_balls,
    powers_in_balls,
    rationals,
    times,
)
from sim.moments.results import OF_SERVER, Centred, Classes, Frame, Layout, Moments
from sim.moments.rounds import executed
from sim.moments.scalars import Parameters, evaluate, one, whole
from sim.moments.unrolled import Unrolled, unrolled
from sim.problems.linear_algebra import minimise
from sim.problems.quadratic import Quadratic
from theory.program import LINEAR_GIVEN_DRAWS, Formula, Instruction, Kind, Loop, Program, flat, names_in, work

FAR = 1e5
"""How many times as far as the first round goes a fixed point may lie to be the origin of floats."""
LARGEST_BATCH, AT_ONCE = 20_000_000, 64
"""Entries of the moments that are carried at once; rounds in floats that are."""


class DivergenceError(ValueError):
    """The moments leave the range of float64: the iterates diverge in mean square."""


def moments_of(
    program: Program,
    problem: Quadratic,
    parameters: Mapping[str, Any],
    *,
    start: Any,
    rounds: int,
    enclosed: bool = False,
    numbers: Numbers | None = None,
) -> Moments:
    """The first and second moments of the state after k = 0..K rounds from a fixed start; those of taps when asked for.

    Args:
        program: linear given its draws (`theory.program.LINEAR_GIVEN_DRAWS`).
        problem: `Quadratic`; exact (Fractions) iff ``problem.exact``, and then all numbers must be rational.
        parameters: by the program's names: a number, a list of one a client, a `Schedule` over k, W (N, N) of ``mix``,
            alpha (J,) of ``combine``.
        start: (d,), x0.
        rounds: K >= 0.
        enclosed: of an exact problem of which every round is the same map: balls of python-flint that contain the
            moments, at the precision of ``flint.ctx``, where fractions would grow without end. The map itself is exact.
        numbers: the arithmetic, where it is another than the problem's; clients are not compared then.

    Raises:
        ValueError: an argument outside its domain; an instruction that moments do not follow, and why; iterates that
            diverge beyond the range of float64 (`DivergenceError`); rounds that are not alike, to be `enclosed`.
    """
    if not isinstance(problem, Quadratic):
        raise ValueError(f"problem={problem!r} is not a Quadratic: exact moments exist for quadratics only")
    rounds = integer("rounds", rounds, 0)
    for step in flat(program.body):
        if step.op not in LINEAR_GIVEN_DRAWS and not isinstance(step, Loop):
            line = f" (line {step.line})" if step.line else ""
            raise ValueError(
                f"{step.op}{line} is not linear in the state: moments are of programs that are linear given the draws"
            )
    run = _Run(program, problem, parameters, start, rounds, numbers is not None, enclosed, numbers)
    before = work.operations()
    try:
        return run.moments()
    except DifferentError:
        work.count(before - work.operations())
        return run.apart()


def means_after_a_round(
    program: Program, problem: Quadratic, parameters: Mapping[str, Any], state: str, starts: Sequence[Any]
) -> list[Array]:
    """E of a server's state, (d,), after one round from each start, (d,); arguments and errors as of `moments_of`."""
    for alone in (False, True):
        run = _Run(program, problem, parameters, starts[0], 1, alone)
        begun = [run.begin(checked_start(start, problem.dim, run.numbers)) for start in starts]
        P, r = np.stack([np.outer(y, y) for y in begun]), run.carried.own_width
        spread = None if run.classes.alone else run.numbers.zeros(len(starts), len(run.clients), r, r)
        try:
            made, _ = run.after(P, spread, run.numbers.zeros(len(begun[0])), 0)
        except DifferentError:
            continue
        run.counted(run.unrolled(0), len(starts))
        at = run.carried.place(state)
        return [run.numbers.result((second[:, 0] + made.reference)[at]) for second in made.second]
    raise AssertionError("clients that are alone are not told apart")


class _Run:
    """Rounds of a program; clients that are the same are told apart only where they have to be."""

    def __init__(
        self,
        program: Program,
        problem: Quadratic,
        parameters: Mapping[str, Any],
        start: Any,
        rounds: int,
        alone: bool = False,
        enclosed: bool = False,
        numbers: Numbers | None = None,
    ) -> None:
        self.program, self.problem, self.rounds, self.enclosed = program, problem, rounds, enclosed
        self.apart = lambda: _Run(program, problem, parameters, start, rounds, True, enclosed, numbers).moments()
        self.numbers: Numbers = numbers or (rationals() if problem.exact else FLOATS)
        self.start = checked_start(start, problem.dim, self.numbers)
        missing = [name for name in program.parameters if name not in parameters and name not in ("N", "d")]
        if missing:
            raise ValueError(f"parameters has no {missing[0]!r}; the program takes {', '.join(program.parameters)}")
        known = (*program.parameters, *_lengths(program))
        given = {name: parameters[name] for name in known if name in parameters}
        lags = {len(given[name]) for name in program.weights}
        if len(lags) == 1:  # J is known from the weights of what is remembered
            given = {**dict.fromkeys(_lengths(program), next(iter(lags))), **given}
        self.parameters = Parameters(given, self.numbers, problem.clients, problem.dim, rounds)
        best = None if self.numbers.exact else minimise(problem.mean_hessian, problem.mean_linear)
        self.best = None if best is None or not self._near(best[0]) else best[0]
        point = self.numbers.zeros(problem.dim) if self.best is None else self.best
        of = np.arange(problem.clients)
        if not alone and not program.operations & {"visit", "mix"}:
            of = classes_of([problem.counts, problem.hessian, problem.linear, *self.parameters.of_clients()])
        _, self.clients, many = np.unique(of, return_index=True, return_counts=True)
        self.classes = Classes(of, tuple(many.tolist()))
        self.curvatures = Curvatures.of(problem, self.numbers, point, self.clients.tolist(), many)
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

    @cached_property
    def carried(self) -> Layout:
        """Of the state with a class for each client."""
        return replace(self.layout, clients=len(self.clients))

    def begin(self, start: Array) -> Array:
        """(D,), the state before the first round from x0 = start, with 1 in front; one of each class."""
        layout = self.carried
        out = self.numbers.zeros(layout.size)
        out[0] = self.numbers.ratio(1, 1)

        def scalar(formula: Formula) -> Any:
            return self._number(formula, 0, {})[0, 0]

        for state, length in zip(self.program.state, self.lengths, strict=True):
            value = initial(state, self.problem, start, self.numbers, scalar)
            value = np.concatenate([value] * length, axis=-1)
            at = layout.coordinates(state.name)
            out[at] = value if state.kind in OF_SERVER else value[self.clients].reshape(at.shape)
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

    def after(
        self, P: Array, spread: Array | None, shift: Array, k: int, joint: bool = False, reference: Array | None = None
    ) -> tuple[Meeting, Layout]:
        """What is after round k, less the shift that comes next, b starts (b, D, D) at once; and the layout.

        Args:
            P, spread: as of `Law`.
            shift: (D,), what was taken off the state before.
            k: the round.
            joint: whether the state before and the taps are asked for, too, and what is expected given that state.
            reference: as for `meet`.

        Raises:
            ValueError: where a server's state has become the clients'.
        """
        layout, numbers, round_ = self.carried, self.numbers, self.unrolled(k)
        mean, unit = (numbers.identity(size)[None] if joint else None for size in (layout.size, layout.own_width))
        law = Law(self.curvatures, P, layout.width, layout.own_width, spread, mean, unit)
        for number, (kind, place, rows) in zip(round_.inputs, layout.places.values(), strict=True):
            law.values[number] = law.coordinates(shift, place, rows, kind not in OF_SERVER)
        named = self._named(round_, joint)
        around = Around(
            self.curvatures, self.parameters, k, tuple(self.clients.tolist()), False, self.treatment, self.mean
        )
        done = executed(around, round_.operations, law, [value for _, _, value in named])
        for (name, _), kind, value in named:
            if kind in OF_SERVER and any(isinstance(end.values[value], Own) for end in done.laws):
                raise ValueError(f"{name} is a server's value and is one a client after the round")
        made = done.finish([Output(value, each=kind not in OF_SERVER) for _, kind, value in named], reference)
        outputs = zip(named, made.outputs, strict=True)
        places = {key: (kind, out.place, out.rows) for (key, kind, _), out in outputs}
        return made, replace(layout, places=places, width=made.width, own_width=made.own_width)

    def _named(self, round_: Unrolled, joint: bool) -> list[tuple[tuple[str, tuple[int, ...]], Kind, int]]:
        """What a round is to leave: names, kinds and values; `joint`, the state before it and the taps, too."""

        def states(values: Sequence[int], mark: str = "") -> list[tuple[tuple[str, tuple[int, ...]], Kind, int]]:
            return [((s.name + mark, ()), s.kind, v) for s, v in zip(self.program.state, values, strict=True)]

        if not joint:
            return states(round_.results)
        taps = [((label, turns), self.program.taps[label][0], v) for (label, turns), v in round_.taps.items()]
        return states(round_.inputs) + taps + states(round_.results, "'")

    def counted(self, round_: Unrolled, times: int = 1) -> None:
        """Count a round so many times."""
        work.count(times * len(round_.operations) * (10 + self.layout.size // 10))

    # many rounds

    def moments(self) -> Moments:
        """Of all rounds.

        Raises:
            DivergenceError: beyond the range of floats.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            states = self.states()
        if not self.numbers.exact and not all(np.isfinite(s.second).all() for s in states):
            raise DivergenceError(
                f"the moments of {self.rounds} rounds leave the range of float64: the iterates diverge, or are large"
            )
        frames: dict[int, Frame] = {}
        together = 1

        def frame(k: int) -> Frame:
            nonlocal together
            if k not in frames:
                frames.update(self.frames(k, states, together))
                together = min(2 * together, AT_ONCE)
            # as much as it takes to find the means one coordinate of the state after another
            D = self.layout.size
            times = 1 + (not self.numbers.exact) + -(-D // max(1, LARGEST_BATCH // (D * D)))
            self.counted(self.unrolled(k), times)
            return frames.pop(k)  # who asks keeps it

        numbers = in_balls(self.numbers) if self.enclosed else self.numbers
        return Moments(numbers, self.layout, self.classes, states, frame, self.apart)

    def states(self) -> list[Centred]:
        """After every round."""
        begin = self.begin(self.start)
        D, r, numbers = len(begin), self.carried.own_width, self.numbers
        size = D * (D + 1) // 2 + sum(r * (r + 1) // 2 for m in self.classes.many if m > 1)
        most = self.rounds if numbers.exact else 4 * self.rounds
        pays = self.enclosed or (self.rounds > 1 and size <= most)
        if self.alike and pays and size * D * D <= LARGEST_BATCH:
            return self._as_one_map(begin)
        if self.enclosed:
            why = f"a map of {size} numbers is too large" if self.alike else "they change from round to round"
            raise ValueError(f"moments are enclosed where all rounds are one map: {why}")
        shift = numbers.zeros(D) if numbers.exact else np.concatenate([numbers.zeros(1), begin[1:]])
        spread = None if self.classes.alone else numbers.zeros(len(self.clients), r, r)
        found = [Centred(np.outer(begin - shift, begin - shift), spread, shift)]
        for k in range(self.rounds):
            last = found[-1]
            self.counted(self.unrolled(k))
            made, _ = self.after(last.second[None], _one(last.spread), last.shift, k)
            state = Centred(made.second[0], None if made.spread is None else made.spread[0], made.reference)
            if not numbers.exact:
                # from here on around the mean: squares of what converges keep their digits
                move = state.second[:, 0].copy()
                move[0] = 0
                second = (state.second + state.second.T) / 2 - np.outer(move, move)
                second[0, 1:] = second[1:, 0] = 0
                state = Centred(second, state.spread, state.shift + move)
            found.append(state)
        return found

    def _as_one_map(self, begin: Array) -> list[Centred]:
        """Every round is the same linear map of the moments: it is found on a basis."""
        D, r, numbers = len(begin), self.carried.own_width, self.numbers
        packed = _Packed(D, r, self.classes, numbers)
        P, spread = packed.opened(numbers.identity(packed.size) * numbers.ratio(1, 1))

        def rounds(shift: Array) -> tuple[list[Centred], Array]:
            self.counted(self.unrolled(0))
            made, _ = self.after(P, spread, shift, 0, reference=shift)
            step, y = packed.rows(made.second, made.spread), begin - shift
            rows = [packed.rows(np.outer(y, y)[None], None if spread is None else spread[:1] * 0)[0]]
            if self.enclosed:
                rows = powers_in_balls(rows[0], step, self.rounds)
            while len(rows) <= self.rounds:
                rows.append(times(rows[-1], step))
            seconds, spreads = packed.opened(np.stack(rows))
            pairs = zip(seconds, [None] * len(rows) if spreads is None else spreads, strict=True)
            return [Centred(one, two, shift) for one, two in pairs], made.second[:D, :, 0].T

        if numbers.exact:
            return rounds(numbers.zeros(D))[0]
        shift = np.concatenate([np.zeros(1), (begin if self.best is None else self.begin(self.best))[1:]])
        found, mean = rounds(shift)
        if _certain(found[-1].second):
            better = self._fixed_point(begin, shift, mean)
            if better is not None:
                found, _ = rounds(better)
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

    def frames(self, k: int, states: Sequence[Centred], together: int) -> dict[int, Frame]:
        """The round k with its taps; in floats with those after it that are the same, around the same point.

        These are so many `together`: more each time, as who asks of one round may ask of no other.
        """
        last = k + 1
        if self.alike and not self.numbers.exact:
            while last < min(k + together, self.rounds) and states[k].shift is states[last + 1].shift:
                last += 1
        P = np.stack([state.second for state in states[k:last]])
        spreads = [state.spread for state in states[k:last] if state.spread is not None]
        made, layout = self.after(P, np.stack(spreads) if spreads else None, states[k].shift, k, True)
        goal = made.reference
        if not self.numbers.exact:  # the states are to have the shifts that they have everywhere else
            goal = goal.copy()
            for state in self.program.state:
                here = self.carried.coordinates(state.name)
                goal[layout.coordinates(state.name)] = states[k].shift[here]
                goal[layout.coordinates(state.name + "'")] = states[k + 1].shift[here]
        assert made.mean is not None
        mean = made.mean[0].copy()
        mean[:, 0] = mean[:, 0] + made.reference - goal
        found = {}
        for at in range(k, last):
            spread = None if made.spread is None else made.spread[at - k]
            one = Centred(made.second[at - k], spread, made.reference)
            one = one if self.numbers.exact else one.moved(goal - made.reference)
            found[at] = Frame(one.second, one.spread, goal, layout, mean, made.own_mean)
        return found


def _one(spread: Array | None) -> Array | None:
    """Of one start."""
    return None if spread is None else spread[None]


class _Packed:
    """Moments of a state as rows of numbers: upper triangles of E[yy'], and of E[dd'] of what clients differ by.

    Attributes:
        size: of a row.
    """

    def __init__(self, D: int, r: int, classes: Classes, numbers: Numbers) -> None:
        self._shapes = (D, D), (len(classes.many), r, r)
        several = np.repeat(np.array(classes.many) > 1, r * r).reshape(self._shapes[1])
        kept = np.concatenate([np.triu(np.ones((D, D), dtype=bool)).ravel(), np.triu(several).ravel()])
        self._numbers, self._alone, self._at = numbers, classes.alone, np.flatnonzero(kept)
        self.size = len(self._at)
        place = np.full(len(kept), self.size)  # after the last comes 0
        place[self._at] = np.arange(self.size)
        whole, own = place[: D * D].reshape(D, D), place[D * D :].reshape(self._shapes[1])
        self._places = np.concatenate([np.minimum(x, x.swapaxes(-1, -2)).ravel() for x in (whole, own)])

    def rows(self, second: Array, spread: Array | None) -> Array:
        """(b, size), of (b, D, D) and (b, classes, r, r)."""
        parts = [second] if spread is None else [second, spread]
        return np.concatenate([part.reshape(len(second), -1) for part in parts], axis=1)[:, self._at]

    def opened(self, rows: Array) -> tuple[Array, Array | None]:
        """(b, D, D) and (b, classes, r, r), of rows."""
        b, (whole, own) = len(rows), self._shapes
        found = np.concatenate([rows, self._numbers.zeros(b, 1)], axis=1)[:, self._places]
        second, spread = np.split(found, [whole[0] * whole[1]], axis=1)
        return second.reshape(b, *whole), None if self._alone else spread.reshape(b, *own)


def _certain(second: Array) -> bool:
    """Whether some coordinate varies so little around its mean, which is not 0, that digits are lost."""
    square = second[1:, 0] ** 2
    variance = np.diagonal(second)[1:] - square
    return bool(np.any(variance < 1e-6 * square))


def _lengths(program: Program) -> list[str]:
    """The names in the numbers of remembered vectors."""
    return [name for s in program.state if s.length is not None for name in names_in(s.length)]


def _formulas(step: Any) -> list[Formula]:
    if isinstance(step, Loop):
        return [] if step.count is None else [step.count]
    return list(step.numbers)
