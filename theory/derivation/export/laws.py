"""Expectations over the draws of a round, by the laws that the theorem assumes of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from theory.derivation.export.normal import Lines, NotExportedError, nested, prefix_of
from theory.derivation.export.rounds import Draw, chances, chances_of_two, draws, mixed
from theory.derivation.export.statement import Setting, safe
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
)  # fmt: skip


@dataclass
class Laws:
    """The laws of one theorem's draws."""

    setting: Setting
    _used: int = 0

    def fresh(self, stem: str) -> str:
        self._used += 1
        return f"{stem}{self._used}"

    def drawn(self, t: Term) -> list[tuple[str, str, str, str]]:
        """The samples in it: draw, round, client, outcome, each once."""
        found: dict[tuple[str, str, str, str], None] = {}
        for part in everything(t):
            if isinstance(part, Nat):
                for key, _ in part.terms:
                    words = key.split()
                    if words[0].startswith("drawn_"):
                        found.setdefault((words[0], words[1], words[2], words[3]))
            elif isinstance(part, App) and part.head.startswith("drawn_"):
                at = [nat_text(a) for a in part.args]  # type: ignore[arg-type]
                found.setdefault((part.head, at[0], at[1] if len(at) == 3 else "", at[-1]))
        return list(found)

    def draw(self, word: str) -> Draw:
        return next(d for d in draws(self.setting) if d.name == word)

    def env(self, one: tuple[str, str, str, str]) -> dict[str, Nat]:
        return {x: name(word) for x, word in zip("knw", one[1:], strict=True) if word}

    def apply(self, t: Bind) -> tuple[Term, Lines] | None:
        """What an expectation of a product is by the laws of its draws, with the script that proves it; else None."""
        prefix, body = prefix_of(t)
        if not any(kind == "E" for kind, _, _ in prefix):
            return None
        w = next(var for kind, _, var in prefix if kind == "E")
        own = [d for d in self.drawn(body) if d[3] == w]
        if not own:
            return None
        if len({(d[0], d[1]) for d in own}) > 1 or len(own) > 2 or prefix[-1][0] != "E":
            raise NotExportedError(f"the expectation {text_of(t)[:200]} is not exported yet")
        if len(own) == 1:
            return self._single(prefix, body, own[0])
        return self._pair(prefix, body, own[0], own[1])

    def _single(
        self, prefix: list[tuple[str, Nat | str, str]], body: Term, one: tuple[str, str, str, str]
    ) -> tuple[Term, Lines]:
        draw, k, n, w = one
        i = self.fresh("e")
        inside = replaced_draw(body, {one: i})
        own = self.draw(draw)
        new = nested(prefix, self._averaged(own, one, inside, i))
        words = f"{k} {n} {self._phi(inside, k, w, [i])} ltac:(side){' ltac:(side)' if n else ''}"
        return new, [*self._down(prefix[:-1]), f"exact ({draw}_law {words})."]

    def _averaged(self, own: Draw, one: tuple[str, str, str, str], inside: Term, i: str) -> Term:
        """The mean over what was drawn, of which `inside` has i."""
        if own.op == "sample":
            return Bind("mean", name(f"samples {one[2]}"), i, inside)
        return mixed(chances(self.setting, own, self.env(one)), lambda c: valued(inside, {i: c}))

    def _of_two(
        self, own: Draw, one: tuple[str, str, str, str], two: tuple[str, str, str, str], inside: Term, i: str, j: str
    ) -> Term:
        """The same of the draws of two clients."""
        if own.op == "sample":
            return nested([("mean", name(f"samples {one[2]}"), i), ("mean", name(f"samples {two[2]}"), j)], inside)
        cells = chances_of_two(self.setting, own, self.env(one), self.env(two))
        terms = [times(q, valued(inside, {i: a, j: b})) for (a, b), q in cells]
        return add(add(add(terms[0], terms[1]), terms[2]), terms[3])

    def _pair(
        self, prefix: list[tuple[str, Nat | str, str]], body: Term,
        one: tuple[str, str, str, str], two: tuple[str, str, str, str],
    ) -> tuple[Term, Lines]:  # fmt: skip
        if (
            len(prefix) < 3
            or {prefix[-3][2], prefix[-2][2]} != {one[2], two[2]}
            or prefix[-3][:2] != prefix[-2][:2]
            or prefix[-2][:2] != ("mean", name("N"))
        ):
            raise NotExportedError("two draws whose clients are not averaged over are not exported yet")
        if prefix[-3][2] == two[2]:
            one, two = two, one
        draw, k, n, w = one
        m = two[2]
        outer = prefix[:-3]
        i, j = self.fresh("e"), self.fresh("e")
        apart_body = replaced_draw(body, {one: i, two: j})
        own = self.draw(draw)
        apart = Bind("E", "Pr", w, self._of_two(own, one, two, apart_body, i, j))
        same_body = put(replaced_draw(body, {one: i, two: i}), {m: name(n)})
        same = Bind("E", "Pr", w, self._averaged(own, one, same_body, i))
        both = put(apart, {m: name(n)})
        n_mean = lambda inner: Bind("mean", name("N"), n, inner)  # noqa: E731
        new = add(
            n_mean(Bind("mean", name("N"), m, apart)),
            times(Inv(App("INR", (name("N"),))), minus(n_mean(same), n_mean(both))),
        )
        x = f"(fun {n} {m} {w} => {text_of(body)})"
        y = f"(fun {n} {m} => {text_of(apart)})"
        z = f"(fun {n} _ => {text_of(same)})"
        sides = "ltac:(side) ltac:(side)"
        lines = [
            *self._down(outer),
            f"apply (two_draws Pr N {x} {y} {z}).",
            "{ counts. }",
            f"{{ intros {n} {m} lt_n lt_m apart. cbv beta. "
            f"exact ({draw}_apart {k} {n} {m} {self._phi(apart_body, k, w, [i, j])} {sides} ltac:(side) apart). }}",
            f"{{ intros {n} lt_n. cbv beta. exact ({draw}_law {k} {n} {self._phi(same_body, k, w, [i])} {sides}). }}",
        ]
        return nested(outer, new), lines

    def _down(self, prefix: list[tuple[str, Nat | str, str]]) -> Lines:
        return [f"apply {kind}_ext; intros {var} {self.fresh('le')}." for kind, _, var in prefix]

    def _phi(self, body: Term, k: str, w: str, samples: list[str]) -> str:
        """What is averaged, as a function of the states at the round's beginning and of the samples."""
        program = self.setting.program
        assert program is not None
        states = [(s, f"at_{safe(s.name)}") for s in program.state]

        def change(t: Term) -> Term:
            if isinstance(t, Vec):
                for s, word in states:
                    if t.head == safe(s.name) and t.args[-1] == name(w):
                        if nat_text(t.args[0]) != k:  # type: ignore[arg-type]
                            raise NotExportedError("an expectation over draws of a later state is not exported yet")
                        return Vec(word, t.args[1:-1])
            return rebuilt(t, change)

        inner = change(body)
        if w in names_of(inner):
            raise NotExportedError(f"the expectation of {text_of(body)[:200]} is not exported yet")
        words = " ".join([*(word for _, word in states), *samples])
        return f"(fun {words} => {text_of(inner)})"


def replaced_draw(t: Term, new: Mapping[tuple[str, str, str, str], str]) -> Term:
    """With samples that were drawn replaced by indices."""
    keys = {" ".join(draw): name(i) for draw, i in new.items()}

    def change(part: Term) -> Term:
        if isinstance(part, Nat):
            found = count(part.constant)
            for key, by in part.terms:
                one = keys.get(key, name(key))
                found = plus(found, Nat(tuple((k, by * n) for k, n in one.terms), by * one.constant))
            return found
        if isinstance(part, App) and part.head.startswith("drawn_"):
            for draw, i in new.items():
                if part.head == draw[0] and " ".join(map(nat_text, part.args)) == " ".join(w for w in draw[1:] if w):  # type: ignore[arg-type]
                    return App(i)
        return rebuilt(part, change)

    return change(t)


def valued(t: Term, values: Mapping[str, int]) -> Term:
    """With numbers put for names."""
    if isinstance(t, App) and not t.args and t.head in values:
        return Num(Fraction(values[t.head]))
    return rebuilt(t, lambda part: valued(part, values))
