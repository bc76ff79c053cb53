"""The settings in which an implementation is held against a program: problems, parameters, start, all of one seed.

Numbers are generic, and of order 1, so that a slip does not hide where two of them are equal: clients have different
functions and different numbers of samples, no two parameters are the same. Only what the claim says of parameters by
equations (``A == 1 - sum_j(alpha_j)``) holds; its inequalities may not, as they change nothing about a round.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from theory.claim import Claim
from theory.formula import Name, names_in
from theory.sentence import index_of
from validate.instances.relations import evaluate_alone
from validate.instances.roles import Roles, roles_in
from validate.instances.setting import Setting

if TYPE_CHECKING:
    from sim.problems import Quadratic, RidgeLogistic
    from sim.simulate.functions import Functions

Array = NDArray[np.float64]
Given = Mapping[str, Any]
RIDGE = 0.1


@dataclass(frozen=True)
class Shape:
    """How large a trial is, and what is simple in it.

    Attributes:
        family: of functions, ``quadratics`` or ``logistic``.
        samples: of each client.
        dim: d.
        rounds: K.
        seed: of functions, parameters, start and draws.
        fixed: values of parameters that are not drawn.
        alike: whether all clients have the same function.
    """

    family: str
    samples: tuple[int, ...]
    dim: int
    rounds: int
    seed: int
    fixed: tuple[tuple[str, float], ...] = ()
    alike: bool = False

    @property
    def clients(self) -> int:
        """N."""
        return len(self.samples)

    def with_fixed(self, name: str, value: float) -> Shape:
        """The same with one parameter at a value."""
        return replace(self, fixed=(*((n, v) for n, v in self.fixed if n != name), (name, value)))


SHAPES = (
    Shape("quadratics", (2, 4, 3), 3, 3, 1),
    Shape("quadratics", (3, 2, 4, 2), 2, 3, 2),
    Shape("logistic", (4, 4, 4), 3, 3, 3),
    Shape("quadratics", (5, 3), 4, 4, 4),
    Shape("logistic", (3, 3, 3, 3, 3), 2, 2, 5),
    Shape("quadratics", (3,), 2, 3, 6),
)


@dataclass(frozen=True, eq=False)
class Trial:
    """One setting.

    Attributes:
        shape: what it was made from.
        problem: `sim.problems.Quadratic` or `RidgeLogistic`.
        parameters: by name a float, an int for a count, or an array: one number a client or a round, weights, a matrix.
        start: x0, (d,).
    """

    shape: Shape
    problem: Quadratic | RidgeLogistic
    parameters: Mapping[str, Any]
    start: Array

    @cached_property
    def functions(self) -> Functions:
        """The problem's, for the simulator."""
        from sim.simulate.functions import functions_of

        return functions_of(self.problem)

    @property
    def rounds(self) -> int:
        """K."""
        return self.shape.rounds

    def told(self) -> str:
        """In words: sizes, then parameters."""
        shape = self.shape
        sizes = f"{shape.family}, N = {shape.clients}, d = {shape.dim}, samples {', '.join(map(str, shape.samples))}"
        numbers = "; ".join(f"{name} = {_short(value)}" for name, value in self.parameters.items())
        return f"{sizes}; seed {shape.seed}" + (f"; {numbers}" if numbers else "")

    def to_json(self) -> dict[str, Any]:
        shape = self.shape
        return {
            "functions": shape.family, "N": shape.clients, "d": shape.dim, "samples": list(shape.samples),
            "rounds": shape.rounds, "seed": shape.seed, "alike": shape.alike, "parameters": dict(self.parameters),
        }  # fmt: skip


def _short(value: Any) -> str:
    return ", ".join(f"{v:.6g}" for v in np.ravel(value))


def made(shape: Shape, claim: Claim, given: Given) -> Trial:
    """The trial of a shape.

    Args:
        shape: how large it is.
        claim: of an algorithm.
        given: values of parameters, which stay as they are.

    Raises:
        ValueError: for a value that does not fit.
    """
    rng = np.random.default_rng(shape.seed)
    problem = _problem(shape, rng)
    start = rng.uniform(-2, 2, shape.dim)
    numbers = np.random.default_rng((shape.seed, 1))
    return Trial(shape, problem, _parameters(claim, shape, dict(given), numbers, problem, start), start)


def _problem(shape: Shape, rng: np.random.Generator) -> Quadratic | RidgeLogistic:
    from sim.problems import RidgeLogistic, from_samples

    d, counts = shape.dim, shape.samples
    each: list[Any] = []
    for count in counts[:1] if shape.alike else counts:
        factors = rng.standard_normal((count, d, d))
        curved = factors @ factors.transpose(0, 2, 1) / (2 * d) + 0.2 * np.eye(d)
        each.append((curved, rng.standard_normal((count, d)), rng.standard_normal((count, d))))
    if shape.alike:
        counts, each = (counts[0],) * len(counts), each * len(counts)
    if shape.family == "quadratics":
        return from_samples([list(H) for H, _, _ in each], [list(b) for _, b, _ in each])
    labels = np.array([np.sign(b[:, 0]) for _, b, _ in each])
    return RidgeLogistic(np.array([q for _, _, q in each]), labels, RIDGE)


def _parameters(
    claim: Claim, shape: Shape, given: dict[str, Any], rng: np.random.Generator, problem: Any, start: Array
) -> dict[str, Any]:
    assert claim.program is not None
    assert claim.of is not None
    program, roles = claim.program, roles_in(claim)
    by_client = {base for base, index in map(index_of, claim.symbols) if index == "n"}
    lengths = sorted({n for s in program.state if s.length is not None for n in names_in(s.length)})
    values: dict[str, Any] = {"N": shape.clients, "d": shape.dim}
    fixed = dict(shape.fixed)
    bound = [index_of(name)[0] for name in claim.symbols]
    kinds = roles, by_client, lengths
    for name in dict.fromkeys((*lengths, *program.parameters, *bound)):
        drawn = _value(name, claim, shape, values, rng, kinds)
        if name in fixed:
            drawn = _scalar(fixed[name]) if np.ndim(drawn) == 0 else np.full(np.shape(drawn), fixed[name])
        values.setdefault(name, drawn)
    for name, default in claim.of.defaults.items():
        values[name] = _scalar(float(default)) if name not in fixed else values[name]
    values |= given
    _tie(claim, values, set(given), shape, problem, start)
    known = dict.fromkeys((*program.parameters, *lengths))
    return {name: _plain(values[name]) for name in known if name not in ("N", "d")}


def _scalar(value: float) -> float | int:
    return int(value) if value == int(value) else value


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple | np.ndarray):
        return np.array([_plain(v) for v in value], dtype=float)
    if isinstance(value, Fraction):
        return int(value) if value.denominator == 1 else float(value)
    return value if isinstance(value, int) else float(value)


def _value(
    name: str,
    claim: Claim,
    shape: Shape,
    values: Mapping[str, Any],
    rng: np.random.Generator,
    kinds: tuple[Roles, set[str], Sequence[str]],
) -> Any:
    """A number of the right kind, or numbers; `kinds` says which are one a client, and which lengths of memories."""
    (roles, by_client, lengths), N = kinds, shape.clients
    domain = claim.domains.get(name)
    if name in roles.matrices:
        rows = np.eye(N) * 0.4 + 0.6 * np.mean([np.eye(N)[rng.permutation(N)] for _ in range(3)], axis=0)
        return (rows + rows.T) / 2
    if name in roles.weights:
        return rng.uniform(0.1, 0.4, next((values[n] for n in lengths), 2))
    largest = {"clients": max(1, N - 1), "coordinates": max(1, shape.dim - 1), "batch": min(shape.samples), "steps": 3}
    most = next((most for role, most in largest.items() if name in getattr(roles, role)), 0)
    each = N if name in by_client else None
    if most:
        return _numbers(rng.integers(1, most + 1, each))
    if name in roles.turns or name in lengths or (domain is not None and domain.integer):
        return int(rng.integers(2, 4))
    low, high = (0.3, 0.7) if name in roles.chances else (0.15, 0.85)
    return _numbers(rng.uniform(low, high, shape.rounds + 1 if name in claim.by_round else each))


def _numbers(drawn: Any) -> Any:
    """An array, or a number of Python's."""
    return drawn if np.ndim(drawn) else drawn.item() if hasattr(drawn, "item") else drawn


def _tie(claim: Claim, values: dict[str, Any], stay: set[str], shape: Shape, problem: Any, start: Array) -> None:
    """Make equations between parameters true that say what one of them is."""
    exact = {name: _fractions(value) for name, value in values.items()}
    if shape.family != "quadratics":  # of functions an equation may know how many samples there are
        problem = _problem(replace(shape, family="quadratics"), np.random.default_rng(shape.seed))
    for _ in range(2):  # one may speak of another that is tied later
        for relation in claim.relations:
            for side, other in (relation.sides, relation.sides[::-1]):
                name = index_of(side.name)[0] if isinstance(side, Name) else ""
                if relation.relation != "==" or name not in values or name in stay or np.ndim(values[name]):
                    continue
                found = evaluate_alone(
                    other, Setting(problem, [Fraction(x) for x in start], exact, shape.rounds, claim)
                )
                if found is not None:
                    exact[name], values[name] = Fraction(found), _scalar(float(found))
                    break


def _fractions(value: Any) -> Any:
    return [_fractions(v) for v in value] if np.ndim(value) else Fraction(value)


def simpler(shape: Shape, parameters: Mapping[str, Any], roles: Roles, given: Given) -> Iterator[tuple[str, Shape]]:
    """The same with one thing made simple, each with what then holds, the largest steps first.

    Args:
        shape: of the trial.
        parameters: their values there.
        roles: what the program does with them.
        given: those that stay as they are.
    """
    fixed = dict(shape.fixed)
    if shape.rounds > 1:
        yield "K = 1", replace(shape, rounds=1)
    for dim in range(1, min(3, shape.dim)):
        yield f"d = {dim}", replace(shape, dim=dim)
    for clients in range(1, min(3, shape.clients)):
        yield f"N = {clients}", replace(shape, samples=shape.samples[:clients])
    if max(shape.samples) > 1:
        yield "one sample a client", replace(shape, samples=(1,) * shape.clients)
    if len(set(shape.samples)) > 1:
        yield "as many samples at every client", replace(shape, samples=(min(shape.samples),) * shape.clients)
    if shape.clients > 1 and not shape.alike:
        yield "clients that are all alike", replace(shape, alike=True, samples=(shape.samples[0],) * shape.clients)
    for name, value in parameters.items():
        if name in given or name in roles.matrices | roles.weights:
            continue
        if name in fixed and np.any(value != fixed[name]):  # an equation of the claim says what it is
            continue
        whole = {"clients": shape.clients, "coordinates": shape.dim}
        for role, most in whole.items():
            if name in getattr(roles, role) and np.any(value != most):
                yield f"{name} = {'N' if role == 'clients' else 'd'}", shape.with_fixed(name, most)
        for number in (1, 2) if name in roles.counts else (1,):
            if np.all(np.greater(value, number) if name in roles.counts else np.not_equal(value, number)):
                yield f"{name} = {number}", shape.with_fixed(name, number)
