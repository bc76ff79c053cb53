"""A round of an algorithm in terms of Rocq: what states become, and the laws of its draws."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from theory.derivation.export.normal import NotExportedError
from theory.derivation.export.statement import Env, Setting, safe
from theory.derivation.export.terms import (
    ONE,
    App,
    Bind,
    Inv,
    Nat,
    Num,
    Term,
    Vec,
    VOp,
    add,
    count,
    minus,
    name,
    nat_text,
    rebuilt,
    text_of,
    times,
)  # fmt: skip
from theory.formula import Formula
from theory.formula import text_of as formula_text
from theory.program import Instruction
from theory.sentence import index_of, parse_expression

READ = frozenset(
    {
        "linear",
        "gradient",
        "full gradient",
        "each",
        "mean",
        "sum",
        "sample",
        "coin",
        "coins",
        "choose",
        "where",
        "average",
    }
)


@dataclass(frozen=True)
class Draw:
    """A draw of a round: a sample of each client, a coin, coins of the clients, chosen clients.

    Attributes:
        name: in Rocq.
        op: the program's.
        number: the probability of a coin, how many clients are chosen; None for a sample.
    """

    name: str
    op: str
    number: Formula | None = None

    @property
    def by_client(self) -> bool:
        """Whether each client has its own."""
        return self.op != "coin"


def draws(setting: Setting) -> tuple[Draw, ...]:
    """The draws of a round.

    Raises:
        NotExportedError: for what is not exported yet.
    """
    assert setting.program is not None
    found = []
    for step in setting.program.body:
        if not isinstance(step, Instruction):
            raise NotExportedError(f"a loop of an algorithm ({step.op}) is not exported yet")
        if step.op not in READ:
            raise NotExportedError(f"an algorithm that has {step.op} is not exported yet")
        if step.op == "sample":
            if formula_text(step.numbers[0]) != "1":
                raise NotExportedError("batches of samples are not exported yet")
            found.append(Draw(f"drawn{step.to}", "sample"))
        elif step.op in ("coin", "coins", "choose"):
            if step.op == "choose" and step.flag:
                raise NotExportedError("clients that are chosen with replacement are not exported yet")
            found.append(Draw(f"drawn{step.to}", step.op, step.numbers[0]))
    return tuple(found)


def chance(setting: Setting, draw: Draw, env: Env) -> Term:
    """The probability that a coin, or a client's, is 1."""
    assert draw.number is not None
    number = setting.term(parse_expression(formula_text(draw.number)), env)
    if draw.op != "choose":
        return indexed(setting, number, env)
    return times(number, Inv(App("INR", (name("N"),))))


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


def flip(draw: str, env: Env) -> App:
    """A draw of 0 and 1 as a number."""
    return App(draw, tuple(env[x] for x in "knw" if x in env))


def after(setting: Setting, state: str, at: Env) -> Term:
    """A state after round t = at["k"], of client at["n"], at outcome at["w"], in terms of states before it."""
    program = setting.program
    assert program is not None
    steps = {step.to: step for step in program.body if isinstance(step, Instruction)}
    inputs = dict(zip(program.inputs, program.state, strict=True))

    own = {draw.name.removeprefix("drawn"): draw for draw in draws(setting)}

    def number(f: Formula, env: Env) -> Term:
        def change(part: Term) -> Term:
            if isinstance(part, App) and part.head in own:
                if own[part.head].op == "sample":
                    raise NotExportedError("a sample as a number")
                return flip(own[part.head].name, env if own[part.head].by_client else {x: env[x] for x in "kw"})
            return rebuilt(part, change)

        return change(indexed(setting, setting.term(f, env), env))

    def value(word: str, env: Env) -> Term:
        if word in inputs:
            one = inputs[word]
            args = [env["k"], *([env["n"]] if one.kind == "client" else []), *([env["w"]] if setting.random else [])]
            return Vec(safe(one.name), tuple(args))
        step = steps[word]
        if step.op == "linear":
            found: Term | None = None
            for source, coefficient in zip(step.of, step.numbers, strict=True):
                text = formula_text(coefficient)
                one_ = value(source, env)
                if text == "1":
                    found = one_ if found is None else VOp("add", (found, one_))
                elif text == "(-1)" and found is not None:
                    found = VOp("sub", (found, one_))
                else:
                    one_ = VOp("scal", (number(coefficient, env), one_))
                    found = one_ if found is None else VOp("add", (found, one_))
            assert found is not None
            return found
        if step.op == "each":
            return value(step.of[0], env)
        if step.op in ("mean", "sum"):
            var = setting.fresh("n", env)
            return Bind(f"v{step.op}", name("N"), var, value(step.of[0], {**env, "n": name(var)}))
        if step.op == "full gradient":
            return setting.gradient("f", value(step.of[0], env), {})
        if step.op == "gradient":
            point = value(step.of[0], env)
            if len(step.of) == 1:
                return setting.gradient("f_n", point, env)
            return setting.gradient("f_ni", point, {**env, "i": sample(f"drawn{step.of[1]}", env)})
        if step.op == "where":
            mask = number(step.numbers[0], env)
            one_, other = (
                VOp("scal", (c, value(v, env))) for c, v in zip((mask, minus(ONE, mask)), step.of, strict=True)
            )
            return VOp("add", (one_, other))
        if step.op == "average":
            (mask_,) = step.numbers
            draw = own.get(formula_text(mask_))
            if draw is None or draw.op != "choose" or draw.number is None:
                raise NotExportedError("an average over other than chosen clients is not exported yet")
            var = setting.fresh("n", env)
            inner = {**env, "n": name(var)}
            total = Bind("vsum", name("N"), var, VOp("scal", (number(mask_, inner), value(step.of[0], inner))))
            return VOp("scal", (Inv(setting.term(draw.number, env)), total))
        raise NotExportedError(f"an algorithm that has {step.op} is not exported yet")

    index = [s.name for s in program.state].index(state)
    return value(program.result[index], at)


def sample(draw: str, env: Env) -> Nat:
    """The sample that a client drew, as an index."""
    return name(" ".join([draw, *(nat_text(env[x]) for x in "knw")]))


def hypotheses(setting: Setting) -> list[tuple[str, str]]:
    """The chances, the draws and their law, the states and what they become."""
    program = setting.program
    assert program is not None
    found: list[tuple[str, str]] = []
    own = draws(setting)
    if setting.random:
        found += [("Pr", "chances"), ("rounds", "nat")]
        if setting.furthest:
            found.append(("rounds_dom", f"({setting.furthest} <= rounds)%nat"))
    states = []
    for s in program.state:
        if s.kind not in ("server", "client"):
            raise NotExportedError(f"a state that is a {s.kind} is not exported yet")
        args = "nat -> " + ("nat -> " if s.kind == "client" else "") + ("nat -> " if setting.random else "")
        found.append((safe(s.name), f"{args}V"))
        states.append((s, f"fun n => {safe(s.name)} t n w" if s.kind == "client" else f"{safe(s.name)} t w"))
    for s in program.state:
        client = s.kind == "client"
        env: dict[str, Nat] = {"n": name("n")} if client else {}
        given = ("forall n, (n < N)%nat -> " if client else "") + (
            "forall w, (w < outcomes Pr)%nat -> " if setting.random else ""
        )
        at = ("n " if client else "") + ("w " if setting.random else "")
        found.append(
            (f"{safe(s.name)}_start", f"{given}{safe(s.name)} 0%nat {at}= {text_of(setting.start(s.name, env))}")
        )
    types = " -> ".join(["(nat -> V)" if s.kind == "client" else "V" for s, _ in states])
    values = " ".join(f"({text})" for _, text in states)
    for draw in own:
        found += _law(setting, draw, types, values)
    for s in program.state:
        client = s.kind == "client"
        env = {"k": name("t"), "w": name("w"), **({"n": name("n")} if client else {})}
        given = "forall t, (t < rounds)%nat -> " if setting.random else "forall t, "
        given += "forall n, (n < N)%nat -> " if client else ""
        given += "forall w, (w < outcomes Pr)%nat -> " if setting.random else ""
        left = Vec(
            safe(s.name),
            tuple(
                [count(1)]
                if False
                else [name("t").shifted(1), *([name("n")] if client else []), *([name("w")] if setting.random else [])]
            ),
        )
        found.append((f"{safe(s.name)}_step", f"{given}{text_of(left)} = {text_of(after(setting, s.name, env))}"))
    return found


def _law(setting: Setting, draw: Draw, types: str, values: str) -> list[tuple[str, str]]:
    """A draw, the values that it takes, and its law given the states; for two clients they are independent, or as
    clients that are chosen without replacement are."""
    at, w, within = "(t < rounds)%nat", "(w < outcomes Pr)%nat", "(n < N)%nat"
    by = "n " if draw.by_client else ""
    one, two = f"({draw.name} t {by}w)", f"({draw.name} t m w)"
    number = "nat" if draw.op == "sample" else "R"
    kinds = f"nat -> {'nat -> ' if by else ''}nat -> {number}"
    given = f"{at} -> {within + ' -> ' if by else ''}"
    if draw.op == "sample":
        takes = f"({draw.name} t n w < samples n)%nat"
        single = f"mean (samples n) (fun i => phi {values} i)"
        pair = f"mean (samples n) (fun i => mean (samples m) (fun j => phi {values} i j))"
    else:
        takes = f"{one} = 0 \\/ {one} = 1"
        env = {"k": name("t"), "n": name("n"), "w": name("w")}
        single = text_of(mixed(chances(setting, draw, env), lambda c: App(f"phi {values}", (Num(Fraction(c)),))))
        pairs = chances_of_two(setting, draw, env, {**env, "n": name("m")})
        cells = [times(q, App(f"phi {values}", tuple(Num(Fraction(c)) for c in cell))) for cell, q in pairs]
        pair = text_of(add(add(add(cells[0], cells[1]), cells[2]), cells[3]))
    said = f"E Pr (fun w => phi {values} {one}) = E Pr (fun w => {single})"
    law = f"forall t {by}(phi : {types} -> {number} -> R), {given}{said}"
    found = [
        (draw.name, kinds),
        (f"{draw.name}_range", f"forall t {by}w, {given}{w} -> {takes}"),
        (f"{draw.name}_law", law),
    ]
    if by:
        found.append(
            (
                f"{draw.name}_apart",
                f"forall t n m (phi : {types} -> {number} -> {number} -> R), "
                f"{at} -> {within} -> (m < N)%nat -> n <> m -> "
                f"E Pr (fun w => phi {values} {one} {two}) = E Pr (fun w => {pair})",
            )
        )
    return found


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
