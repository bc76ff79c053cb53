"""Runs a program by moments: the means and covariances of its states and taps, without playing outcomes.

For programs that are linear given their draws, on quadratics. Every number of a run is a sum of random quantities
(`quantities`), whose covariances are carried in fractions from round to round; a round is `linear.Round`. What is said
of a run is then E of squares and products: what a sentence asks beyond that is refused (`spoken_by_moments`).

``noise`` stands for every law with its mean and second moment; its covariance is here a multiple of the identity, as it
is in the law that is played.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from .chances import Drawn, Fork
from .linear import Round, leaves, replaced
from .playing import Game
from .quantities import NUMBER, Form, Quantities, Sum, certain
from .reading import FormatError, Uncheckable
from .ridges import Ridges
from .scalars import ONE, ZERO
from .steps import Loop, Step
from .still import Item

MOST_BRANCHES = 2_000  # of a round


@dataclass(frozen=True)
class Frame:
    """Values at some points of a run, with the quantities that they are sums of.

    Attributes:
        values: of states and taps, as nested lists of forms.
        state: after the last of the rounds.
    """

    room: Quantities
    values: Mapping[Item, Any]
    state: Sequence[Any]


@dataclass
class Moments(Game):
    """A program on a problem, by moments."""

    frames: list[Frame] = field(default_factory=list)
    joints: dict[Any, Frame] = field(default_factory=dict)
    read_by: dict[int, frozenset[str]] = field(default_factory=dict)

    def reads(self, step: Step | Loop) -> frozenset[str]:
        """The values that a step needs to be there."""
        if id(step) not in self.read_by:
            if isinstance(step, Step):
                found = set(step.of).union(*(s.values for s in step.numbers))
            else:
                made = {c.name for c in step.carried}
                found = {c.first for c in step.carried} | set(step.count.values if step.count else ())
                for inner in step.body:
                    found |= self.reads(inner) - made
                    made |= {inner.to} if isinstance(inner, Step) else {c.name for c in inner.carried}
            self.read_by[id(step)] = frozenset(found)
        return self.read_by[id(step)]

    def at(self, k: int) -> Frame:
        """After k rounds."""
        if not self.frames:
            if isinstance(self.problem, Ridges) and self.problem.bent:
                raise Uncheckable("moments on functions that are not quadratic")
            self.frames.append(Frame(Quantities(self.work), {}, [_forms(value) for value in self.begin]))
        while len(self.frames) <= k:
            before = self.work.left
            self.frames.append(self.onward(self.frames[-1], len(self.frames) - 1, {}, frozenset()))
            if (before - self.work.left) * (k - len(self.frames) + 1) > 3 * self.work.left:
                raise FormatError(f"{k} rounds are too many to be checked")
        return self.frames[k]

    def together(self, items: frozenset[Item]) -> Frame:
        """States and taps of any rounds, and what their covariances are."""
        states = {s.name for s in self.program.state}
        rounds = [item[1][0] for item in items]
        # all turns of a tap are followed at once, as a sentence asks for one after the other
        key = frozenset((name, indices[0]) for name, indices in items)
        if key not in self.joints:
            first, last = min(rounds), max(rounds)
            frame = self.at(first)
            for k in range(first, last + 1):
                values = dict(frame.values)
                kinds = enumerate(self.program.state)
                values |= {(s.name, (k,)): frame.state[i] for i, s in kinds if (s.name, k) in key}
                taps = frozenset(name for name, at in key if at == k and name not in states)
                frame = Frame(frame.room, values, frame.state)
                if k < last or taps:
                    frame = self.onward(frame, k, values, taps)
            self.joints[key] = frame
        return self.joints[key]

    def onward(self, frame: Frame, k: int, kept: Mapping[Item, Any], taps: frozenset[str]) -> Frame:
        """A round further, with what is kept, and what is tapped in it."""
        done: list[tuple[Fraction, Round, Sequence[Any]]] = []
        open_: list[tuple[Fraction, dict[Drawn, Any]]] = [(ONE, {})]
        while open_:
            p, plan = open_.pop()
            one = Round(self, k, Quantities(self.work, frame.room.covariance), plan, taps)
            self.work.spend(sum(map(len, frame.room.covariance.values())))
            one.kept = {item: (self.kind_of(item), value) for item, value in kept.items()}
            try:
                state = one.run(frame.state)
            except Fork as fork:
                open_ += [(p * q, {**plan, fork.key: told}) for q, told in fork.options if q]
                if len(open_) + len(done) > MOST_BRANCHES:
                    raise FormatError(f"more than {MOST_BRANCHES} outcomes have to be told apart in a round") from None
                continue
            done.append((p, one, state))
        found = [({item: value for item, (_, value) in one.kept.items()}, state) for _, one, state in done]
        if len(done) == 1:
            return _fewer(done[0][1].room, *found[0])
        return self.mixed([(p, one.room, *f) for (p, one, _), f in zip(done, found, strict=True)])

    def kind_of(self, item: Item) -> str:
        for s in self.program.state:
            if s.name == item[0]:
                return s.kind
        return self.program.taps[item[0]][0]

    def mixed(self, parts: Sequence[tuple[Fraction, Quantities, Mapping[Item, Any], Sequence[Any]]]) -> Frame:
        """The law that is each of these with its probability: a quantity for every number."""
        each = [list(leaves([*values.values(), list(state)])) for _, _, values, state in parts]
        count = len(each[0])
        own_means = [[p * form.get(NUMBER, ZERO) for form in forms] for (p, *_), forms in zip(parts, each, strict=True)]
        means = [sum(column, ZERO) for column in zip(*own_means, strict=True)]
        room = Quantities(self.work)
        news = [room.new() for _ in range(count)]
        covariances: dict[tuple[int, int], Fraction] = {}
        for (p, own, _, _), forms in zip(parts, each, strict=True):
            sums = [_centred(form, mean) for form, mean in zip(forms, means, strict=True)]
            for i, one in enumerate(sums):
                pulled = own.pulled(one)
                for j in range(i, count):
                    covariances[i, j] = covariances.get((i, j), ZERO) + p * own.weighed(pulled, sums[j])
        for (i, j), value in covariances.items():
            room.relate(news[i], news[j], value)
        made = [
            {**certain(mean), **({((), new): ONE} if covariances[j, j] else {})}
            for j, (mean, new) in enumerate(zip(means, news, strict=True))
        ]
        values, state = parts[0][2], parts[0][3]
        rest = iter(made)
        again = {item: _filled(value, rest) for item, value in values.items()}
        return _fewer(room, again, [_filled(value, rest) for value in state])


def _fewer(room: Quantities, values: Mapping[Item, Any], state: Sequence[Any]) -> Frame:
    """As few quantities as there are different numbers, where there are more."""
    forms = {id(form): form for form in leaves([*values.values(), list(state)])}
    changed = room.merge(forms, dict.fromkeys(forms, frozenset([-1])))
    return Frame(
        room,
        {item: replaced(value, changed) for item, value in values.items()},
        [replaced(value, changed) for value in state],
    )


def _centred(form: Form, mean: Fraction) -> Sum:
    """A form less a number, as a sum of quantities."""
    found = {quantity: value for (_, quantity), value in form.items()}
    found[0] = found.get(0, ZERO) - mean
    return {quantity: value for quantity, value in found.items() if value}


def _forms(value: Any) -> Any:
    """Fractions as forms."""
    if isinstance(value, tuple):
        return [_forms(part) for part in value]
    if not isinstance(value, Fraction):
        raise Uncheckable("moments from a start that is no fraction")
    return certain(value)


def _filled(shape: Any, forms: Any) -> Any:
    """The same nested lists with other forms, one after the other."""
    return next(forms) if isinstance(shape, dict) else [_filled(part, forms) for part in shape]
