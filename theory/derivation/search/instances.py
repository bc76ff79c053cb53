"""What assumptions say at given points, as lines: the candidates of a search."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from theory import predicates as p
from theory.claim import Claim
from theory.derivation.polynomials import RejectedError
from theory.derivation.schemas import instance
from theory.for_every import ForEvery, predicate_of
from theory.sentence import FUNCTION_NAMES, Expression, parse_expression, read, text_of

LEVEL = {"f": 0, "f_n": 1, "f_ni": 2}
ABOUT_ONE = ("convex", "strongly_convex", "smooth")


@dataclass(frozen=True)
class Instance:
    """A line to be: a sentence and how it follows.

    Attributes:
        sentence: its text.
        line: the fields of the line beside name and sentence.
        words: for people.
        cost: how little it is liked.
        about: the indices that have to be bound, and ``E`` where it is random, from the outside in.
    """

    sentence: str
    line: Mapping[str, Any]
    words: str
    cost: float = 1.0


def assumed(claim: Claim) -> list[tuple[str, p.Predicate]]:
    """The assumptions on functions, with their texts."""
    found = []
    for text in (*claim.assuming, *claim.standing):
        one = predicate_of(text)
        if one is not None:
            found.append((text, one))
    return found


class Instances:
    """Of a claim, at points given as texts.

    Args:
        claim: whose assumptions.
        least: texts of points that are as xstar is (xstar itself, where the claim speaks of it).
    """

    def __init__(self, claim: Claim) -> None:
        self.claim, self.predicates = claim, assumed(claim)

    def of(self, kind: type[p.Predicate], function: str) -> tuple[str, p.Predicate] | None:
        """An assumption of this kind on this function, or on finer ones whose mean it is; the coarsest such."""
        known = [
            (text, one)
            for text, one in self.predicates
            if isinstance(one, kind) and LEVEL.get(one.function, -1) >= LEVEL[function]
        ]
        return min(known, key=lambda t: LEVEL[t[1].function], default=None)

    def functions(self) -> list[str]:
        """Those of which something is assumed, and coarser ones."""
        most = max((LEVEL.get(one.function, 0) for _, one in self.predicates), default=0)
        return [name for name in FUNCTION_NAMES if LEVEL[name] <= most]

    def pairs(self, points: Sequence[str], more: bool, plain: bool) -> Iterator[Instance]:
        """Interpolation conditions at all ordered pairs; with `more` what follows from them too, of all functions.

        With `plain` only what each assumption says by itself.
        """
        yield from self.everywhere(points, 2)
        for function in self.functions():
            own = {"f": "", "f_n": "n", "f_ni": "ni"}[function]
            for x in points:
                for y in points:
                    foreign = (indices(x, self.claim) | indices(y, self.claim)) & {"n", "i"} - set(own)
                    if x != y and (not foreign or self._at_the_mean(x, y)):
                        made = self.at_two(function, x, y, more)
                        yield from (one for one in made if not plain or " " not in one.line["schema"])

    def _at_the_mean(self, x: str, y: str) -> bool:
        """Whether one of two points is the mean of the others over the clients: there f is compared with itself."""
        return f"mean_n({y})" == x

    def at_means(self, points: Sequence[str]) -> Iterator[Instance]:
        """Convexity between a point that is made of all rounds and those of one round."""
        for x, y in itertools.product(points, repeat=2):
            if ("sum_k" in x or "mean_k" in x) and "k" in indices(y, self.claim):
                yield from (i for i in self.at_two("f", x, y, False) if i.line["schema"] in ABOUT_ONE[:2])

    def at_two(self, function: str, x: str, y: str, more: bool) -> Iterator[Instance]:
        """The conditions between f(x) and f(y), the strongest ones, and the plain ones where they differ."""
        F = function
        smooth, convex, strong = (self.of(kind, F) for kind in (p.Smooth, p.Convex, p.StronglyConvex))
        fx, fy, gx, gy = f"{F}({x})", f"{F}({y})", f"grad({F}, {x})", f"grad({F}, {y})"
        a, b = _bracket(x), _bracket(y)
        if smooth and strong:
            L, mu = _constant(smooth), _constant(strong)
            yield self._made(
                f"2*({L} - {mu})*({fx} - {fy} - dot({gy}, {a} - {b})) >= norm2({gx} - {gy}) + {mu}*{L}*norm2({a} - {b})"
                f" - 2*{mu}*dot({gx} - {gy}, {a} - {b})",
                [smooth[0], strong[0]], "smooth strongly_convex", {"x": x, "y": y}, F, 1.6,
            )  # fmt: skip
        if smooth and (convex or strong):
            L = _constant(smooth)
            if convex:
                yield self._made(
                    f"{fx} >= {fy} + dot({gy}, {a} - {b}) + norm2({gx} - {gy})/(2*{L})",
                    [smooth[0], convex[0]], "smooth convex", {"x": x, "y": y}, F,
                )  # fmt: skip
        elif smooth:
            L = _constant(smooth)
            yield self._made(
                f"{fx} >= {fy} - {L}/4*norm2({a} - {b}) + dot({gx} + {gy}, {a} - {b})/2 + norm2({gx} - {gy})/(4*{L})",
                [smooth[0]], "smooth", {"x": x, "y": y}, F, 1.3,
            )  # fmt: skip
        if strong:
            yield self._made(
                f"{fy} >= {fx} + dot({gx}, {b} - {a}) + {_constant(strong)}/2*norm2({b} - {a})",
                [strong[0]], "strongly_convex", {"x": x, "y": y}, F,
            )  # fmt: skip
        elif convex:
            yield self._made(f"{fy} >= {fx} + dot({gx}, {b} - {a})", [convex[0]], "convex", {"x": x, "y": y}, F)
        if smooth and (more or not (convex or strong)):
            L = _constant(smooth)
            yield self._made(
                f"{fy} <= {fx} + dot({gx}, {b} - {a}) + {L}/2*norm2({b} - {a})",
                [smooth[0]], "above", {"x": x, "y": y}, F,
            )  # fmt: skip
            if x < y:
                yield self._made(
                    f"norm2({gx} - {gy}) <= {L}**2*norm2({a} - {b})",
                    [smooth[0]], "lipschitz-gradient", {"x": x, "y": y}, F, 1.2,
                )  # fmt: skip

    def singles(self, points: Sequence[str], infimum: bool) -> Iterator[Instance]:
        """What is said at one point; that f is at least its infimum, where it has one."""
        yield from self.everywhere(points, 1)
        for x in points:
            if infimum:
                yield self._made(f"fstar <= f({x})", [], "infimum", {"v": x}, "f", 1.1)
            for text, one in self.predicates:
                if isinstance(one, p.SameMinimiser) and one.function != "f":
                    yield self._made(
                        f"{one.function}(xstar) <= {one.function}({x})", [text], "least", {"v": x}, one.function, 1.1
                    )
            for text, one in self.predicates:
                c = [text_of(e) for e in one.constants]
                if isinstance(one, p.PolyakLojasiewicz) and one.function == "f":
                    yield self._made(
                        f"norm2(grad(f, {x})) >= 2*{_bracket(c[0])}*(f({x}) - fstar)", [text], "pl", {"v": x}, "f"
                    )
                if isinstance(one, p.Lipschitz) or (isinstance(one, p.BoundedGradients) and len(c) == 1):
                    for F in FUNCTION_NAMES[: LEVEL[one.function] + 1]:
                        yield self._made(
                            f"norm2(grad({F}, {x})) <= {_bracket(c[0])}**2", [text], "bounded", {"v": x}, F
                        )
                if isinstance(one, p.BoundedVariance):
                    yield self._made(
                        f"mean_i(norm2(grad(f_ni, {x}) - grad(f_n, {x}))) <= {c[0]}", [text], "variance", {"v": x}, ""
                    )
                if isinstance(one, p.Dissimilar):
                    if len(c) == 1:
                        sentence = f"mean_n(norm2(grad(f_n, {x}) - grad(f, {x}))) <= {_bracket(c[0])}**2"
                    else:
                        G, B = map(_bracket, c)
                        sentence = f"mean_n(norm2(grad(f_n, {x}))) <= {G}**2 + {B}**2*norm2(grad(f, {x}))"
                    yield self._made(sentence, [text], "dissimilar", {"v": x}, "")

    def everywhere(self, points: Sequence[str], count: int) -> Iterator[Instance]:
        """What sentences for every so many points say at these."""
        for text, one in self.predicates:
            if isinstance(one, ForEvery) and len(one.points) == count:
                for chosen in itertools.permutations(points, count):
                    at = dict(zip(one.points, chosen, strict=True))
                    try:
                        said, _, _ = instance(
                            self.claim, "every", [text], {x: parse_expression(v) for x, v in at.items()}
                        )
                    except RejectedError:
                        continue
                    yield self._made(str(said), [text], "every", at, "")

    def zeros(self, vectors: Iterable[str], of_clients: Iterable[str] = ()) -> Iterator[Instance]:
        """That the gradient vanishes at the minimiser, against each of some vectors and itself.

        Args:
            vectors: against which.
            of_clients: further ones, each client's, for gradients of functions that share their minimiser.
        """
        vectors, of_clients = list(vectors), list(of_clients)
        for v in dict.fromkeys((*vectors, "grad(f, xstar)")):
            yield self._made(f"dot(grad(f, xstar), {v}) == 0", [], "zero", {"v": v}, "", 0.1)
        for text, one in self.predicates:
            if isinstance(one, p.SameMinimiser) and one.function != "f":
                for F in FUNCTION_NAMES[1 : LEVEL[one.function] + 1]:
                    for v in dict.fromkeys((*vectors, *of_clients, f"grad({F}, xstar)")):
                        yield self._made(f"dot(grad({F}, xstar), {v}) == 0", [text], "zero", {"v": v}, F, 0.1)

    def least(self) -> Iterator[Instance]:
        """The infimum and the minimiser."""
        yield self._made("f(xstar) == fstar", [], "minimiser", {}, "", 0.1)

    def own_minimisers(self, vectors: Iterable[str], points: Iterable[str]) -> Iterator[Instance]:
        """Of each client: its gradient vanishes at xstar_n, where its value is least."""
        for v in vectors:
            yield self._made(f"dot(grad(f_n, xstar_n), {v}) == 0", [], "zero n", {"v": v}, "", 0.1)
        for v in points:
            yield self._made(f"f_n(xstar_n) <= f_n({v})", [], "minimiser n", {"v": v}, "", 1.1)

    def _made(
        self, sentence: str, of: list[str], schema: str, at: Mapping[str, str], on: str, cost: float = 1.0
    ) -> Instance:
        line: dict[str, Any] = {"by": "assumption", "of": list(dict.fromkeys(of)), "schema": schema, "at": dict(at)}
        if on and schema not in ("infimum", "pl"):
            line["on"] = on
        words = f"{schema} {on} ({', '.join(at.values())})".replace("  ", " ")
        return Instance(sentence, line, words, cost)


def _constant(of: tuple[str, p.Predicate]) -> str:
    return _bracket(text_of(of[1].constants[0]))


def _bracket(text: str) -> str:
    return text if text.replace("_", "").isalnum() or _closed(text) else f"({text})"


def _closed(text: str) -> bool:
    """Whether it is one name with an index, or one call."""
    tree = parse_expression(text)
    return type(tree).__name__ in ("Name", "At") or (
        hasattr(tree, "operation") and tree.operation.isidentifier() and tree.operation != "neg"
    )


def indices(text: str, claim: Claim) -> frozenset[str]:
    """The indices that are free in a formula."""
    return read(parse_expression(text), claim.vocabulary).free


def random(e: Expression, claim: Claim) -> bool:
    """Whether a tree speaks of what is drawn, outside of E."""
    return read(e, claim.vocabulary).random
