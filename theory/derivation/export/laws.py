"""Expectations over the draws of a round, by the laws that the theorem assumes of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from theory.derivation.export.draws import Draw, chances, chances_of_two, mixed
from theory.derivation.export.forms import Lines, NotExportedError, block, nested, prefix_of
from theory.derivation.export.premises import Premises
from theory.derivation.export.rounds import round_of
from theory.derivation.export.statement import Setting
from theory.derivation.export.terms import (
    App,
    Bind,
    Inv,
    Nat,
    Num,
    Term,
    Vec,
    add,
    count,
    everything,
    minus,
    name,
    names_of,
    nat_text,
    plus,
    put,
    rebuilt,
    text_of,
    times,
    words_of,
)  # fmt: skip

Prefix = list[tuple[str, Nat | str, str]]
Drawn = tuple[str, tuple[str, ...]]
"""A draw's name and its indices, as Rocq writes them."""


@dataclass
class Laws:
    """The laws of one theorem's draws."""

    setting: Setting
    _used: int = 0

    def fresh(self, stem: str) -> str:
        self._used += 1
        return f"{stem}{self._used}"

    def drawn(self, t: Term) -> list[Drawn]:
        """What is drawn in it, each once."""
        found: dict[Drawn, None] = {}
        for part in everything(t):
            if isinstance(part, Nat):
                for key, _ in part.terms:
                    head, *words = words_of(key)
                    if head.startswith("drawn_"):
                        found.setdefault((head, tuple(words)))
            elif isinstance(part, App) and part.head.startswith("drawn_"):
                found.setdefault((part.head, tuple(nat_text(a) for a in part.args)))  # type: ignore[arg-type]
        return list(found)

    @cached_property
    def draws(self) -> dict[str, Draw]:
        """By name, in the order in which they are drawn."""
        return {} if self.setting.program is None else {d.name: d for d in round_of(self.setting).draws.values()}

    def env(self, one: Drawn) -> dict[str, Nat]:
        return {x: name(word) for x, word in zip(self.draws[one[0]].indices, one[1], strict=True)}

    def apply(self, t: Bind) -> tuple[Term, Lines] | None:
        """What E of a product is by the law of its last draw, with the script that proves it; None without draws."""
        prefix, body = prefix_of(t)
        if not prefix or prefix[-1][0] != "E":
            if any(self.drawn(body)) and any(kind == "E" for kind, _, _ in prefix):
                raise NotExportedError(f"the expectation {text_of(t)[:200]} is not exported yet")
            return None
        w = prefix[-1][2]
        drawn = [d for d in self.drawn(body) if d[1][-1] == w]
        if not drawn:
            return None
        order = list(self.draws)
        last = max((d[0] for d in drawn), key=order.index)
        own = [d for d in drawn if d[0] == last]
        if len(own) == 1:
            return self._single(prefix, body, own[0])
        if len(own) == 2:
            return self._pair(prefix, body, own[0], own[1])
        raise NotExportedError("products of three values of one draw are not exported yet")

    def _single(self, prefix: Prefix, body: Term, one: Drawn) -> tuple[Term, Lines]:
        i = self.fresh("e")
        inside = replaced_draw(body, {one: i})
        new = nested(prefix, self._averaged(one, inside, i))
        words = f"{' '.join(one[1][:-1])} {self._phi(inside, one, [i])}{' ltac:(side)' * (len(one[1]) - 1)}"
        return new, [*self._down(prefix[:-1]), f"exact ({one[0]}_law {words})."]

    def _averaged(self, one: Drawn, inside: Term, i: str) -> Term:
        """The mean over what was drawn, of which `inside` has i."""
        own = self.draws[one[0]]
        if own.op == "sample":
            return Bind("mean", name(f"samples {nat_text(self.env(one)['n'])}"), i, inside)
        return mixed(chances(self.setting, own, self.env(one)), lambda c: valued(inside, {i: c}))

    def _of_two(self, one: Drawn, two: Drawn, inside: Term, i: str, j: str) -> Term:
        """The same of the draws of two clients, or two places."""
        own, env, other = self.draws[one[0]], self.env(one), self.env(two)
        if own.op == "sample":
            means = [("mean", name(f"samples {nat_text(at['n'])}"), x) for at, x in ((env, i), (other, j))]
            return nested(means, inside)
        cells = chances_of_two(self.setting, own, env, other)
        terms = [times(q, valued(inside, {i: a, j: b})) for (a, b), q in cells]
        return add(add(add(terms[0], terms[1]), terms[2]), terms[3])

    def _pair(self, prefix: Prefix, body: Term, one: Drawn, two: Drawn) -> tuple[Term, Lines]:
        """The means over clients, and over places in a batch, in which two values differ."""
        indices = self.draws[one[0]].indices
        apart = [x for x, a, b in zip(indices, one[1], two[1], strict=True) if a != b]
        bounds = self._bounds(self.draws[one[0]])
        depth = 2 * len(apart) + 1
        tail = list(prefix[-depth:-1])
        for x in reversed(apart):
            at = indices.index(x)
            left, right = tail[-2:] if len(tail) > 1 else (("", "", ""), ("", "", ""))
            if x not in bounds or {left[2], right[2]} != {one[1][at], two[1][at]} or left[:2] != ("mean", bounds[x]):
                raise NotExportedError("two values of a draw that are not averaged over are not exported yet")
            tail = tail[:-2]
        means = {x: (prefix[-depth + 2 * i][2], prefix[-depth + 2 * i + 1][2]) for i, x in enumerate(apart)}
        lead = {x: one[1][indices.index(x)] for x in apart}
        if len(apart) == 2 and (means["n"][0] == lead["n"]) != (means["b"][0] == lead["b"]):
            raise NotExportedError("two values of a draw under means in another order are not exported yet")
        if means[apart[0]][0] != lead[apart[0]]:
            one, two = two, one
        new, lines = self._apart(apart, means, prefix[-1], body, one, two)
        return nested(prefix[:-depth], new), [*self._down(prefix[:-depth]), *lines]

    def _bounds(self, draw: Draw) -> dict[str, Nat]:
        """Up to where its clients and places go."""
        return {"n": name("N"), **({"b": draw.batch} if draw.batch is not None else {})}

    def _apart(
        self, left: Sequence[str], means: Mapping[str, tuple[str, str]], e: tuple[str, Nat | str, str], body: Term,
        one: Drawn, two: Drawn, cases: Sequence[str] = (),
    ) -> tuple[Term, Lines]:  # fmt: skip
        """The means over both values of each index in `left` of E of a product of two values of a draw."""
        draw = self.draws[one[0]]
        x, *rest = left
        bounds = self._bounds(draw)
        bound = bounds[x]
        n, m = means[x]
        inner: Prefix = [("mean", bounds[y], var) for y in rest for var in means[y]]
        whole = nested([*inner, e], body)
        i, j = self.fresh("e"), self.fresh("e")
        body_of_two = replaced_draw(body, {one: i, two: j})
        apart = nested([*inner, e], self._of_two(one, two, body_of_two, i, j))
        at = draw.indices.index(x)
        other = (two[0], (*two[1][:at], n, *two[1][at + 1 :]))
        body_of_same = put(body, {m: name(n)})
        if rest:
            same, proof = self._apart(rest, means, e, body_of_same, one, other, [*cases, x])
        else:
            k = self.fresh("e")
            inside = replaced_draw(body_of_same, {one: k})
            same = nested([e], self._averaged(one, inside, k))
            words = f"{' '.join(one[1][:-1])} {self._phi(inside, one, [k])}{' ltac:(side)' * (len(one[1]) - 1)}"
            proof = [f"exact ({one[0]}_law {words})."]
        both = put(apart, {m: name(n)})

        def mean(var: str, of: Term) -> Term:
            return Bind("mean", bound, var, of)

        size = Inv(App("INR", (bound,)))
        new = add(mean(n, mean(m, apart)), times(size, minus(mean(n, same), mean(n, both))))
        differ = f"apart_{x}"
        others = [y for y in "nbc" if y in draw.indices]
        if draw.batch is not None:
            differ = f"(or_introl {differ})" if x == "n" else f"(or_intror {differ})"
        more = " ".join(two[1][draw.indices.index(y)] for y in draw.indices if y in "nbc")
        phi = self._phi(body_of_two, one, [i, j])
        sides = " ltac:(side)" * (len(one[1]) - 1 + len(others))
        down = [f"apply mean_ext; intros {var} {self.fresh('le')}." for _, _, var in inner]
        lines = [
            f"apply (two_apart {nat_text(bound)} (fun {n} {m} => {text_of(whole)}) (fun {n} {m} => {text_of(apart)}) "
            f"(fun {n} => {text_of(same)})).",
            "{ counts. }",
            *block(
                [
                    f"intros {n} {m} lt_{n} lt_{m} apart_{x}. cbv beta.",
                    *down,
                    f"exact ({one[0]}_apart {' '.join(one[1][:-1])} {more} {phi}{sides} {differ}).",
                ]
            ),
            *block([f"intros {n} lt_{n}. cbv beta.", *proof]),
        ]
        return new, lines

    def _down(self, prefix: Prefix) -> Lines:
        return [f"apply {kind}_ext; intros {var} {self.fresh('le')}." for kind, _, var in prefix]

    def _phi(self, body: Term, one: Drawn, values: Sequence[str]) -> str:
        """What is averaged, as a function of what was there before the draw, and of its values."""
        env = self.env(one)
        w = one[1][-1]
        before = Premises(self.setting).before(self.draws[one[0]])
        when = {x: env[x] for x in "khj" if x in env}
        at = [tuple(nat_text(put(a, when)) for a in b.at) for b in before]  # type: ignore[arg-type]

        def inner(head: str, args: Sequence[str]) -> list[str]:
            for b, place in zip(before, at, strict=True):
                if b.head == head and tuple(args[: len(place)]) == place and args[-1] == w:
                    return [f"at_{b.name}", *args[len(place) : -1]]
            raise NotExportedError(f"an expectation over draws of what is not there before them, {head}")

        def change(t: Term) -> Term:
            if isinstance(t, Nat) and len(t.terms) == 1 and t.terms[0][0].startswith("drawn_"):
                head, *args = words_of(t.terms[0][0])
                return name(" ".join(inner(head, args))) if args[-1] == w else t
            if isinstance(t, Vec | App) and t.args and t.args[-1] == name(w):
                args = [nat_text(a) for a in t.args]  # type: ignore[arg-type]
                head, *left = inner(t.head, args)
                return type(t)(head, tuple(t.args[len(args) - 1 - len(left) : -1]))
            return rebuilt(t, change)

        found = change(body)
        if w in names_of(found):
            raise NotExportedError(f"the expectation of {text_of(body)[:200]} is not exported yet")
        words = " ".join([*(f"at_{b.name}" for b in before), *values])
        return f"(fun {words} => {text_of(found)})"


def replaced_draw(t: Term, new: Mapping[Drawn, str]) -> Term:
    """With samples that were drawn replaced by indices."""
    keys = {" ".join([draw[0], *draw[1]]): name(i) for draw, i in new.items()}

    def change(part: Term) -> Term:
        if isinstance(part, Nat):
            found = count(part.constant)
            for key, by in part.terms:
                one = keys.get(key, name(key))
                found = plus(found, Nat(tuple((k, by * n) for k, n in one.terms), by * one.constant))
            return found
        if isinstance(part, App) and part.head.startswith("drawn_"):
            for draw, i in new.items():
                if part.head == draw[0] and tuple(map(nat_text, part.args)) == draw[1]:  # type: ignore[arg-type]
                    return App(i)
        return rebuilt(part, change)

    return change(t)


def valued(t: Term, values: Mapping[str, int]) -> Term:
    """With numbers put for names."""
    if isinstance(t, App) and not t.args and t.head in values:
        return Num(Fraction(values[t.head]))
    return rebuilt(t, lambda part: valued(part, values))
