"""The primitives of a round."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any, Literal

from theory.formula import Apply, Name, names_in, text_of
from theory.program.data import NAME, RESERVED, STACKS, VALUE, VECTORS, Carried, Kind, Loop
from theory.program.loops import repeat
from theory.program.symbols import ONE, Recorder, Scalar, Value, formula_of


class _Turns(Iterator[Scalar]):
    """The turns of a loop. A second loop over the same ones would have none, and not be seen."""

    def __init__(self, recorder: Recorder, turns: Iterator[Scalar]) -> None:
        self._recorder, self._turns, self._over = recorder, turns, False

    def __next__(self) -> Scalar:
        try:
            return next(self._turns)
        except StopIteration:
            if self._over:
                self._recorder.error("a loop over turns that are gone through: each loop has a w.repeat(H) of its own")
            self._over = True
            raise


_OF_THE_PROBLEM = {
    "d": ("the dimension", "d"),
    "N": ("the number of clients", "N"),
    "n": ("the number of clients", "N"),
}
"""What an author may look for in w: sizes of the problem, with the names of parameters that they are."""


class Tracer:
    """The primitives of a round; see each. In `visit`, the same for one client."""

    def __init__(self, recorder: Recorder, one: bool = False) -> None:
        self._recorder = recorder
        self._one = one

    def __getattr__(self, name: str) -> Any:
        close = difflib.get_close_matches(name, PRIMITIVES, 1)
        hint = f"; did you mean w.{close[0]}?" if close else f"; there are {', '.join(PRIMITIVES)}"
        if name in _OF_THE_PROBLEM:
            what, parameter = _OF_THE_PROBLEM[name]
            hint = f"; {what} is asked for as a parameter of the algorithm, by the name {parameter}: (w, x, *, "
            hint += f"{parameter})"
        self._recorder.error(f"w.{name} is no primitive{hint}")

    # helpers

    def _emit(self, op: str, kind: Kind, of: Sequence[Any] = (), numbers: Sequence[Any] = (), **more: Any) -> Value:
        formulas = [formula_of(self._recorder, number) for number in numbers]
        name = self._recorder.emit(op, kind, [v.name for v in of], formulas, **more)
        return Value(self._recorder, name, kind)

    def _scalar(self, op: str, kind: Kind, of: Sequence[Any] = (), numbers: Sequence[Any] = (), **more: Any) -> Scalar:
        return Scalar(self._recorder, Name(self._emit(op, kind, of, numbers, **more).name))

    def _check(self, what: str, value: object, *kinds: Kind) -> Value:
        if not isinstance(value, Value) or value.kind not in kinds:
            found = f"a {value.kind}'s value" if isinstance(value, Value) else f"{value!r}"
            if isinstance(value, Scalar):
                found = f"the number {text_of(value.formula)}"
            if isinstance(value, Value) and value.kind in STACKS:
                found = "remembered vectors (w.combine(alpha, past) makes one of them)"
            wanted = " or ".join(
                {"server": "a server's", "client": "a client's", "table": "a table"}.get(k, k) for k in kinds
            )
            of_clients = isinstance(value, Value) and value.kind == "client"
            noise = self._recorder.noise_in(value.name) if of_clients and isinstance(value, Value) else ""
            self._recorder.error(f"w.{what} takes {wanted} value, not {found}{noise}")
        return value

    def _count(self, what: str, value: object) -> object:
        """A formula, or a number that counts."""
        if isinstance(value, int | float | Fraction) and (value < 1 or value % 1 != 0):
            self._recorder.error(f"w.{what} takes an integer of at least 1, not {value}")
        return value

    def _of_clients(self) -> Kind:
        return "server" if self._one else "client"

    def _label(self, what: str, value: object) -> str:
        if not isinstance(value, Scalar) or not isinstance(value.formula, Name) or VALUE.match(value.formula.name):
            self._recorder.error(f"w.{what} takes the name of a parameter, not {value!r}")
        return value.formula.name

    # problems

    def gradient(self, v: Value, i: Value | None = None) -> Value:
        """For every client, grad f_n at v (a server's or a client's), or that of its sample i, or the batch's mean."""
        self._check("gradient", v, "server", "client")
        if i is not None:
            self._check("gradient", i, "sample")
        return self._emit("gradient", self._of_clients(), [v] if i is None else [v, i])

    def full_gradient(self, x: Value) -> Value:
        """grad f at a server's value, f the mean of the f_n."""
        return self._emit("full gradient", "server", [self._check("full_gradient", x, "server")])

    def prox(self, v: Value, t: object) -> Value:
        """argmin over u of f_n(u) + norm2(u - v)/(2t), for every client."""
        return self._emit("prox", self._of_clients(), [self._check("prox", v, "server", "client")], [t])

    # draws

    def sample(self, b: object = 1, replace: bool = True) -> Value:
        """Fresh samples of every client, uniform, b of them; used twice it is the same sample twice."""
        return self._emit("sample", "sample", [], [self._count("sample", b)], flag=bool(replace))

    def noise(self, sigma2: object) -> Value:
        """A fresh vector for every client, mean 0 and E norm2 = sigma2, independent of all else."""
        return self._emit("noise", self._of_clients(), [], [sigma2])

    def choose(self, S: object, replace: bool = False) -> Scalar:
        """S of the N clients, uniform: 0 or 1 a client; with replacement how often."""
        return self._scalar("choose", "numbers", [], [self._count("choose", S)], flag=bool(replace))

    def coins(self, p: object) -> Scalar:
        """An independent 0 or 1 a client, 1 with probability p."""
        return self._scalar("coins", "numbers", [], [p])

    def coin(self, p: object) -> Scalar:
        """One 0 or 1 for all, 1 with probability p."""
        return self._scalar("coin", "number", [], [p])

    # over the clients

    def each(self, x: Value) -> Value:
        """A copy of a server's value for every client."""
        return self._emit("each", "client", [self._check("each", x, "server", "client")])

    def mean(self, v: Value) -> Value:
        """The mean over the clients."""
        return self._emit("mean", "server", [self._check("mean", v, "client", "server")])

    def sum(self, v: Value) -> Value:
        """The sum over the clients."""
        return self._emit("sum", "server", [self._check("sum", v, "client", "server")])

    def average(self, v: Value, active: object) -> Value:
        """sum active_n v_n / sum active_n; 0 when there is none."""
        return self._emit("average", "server", [self._check("average", v, "client", "server")], [active])

    def mix(self, v: Value, W: object) -> Value:
        """v_n <- sum_m W[n,m] v_m."""
        return self._emit("mix", "client", [self._check("mix", v, "client")], label=self._label("mix", W))

    # choices

    def where(self, mask: object, a: Any, b: Any) -> Value:
        """a where the mask is not 0, b where it is 0."""
        one, two = self._check("where", a, *VECTORS), self._check("where", b, *VECTORS)
        formula = formula_of(self._recorder, mask)
        kind: Kind = max(one.kind, two.kind, key=VECTORS.index)
        if kind == "server" and any(self._recorder.kinds.get(n) == "numbers" for n in names_in(formula)):
            kind = "client"
        return self._emit("where", kind, [one, two], [mask])

    def before(self, h: object, tau: object) -> Scalar:
        """1 for the clients with h < tau_n, else 0."""
        return self._scalar("before", "numbers", [], [h, tau])

    # loops

    def repeat(self, H: object) -> Iterator[Scalar]:
        """A loop of H turns, to be gone through once; what it yields is the turn's number from 0."""
        return _Turns(self._recorder, repeat(self._recorder, formula_of(self._recorder, H)))

    def visit(self, x: Value, turn: Callable[[Value, Tracer], Value]) -> Value:
        """x <- turn(x, one) for the clients one after another, in uniformly random order."""
        if self._one:
            self._recorder.error("w.visit inside w.visit: one client visits nobody")
        return self._over(
            "visit", self._check("visit", x, "server"), lambda v, _: turn(v, Tracer(self._recorder, True))
        )

    def pass_over(self, v: Value, turn: Callable[[Value, Value], Value]) -> Value:
        """v <- turn(v, i) for every client's own samples i, in uniformly random order."""
        return self._over("pass", self._check("pass_over", v, "server", "client"), turn)

    def _over(self, op: Literal["visit", "pass"], v: Value, turn: Callable[[Value, Any], Any]) -> Value:
        recorder = self._recorder
        kind: Kind = "server" if op == "visit" else self._of_clients()
        first = recorder.resolve(v.name)
        carried, index = Value(recorder, recorder.fresh(), kind), Value(recorder, recorder.fresh(), "sample")
        recorder.kinds[carried.name], recorder.kinds[index.name] = kind, "sample"
        line = recorder.frame()
        recorder.depth += 1
        recorder.looped = True
        for last in range(1 - recorder.visits, 1):
            recorder.blocks.append([])
            after = turn(carried, index)
            if last:
                recorder.blocks.pop()
        if not isinstance(after, Value) or after.kind not in VECTORS:
            recorder.error(f"the turn of w.{op} gives {after!r}; it is to give the vector after the turn")
        if kind == "server" and after.kind == "client" and (op == "visit" or self._one):  # that of the one client
            after = Value(recorder, recorder.emit("linear", kind, [after.name], [ONE]), kind)
        if after.kind != kind and not (kind == "client" and after.kind == "server"):
            recorder.error(f"the turn of w.{op} makes a {after.kind}'s value of a {kind}'s value")
        recorder.depth -= 1
        name = recorder.resolve(after.name)
        if name not in {n for step in recorder.blocks[-1] for n in step.defines}:
            recorder.emit("linear", kind, [name], [ONE])
            name = recorder.blocks[-1][-1].defines[0]
        body = tuple(recorder.blocks.pop())
        which = Carried(carried.name, kind, first, name)
        number = 0 if line is None else line.f_lineno
        recorder.blocks[-1].append(Loop(op, index.name if op == "pass" else "", None, (which,), body, number))
        return Value(recorder, name, kind)

    # coordinates

    def keep(self, v: Value, m: object) -> Value:
        """m of the coordinates at random, scaled by d/m (unbiased); of a server's value one draw."""
        return self._emit("keep", self._check("keep", v, "server", "client").kind, [v], [self._count("keep", m)])

    def top(self, v: Value, m: object) -> Value:
        """The m coordinates that are largest in absolute value, the first on ties."""
        return self._emit("top", self._check("top", v, "server", "client").kind, [v], [self._count("top", m)])

    def project(self, v: Value, radius: object) -> Value:
        """Onto the ball of that radius around 0."""
        return self._emit("project", self._check("project", v, "server", "client").kind, [v], [radius])

    def clip(self, v: Value, radius: object) -> Value:
        """Scaled into the ball of that radius around 0."""
        return self._emit("clip", self._check("clip", v, "server", "client").kind, [v], [radius])

    def _two(self, op: str, a: Value, b: Value) -> Value:
        self._check(op, a, "server", "client")
        self._check(op, b, "server", "client")
        return self._emit(op, max(a.kind, b.kind, key=VECTORS.index), [a, b])

    def times(self, a: Value, b: Value) -> Value:
        """The products, coordinate by coordinate."""
        return self._two("times", a, b)

    def over(self, a: Value, b: Value) -> Value:
        """The quotients, coordinate by coordinate."""
        return self._two("over", a, b)

    def larger(self, a: Value, b: Value) -> Value:
        """The larger of the two, coordinate by coordinate."""
        return self._two("larger", a, b)

    def sqrt(self, v: Any) -> Any:
        """The roots, coordinate by coordinate; of a number, its root."""
        if not isinstance(v, Value):
            return Scalar(self._recorder, Apply("sqrt", (formula_of(self._recorder, v),)))
        return self._emit("sqrt", self._check("sqrt", v, "server", "client").kind, [v])

    def sign(self, v: Value) -> Value:
        """-1, 0 or 1, coordinate by coordinate."""
        return self._emit("sign", self._check("sign", v, "server", "client").kind, [v])

    def norm(self, v: Value) -> Scalar:
        """The Euclidean norm, a number; of a client's value one a client."""
        self._check("norm", v, "server", "client")
        return self._scalar("norm", "number" if v.kind == "server" else "numbers", [v])

    def ones(self) -> Value:
        """The vector of ones."""
        return self._emit("ones", "server")

    # memory

    def shift(self, past: Value, v: Value) -> Value:
        """v in front of the remembered vectors, the oldest gone."""
        self._check("shift", past, *STACKS)
        self._check("shift", v, "server", "client")
        if past.kind == "past" and v.kind == "client":
            self._recorder.error(
                "w.shift puts a client's value in front of the server's; its state is to begin with 'each J times'"
            )
        return self._emit("shift", past.kind, [past, v])

    def combine(self, alpha: object, past: Value) -> Value:
        """sum_j alpha_j past_j."""
        self._check("combine", past, *STACKS)
        kind: Kind = "server" if past.kind == "past" else "client"
        return self._emit("combine", kind, [past], label=self._label("combine", alpha))

    def get(self, table: Value, i: Value | None = None) -> Value:
        """The entry of sample i (of a batch, the mean); without i the mean over each client's samples."""
        self._check("get", table, "table")
        if i is not None:
            self._check("get", i, "sample")
        return self._emit("get", self._of_clients(), [table] if i is None else [table, i])

    def put(self, table: Value, i: Value, v: Value) -> Value:
        """The table with the entry of sample i replaced."""
        self._check("put", table, "table")
        self._check("put", i, "sample")
        return self._emit("put", "table", [table, i, self._check("put", v, "server", "client")])

    # speech

    def tap(self, name: str, v: Value) -> None:
        """Makes v speakable in claims as ``name[k]``, inside a loop ``name[k, h]``."""
        recorder = self._recorder
        if not isinstance(name, str) or not NAME.match(name) or name in RESERVED:
            recorder.error(f"w.tap takes a name that means nothing else in claims, not {name!r}")
        self._check("tap", v, "server", "client")
        recorder.emit("tap", v.kind, [v.name], label=name)

    @property
    def k(self) -> Scalar:
        """The round, from 0."""
        return Scalar(self._recorder, Name("k"))


PRIMITIVES = tuple(name for name in dir(Tracer) if not name.startswith("_"))
"""What w has."""
