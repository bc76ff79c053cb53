"""Instances of assumptions at points: what each says, and what proves it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from theory.derivation.export.forms import NotExportedError
from theory.derivation.export.names import LEVELS, Env, Said
from theory.derivation.export.statement import Setting
from theory.derivation.export.terms import (
    App,
    Bind,
    Inv,
    Ip,
    Nat,
    Num,
    Pow,
    Term,
    Vec,
    VOp,
    add,
    count,
    minus,
    name,
    nat_text,
    text_of,
    times,
)  # fmt: skip
from theory.predicates import Predicate

TWO = Num(Fraction(2))
_LIFTED = {
    "smooth": ("smooth_mean", "grad"),
    "convex": ("convex_mean", "func"),
    "strongly_convex": ("strong_mean", "func"),
}


def _sides(function: str) -> str:
    return " ltac:(side)" * LEVELS.index(function)


def _lifted(
    setting: Setting, lemma: str, which: str, last: str, hypothesis: str, finest: str, function: str, env: Env
) -> str:
    """A proof that what holds of the finest functions holds of their means."""
    to = LEVELS.index(finest)

    def build(at: int, here: dict[str, Nat], sides: list[str]) -> str:
        if at == to:
            words = [hypothesis, *(nat_text(here[i]) for i in "ni"[:at]), *sides]
            return f"({' '.join(words)})" if len(words) > 1 else hypothesis
        index = "ni"[at]
        var, lt = setting.fresh(index, here), f"le_{index}"
        bound = "N" if index == "n" else f"(samples {nat_text(here['n'])})"
        one = "N_dom" if index == "n" else "ltac:(counts)"
        inner = {**here, index: name(var)}
        functions = [f"(fun {var} => {setting.closure(LEVELS[at + 1], w, inner)})" for w in which.split()]
        proof = build(at + 1, inner, [*sides, lt])
        tail = [one] if lemma != "gradient_mean" else []
        words = [lemma, bound, *functions, *([last] if last else []), *tail, f"(fun {var} {lt} => {proof})"]
        return f"({' '.join(words)})"

    at = LEVELS.index(function)
    return build(at, {i: env[i] for i in "ni"[:at]}, ["ltac:(side)"] * at)


def gradients(setting: Setting, function: str, env: Env) -> str:
    """A proof that the gradient is one."""
    return _lifted(setting, "gradient_mean", "func grad", "", "gradients", setting.level, function, env)


def assumed(setting: Setting, one: Predicate, function: str, env: Env) -> str:
    """A proof of an assumption about a function, from that about finer ones."""
    if one not in setting.claim.predicates:
        raise NotExportedError(f"{one.text} is not assumed")
    hypothesis = setting.hypothesis_of(one)
    if LEVELS.index(function) > LEVELS.index(one.function):
        raise NotExportedError(f"{one.text} says nothing of {function}")
    if one.name not in _LIFTED and one.function != function:
        raise NotExportedError(f"{one.text} for {function} is not exported yet")
    lemma, which = _LIFTED.get(one.name, ("", "func"))
    constants = [text_of(setting.term(c, {}), outer=9) for c in one.constants]
    return _lifted(setting, lemma, which, " ".join(constants), hypothesis, one.function, function, env)


def instance(
    setting: Setting, schema: str, of: Sequence[Predicate], on: str, points: Mapping[str, Term], env: Env
) -> tuple[Said, str]:
    """A schema at points: its sentence, and the script that proves it.

    Raises:
        NotExportedError: for a schema that is not exported yet.
    """
    functions = [one.function for one in of if one.function in LEVELS]
    function = on or min(functions, key=LEVELS.index, default="f_n" if schema.endswith(" n") else "f")
    if schema == "curvature":
        function = "f"
    env = dict(env)

    def value(v: Term) -> Term:
        return setting.value(function, v, env)

    def gradient(v: Term) -> Term:
        return setting.gradient(function, v, env)

    x, y, v = (points.get(key) for key in "xyv")
    constants = {p.name: [setting.term(c, {}) for c in p.constants] for p in of}
    held = {
        p.name: assumed(setting, p, function, env)
        for p in of
        if p.name in _LIFTED or p.name in ("lipschitz", "bounded_gradients")
    }
    if "strongly_convex" in held and "convex" not in held:
        mu_text = text_of(constants["strongly_convex"][0], outer=9)
        held["convex"] = f"(strong_is_convex _ {mu_text} ltac:(positive) {held['strongly_convex']})"
    g = gradients(setting, function, env) if setting.level else ""

    def text(t: Term) -> str:
        return text_of(t, outer=9)

    def positive(*terms: Term) -> str:
        return " ".join("ltac:(positive)" for _ in terms)

    def sq(a: Term) -> Term:
        return Ip(a, a)

    if schema == "infimum":
        assert v is not None
        return Said(App("fstar"), "<=", value(v)), f"exact (fstar_low {text(v)})."
    if schema == "minimiser":
        at = Vec("xstar")
        return Said(value(at), "==", App("fstar")), "exact (least_is_infimum _ _ _ fstar_low fstar_near xstar_least)."
    if schema == "minimiser least" and v is not None:
        return Said(value(Vec("xstar")), "<=", value(v)), f"exact (xstar_least {text(v)})."
    if schema == "zero" and not of:
        assert v is not None
        gx = setting.gradient("f", Vec("xstar"), env)
        proof = f"exact (minimiser_zero _ _ xstar {gradients(setting, 'f', env)} xstar_least {text(v)})."
        return Said(Ip(gx, v), "==", Num(Fraction(0))), proof
    if schema in ("zero n", "minimiser n"):
        assert v is not None
        at = Vec("xstar_n", (env["n"],))
        n = nat_text(env["n"])
        if schema == "minimiser n":
            said = Said(setting.value("f_n", at, env), "<=", setting.value("f_n", v, env))
            return said, f"exact (xstar_n_least {n} {text(v)} ltac:(side))."
        least = f"(fun u => xstar_n_least {n} u ltac:(side))"
        proof = f"exact (minimiser_zero _ _ (xstar_n {n}) {gradients(setting, 'f_n', env)} {least} {text(v)})."
        return Said(Ip(setting.gradient("f_n", at, env), v), "==", Num(Fraction(0))), proof
    if schema == "variance":
        (one,) = of
        assert v is not None
        var = setting.fresh("i", env)
        n = nat_text(env["n"])
        d: Term = VOp("sub", (setting.gradient("f_ni", v, {**env, "i": name(var)}), setting.gradient("f_n", v, env)))
        said = Said(Bind("mean", name(f"samples {n}"), var, sq(d)), "<=", constants[one.name][0])
        return said, f"exact ({setting.hypothesis_of(one)} {n} {text(v)} ltac:(side))."
    if schema == "pl":
        (one,) = of
        assert v is not None
        rate = constants["pl"][0]
        gv = setting.gradient("f", v, env)
        said = Said(times(times(TWO, rate), minus(setting.value("f", v, env), App("fstar"))), "<=", sq(gv))
        return said, f"exact (proj2 {setting.hypothesis_of(one)} {text(v)})."
    if schema == "dissimilar":
        (one,) = of
        assert v is not None
        var = setting.fresh("n", env)
        gn, full = setting.gradient("f_n", v, {"n": name(var)}), setting.gradient("f", v, env)
        c = constants["dissimilar"]
        d = VOp("sub", (gn, full)) if len(c) == 1 else gn
        right: Term = Pow(c[0], count(2))
        if len(c) == 2:
            right = add(right, times(Pow(c[1], count(2)), sq(full)))
        return Said(
            Bind("mean", name("N"), var, sq(d)), "<=", right
        ), f"exact ({setting.hypothesis_of(one)} {text(v)})."
    if schema == "bounded":
        assert v is not None
        (one,) = of
        bound = constants[one.name][0]
        said = Said(sq(gradient(v)), "<=", times(bound, bound))
        if one.name == "lipschitz":
            return said, f"exact (lipschitz_bounded _ _ {text(bound)} ltac:(positive) {g} {held[one.name]} {text(v)})."
        return said, f"exact (norm_bounded _ {text(bound)} ltac:(positive) ({held[one.name]} {text(v)}))."
    if schema == "curvature":
        low, high = constants["strongly_convex"][0], constants["smooth"][0]
        return Said(low, "<=", high), (
            f"exact (curvature _ _ {text(high)} {text(low)} unit ltac:(positive) {g} {held['smooth']} "
            f"{held['strongly_convex']} unit_one)."
        )
    if x is None or y is None:
        raise NotExportedError(f"the schema {schema} is not exported yet")
    xy, yx = VOp("sub", (x, y)), VOp("sub", (y, x))
    gx, gy = gradient(x), gradient(y)
    dg = VOp("sub", (gx, gy))
    lip = constants["smooth"][0] if "smooth" in constants else None
    mu = constants["strongly_convex"][0] if "strongly_convex" in constants else None
    if schema == "above" and lip is not None:
        said = Said(value(y), "<=", add(add(value(x), Ip(gx, yx)), times(times(lip, Inv(TWO)), sq(yx))))
        return said, f"exact (smooth_above _ _ {text(lip)} ltac:(positive) {g} {held['smooth']} {text(x)} {text(y)})."
    if schema == "below" and lip is not None:
        said = Said(minus(add(value(x), Ip(gx, yx)), times(times(lip, Inv(TWO)), sq(yx))), "<=", value(y))
        return said, f"exact (smooth_below _ _ {text(lip)} ltac:(positive) {g} {held['smooth']} {text(x)} {text(y)})."
    if schema == "lipschitz-gradient" and lip is not None:
        return Said(sq(dg), "<=", times(times(lip, lip), sq(xy))), f"exact ({held['smooth']} {text(x)} {text(y)})."
    if schema == "smooth" and lip is not None:
        four = Num(Fraction(4))
        left = add(
            add(minus(value(y), times(times(lip, Inv(four)), sq(xy))), times(Ip(VOp("add", (gx, gy)), xy), Inv(TWO))),
            times(sq(dg), Inv(times(four, lip))),
        )
        return Said(
            left, "<=", value(x)
        ), f"exact (smooth_points _ _ {text(lip)} ltac:(positive) {g} {held['smooth']} {text(x)} {text(y)})."
    if schema == "convex" and "convex" in held:
        return Said(
            add(value(x), Ip(gx, yx)), "<=", value(y)
        ), f"exact (convex_first _ _ {g} {held['convex']} {text(x)} {text(y)})."
    if schema == "smooth convex" and lip is not None and "convex" in held:
        left = add(add(value(y), Ip(gy, xy)), times(sq(dg), Inv(times(TWO, lip))))
        return (
            Said(left, "<=", value(x)),
            f"exact (smooth_convex _ _ {text(lip)} ltac:(positive) {g} {held['smooth']} {held['convex']} "
            f"{text(x)} {text(y)}).",
        )
    if schema == "strongly_convex" and mu is not None:
        left = add(add(value(x), Ip(gx, yx)), times(times(mu, Inv(TWO)), sq(yx)))
        return Said(
            left, "<=", value(y)
        ), f"exact (strong_first _ _ {text(mu)} {g} {held['strongly_convex']} {text(x)} {text(y)})."
    if schema == "smooth strongly_convex" and lip is not None and mu is not None:
        left = minus(add(sq(dg), times(times(mu, lip), sq(xy))), times(times(TWO, mu), Ip(dg, xy)))
        right = times(times(TWO, minus(lip, mu)), minus(minus(value(x), value(y)), Ip(gy, xy)))
        return Said(left, "<=", right), (
            f"exact (smooth_strong _ _ {text(lip)} {text(mu)} ltac:(positive) ltac:(positive) {g} {held['smooth']} "
            f"{held['strongly_convex']} {text(x)} {text(y)})."
        )
    raise NotExportedError(f"the schema {schema} is not exported yet")
