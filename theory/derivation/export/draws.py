"""The draws of a round in terms of Rocq: their values, their chances, and what a theorem assumes of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from theory.derivation.export.forms import NotExportedError
from theory.derivation.export.names import Env, safe
from theory.derivation.export.statement import Setting
from theory.derivation.export.terms import (
    ONE,
    App,
    Inv,
    Nat,
    Num,
    Term,
    add,
    minus,
    name,
    nat_text,
    rebuilt,
    text_of,
    times,
)  # fmt: skip
from theory.formula import Formula
from theory.formula import text_of as formula_text
from theory.program import Instruction, Loop
from theory.sentence import TURNS, index_of, parse_expression

ORDER = "khjnbcw"
"""Round, turns of loops, client, place in a batch, coordinate, outcome: what a draw may hang on, in this order."""
Path = tuple[Loop, ...]
"""Loops, the outermost first, each around the next."""
DRAWN = frozenset({"sample", "coin", "coins", "choose", "keep"})
SPELLED = {"k": "t", "c": "co", "b": "pl"}
"""How an index is called in a law."""


@dataclass(frozen=True)
class Draw:
    """A draw of a round: samples of each client, a coin, coins of the clients, chosen clients, kept coordinates.

    Attributes:
        name: in Rocq.
        op: the program's.
        indices: on what it hangs, of `ORDER`.
        number: the probability of a coin, how many clients are chosen; None for samples.
        batch: how many samples, where they are more than one.
        path: the loops in whose turns it is drawn.
    """

    name: str
    op: str
    indices: str
    number: Formula | None = None
    batch: Nat | None = None
    path: Path = ()

    @property
    def by_client(self) -> bool:
        """Whether each client has its own."""
        return "n" in self.indices

    @property
    def type(self) -> str:
        """Of one value of it."""
        return "nat" if self.op == "sample" else "R"

    def at(self, env: Env) -> tuple[Nat, ...]:
        """Its indices there."""
        return tuple(env[x] for x in self.indices)


def drawn_by(setting: Setting, step: Instruction, path: Path) -> Draw:
    """The draw of an instruction.

    Raises:
        NotExportedError: for what is not exported yet.
    """
    turn = "".join(TURNS[: len(path)])
    word = f"drawn{step.to}"
    if step.op == "sample":
        if formula_text(step.numbers[0]) == "1":
            return Draw(word, "sample", f"k{turn}nw", path=path)
        if step.flag is False:
            raise NotExportedError("batches without replacement are not exported yet")
        size = setting.nat(parse_expression(formula_text(step.numbers[0])), {})
        if len(size.terms) != 1 or size.constant:
            raise NotExportedError(f"batches of {nat_text(size)} samples are not exported yet")
        return Draw(word, "sample", f"k{turn}nbw", batch=size, path=path)
    if step.op == "choose" and step.flag:
        raise NotExportedError("clients that are chosen with replacement are not exported yet")
    if step.op == "keep":
        return Draw(word, "keep", f"k{turn}{'n' if step.kind == 'client' else ''}cw", step.numbers[0], path=path)
    return Draw(word, step.op, f"k{turn}w" if step.op == "coin" else f"k{turn}nw", step.numbers[0], path=path)


def chance(setting: Setting, draw: Draw, env: Env) -> Term:
    """The probability that a coin, or a client's, is 1."""
    assert draw.number is not None
    number = setting.term(parse_expression(formula_text(draw.number)), env)
    if draw.op not in ("choose", "keep"):
        return indexed(setting, number, env)
    return times(number, Inv(App("INR", (name("N" if draw.op == "choose" else "d"),))))


def indexed(setting: Setting, t: Term, env: Env) -> Term:
    """Parameters that the claim writes with an index, p_n or eta_k, where the program calls them p and eta."""
    bases = dict(map(index_of, setting.symbols))

    def change(part: Term) -> Term:
        if isinstance(part, App) and not part.args:
            for base, index in bases.items():
                if index and part.head == safe(base):
                    return App(part.head, (env[index],))
        return rebuilt(part, change)

    return change(t)


def sample(draw: Draw, env: Env) -> Nat:
    """The sample that a client drew, as an index."""
    return name(" ".join([draw.name, *map(nat_text, draw.at(env))]))


def flip(draw: Draw, env: Env) -> App:
    """A draw of 0 and 1 as a number."""
    return App(draw.name, draw.at(env))


def chances(setting: Setting, draw: Draw, env: Env) -> tuple[tuple[int, Term], ...]:
    """The values 1 and 0 with their probabilities."""
    p = chance(setting, draw, env)
    return (1, p), (0, minus(ONE, p))


def mixed(cases: tuple[tuple[int, Term], ...], value: Callable[[int], Term]) -> Term:
    """The mean of a function of the value."""
    (a, p), (b, q) = cases
    return add(times(p, value(a)), times(q, value(b)))


def chances_of_two(setting: Setting, draw: Draw, env: Env, other: Env) -> list[tuple[tuple[int, int], Term]]:
    """The values of two different clients with their probabilities."""
    p, q = chance(setting, draw, env), chance(setting, draw, other)
    if draw.op != "choose":
        return [((a, b), times(x, y)) for a, x in ((1, p), (0, minus(ONE, p))) for b, y in ((1, q), (0, minus(ONE, q)))]
    n = App("INR", (name("N"),))
    assert draw.number is not None
    s = setting.term(draw.number, env)
    pairs = Inv(times(n, minus(n, ONE)))
    both = times(times(s, minus(s, ONE)), pairs)
    single = times(times(s, minus(n, s)), pairs)
    none = times(times(minus(n, s), minus(minus(n, s), ONE)), pairs)
    return [((1, 1), both), ((1, 0), single), ((0, 1), single), ((0, 0), none)]


@dataclass(frozen=True)
class Before:
    """Something that is there before a draw: a state, what a loop hands on, an earlier draw.

    Attributes:
        name: of what stands for it, which is its own where nothing else before the draw has that.
        head: its name in Rocq.
        type: of what a function of it is applied to.
        text: what it is, at t, h and w.
        at: its first indices, in Rocq; of those that follow it is given as a function.
    """

    name: str
    head: str
    type: str
    text: str
    at: tuple[Nat, ...]


def law(setting: Setting, draw: Draw, before: Sequence[Before]) -> list[tuple[str, str]]:
    """A draw, the values that it takes, and its law given what is there before; two clients (two places in a batch) are
    independent, or as clients that are chosen without replacement are."""
    within = {"k": "(t < rounds)%nat", "n": "(n < N)%nat", "c": "(co < d)%nat", "w": "(w < outcomes Pr)%nat"}
    for x, loop in zip(TURNS, draw.path, strict=False):
        within[x] = f"({x} < {nat_text(setting.turns(loop))})%nat"
    if draw.batch is not None:
        within["b"] = f"(pl < {nat_text(draw.batch)})%nat"
    own = [x for x in draw.indices if x != "w"]
    words = " ".join(SPELLED.get(x, x) for x in own)
    given = "".join(f"{within[x]} -> " for x in own)
    two = {"n": "m", "b": "l", "c": "co2"}
    other = " ".join(two.get(x, SPELLED.get(x, x)) for x in own)
    one, second = f"({draw.name} {words} w)", f"({draw.name} {other} w)"
    phi = " ".join(["phi", *(b.text for b in before)])
    types = "".join(f"{b.type} -> " for b in before)
    if draw.op == "sample":
        takes = f"({one} < samples n)%nat"
        single = f"mean (samples n) (fun i => {phi} i)"
        pair = f"mean (samples n) (fun i => mean (samples m) (fun i2 => {phi} i i2))"
    else:
        takes = f"{one} = 0 \\/ {one} = 1"
        env = {x: name(SPELLED.get(x, x)) for x in draw.indices}
        single = text_of(mixed(chances(setting, draw, env), lambda c: App(phi, (Num(Fraction(c)),))))
        pairs = chances_of_two(setting, draw, env, {**env, "n": name("m")})
        cells = [times(q, App(phi, tuple(Num(Fraction(c)) for c in cell))) for cell, q in pairs]
        pair = text_of(add(add(add(cells[0], cells[1]), cells[2]), cells[3]))
    kinds = "".join("nat -> " for _ in draw.indices) + draw.type
    said = f"E Pr (fun w => {phi} {one}) = E Pr (fun w => {single})"
    found = [
        (draw.name, kinds),
        (f"{draw.name}_range", f"forall {words} w, {given}{within['w']} -> {takes}"),
        (f"{draw.name}_law", f"forall {words} (phi : {types}{draw.type} -> R), {given}{said}"),
    ]
    if draw.by_client:
        more = [two[x] for x in own if x in two]
        apart = " \\/ ".join(f"{SPELLED.get(x, x)} <> {two[x]}" for x in own if x in "nb")
        also = "".join(f"{within[x].replace(f'({SPELLED.get(x, x)} ', f'({two[x]} ', 1)} -> " for x in own if x in two)
        found.append(
            (
                f"{draw.name}_apart",
                f"forall {words} {' '.join(more)} (phi : {types}{draw.type} -> {draw.type} -> R), "
                f"{given}{also}{f'({apart})' if draw.batch is not None else apart} -> "
                f"E Pr (fun w => {phi} {one} {second}) = E Pr (fun w => {pair})",
            )
        )
    return found
