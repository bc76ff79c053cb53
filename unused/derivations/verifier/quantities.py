"""Random numbers as sums, and the expectations of their products.

A *form* is a sum of terms ``factor * centred products of counts * quantity``. Quantity 0 is the number 1; all others
have mean 0, and their covariances are kept. Counts of different draws are independent, and independent of the
quantities. So the product of two terms has an expectation other than 0 only where both have counts of the same draws.

A draw that nothing reads any more is *settled*: of each form the terms with its counts become one new quantity.
Quantities that only one owner's forms know become fewer, as many as the forms that have them (`Quantities.merge`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from .chances import Chance, Product
from .reading import FormatError
from .scalars import MOST_BITS, ONE, ZERO, Work

Tags = tuple[tuple[int, Product], ...]
"""Centred products of counts, sorted by draw."""
Term = tuple[Tags, int]
Form = dict[Term, Fraction]
Sum = dict[int, Fraction]
"""A sum of quantities."""
NUMBER: Term = ((), 0)
MOST_TERMS = 20_000  # of one form
MOST_QUANTITIES = 4_000


def certain(value: Fraction) -> Form:
    """A number that is not drawn."""
    return {NUMBER: value} if value else {}


def form_of(value: Fraction | Form) -> Form:
    """A number that is drawn or not."""
    return certain(value) if isinstance(value, Fraction) else value


def draws_of(form: Form) -> set[int]:
    """The draws whose counts it has."""
    return {draw for tags, _ in form for draw, _ in tags}


class Quantities:
    """Quantities and draws.

    Attributes:
        work: what may still be computed.
        covariance: of the quantities, 0 where there is none; quantity 0 has only E(1*1) = 1.
        chances: draws by number.
    """

    def __init__(self, work: Work, covariance: Mapping[int, Sum] | None = None) -> None:
        self.work = work
        self.covariance: dict[int, Sum] = {a: dict(row) for a, row in (covariance or {0: {0: ONE}}).items()}
        self.next = 1 + max(self.covariance)
        self.chances: dict[int, Chance] = {}

    def new(self) -> int:
        """A quantity, without covariances yet."""
        if len(self.covariance) > MOST_QUANTITIES:
            raise FormatError(f"more than {MOST_QUANTITIES} random numbers are carried at once")
        self.next += 1
        self.covariance[self.next] = {}
        return self.next

    def drawn(self, chance: Chance) -> list[Form]:
        """A draw: its counts."""
        number = len(self.chances)
        self.chances[number] = chance
        found = []
        for i in range(chance.size):
            mean = chance.mean((i,))
            found.append({NUMBER: mean, (((number, (i,)),), 0): ONE} if mean else {})
        return found

    def spend(self, values: Iterable[Fraction], each: int = 2) -> None:
        """Counts the work on these numbers."""
        spent = 0
        for value in values:
            size = value.numerator.bit_length() + value.denominator.bit_length()
            if size > 2 * MOST_BITS:
                raise FormatError("the numbers of the run grow too long to be checked")
            spent += each + (size * size >> 16)
        self.work.spend(spent)

    # forms

    def combined(self, terms: Iterable[tuple[Fraction, Form]]) -> Form:
        """sum c f."""
        found: Form = {}
        for c, form in terms:
            if c:
                for term, value in form.items():
                    found[term] = found[term] + c * value if term in found else c * value
        self.spend(found.values())
        return self.short(found)

    def short(self, form: Form) -> Form:
        if len(form) > MOST_TERMS:
            raise FormatError("a random number of the run has too many terms to be checked")
        return {term: value for term, value in form.items() if value}

    def product(self, scalar: Form, form: Form) -> Form:
        """The product of a number of counts alone, and a form."""
        found: Form = {}
        for (tags, quantity), c in scalar.items():
            assert quantity == 0
            for (others, own), value in form.items():
                if not tags:
                    found[others, own] = found.get((others, own), ZERO) + c * value
                    continue
                for merged, factor in self.merged(tags, others):
                    found[merged, own] = found.get((merged, own), ZERO) + c * factor * value
            if len(found) > 2 * MOST_TERMS:
                raise FormatError("a random number of the run has too many terms to be checked")
        self.work.spend(2 * len(scalar) * len(form))
        self.spend(found.values())
        return self.short(found)

    def merged(self, one: Tags, two: Tags) -> list[tuple[Tags, Fraction]]:
        """The product of centred products of counts."""
        both = {draw for draw, _ in one} & {draw for draw, _ in two}
        found: list[tuple[Tags, Fraction]] = [(tuple(t for t in (*one, *two) if t[0] not in both), ONE)]
        for draw in both:
            parts = self.chances[draw].times(dict(one)[draw], dict(two)[draw])
            found = [((*tags, (draw, p)) if p else tags, c * f) for tags, c in found for p, f in parts if f]
        return [(tuple(sorted(tags)), c) for tags, c in found]

    # expectations

    def mean(self, form: Form) -> Fraction:
        """E of a form."""
        return form.get(NUMBER, ZERO)

    def inner(self, one: Form, two: Form) -> Fraction:
        """E of a product."""
        left, right = _by_draws(one), _by_draws(two)
        total = ZERO
        for draws, parts in left.items():
            if draws in right:
                total += self._inner(draws, parts, right[draws])
        return total

    def _inner(self, draws: tuple[int, ...], one: Mapping[Tags, Sum], two: Mapping[Tags, Sum]) -> Fraction:
        """Of terms that have counts of the same draws."""
        if not draws:
            return self.together(one[()], two[()])
        chance = self.chances[draws[0]]
        single = all(len(tags[0][1]) == 1 for side in (one, two) for tags in side)
        if len(draws) == 1 and chance.size > 1 and single:  # any two counts have the same covariance
            apart = chance.covariance((0,), (1,))
            total = sum((self.together(u, two[tags]) for tags, u in one.items() if tags in two), ZERO)
            whole = self.together(_added(one.values()), _added(two.values()))
            return (chance.covariance((0,), (0,)) - apart) * total + apart * whole
        total = ZERO
        for tags, u in one.items():
            for others, v in two.items():
                factor = ONE
                for (draw, a), (_, b) in zip(tags, others, strict=True):
                    factor *= self.chances[draw].covariance(a, b)
                self.work.spend(6)
                if factor:
                    total += factor * self.together(u, v)
        return total

    def pulled(self, one: Sum) -> Sum:
        """Of every quantity, the expectation of its product with a sum."""
        found: Sum = {}
        for a, c in one.items():
            for b, value in self.covariance[a].items():
                found[b] = found[b] + c * value if b in found else c * value
        self.spend(found.values())
        self.work.spend(sum(len(self.covariance[a]) for a in one) * 2)
        return found

    def together(self, one: Sum, two: Sum) -> Fraction:
        """E of the product of two sums."""
        if sum(len(self.covariance[a]) for a in one) > sum(len(self.covariance[a]) for a in two):
            one, two = two, one
        return self.weighed(self.pulled(one), two)

    def weighed(self, pulled: Sum, two: Sum) -> Fraction:
        """The expectation of a product, one factor of which was pulled."""
        few, many = (pulled, two) if len(pulled) < len(two) else (two, pulled)
        values = [c * many[b] for b, c in few.items() if b in many]
        self.spend(values)
        return sum(values, ZERO)

    def relate(self, one: int, two: int, value: Fraction) -> None:
        """Sets a covariance."""
        if value:
            self.covariance[one][two] = self.covariance[two][one] = value

    # fewer terms

    def settled(self, forms: Mapping[int, Form], dead: set[int]) -> dict[int, Form]:
        """The forms by their numbers, without counts of these draws; those that have none are left out."""
        changed: dict[int, Form] = {}
        made: dict[tuple[int, ...], list[tuple[int, dict[Tags, Sum]]]] = {}
        for number, form in forms.items():
            rest: Form = {}
            parts: dict[Tags, dict[tuple[int, ...], dict[Tags, Sum]]] = {}
            for (tags, quantity), value in form.items():
                gone = tuple(t for t in tags if t[0] in dead)
                if not gone:
                    rest[tags, quantity] = value
                    continue
                left = tuple(t for t in tags if t[0] not in dead)
                draws = tuple(draw for draw, _ in gone)
                parts.setdefault(left, {}).setdefault(draws, {}).setdefault(gone, {})[quantity] = value
            if parts:
                for left, by_draws in parts.items():
                    for draws, part in by_draws.items():
                        quantity = self.new()
                        rest[left, quantity] = ONE
                        made.setdefault(draws, []).append((quantity, part))
                changed[number] = rest
            self.work.spend(len(form))
        for draws, news in made.items():
            for i, (one, part) in enumerate(news):
                for two, other in news[i:]:
                    self.relate(one, two, self._inner(draws, part, other))
        return changed

    def merge(self, forms: Mapping[int, Form], owners: Mapping[int, frozenset[int]]) -> dict[int, Form]:
        """The forms by their numbers with fewer quantities: those that only one owner's forms have become one a form.

        Quantities that no form has are forgotten.
        """
        known: dict[int, set[int]] = {}
        for number, form in forms.items():
            self.work.spend(len(form))
            for _, quantity in form:
                known.setdefault(quantity, set()).update(owners[number])
        self.forget([a for a in self.covariance if a and a not in known])
        changed: dict[int, Form] = {}
        alone: dict[int, set[int]] = {}
        for quantity, who in known.items():
            if quantity and len(who) == 1:
                alone.setdefault(next(iter(who)), set()).add(quantity)
        of: dict[int, list[int]] = {}
        for number, who_has in owners.items():
            if len(who_has) == 1:
                of.setdefault(next(iter(who_has)), []).append(number)
        for owner, own in alone.items():
            parts = []
            for number in of[owner]:
                by_tags: dict[Tags, Sum] = {}
                for (tags, quantity), value in forms[number].items():
                    if quantity in own:
                        by_tags.setdefault(tags, {})[quantity] = value
                parts += [(number, tags, part) for tags, part in by_tags.items()]
            if len(own) > len(parts):
                self._replace(forms, changed, own, parts)
        return changed

    def _replace(
        self,
        forms: Mapping[int, Form],
        changed: dict[int, Form],
        own: set[int],
        parts: Sequence[tuple[int, Tags, Sum]],
    ) -> None:
        """Each part of a form, a sum of these quantities, becomes one quantity."""
        pulled = [self.pulled(part) for _, _, part in parts]
        news = [self.new() for _ in parts]
        for i, new in enumerate(news):
            for other, value in pulled[i].items():
                if other not in own:
                    self.relate(new, other, value)
            for j in range(i, len(parts)):
                self.relate(new, news[j], self.weighed(pulled[i], parts[j][2]))
        for (number, tags, part), new in zip(parts, news, strict=True):
            form = dict(changed.get(number, forms[number]))
            for quantity in part:
                del form[tags, quantity]
            form[tags, new] = ONE
            changed[number] = form
        self.forget(own)

    def forget(self, quantities: Iterable[int]) -> None:
        """Quantities that no form has."""
        for a in quantities:
            for b in self.covariance.pop(a):
                if b in self.covariance:
                    del self.covariance[b][a]


def _by_draws(form: Form) -> dict[tuple[int, ...], dict[Tags, Sum]]:
    found: dict[tuple[int, ...], dict[Tags, Sum]] = {}
    for (tags, quantity), value in form.items():
        draws = tuple(draw for draw, _ in tags)
        found.setdefault(draws, {}).setdefault(tags, {})[quantity] = value
    return found


def _added(sums: Iterable[Sum]) -> Sum:
    found: Sum = {}
    for one in sums:
        for a, value in one.items():
            found[a] = found.get(a, ZERO) + value
    return found
