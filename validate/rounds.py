"""A round of a program on an instance, compiled once, and all its outcomes from a state.

Branches go through the steps side by side: a probability and an environment, the values at hand; a draw makes more of
them. A value of the server is a vector (a tuple of d numbers), one of the clients a tuple of N vectors, a table a tuple
of vectors for each client, a number a number, or N of them, a sample a tuple of indices (a batch) for each client. In
``w.visit``, values are those of the client whose turn it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import comb, prod
from typing import Any, TypeAlias

from theory.arithmetic import to_element
from theory.formula import Formula, names_in, text_of
from theory.operations import Element
from theory.program import VALUE, Carried, Instruction, Kind, Loop, Program, Step, work
from validate.instances.domains import CHECKS, check
from validate.instances.instance import Instance
from validate.instances.problems import Problem, Vector
from validate.instances.scalars import Scalar
from validate.primitives import (
    Choices,
    Terms,
    added,
    batches,
    chosen,
    coin,
    combined,
    count_batches,
    elementwise,
    kept_coordinates,
    noises,
    nonzero,
    short_enough,
    summed,
    terms_of,
)

State: TypeAlias = "tuple[Any, ...]"
Environment: TypeAlias = "list[Any]"
Branches: TypeAlias = "list[tuple[Any, Environment]]"
Guard: TypeAlias = "tuple[Formula, bool]"
"""A formula, and whether it is to be other than 0."""

CLIENT, TAPS = 0, 1
"""Where an environment has the client whose turn it is in ``w.visit``, and what was tapped so far."""
PER_CLIENT: frozenset[Kind] = frozenset({"client", "table", "client past", "numbers", "sample"})


class TooManyOutcomesError(ValueError):
    """A round has more outcomes than are to be played."""


def too_many(k: int, limit: int, count: int) -> TooManyOutcomesError:
    """The error for a round with at least so many outcomes."""
    return TooManyOutcomesError(
        f"round {k} has more than limit={limit} outcomes, at least {count}: take fewer clients, samples, coordinates "
        "or turns, fewer rounds, or a larger limit"
    )


@dataclass(frozen=True, slots=True)
class Outcome:
    """One outcome of a round.

    Attributes:
        probability: of it.
        state: after the round.
        taps: what was tapped, by name and turns: ``("y", (h,))``.
    """

    probability: Any
    state: State
    taps: Mapping[tuple[str, tuple[int, ...]], Any]


# --- which clients' values are read -----------------------------------------------------------------------------------


def kinds_of(program: Program) -> dict[str, Kind]:
    """The kind of every value, the samples of ``w.pass_over`` among them."""
    if "kinds" not in program.kept:
        passes: dict[str, Kind] = {s.index: "sample" for s in program.steps if isinstance(s, Loop) and s.op == "pass"}
        program.kept["kinds"] = {**program.kinds, **passes}
    kinds: dict[str, Kind] = program.kept["kinds"]
    return kinds


def readers_of(program: Program, taps: frozenset[str]) -> Readers:
    """`Readers`, once for a program and taps."""
    key = ("readers", taps)
    if key not in program.kept:
        program.kept[key] = Readers(program, taps)
    found: Readers = program.kept[key]
    return found


class Readers:
    """For every value of the clients, under which conditions that of a client is read at all.

    Args:
        program: whose round it is.
        taps: those that are wanted.

    Attributes:
        guards: by the value's name. The value of client n is read only if all conditions hold for n; None: nobody reads
            it. A condition is one that is there before the value is.
    """

    def __init__(self, program: Program, taps: frozenset[str]) -> None:
        self.guards: dict[str, frozenset[Guard] | None] = {}
        self._taps = taps
        self._kinds = kinds_of(program)
        self._position = {name: i for i, name in enumerate(program.inputs)}
        self._scope: dict[str, tuple[int, ...]] = dict.fromkeys(program.inputs, ())
        self._loops: dict[int, tuple[int, ...]] = {}
        self._place(program.body, ())
        while True:  # from "nobody reads it" on, until nothing is added
            self._found: dict[str, frozenset[Guard] | None] = dict.fromkeys(self._position)
            self._read(program.result, frozenset())
            self._collect(program.body, False)
            if self._found == self.guards:
                return
            self.guards = self._found

    def _place(self, steps: Sequence[Step], scope: tuple[int, ...]) -> None:
        """When, and inside which loops, each value is made."""
        for step in steps:
            if isinstance(step, Instruction):
                if step.to:
                    self._position[step.to], self._scope[step.to] = len(self._position), scope
                continue
            inside = (*scope, id(step))
            self._loops[id(step)] = inside
            for name in (*(c.name for c in step.carried), *((step.index,) if step.op == "pass" else ())):
                self._position[name], self._scope[name] = len(self._position), inside
            self._place(step.body, inside)

    def _read(self, names: Sequence[str], guards: frozenset[Guard]) -> None:
        """Note that the values are read under these conditions, as far as these are known when the values are made."""
        for name in names:
            known = frozenset(g for g in guards if self._kinds[name] in PER_CLIENT and self._known(g, name))
            before = self._found[name]
            self._found[name] = known if before is None else before & known

    def _known(self, guard: Guard, name: str) -> bool:
        needed = names_in(guard[0])
        return not any(_is_turn(n) for n in needed) and all(
            self._position[n] < self._position[name] and self._scope[name][: len(self._scope[n])] == self._scope[n]
            for n in needed
            if VALUE.match(n)
        )

    def _outside(self, guards: frozenset[Guard], loop: tuple[int, ...]) -> frozenset[Guard]:
        """The conditions that are the same in all turns of a loop."""
        return frozenset(
            g for g in guards if all(self._scope[n][: len(loop)] != loop for n in names_in(g[0]) if VALUE.match(n))
        )

    def _numbers(self, formulas: Sequence[Formula]) -> None:
        for formula in formulas:
            self._read(sorted(n for n in names_in(formula) if VALUE.match(n)), frozenset())

    def _collect(self, steps: Sequence[Step], visited: bool) -> None:
        for step in steps:
            if isinstance(step, Instruction):
                self._instruction(step, visited)
                continue
            inside = self._loops[id(step)]
            if step.count is not None:
                self._numbers((step.count,))
            for c in step.carried:
                own = self.guards.get(c.name)
                if own is not None:
                    self._read((c.first, c.following), frozenset() if visited else self._outside(own, inside))
            self._collect(step.body, visited or step.op == "visit")

    def _instruction(self, step: Instruction, visited: bool) -> None:
        if step.op == "tap":
            own = frozenset[Guard]() if step.label in self._taps else None
        else:
            own = self.guards.get(step.to)
        if own is None:
            return
        self._numbers(step.numbers)
        if visited or step.op in ("tap", "mix") or step.kind not in PER_CLIENT:
            own = frozenset()
        for place, name in enumerate(step.of):
            more: frozenset[Guard] = frozenset()
            if step.op == "average":
                more = frozenset({(step.numbers[0], True)})
            elif step.op == "where":
                more = frozenset({(step.numbers[0], place == 0)})
            elif step.op == "linear" and any(VALUE.match(n) for n in names_in(step.numbers[place])):
                more = frozenset({(step.numbers[place], True)})
            self._read((name,), frozenset() if visited else own | more)


def _is_turn(name: str) -> bool:
    return name[:1] == "h" and (name == "h" or name[1:].isdigit())


# --- a round ----------------------------------------------------------------------------------------------------------


class Round:
    """A round, compiled.

    Args:
        program: whose.
        instance: on what.
        taps: which are wanted.
    """

    def __init__(self, program: Program, instance: Instance, taps: frozenset[str]) -> None:
        assert instance.problem is not None
        self.program = program
        self.instance = instance
        self.problem: Problem = instance.problem
        self.taps = taps
        self.clients = self.problem.clients
        self.scalars = instance.scalars()
        self.readers = readers_of(program, taps)
        self.kinds = kinds_of(program)
        self.slots: dict[str, int] = {}
        self.size = TAPS + 1
        self.room = self.limit = 0
        self.turns: tuple[int, ...] = ()  # the round and the turns of the loops around the draw at hand
        self.idle: list[int] = []  # where the environment has which clients are through with their samples
        for name in self.kinds:
            self._slot(name)
        for step in program.steps:
            if isinstance(step, Loop) and step.index:
                self._slot(step.index)
        self.many = frozenset(name for name, kind in self.kinds.items() if kind == "numbers")
        self.steps = self._compiled(program.body, None, ())

    def _slot(self, name: str) -> int:
        if name not in self.slots:
            self.slots[name] = self.size
            self.size += 1
        return self.slots[name]

    def play(self, state: State, k: int, room: int, limit: int) -> list[Outcome]:
        """All outcomes of round k from a state.

        Args:
            state: before the round.
            k: the round.
            room: how many outcomes there may be.
            limit: how many there may be in the whole round, for the message.

        Raises:
            TooManyOutcomesError: when there are more.
            UndefinedError, UndecidedError, ValueError: as `validate.play.Play.law`.
        """
        from flint import fmpq

        self.scalars.k = k
        self.room, self.limit = room, limit
        env: Environment = [None] * self.size
        env[TAPS] = ()
        for name, value in zip(self.program.inputs, state, strict=True):
            env[self.slots[name]] = value
        branches: Branches = [(fmpq(1), env)]
        for step in self.steps:
            branches = step(branches)
        ends = [
            (self.slots[name], s.kind != "server" and self.kinds[name] == "server")
            for name, s in zip(self.program.result, self.program.state, strict=True)
        ]
        outcomes = []
        for p, env in branches:
            after = tuple([(env[slot],) * self.clients if copied else env[slot] for slot, copied in ends])
            outcomes.append(Outcome(p, after, dict(env[TAPS])))
        for value in _numbers_of(outcomes[0].state) if outcomes else ():
            short_enough(value)
        return outcomes

    # compiling

    def _compiled(
        self, steps: Sequence[Step], inside: frozenset[str] | None, loops: tuple[int, ...]
    ) -> list[Callable[[Branches], Branches]]:
        """The steps as functions of branches.

        Args:
            steps: in order.
            inside: in a visit, the values that were made in it; else None.
            loops: where the environment counts the turns of the loops around.
        """
        found: list[Callable[[Branches], Branches]] = []
        plain: list[Callable[[Environment], None]] = []

        def flush() -> None:
            if plain:
                found.append(_straight(tuple(plain)))
                plain.clear()

        for step in steps:
            if isinstance(step, Loop):
                flush()
                found.append(self._loop(step, inside, loops))
                if inside is not None:
                    inside = inside | frozenset(step.defines)
                continue
            if step.op == "tap":
                if step.label in self.taps:
                    plain.append(self._tap(step, inside, loops))
                continue
            if self.readers.guards[step.to] is None:
                if inside is not None:
                    inside = inside | {step.to}
                continue
            if step.op in ("sample", "noise", "coins", "keep", "coin", "choose"):
                flush()
                found.append(self._branching(self._draw(step, inside, loops), self.slots[step.to]))
            else:
                plain.append(self._instruction(step, inside))
            if inside is not None:
                inside = inside | {step.to}
        flush()
        return found

    def _scalar(self, step: Step, formula: Formula, position: int, inside: frozenset[str] | None) -> Scalar:
        """A number of a step, with the check of its domain where that could not be made before."""
        outer = self.many if inside is None else self.many - inside
        one = self.scalars.compiled(formula, self.slots, outer, None if inside is None else CLIENT)
        checks = CHECKS.get(step.op, ())
        if one.fixed or position >= len(checks) or checks[position] is None:
            return one
        inner, text = one.value, text_of(formula)

        def checked(env: Sequence[Any]) -> Any:
            value = inner(env)
            check(step, position, text, value, one.per_client, self.problem)
            return value

        return Scalar(checked, one.per_client, False, one.by_round)

    def _own(self, name: str, inside: frozenset[str] | None) -> bool:
        """Whether a value has a part for each client from which that of the client at hand is to be taken."""
        return self.kinds[name] in PER_CLIENT and (inside is None or name not in inside)

    def _needed(self, name: str, inside: frozenset[str] | None) -> Callable[[Environment], Sequence[bool]] | None:
        """Which clients' values are read; None for all of them."""
        guards, idle = self.readers.guards[name] or frozenset(), tuple(self.idle)
        if not (guards or idle) or inside is not None or self.kinds[name] not in PER_CLIENT:
            return None
        tests = [
            (self.scalars.compiled(f, self.slots, self.many), positive) for f, positive in sorted(guards, key=repr)
        ]

        def needed(env: Environment) -> list[bool]:
            found = [True] * self.clients
            for scalar, positive in tests:
                value = scalar.value(env)
                for n in range(self.clients):
                    if nonzero(value[n] if scalar.per_client else value) != positive:
                        found[n] = False
            for slot in idle:
                found = [wanted and not through for wanted, through in zip(found, env[slot], strict=True)]
            return found

        return needed

    def _operands(
        self, step: Instruction, inside: frozenset[str] | None
    ) -> tuple[list[tuple[int, bool]], list[Scalar], list[bool]]:
        of = [(self.slots[name], self._own(name, inside)) for name in step.of]
        numbers = [self._scalar(step, f, i, inside) for i, f in enumerate(step.numbers)]
        return of, numbers, [self.kinds[name] == "table" for name in step.of]

    def _weights(self, step: Instruction) -> Vector | None:
        if step.op != "combine":
            return None
        return tuple(to_element(w) for w in self.instance.parameters[step.label])  # type: ignore[union-attr]

    def _instruction(self, step: Instruction, inside: frozenset[str] | None) -> Callable[[Environment], None]:
        if step.op in ("mean", "sum", "average", "mix"):
            return self._collective(step, inside)
        of, numbers, tables = self._operands(step, inside)
        fixed = all(c.fixed and not c.by_round and not c.per_client for c in numbers)
        if step.op == "linear" and fixed and inside is None and not any(tables):
            return self._linear(step, of, numbers)
        one = elementwise(step, self.problem, tables, self._weights(step))
        to = self.slots[step.to]
        if inside is not None:

            def visited(env: Environment) -> None:
                n = env[CLIENT]
                env[to] = one(n, [env[s][n] if own else env[s] for s, own in of], [c.value(env) for c in numbers])

            return visited
        if step.kind not in PER_CLIENT:

            def server(env: Environment) -> None:
                env[to] = one(0, [env[s] for s, _ in of], [c.value(env) for c in numbers])

            return server
        needed, N = self._needed(step.to, inside), self.clients
        split = [c.per_client for c in numbers]
        all_clients, nothing = (True,) * N, (None,) * N

        def clients(env: Environment) -> None:
            values = [(env[s], own) for s, own in of]
            cs = [c.value(env) for c in numbers]
            wanted = all_clients if needed is None else needed(env)
            before = env[to] or nothing  # a client that is through with its samples stays as it was
            env[to] = tuple(
                [
                    one(
                        n,
                        [v[n] if own else v for v, own in values],
                        [c[n] if m else c for c, m in zip(cs, split, strict=True)],
                    )
                    if wanted[n]
                    else before[n]
                    for n in range(N)
                ]
            )

        return clients

    def _linear(
        self, step: Instruction, of: list[tuple[int, bool]], numbers: list[Scalar]
    ) -> Callable[[Environment], None]:
        """A sum whose factors are always the same: which of them are 0, 1 and -1 is found out once."""
        from flint import fmpq

        zeros, to, N = (fmpq(0),) * self.problem.dim, self.slots[step.to], self.clients
        known: list[Terms] = []

        def terms(env: Environment) -> Terms:
            if not known:
                known.append(terms_of([c.value(env) for c in numbers]))
            return known[0]

        if step.kind not in PER_CLIENT:
            slots = [s for s, _ in of]

            def server(env: Environment) -> None:
                env[to] = summed(terms(env), [env[s] for s in slots], zeros)

            return server
        needed = self._needed(step.to, None)

        def clients(env: Environment) -> None:
            wanted = None if needed is None else needed(env)
            if wanted is None or all(wanted):
                columns = [env[s] if own else (env[s],) * N for s, own in of]
                each = terms(env)
                env[to] = tuple([summed(each, vectors, zeros) for vectors in zip(*columns, strict=True)])
                return
            for c in numbers:  # whether they have a value at all
                c.value(env)
            values = [(env[s], own) for s, own in of]
            before = env[to] or (None,) * N  # a client that is through with its samples stays as it was
            env[to] = tuple(
                [
                    summed(terms(env), [v[n] if own else v for v, own in values], zeros) if wanted[n] else before[n]
                    for n in range(N)
                ]
            )

        return clients

    def _collective(self, step: Instruction, inside: frozenset[str] | None) -> Callable[[Environment], None]:
        """A sum over the clients."""
        from flint import fmpq

        (name,) = step.of
        to, slot, N = self.slots[step.to], self.slots[name], self.clients
        zeros = (fmpq(0),) * self.problem.dim
        of_clients = self.kinds[name] in PER_CLIENT
        if inside is not None and (
            (of_clients and name in inside) or (step.op == "average" and self._names_one(step, inside))
        ):
            raise ValueError(f"w.{step.op} in w.visit: there, a value that was made in it is that of one client")
        if step.op == "mix":
            matrix = [[to_element(e) for e in row] for row in self.instance.parameters[step.label]]  # type: ignore[union-attr]

            def mix(env: Environment) -> None:
                rows = matrix if inside is None else [matrix[env[CLIENT]]]
                found = tuple([combined(row, env[slot], zeros) for row in rows])
                env[to] = found if inside is None else found[0]

            return mix
        if step.op == "average":
            active = self.scalars.compiled(step.numbers[0], self.slots, self.many)

            def average(env: Environment) -> None:
                weights = active.value(env)
                if not active.per_client:
                    weights = (weights,) * N
                count = sum(weights[1:], weights[0])
                vectors = env[slot] if of_clients else (env[slot],) * N
                total = combined(weights, vectors, zeros)
                env[to] = tuple([x / count if x else x for x in total]) if nonzero(count) else zeros

            return average

        def total(env: Environment) -> None:
            vectors = env[slot] if of_clients else (env[slot],) * N
            columns = added(vectors)
            env[to] = tuple(columns if step.op == "sum" else [x / N if x else x for x in columns])

        return total

    def _names_one(self, step: Instruction, inside: frozenset[str]) -> bool:
        return any(n in inside for formula in step.numbers for n in names_in(formula))

    def _tap(
        self, step: Instruction, inside: frozenset[str] | None, loops: tuple[int, ...]
    ) -> Callable[[Environment], None]:
        slot, label = self.slots[step.of[0]], step.label
        own = inside is not None and self._own(step.of[0], inside)

        def tap(env: Environment) -> None:
            value = env[slot][env[CLIENT]] if own else env[slot]
            env[TAPS] = (*env[TAPS], ((label, tuple([env[s] for s in loops])), value))

        return tap

    # draws

    def _branching(self, draw: Callable[[Environment], Choices], to: int) -> Callable[[Branches], Branches]:
        def step(branches: Branches) -> Branches:
            found: Branches = []
            for p, env in branches:
                choices = draw(env)
                if len(choices) == 1:
                    env[to] = choices[0][1]
                    found.append((p, env))
                    continue
                if len(found) + len(choices) > self.room:
                    raise too_many(self.scalars.k, self.limit, self.limit - self.room + len(found) + len(choices))
                for q, value in choices:
                    new = env.copy()
                    new[to] = value
                    found.append((p * q, new))
            return found

        return step

    def _draw(
        self, step: Instruction, inside: frozenset[str] | None, loops: tuple[int, ...]
    ) -> Callable[[Environment], Choices]:
        """The choices of a draw."""
        plain = self._plain_draw(step, inside)
        if not self._symbolic(step):
            return plain

        def draw(env: Environment) -> Choices:
            self.turns = (self.scalars.k, *[env[s] for s in loops])
            return plain(env)

        return draw

    def _symbolic(self, step: Instruction) -> bool:
        """Whether a draw is a vector of a problem that knows no coordinates, and takes the law from there."""
        return step.op in ("noise", "keep") and hasattr(self.problem, "draw")

    def _plain_draw(self, step: Instruction, inside: frozenset[str] | None) -> Callable[[Environment], Choices]:
        of, numbers, _ = self._operands(step, inside)
        number = numbers[0]
        if step.op == "coin":
            return lambda env: coin(number.value(env))
        if step.op == "choose":
            return self._choose(step, number, inside)
        one = self._one_draw(step)
        if inside is not None:
            return lambda env: one(
                env[CLIENT], [env[s][env[CLIENT]] if own else env[s] for s, own in of], number.value(env)
            )
        if step.kind not in PER_CLIENT:
            return lambda env: one(0, [env[s] for s, _ in of], number.value(env))
        needed, N, many = self._needed(step.to, inside), self.clients, number.per_client

        def draws(env: Environment) -> Choices:
            c = number.value(env)
            wanted = None if needed is None else needed(env)
            values = [(env[s], own) for s, own in of]
            each: list[Choices] = [
                one(n, [v[n] if own else v for v, own in values], c[n] if many else c)
                if wanted is None or wanted[n]
                else [(1, None)]
                for n in range(N)
            ]
            return self._independent(each)

        if not of and needed is None and number.fixed and not number.by_round and not self._symbolic(step):
            found: list[Choices] = []

            def once(env: Environment) -> Choices:
                if not found:
                    found.append(draws(env))
                return found[0]

            return once
        return draws

    def _independent(self, each: Sequence[Choices]) -> Choices:
        """All combinations of what the clients draw."""
        count = prod(map(len, each))
        if count > self.room:
            raise too_many(self.scalars.k, self.limit, self.limit - self.room + count)
        found = []
        for choice in product(*each):
            p = choice[0][0]
            for q, _ in choice[1:]:
                p = p * q
            found.append((p, tuple([value for _, value in choice])))
        return found

    def _one_draw(self, step: Instruction) -> Callable[[int, list[Any], Any], Choices]:
        """What one client draws, or the server."""
        problem = self.problem
        if self._symbolic(step):
            own = problem.draw  # type: ignore[attr-defined]
            return lambda n, of, number: own(step.op, (step.to, self.turns, n), of, number)

        def sample(n: int, of: list[Any], size: Any) -> Choices:
            b = int(size)
            replace = bool(step.flag) or b == 1
            count = count_batches(problem.samples(n), b, replace)
            if count > self.room:
                raise too_many(self.scalars.k, self.limit, self.limit - self.room + count)
            return list(batches(problem.samples(n), b, replace))

        def keep(n: int, of: list[Any], m: Any) -> Choices:
            count = comb(problem.dim, int(m))
            if count > self.room and sum(map(bool, of[0])) > 20:
                raise too_many(self.scalars.k, self.limit, self.limit - self.room + count)
            return kept_coordinates(of[0], int(m))

        found: dict[str, Callable[[int, list[Any], Any], Choices]] = {
            "sample": sample,
            "noise": lambda n, of, sigma2: noises(sigma2, problem.dim),
            "coins": lambda n, of, p: coin(p),
            "keep": keep,
        }
        return found[step.op]

    def _choose(
        self, step: Instruction, number: Scalar, inside: frozenset[str] | None
    ) -> Callable[[Environment], Choices]:
        from flint import fmpq

        N, replace = self.clients, bool(step.flag)

        def choose(env: Environment) -> Choices:
            S = int(number.value(env))
            if inside is not None:  # only what falls to the one client is seen of it
                if not replace:
                    return coin(fmpq(S, N))
                return [(fmpq(comb(S, s) * (N - 1) ** (S - s), N**S), fmpq(s)) for s in range(S + 1) if N > 1 or s == S]
            count = count_batches(N, S, replace)
            if count > self.room:
                raise too_many(self.scalars.k, self.limit, self.limit - self.room + count)
            return list(chosen(N, S, replace))

        return choose

    # loops

    def _loop(
        self, step: Loop, inside: frozenset[str] | None, loops: tuple[int, ...]
    ) -> Callable[[Branches], Branches]:
        if step.op == "repeat":
            return self._repeat(step, inside, loops)
        return self._visit(step, loops) if step.op == "visit" else self._pass(step, inside, loops)

    def _hand_on(
        self, carried: Sequence[Carried], first: bool, inside: frozenset[str] | None
    ) -> Callable[[Environment], None]:
        """Put what is handed on under the names that the body reads it by, all at once."""
        moves = []
        for c in carried:
            source = c.first if first else c.following
            copied = inside is None and c.kind == "client" and self.kinds[source] == "server"
            taken = inside is not None and self._own(source, inside)
            moves.append((self.slots[source], self.slots[c.name], copied, taken))

        def hand_on(env: Environment) -> None:
            values = []
            for source, _, copied, taken in moves:
                value = env[source]
                values.append(
                    (value,) * self.clients if copied else value[env[CLIENT]] if taken and value is not None else value
                )
            for (_, to, _, _), value in zip(moves, values, strict=True):
                env[to] = value

        return hand_on

    def _turn(
        self, step: Loop, inside: frozenset[str] | None, loops: tuple[int, ...], slot: int
    ) -> Callable[[Branches, int], Branches]:
        """One turn: hand on, count, run the body."""
        within = None if inside is None else inside | frozenset(c.name for c in step.carried)
        if within is not None and step.op == "pass":
            within = within | {step.index}
        hand_on = {first: self._hand_on(step.carried, first, inside if first else within) for first in (True, False)}
        if within is not None:  # a value of a later turn was made inside
            later = within | frozenset(step.defines)
            hand_on[False] = self._hand_on(step.carried, False, later)
        body = self._compiled(step.body, within, (*loops, slot))

        def turn(branches: Branches, t: int) -> Branches:
            move = hand_on[t == 0]
            for _, env in branches:
                move(env)
                env[slot] = t
            for one in body:
                branches = one(branches)
            return branches

        return turn

    def _repeat(
        self, step: Loop, inside: frozenset[str] | None, loops: tuple[int, ...]
    ) -> Callable[[Branches], Branches]:
        assert step.count is not None
        count = self._scalar(step, step.count, 0, inside)
        turn = self._turn(step, inside, loops, self.slots[step.index])

        def repeat(branches: Branches) -> Branches:
            groups: dict[int, Branches] = {}
            for p, env in branches:
                groups.setdefault(int(count.value(env)), []).append((p, env))
            found: Branches = []
            for turns, group in groups.items():
                for t in range(turns):
                    group = turn(group, t)
                found += group
            return found

        return repeat

    def _visit(self, step: Loop, loops: tuple[int, ...]) -> Callable[[Branches], Branches]:
        from flint import fmpq

        counter, left = self.size, self.size + 1
        self.size += 2
        turn = self._turn(step, frozenset(), loops, counter)
        N = self.clients

        def visit(branches: Branches) -> Branches:
            for _, env in branches:
                env[left] = tuple(range(N))
            for t in range(N):
                p_next = fmpq(1, N - t)
                found: Branches = []
                for p, env in branches:
                    if len(found) + N - t > self.room:
                        raise too_many(self.scalars.k, self.limit, self.limit - self.room + len(found) + N - t)
                    for n in env[left]:
                        new = env.copy()
                        new[CLIENT], new[left] = n, tuple([m for m in env[left] if m != n])
                        found.append((p * p_next, new))
                branches = turn(found, t)
            return branches

        return visit

    def _pass(
        self, step: Loop, inside: frozenset[str] | None, loops: tuple[int, ...]
    ) -> Callable[[Branches], Branches]:
        """Every client goes through its samples; the next one is drawn in each turn."""
        from flint import fmpq

        counter, left, idle = self.size, self.size + 1, self.size + 2
        self.size += 3
        index, problem, N = self.slots[step.index], self.problem, self.clients
        counts = [problem.samples(n) for n in range(N)]
        unequal = inside is None and len(set(counts)) > 1
        if unequal and any(self.kinds[c.following] == "server" for c in step.carried):
            raise ValueError("w.pass_over gives a server's value, and the clients have different numbers of samples")
        needed = self._needed(step.index, inside)
        if unequal:
            self.idle.append(idle)
        turn = self._turn(step, inside, loops, counter)
        if unequal:
            self.idle.pop()

        def next_of(remaining: tuple[int, ...]) -> Choices:
            """The next sample of one client, and what remains; nothing for a client that is through."""
            if not remaining:
                return [(fmpq(1), (None, ()))]
            p = fmpq(1, len(remaining))
            return [(p, ((i,), tuple([j for j in remaining if j != i]))) for i in remaining]

        def run(branches: Branches) -> Branches:
            groups: dict[int, Branches] = {}
            for p, env in branches:
                if inside is not None:
                    env[left] = tuple(range(counts[env[CLIENT]]))
                    turns = counts[env[CLIENT]]
                else:
                    wanted = [True] * N if needed is None else needed(env)
                    env[left] = tuple([tuple(range(counts[n])) if wanted[n] else None for n in range(N)])
                    turns = max(counts)
                groups.setdefault(turns, []).append((p, env))
            found: Branches = []
            for turns, group in groups.items():
                for t in range(turns):
                    group = turn(self._spread(group, left, index, idle, next_of, inside is not None), t)
                found += group
            return found

        return run

    def _spread(
        self,
        branches: Branches,
        left: int,
        index: int,
        idle: int,
        next_of: Callable[[tuple[int, ...]], Choices],
        one: bool,
    ) -> Branches:
        """The branches, each with the clients' next samples."""
        found: Branches = []
        for p, env in branches:
            if one:
                choices = [(q, (i,), (rest,)) for q, (i, rest) in next_of(env[left])]
            else:
                each = [[(1, (None, None))] if own is None else next_of(own) for own in env[left]]
                choices = [
                    (q, tuple([i for i, _ in chosen]), tuple([rest for _, rest in chosen]))
                    for q, chosen in self._independent(each)
                ]
            if len(found) + len(choices) > self.room:
                raise too_many(self.scalars.k, self.limit, self.limit - self.room + len(found) + len(choices))
            for q, samples, rests in choices:
                new = env.copy()
                new[index], new[left] = (samples[0], rests[0]) if one else (samples, rests)
                new[idle] = [i is None for i in samples]
                found.append((p * q, new))
        return found


def _straight(steps: tuple[Callable[[Environment], None], ...]) -> Callable[[Branches], Branches]:
    def run(branches: Branches) -> Branches:
        work.count(len(branches) * len(steps))
        for _, env in branches:
            for step in steps:
                step(env)
        return branches

    return run


def _numbers_of(value: Any) -> Iterator[Element]:
    if isinstance(value, tuple):
        for v in value:
            yield from _numbers_of(v)
    elif value is not None:
        yield value
