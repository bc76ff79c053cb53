"""What a claim assumes, in terms of Rocq: what its theorem quantifies over, and its hypotheses."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cached_property

from theory.derivation.export.forms import NotExportedError
from theory.derivation.export.names import LEVELS, Env, safe
from theory.derivation.export.speaking import Speaking
from theory.derivation.export.terms import (
    Bind,
    Ip,
    Num,
    Pow,
    Term,
    Vec,
    VOp,
    add,
    count,
    name,
    nat_text,
    text_of,
    times,
)  # fmt: skip
from theory.formula import Number
from theory.predicates import Predicate
from theory.sentence import (
    At,
    Sentence,
    index_of,
    read,
)
from theory.sentence import everything as all_of


class Setting(Speaking):
    """One claim, and what is spoken of in its derivation."""

    @cached_property
    def speaks(self) -> frozenset[str]:
        """Points that are spoken of, by the derivation too."""
        return frozenset(p for p in ("x0", "xstar", "xstar_n", "fstar") if p in self.words or self._starts(p))

    def _starts(self, point: str) -> bool:
        return self.program is not None and any(point in s.initial for s in self.program.state)

    @cached_property
    def vectors(self) -> bool:
        """Whether there are vectors at all."""
        return bool(self.level or self.claim.vectors or self.program is not None)

    @cached_property
    def furthest(self) -> int:
        """The last round that is spoken of by its number."""
        found = 0
        for tree in self.trees:
            for part in all_of(tree):
                if isinstance(part, At) and isinstance(part.indices[0], Number):
                    tap = part.name in self.claim.vocabulary.taps
                    found = max(found, int(part.indices[0].value) + int(tap))
        return found

    @cached_property
    def clients(self) -> bool:
        """Whether there is an N."""
        if self.level in ("f_n", "f_ni") or "N" in self.words:
            return True
        if any(index_of(s)[1] == "n" for s in self.symbols) or any(v.endswith("_n") for v in self.claim.vectors):
            return True
        words = self.claim.vocabulary
        kinds = [*words.states.values(), *(kind for kind, _ in words.taps.values())]
        return "client" in kinds or bool(self.words & {"mean_n", "sum_n", "max_n", "min_n"})

    @cached_property
    def hypotheses(self) -> list[tuple[str, str]]:
        """What the theorem quantifies over, in order: name and type."""
        found: list[tuple[str, str]] = []
        if self.vectors:
            found.append(("V", "space"))
        if self.direction:
            found += [("unit", "V"), ("unit_one", "norm2 unit = 1")]
        if self.clients:
            found += [("N", "nat"), ("N_dom", "(1 <= N)%nat")]
        if self.level == "f_ni" or "mean_i" in self.words or "sum_i" in self.words:
            found += [("samples", "nat -> nat"), ("samples_dom", "forall n, (n < N)%nat -> (1 <= samples n)%nat")]
        found += self._functions()
        for word in self.claim.vectors:
            found.append((safe(word), "nat -> V" if word.endswith("_n") else "V"))
        for symbol in self.symbols:
            found += self._parameter(symbol)
        if "K" in self.words or self._has_sums_over_rounds:
            found += [("K", "nat"), ("K_dom", "(1 <= K)%nat")]
        kept = self.program is not None and "keep" in self.program.operations
        if "d" in self.words or kept:
            found += [("d", "nat"), ("d_dom", "(1 <= d)%nat")]
        if kept:
            found += [
                ("basis", "nat -> V"),
                ("basis_one", "forall co, (co < d)%nat -> ip (basis co) (basis co) = 1"),
                (
                    "basis_apart",
                    "forall co co2, (co < d)%nat -> (co2 < d)%nat -> co <> co2 -> ip (basis co) (basis co2) = 0",
                ),
                ("basis_all", "forall v, vsum d (fun co => scal (ip v (basis co)) (basis co)) = v"),
            ]
        found += self._points()
        found += self._assumed()
        if self.program is not None:
            from theory.derivation.export.premises import Premises

            found += Premises(self).hypotheses()
        return found

    @cached_property
    def _has_sums_over_rounds(self) -> bool:
        return bool(self.words & {"sum_k", "mean_k", "max_k", "min_k"})

    def _functions(self) -> list[tuple[str, str]]:
        if not self.level:
            return []
        args = "nat -> " * LEVELS.index(self.level)
        given = {
            "f": "",
            "f_n": "forall n, (n < N)%nat -> ",
            "f_ni": "forall n i, (n < N)%nat -> (i < samples n)%nat -> ",
        }
        at = {"f": "", "f_n": " n", "f_ni": " n i"}[self.level]
        f, g = (f"({head}{at})" if at else head for head in ("func", "grad"))
        return [
            ("func", f"{args}V -> R"),
            ("grad", f"{args}V -> V"),
            ("gradients", f"{given[self.level]}gradient {f} {g}"),
        ]

    def _parameter(self, symbol: str) -> list[tuple[str, str]]:
        base, index = index_of(symbol)
        domain = self.claim.domains[base]
        word = safe(base)
        if self.whole(symbol):
            if index:
                raise NotExportedError(f"{symbol}: integers with an index are not exported yet")
            low = 0 if domain.lower is None else int(domain.lower) + int(domain.lower_open)
            low = max(low, 1) if symbol in self.counts else low
            if domain.lower is None or low < 0:
                raise NotExportedError(f"{symbol}: an integer that may be negative is not exported yet")
            found = [(word, "nat"), (f"{word}_dom", f"({low} <= {word})%nat")]
            if domain.upper is not None:
                found.append((f"{word}_top", f"({word} <= {int(domain.upper)})%nat"))
            return found
        at, given = "", ""
        if index == "n":
            at, given = " n", "forall n, (n < N)%nat -> "
        elif index in ("k", "h", "j"):
            at, given = f" {index}", f"forall {index}, "
        elif index:
            raise NotExportedError(f"{symbol}: numbers with this index are not exported yet")
        found = [(word, "nat -> R" if index else "R")]
        for end, open_, suffix in ((domain.lower, domain.lower_open, "low"), (domain.upper, domain.upper_open, "top")):
            if end is not None:
                value = text_of(Num(Fraction(end)))
                sign = "<" if open_ else "<="
                pair = (value, f"{word}{at}") if suffix == "low" else (f"{word}{at}", value)
                found.append((f"{word}_{suffix}", f"{given}{pair[0]} {sign} {pair[1]}"))
        return found

    def _points(self) -> list[tuple[str, str]]:
        found: list[tuple[str, str]] = []
        f = text_of(self.value("f", Vec("v"), {}), outer=2) if self.level else ""
        if "x0" in self.speaks:
            found.append(("x0", "V"))
        if "fstar" in self.speaks:
            found += [
                ("fstar", "R"),
                ("fstar_low", f"forall v, fstar <= {f}"),
                ("fstar_near", f"forall eps, 0 < eps -> exists v, {f} < fstar + eps"),
            ]
        if "xstar" in self.speaks:
            at = text_of(self.value("f", Vec("xstar"), {}))
            found += [("xstar", "V"), ("xstar_least", f"forall v, {at} <= {f}")]
        if "xstar_n" in self.speaks:
            env = {"n": name("n")}
            one, other = (text_of(self.value("f_n", v, env)) for v in (Vec("xstar_n", (name("n"),)), Vec("v")))
            found += [("xstar_n", "nat -> V"), ("xstar_n_least", f"forall n v, (n < N)%nat -> {one} <= {other}")]
        return found

    def _assumed(self) -> list[tuple[str, str]]:
        found = []
        if self.claim.over:
            raise NotExportedError("assumptions that are asked on a set only are not exported yet")
        for i, one in enumerate(self.claim.assumptions):
            if isinstance(one, Predicate):
                found.append((f"assumed_{i}", self.predicate(one)))
            else:
                free = sorted(read(one.left, self.claim.vocabulary).free | read(one.right, self.claim.vocabulary).free)
                if set(free) - {"n", "k"}:
                    raise NotExportedError(f"the relation {one} is not exported yet")
                if any(read(s, self.claim.vocabulary).random for s in (one.left, one.right)):
                    raise NotExportedError(f"the relation {one} speaks of states, and is not exported yet")
                env = {index: name(index) for index in free}
                given = "".join(f"forall {x}, " + ("(n < N)%nat -> " if x == "n" else "") for x in free)
                found.append((f"assumed_{i}", f"{given}{self.said(one, env).text}"))
        return found

    def hypothesis_of(self, one: Predicate | Sentence) -> str:
        return f"assumed_{self.claim.assumptions.index(one)}"

    def predicate(self, one: Predicate) -> str:
        """An assumption on functions, with the definitions of the prelude."""
        constants = [text_of(self.term(c, {}), outer=9) for c in one.constants]
        if one.name in ("smooth", "convex", "strongly_convex", "lipschitz"):
            at = LEVELS.index(one.function)
            env = {index: name(index) for index in "ni"[:at]}
            given = ["", "forall n, (n < N)%nat -> ", "forall n i, (n < N)%nat -> (i < samples n)%nat -> "][at]
            which = "grad" if one.name == "smooth" else "func"
            return f"{given}{' '.join([one.name, self.closure(one.function, which, env), *constants])}"
        v = Vec("v")
        if one.name == "pl":
            g = self.gradient("f", v, {})
            value = text_of(self.value("f", v, {}))
            return f"0 < {constants[0]} /\\ forall v, 2 * {constants[0]} * ({value} - fstar) <= {text_of(Ip(g, g))}"
        if one.name == "bounded_variance":
            env = {"n": name("n")}

            def apart(e: Env) -> Term:
                return VOp("sub", (self.gradient("f_ni", v, e), self.gradient("f_n", v, e)))

            inner = self._over_samples(apart, env)
            return f"forall n v, (n < N)%nat -> {text_of(inner)} <= {constants[0]}"
        if one.name == "bounded_gradients" and len(one.constants) == 1:
            at = LEVELS.index(one.function)
            env = {index: name(index) for index in "ni"[:at]}
            given = ["", "forall n, (n < N)%nat -> ", "forall n i, (n < N)%nat -> (i < samples n)%nat -> "][at]
            g = self.gradient(one.function, v, env)
            return f"{given}forall v, norm {text_of(g, outer=9)} <= {constants[0]}"
        if one.name == "dissimilar":
            var = self.fresh("n", {})
            g = self.gradient("f_n", v, {"n": name(var)})
            full = self.gradient("f", v, {})
            c = [self.term(x, {}) for x in one.constants]
            if len(c) == 1:
                left: Term = Bind("mean", name("N"), var, Ip(VOp("sub", (g, full)), VOp("sub", (g, full))))
                right: Term = Pow(c[0], count(2))
            else:
                left = Bind("mean", name("N"), var, Ip(g, g))
                right = add(Pow(c[0], count(2)), times(Pow(c[1], count(2)), Ip(full, full)))
            return f"forall v, {text_of(left)} <= {text_of(right)}"
        raise NotExportedError(f"the assumption {one.text} is not exported yet")

    def _over_samples(self, vector: Callable[[Env], Term], env: Env) -> Term:
        var = self.fresh("i", env)
        one = vector({**env, "i": name(var)})
        return Bind("mean", name(f"samples {nat_text(env['n'])}"), var, Ip(one, one))
