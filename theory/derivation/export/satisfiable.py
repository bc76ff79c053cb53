"""An instance that satisfies a theorem's hypotheses: half the square on the real line, one client, one sample.

Where the run of the algorithm there is not written, it begins at the minimiser and stays there.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from theory.derivation.export.draws import chance
from theory.derivation.export.names import safe
from theory.derivation.export.rounds import Carried, Tap, round_of
from theory.derivation.export.statement import Setting
from theory.derivation.export.terms import App, Bind, Inv, Nat, Num, Op, Pow, Term, everything, name, nat_text, text_of
from theory.formula import Name, power_too_large
from theory.sentence import TURNS, Sentence, index_of

_DATA = re.compile(r"(space|nat|R|V|chances|->|[ ()])+\Z")
_TRIED = tuple(Fraction(text) for text in ("1", "1/2", "1/4", "2", "1/8", "3", "1/16", "1/64", "1/256"))
ONE = Fraction(1)
_MOST_TRIED = 20_000
_BOUNDS = {
    "smooth": (Fraction(1), None),
    "strongly_convex": (None, Fraction(1)),
    "pl": (None, Fraction(1)),
    "convex": (None, None),
    "bounded_variance": (None, None),
    "dissimilar": (Fraction(1), None),
}
_FIXED = {
    "V": "line", "unit": "1", "N": "1%nat", "K": "1%nat", "d": "1%nat", "samples": "(fun _ => 1%nat)",
    "x0": "1", "xstar": "0", "xstar_n": "(fun _ => 0)", "fstar": "0", "Pr": "certain", "rounds": "1%nat",
}  # fmt: skip


def example(setting: Setting, label: str, hypotheses: Sequence[tuple[str, str]]) -> str | None:
    """The hypotheses hold together: a statement with its proof, or None where no instance is at hand."""
    numbers = parameters(setting)
    if numbers is None or any(p.name not in _BOUNDS for p in setting.claim.predicates):
        return None
    if any(not _alone(r, setting) for r in setting.claim.relations):
        return None
    rest = setting.program is not None and not _moves(setting)
    if rest and not _rests(setting, numbers):
        return None
    values = []
    for word, type_ in hypotheses:
        if not _DATA.match(type_):
            continue
        values.append((_at_rest if rest else _value)(setting, word, type_, numbers))
    data = " ".join(f"({word} : {type_})" for word, type_ in hypotheses if _DATA.match(type_))
    props = "\n  /\\ ".join(f"({type_})" for _, type_ in hypotheses if not _DATA.match(type_))
    if not props:
        return None
    return "\n".join(
        [
            "(* The hypotheses hold together. *)",
            f"Example {label}_satisfiable : exists {data},",
            f"  {props}.",
            "Proof.",
            f"exists {', '.join(values)}.",
            "cbv beta. repeat apply conj; instance.",
            "Qed.",
        ]
    )


def _moves(setting: Setting) -> bool:
    """Whether the run of the algorithm in the instance is written: one state of the server, at most one loop."""
    program = setting.program
    assert program is not None
    made = round_of(setting)
    one = len(program.state) == 1 and program.state[0].kind == "server"
    return one and len(made.carried) <= 1 and all(draw.op == "sample" for draw in made.draws.values())


def _rests(setting: Setting, numbers: Mapping[str, Fraction]) -> bool:
    """Whether the algorithm can rest at the minimiser, 0, its coins of chance 1, all its clients chosen."""
    for draw in round_of(setting).draws.values():
        if draw.number is not None:
            p = _worth(chance(setting, draw, {x: name(x) for x in "khjncw"}), {**numbers, "N": ONE, "d": ONE})
            if p != 1:
                return False
    return True


def _at_rest(setting: Setting, word: str, type_: str, numbers: Mapping[str, Fraction]) -> str:
    """Of a run that stays at 0."""
    if word == "x0":
        return "0"
    if word.startswith("drawn_") and not type_.endswith("nat"):
        return f"(fun {'_ ' * type_.count('->')}=> 1)"
    if type_.endswith("V") and word not in ("grad", "unit", "basis"):
        return f"(fun {'_ ' * type_.count('->')}=> 0)" if "->" in type_ else "0"
    return _value(setting, word, type_, numbers)


def _value(setting: Setting, word: str, type_: str, numbers: Mapping[str, Fraction]) -> str:
    if word == "rounds":
        return f"{max(1, setting.furthest)}%nat"
    if word in _FIXED:
        return _FIXED[word]
    if word in ("func", "grad"):
        places = type_.count("nat ->")
        inner = "half_square" if word == "func" else "itself"
        return f"(fun {'_ ' * places}=> {inner})" if places else inner
    if word.startswith("drawn_"):
        return f"(fun {'_ ' * type_.count('->')}=> {'0%nat' if type_.endswith('nat') else '0'})"
    if setting.program is not None:
        made = round_of(setting)
        shown: dict[str, Carried | Tap] = {one.name: one for one in made.carried.values()}
        shown |= {one.name: one for one in made.taps.values()}
        if word == safe(setting.program.state[0].name):
            return _run(setting)
        if word in shown:
            return _shown(setting, shown[word])
    if setting.lags is not None and word == nat_text(setting.lags) and word not in numbers:
        return "1%nat"
    if word in numbers:
        number = numbers[word]
        text = f"{number.numerator}%nat" if type_ == "nat" else text_of(Num(number), outer=9)
        return f"(fun _ => {text})" if "->" in type_ else text
    return "(fun _ => 1)" if "->" in type_ else "1"


def _run(setting: Setting) -> str:
    """The states, round after round."""
    assert setting.program is not None
    (state,) = setting.program.state
    made = round_of(setting)
    step = _of_before(setting, made.after(state.name, {"k": name("t"), "w": name("w")}))
    start = text_of(setting.start(state.name, {})).replace("x0", _FIXED["x0"])
    start = "(0 : line)" if start == "zero" else f"({start} : line)"
    run = f"nat_rect (fun _ => vector line) {start} (fun t before => {step}) t"
    return f"(fun t {'w ' if setting.random else ''}=> {run})"


def _shown(setting: Setting, one: Carried | Tap) -> str:
    """What a loop hands on, or a tap shows, turn after turn."""
    words = ["t", *TURNS[: len(one.path)], *(["n"] if one.client else [])]
    words += ["w"] if setting.random else []
    env = {x: name("t" if x == "k" else x) for x in "khjnw"}
    made = round_of(setting)
    turn = made.handed(one, env["h"], env) if isinstance(one, Carried) else made.value(one.value, env, one.path)
    before = f"({_run(setting)} t{' w' if setting.random else ''})"
    return f"(fun {' '.join(words)} => {_of_before(setting, turn).replace('before', before)})"


def _of_before(setting: Setting, t: Term) -> str:
    """A vector of a round in terms of the state before it, of the one client."""
    assert setting.program is not None
    made, word = round_of(setting), safe(setting.program.state[0].name)
    text = text_of(t, outer=9)
    for c in made.carried.values():
        env = {x: name("t" if x == "k" else x) for x in "khjnw"}
        first = _grounded(setting, text_of(made.value(c.first, env, c.path[:-1]), outer=9))
        following = _grounded(setting, text_of(made.value(c.following, env, c.path), outer=9))
        core = rf"{c.name} t (\w+|\([^()]*\)|\d+%nat)" + r" \w+" * (int(c.client) + int(setting.random))
        own = rf"\({core}\)|\b{core}"
        run = f"nat_rect (fun _ => vector line) {first} (fun h inner => {re.sub(own, 'inner', following)})"
        text = re.sub(own, lambda m, run=run: f"({run} {m[1] or m[2]})", text)  # type: ignore[misc]
    text = _grounded(setting, text)
    return re.sub(r"\bn\b", "0%nat", text.replace(f"({word} t w)", "before").replace(f"({word} t)", "before"))


def _grounded(setting: Setting, inner: str) -> str:
    """With the instance's parameters, gradients and samples."""
    numbers = parameters(setting) or {}
    for key in ("N", "samples"):
        inner = re.sub(rf"\b{key}\b", _FIXED[key], inner)
    for key, value in numbers.items():
        whole = any(safe(symbol) == key and setting.whole(symbol) for symbol in setting.symbols)
        inner = re.sub(rf"\b{re.escape(key)}\b", f"{value}%nat" if whole else text_of(Num(value), outer=9), inner)
    places = {"": "", "f": "", "f_n": "_ ", "f_ni": "_ _ "}[setting.level]
    inner = re.sub(r"\bgrad\b", f"(fun {places}(v : line) => v)", inner)
    return re.sub(r"\(drawn_\w+( \w+)+\)", "0%nat", inner)


def _alone(relation: Sentence, setting: Setting) -> bool:
    return all(
        _numeric(setting.term(side, {"n": name("n"), "k": name("k")})) for side in (relation.left, relation.right)
    )


def _numeric(t: Term) -> bool:
    if isinstance(t, Op):
        return all(map(_numeric, t.args))
    if isinstance(t, Inv):
        return _numeric(t.of)
    if isinstance(t, Pow):
        return not t.exponent.terms and _numeric(t.base)
    if isinstance(t, Bind):
        return t.kind in ("sum", "mean") and _numeric(t.body)
    if isinstance(t, App) and t.head == "sqrt":
        return _numeric(t.args[0])
    return isinstance(t, Num) or (isinstance(t, App) and all(isinstance(a, Nat) for a in t.args))


def parameters(setting: Setting) -> dict[str, Fraction] | None:
    """Numbers for the parameters that satisfy the relations; None where none are at hand."""
    claim = setting.claim
    choices: dict[str, list[Fraction]] = {}
    draws = () if setting.program is None else round_of(setting).draws.values()
    chosen = {d.number.name for d in draws if d.op in ("choose", "keep") and isinstance(d.number, Name)}
    for symbol in setting.symbols:
        base, _ = index_of(symbol)
        domain = claim.domains[base]
        own = [v for v in (*_TRIED, Fraction(0)) if domain.contains(v)]
        for one in claim.predicates:
            for constant in one.constants:
                if not isinstance(constant, Name):
                    return None
                if constant.name == symbol:
                    low, high = _BOUNDS.get(one.name, (None, None))
                    own = [v for v in own if (low is None or v >= low) and (high is None or v <= high)]
        if base in chosen:
            own = [ONE]
        choices[safe(base)] = own
    try:
        env = {x: name(x) for x in "nkhj"}
        sides = [
            (r, setting.term(r.left, env), setting.term(r.right, env)) for r in claim.relations if _alone(r, setting)
        ]
    except ValueError:
        return None
    steps = itertools.count()
    related = set().union(*(_spoken((a, b)) for _, a, b in sides))
    first = sorted(choices.items(), key=lambda one: one[0] not in related)
    return _solved(first, {}, [(r.relation, a, b) for r, a, b in sides], steps)


def _solved(
    choices: Sequence[tuple[str, list[Fraction]]], values: dict[str, Fraction], sides: Sequence[tuple[str, Term, Term]],
    steps: Iterator[int],
) -> dict[str, Fraction] | None:  # fmt: skip
    """Numbers for the parameters, one after another, each relation asked as soon as all of its own have theirs."""
    left = {key for key, _ in choices}
    asked = [side for side in sides if not _spoken(side[1:]) & left]
    if not all(_holds(relation, _worth(a, values), _worth(b, values)) for relation, a, b in asked):
        return None
    if not choices:
        return values
    (key, own), *rest = choices
    for value in own:
        if next(steps) > _MOST_TRIED:
            return None
        found = _solved(rest, {**values, key: value}, [side for side in sides if side not in asked], steps)
        if found is not None:
            return found
    return None


def _spoken(sides: Sequence[Term]) -> set[str]:
    """The parameters of which numbers speak."""
    parts = [part for side in sides for part in everything(side)]
    return {part.head for part in parts if isinstance(part, App)} | {
        word for part in parts if isinstance(part, Nat) for word, _ in part.terms
    }


def _holds(relation: str, a: Fraction | None, b: Fraction | None) -> bool:
    if a is None or b is None:
        return False
    return {"<=": a <= b, "<": a < b, ">=": a >= b, ">": a > b, "==": a == b}[relation]


def _worth(t: Term, values: Mapping[str, Fraction]) -> Fraction | None:
    if isinstance(t, Num):
        return t.value
    if isinstance(t, App):
        if t.head == "INR":
            return values.get(text_of(t.args[0]), Fraction(1))
        if t.head == "sqrt":
            return ONE if _worth(t.args[0], values) == 1 else None
        return values.get(t.head)
    if isinstance(t, Bind):
        return _worth(t.body, {**values, t.var: Fraction(0)})
    if isinstance(t, Inv):
        inner = _worth(t.of, values)
        return None if not inner else 1 / inner
    if isinstance(t, Pow):
        base = _worth(t.base, values)
        exponent = Fraction(t.exponent.constant)
        return None if base is None or power_too_large(base, exponent) else base**t.exponent.constant
    if isinstance(t, Op):
        parts = [_worth(a, values) for a in t.args]
        if None in parts:
            return None
        one, *rest = [p for p in parts if p is not None]
        if t.op == "neg":
            return -one
        return one + rest[0] if t.op == "+" else one - rest[0] if t.op == "-" else one * rest[0]
    return None
