"""A round of an algorithm in terms of Rocq: what states become, and the laws of its draws."""

from __future__ import annotations

from dataclasses import dataclass

from theory.derivation.export.normal import NotExportedError
from theory.derivation.export.statement import Env, Setting, safe
from theory.derivation.export.terms import Bind, Nat, Term, Vec, VOp, count, name, nat_text, text_of
from theory.formula import Formula
from theory.formula import text_of as formula_text
from theory.program import Instruction
from theory.sentence import parse_expression

READ = frozenset({"linear", "gradient", "full gradient", "each", "mean", "sum", "sample"})


@dataclass(frozen=True)
class Draw:
    """A draw of a round: the sample of each client."""

    name: str
    op: str


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
    return tuple(found)


def after(setting: Setting, state: str, at: Env) -> Term:
    """A state after round t = at["k"], of client at["n"], at outcome at["w"], in terms of states before it."""
    program = setting.program
    assert program is not None
    steps = {step.to: step for step in program.body if isinstance(step, Instruction)}
    inputs = dict(zip(program.inputs, program.state, strict=True))

    def number(f: Formula, env: Env) -> Term:
        return setting.term(parse_expression(formula_text(f)), env)

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
        raise NotExportedError(f"an algorithm that has {step.op} is not exported yet")

    draws(setting)
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
        found.append((draw.name, "nat -> nat -> nat -> nat"))
        one = f"({draw.name} t n w)"
        found.append((
            f"{draw.name}_range",
            f"forall t n w, (t < rounds)%nat -> (n < N)%nat -> (w < outcomes Pr)%nat -> ({draw.name} t n w < samples n)%nat",
        ))  # fmt: skip
        found.append((
            f"{draw.name}_law",
            f"forall t n (phi : {types} -> nat -> R), (t < rounds)%nat -> (n < N)%nat -> "
            f"E Pr (fun w => phi {values} {one}) = E Pr (fun w => mean (samples n) (fun i => phi {values} i))",
        ))  # fmt: skip
        found.append((
            f"{draw.name}_apart",
            f"forall t n m (phi : {types} -> nat -> nat -> R), (t < rounds)%nat -> (n < N)%nat -> (m < N)%nat -> n <> m -> "
            f"E Pr (fun w => phi {values} {one} ({draw.name} t m w)) = "
            f"E Pr (fun w => mean (samples n) (fun i => mean (samples m) (fun j => phi {values} i j)))",
        ))  # fmt: skip
    if len(own) > 1:
        raise NotExportedError("several draws in one round are not exported yet")
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
