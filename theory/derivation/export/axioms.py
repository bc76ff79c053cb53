"""Lines that hold of all numbers and vectors: what each axiom says, and what proves it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from theory.derivation.export.closing import exactly
from theory.derivation.export.forms import Lines, NotExportedError, block
from theory.derivation.export.names import Said
from theory.derivation.export.scope import Line, Written
from theory.derivation.export.terms import (
    ONE,
    ZERO,
    App,
    Bind,
    Ip,
    Nat,
    Pow,
    Term,
    VOp,
    add,
    count,
    minus,
    name,
    nat_text,
    put,
    text_of,
    times,
)  # fmt: skip
from theory.sentence import OVER, TURNS, Expression, parse_expression, read

if TYPE_CHECKING:
    from theory.derivation.export.proof import Proof

INDEXED = ("telescope", "extreme", "bounds", "jensen", "part", "triangle")
"""Those that may be over an index."""


def by_axiom(derivation: Proof, one: Written, line: Line) -> Lines:
    schema, over = str(one["schema"]), str(one.get("over", ""))
    of = [parse_expression(str(text)) for text in one.get("of", ())]
    if over and schema in INDEXED:
        said, proof = _over(derivation, schema, of, over, line)
    elif schema in ("cauchy", "triangle", "exp", "abs"):
        return _at_once(schema)
    elif schema == "tail":
        said, proof = _tail(derivation, of[0], line)
    elif schema == "lexicographic":
        said, proof = _lexicographic(derivation, of)
    else:
        said, proof = _of_numbers(derivation, schema, of, line)
    h = derivation.normal.fresh("H")
    script = derivation.scaled_from(derivation.goal(line), said, h)
    if script is None:
        raise NotExportedError(f"{line.sentence} is not what its axiom {schema} says")
    return [f"assert ({h} : {said.text}).", *block(proof), *script]


def _at_once(schema: str) -> Lines:
    """The script of a line that is the axiom as it stands."""
    return {
        "cauchy": ["apply ip_le_norm."],
        "triangle": ["apply norm_triangle."],
        "exp": ["first [apply exp_ineq1_le | rewrite Rplus_comm; apply exp_ineq1_le]."],
        "abs": ["unfold Rabs; destruct (Rcase_abs _); lra."],
    }[schema]


def _env(derivation: Proof) -> dict[str, Nat]:
    return {"K": name("K"), **derivation.env, **derivation.fixed}


def _nonnegative(derivation: Proof, t: Term) -> Lines:
    """What proves that a number is not negative."""
    found = derivation.signs.prove(t)
    if found is None:
        raise NotExportedError(f"that {text_of(t)} is not negative is not exported yet")
    return found


def _at_most(derivation: Proof, low: Term, high: Term) -> Lines:
    """What proves that a number is at most another."""
    h = derivation.normal.fresh("G")
    gap = minus(high, low)
    return [f"assert ({h} : 0 <= {text_of(gap)}).", *block(_nonnegative(derivation, gap)), "lra."]


# --- of numbers ------------------------------------------------------------------------------------------------------


def _of_numbers(derivation: Proof, schema: str, of: Sequence[Expression], line: Line) -> tuple[Said, Lines]:
    env = _env(derivation)
    term = partial(derivation.setting.term, env=env)
    if schema in ("max", "min"):
        return _chosen(derivation, schema, [term(e) for e in of], line)
    if schema == "bounds":
        return _bounds(derivation, [term(e) for e in of], line)
    if schema == "exp sum" and len(of) == 2:
        a, b = (term(e) for e in of)
        said = Said(App("exp", (add(a, b),)), "==", times(App("exp", (a,)), App("exp", (b,))))
        return said, ["apply exp_plus."]
    if schema == "bernoulli":
        e, exponent = term(of[0]), derivation.setting.nat(of[1], env)
        base = add(ONE, e)
        said = Said(add(ONE, times(App("INR", (exponent,)), e)), "<=", Pow(base, exponent))
        return said, ["apply bernoulli.", *_nonnegative(derivation, base)]
    if schema == "exponents":
        return _exponents(derivation, term(of[0]), *(derivation.setting.nat(e, env) for e in of[1:]))
    if schema == "square":
        e = term(of[0])
        return Said(ZERO, "<=", times(e, e)), ["apply Rle_0_sqr."]
    if schema == "log":
        e = term(of[0])
        sign = derivation.signs.prove(e, True)
        if sign is None:
            raise NotExportedError(f"that {text_of(e)} is positive is not exported yet")
        return Said(App("ln", (e,)), "<=", minus(e, ONE)), ["apply ln_below.", *sign]
    raise NotExportedError(f"the axiom {schema} is not exported yet")


def _all(head: str, of: Sequence[Term]) -> Term:
    """The largest, or the least, of some numbers, as a claim's is written."""
    found = of[-1]
    for one in reversed(of[:-1]):
        found = App(head, (one, found))
    return found


def _chosen(derivation: Proof, schema: str, of: Sequence[Term], line: Line) -> tuple[Said, Lines]:
    """One of some numbers, and the largest or the least of them; which one, the line says."""
    head, goal = {"max": "Rmax", "min": "Rmin"}[schema], derivation.goal(line)
    whole = _all(head, of)
    for i, one in enumerate(of):
        said = Said(one, "<=", whole) if schema == "max" else Said(whole, "<=", one)
        if derivation.normal.equal(minus(goal.right, goal.left), minus(said.right, said.left)):
            further = "[|apply Rmax_r]" if schema == "max" else "[apply Rmin_r|]"
            here = "Rle_refl" if i == len(of) - 1 else "Rmax_l" if schema == "max" else "Rmin_l"
            steps = [*[f"eapply Rle_trans; {further}."] * i, f"apply {here}."]
            return said, steps
    raise NotExportedError(f"{line.sentence} is not what its axiom {schema} says")


def _bounds(derivation: Proof, of: Sequence[Term], line: Line) -> tuple[Said, Lines]:
    """The largest of numbers is at most what all are at most; the least likewise."""
    *some, m = of
    goal = derivation.goal(line)
    for head, lemma in (("Rmax", "Rmax_lub"), ("Rmin", "Rmin_glb")):
        whole = _all(head, some)
        said = Said(whole, "<=", m) if head == "Rmax" else Said(m, "<=", whole)
        if not derivation.normal.equal(minus(goal.right, goal.left), minus(said.right, said.left)):
            continue
        lines: Lines = []
        for i, one in enumerate(some):
            each = _at_most(derivation, *((one, m) if head == "Rmax" else (m, one)))
            lines += each if i == len(some) - 1 else [f"apply {lemma}.", *block(each)]
        return said, lines
    raise NotExportedError(f"{line.sentence} is not what its axiom bounds says")


def _exponents(derivation: Proof, base: Term, low: Nat, high: Nat) -> tuple[Said, Lines]:
    """Powers of what is at least 1 grow with the exponent; those of what is in [0, 1] shrink."""
    if low.constant < 0 or any(times_ < 0 for _, times_ in low.terms):
        raise NotExportedError("exponents that may be negative are not exported yet")
    order = [f"apply INR_le. {' '.join(_at_most(derivation, App('INR', (low,)), App('INR', (high,))))}"]
    if derivation.signs.prove(minus(base, ONE)) is not None:
        more = _at_most(derivation, ONE, base)
        return Said(Pow(base, low), "<=", Pow(base, high)), ["apply Rle_pow.", *block(more), *block(order)]
    signs = [_nonnegative(derivation, base), _at_most(derivation, base, ONE)]
    return Said(Pow(base, high), "<=", Pow(base, low)), [
        "apply pow_shrinks.", *(text for sign in signs for text in block(sign)), *block(order),
    ]  # fmt: skip


# --- over an index ---------------------------------------------------------------------------------------------------


def _end(derivation: Proof, index: str, *of: Expression) -> Nat:
    """Up to where an index goes in formulas."""
    if index in TURNS:
        return derivation.setting.turns_of(index, *of)
    if index == "i":
        return name(f"samples {nat_text(_env(derivation)['n'])}")
    return {"n": name("N"), "k": _env(derivation)["K"]}[index]


def _over(derivation: Proof, schema: str, of: Sequence[Expression], over: str, line: Line) -> tuple[Said, Lines]:
    """A sum that telescopes, one of the numbers of which a maximum is taken, ..."""
    if over not in OVER:
        raise NotExportedError(f"the axiom {schema} over {over} is not exported yet")
    how, index = OVER[over]
    env, bound = _env(derivation), _end(derivation, index, *of)
    var = derivation.setting.fresh(index, env)

    def at(e: Expression, k: Nat) -> Term:
        return derivation.setting.term(e, {**env, index: k})

    def summed(body: Term) -> Bind:
        return Bind({"max": "maxi", "min": "mini"}.get(how, how), bound, var, body)

    bodies = [at(e, name(var)) for e in of[: 2 if schema == "jensen" else 1]]
    functions = [f"(fun {var} => {text_of(body)})" for body in bodies]
    end, vector = nat_text(bound), read(of[0], derivation.setting.claim.vocabulary).shape == "vector"
    kept = derivation.env
    derivation.env = {**kept, index: name(var)}
    try:
        intro = f"intros {var} lt_{var}."
        if schema == "telescope" and how == "sum":
            return _telescope(derivation, of, partial(at, of[0]), bound, var, vector)
        if schema == "extreme":
            one = at(of[0], env[index])
            said = Said(one, "<=", summed(bodies[0])) if how == "max" else Said(summed(bodies[0]), "<=", one)
            return said, [f"exact ({summed(ZERO).kind}_le {end} {functions[0]} {nat_text(env[index])} ltac:(side))."]
        if schema == "bounds" and how == "max":
            m = derivation.setting.term(of[1], env)
            each = _at_most(derivation, bodies[0], m)
            return Said(summed(bodies[0]), "<=", m), ["apply maxi_lub; [counts|].", intro, *each]
        if schema == "jensen":
            w, v = bodies
            signs = _nonnegative(derivation, w)
            square = Bind(f"v{how}", bound, var, VOp("scal", (w, v)))
            said = Said(Ip(square, square), "<=", times(summed(w), summed(times(w, Ip(v, v)))))
            return said, [f"apply (jensen_{how} {end} {' '.join(functions)}).", intro, *signs]
        if schema == "part" and how == "sum":
            one = at(of[0], env[index])
            signs = _nonnegative(derivation, bodies[0])
            of_one = f"(sum_part {end} {functions[0]} {nat_text(env[index])})"
            return Said(one, "<=", summed(bodies[0])), [f"apply {of_one}; [|side].", intro, *signs]
        if schema == "triangle" and how in ("sum", "mean"):
            whole = Bind(f"v{how}", bound, var, bodies[0])
            said = Said(App("norm", (whole,)), "<=", summed(App("norm", (bodies[0],))))
            return said, [f"apply norm_v{how}."]
    finally:
        derivation.env = kept
    raise NotExportedError(f"the axiom {schema} over {over} is not exported yet")


def _telescope(
    derivation: Proof, of: Sequence[Expression], at: partial[Term], bound: Nat, var: str, vector: bool
) -> tuple[Said, Lines]:
    """What a number, or a vector, grows by, summed up to the end or a turn.

    Its values are those of the function that the lemma is of: a power with a negative exponent is an inverse at 0 too.
    """
    now, end, zero = name(var), nat_text(bound), count(0)
    of_now = at(now)
    body = f"(fun {var} => {text_of(of_now)})"

    def value(k: Nat) -> Term:
        return put(of_now, {var: k})

    if vector and len(of) == 1:
        grown = Bind("vsum", bound, var, VOp("sub", (value(now.shifted(1)), of_now)))
        gap = VOp("sub", (grown, VOp("sub", (value(bound), value(zero)))))
        return Said(Ip(gap, gap), "<=", ZERO), [f"apply (vsum_telescope {end} {body})."]
    if vector:
        raise NotExportedError("vectors that telescope up to a turn are not exported yet")
    step = minus(value(now.shifted(1)), of_now)
    if len(of) == 1:
        said = Said(Bind("sum", bound, var, step), "==", minus(value(bound), value(zero)))
        return said, [exactly(said, f"(sum_telescope {end} {body})")]
    m = derivation.setting.nat(of[1], _env(derivation))
    factor = before(minus(App("INR", (m,)), App("INR", (now,))))
    order = _at_most(derivation, App("INR", (m,)), App("INR", (bound,)))
    said = Said(Bind("sum", bound, var, times(factor, step)), "==", minus(value(m), value(zero)))
    return said, [f"apply (sum_before {nat_text(m)} {end} {body}).", "apply INR_le.", *order]


def before(distance: Term) -> Term:
    """1 for whole numbers of at least 1, else 0."""
    return App("Rmax", (ZERO, App("Rmin", (ONE, distance))))


def _lexicographic(derivation: Proof, of: Sequence[Expression]) -> tuple[Said, Lines]:
    """What is summed over the pairs of turns before (s, m) is that over all j of h < s, and over j < m of s."""
    env = _env(derivation)
    ends = [derivation.setting.turns_of(index, of[0]) for index in TURNS]
    s, m = (derivation.setting.nat(e, env) for e in of[1:])
    h = derivation.setting.fresh("h", env)
    j = derivation.setting.fresh("j", {**env, "h": name(h)})

    def at(one: Nat, other: Nat) -> Term:
        return derivation.setting.term(of[0], {**env, "h": one, "j": other})

    def real(a: Nat) -> Term:
        return App("INR", (a,))

    def summed(end: Nat, var: str, body: Term) -> Term:
        return Bind("sum", end, var, body)

    far = minus(minus(add(times(real(s), real(ends[1])), real(m)), times(real(name(h)), real(ends[1]))), real(name(j)))
    one = at(name(h), name(j))
    whole = summed(ends[0], h, summed(ends[1], j, times(before(far), one)))
    earlier = summed(ends[0], h, times(before(minus(real(s), real(name(h)))), summed(ends[1], j, one)))
    last = summed(ends[1], j, times(before(minus(real(m), real(name(j)))), at(s, name(j))))
    first = _at_most(derivation, add(real(s), ONE), real(ends[0]))
    second = _at_most(derivation, real(m), real(ends[1]))
    words = f"{nat_text(ends[0])} {nat_text(ends[1])} {nat_text(s)} {nat_text(m)}"
    return Said(whole, "==", add(earlier, last)), [
        f"apply (lexicographic {words} (fun {h} {j} => {text_of(one)})).",
        *block(["apply INR_le. rewrite S_INR.", *first]),
        *block(["apply INR_le.", *second]),
    ]


def _tail(derivation: Proof, e: Expression, line: Line) -> tuple[Said, Lines]:
    """Sums over the lags from j on: the first is the whole sum, the last is 0, each has one term more than the next."""
    env, end = _env(derivation), derivation.setting.lags
    if end is None:
        raise NotExportedError("the axiom tail without remembered vectors is not exported yet")
    h = derivation.setting.fresh("h", env)
    one = derivation.setting.term(e, {**env, "h": name(h)})
    f, length = f"(fun {h} => {text_of(one)})", nat_text(end)

    def rest(j: Nat) -> Term:
        far = minus(add(App("INR", (name(h),)), ONE), App("INR", (j,)))
        return Bind("sum", end, h, times(before(far), one))

    goal = derivation.goal(line)
    ends = [
        (Said(rest(count(0)), "==", Bind("sum", end, h, one)), [f"apply (tail_whole {length} {f})."]),
        (Said(rest(end), "==", ZERO), [f"apply (tail_none {length} {f})."]),
    ]
    for said, proof in ends:
        if derivation.scaled_from(goal, said, "tried") is not None:
            return said, proof
    if "j" not in derivation.env and "j" not in derivation.fixed:
        raise NotExportedError(f"{line.sentence} is not what its axiom tail says")
    j = env["j"]
    here = derivation.setting.term(e, {**env, "h": j})
    said = Said(minus(rest(j), rest(j.shifted(1))), "==", here)
    return said, [f"apply (tail_step {length} {nat_text(j)} {f}). side."]
