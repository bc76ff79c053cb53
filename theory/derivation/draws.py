"""Expectations of the draws of a round, exactly.

The draws of a round are independent of everything before it and of one another. A product of factors is averaged over
the draws in it; where two clients have drawn, means over both are those of different clients, and one N-th of what it
makes when they are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, TypeAlias

from theory.derivation.atoms import Binder, Index, atom, closing, fresh
from theory.derivation.changes import renamed
from theory.derivation.elementary import power
from theory.derivation.expectations import expectation
from theory.derivation.polynomials import Atom, Monomial, RejectedError
from theory.derivation.quotients import ONE, ZERO, Quotient, constant, monomial, of_atom
from theory.derivation.reading import PLAIN, number_of, parameter
from theory.derivation.terms import as_vector, bind, coordinate, dot, opened

if TYPE_CHECKING:
    from theory.derivation.rounds import Rounds

Draw: TypeAlias = tuple[Any, ...]
"""Name of the instruction, the round, and in loops the turns."""
OF_VECTORS = ("dot", "vec", "entry")
"""Kinds of factors that are linear in each of their vectors."""
SCALARS = ("draw", "count", "share")
"""Kinds of numbers that are drawn: of 0 and 1, how often a client is chosen, and its weight in an average."""
SAMPLED = ("sampled", "taken")
"""Kinds of vectors at a drawn sample: a gradient, and an entry of a table."""


def expected(rounds: Rounds, m: Monomial, prefix: list[Binder]) -> Quotient:
    """E of a product with draws in it, given the binders around it.

    Raises:
        RejectedError: where something else in it hangs on the same draws, or where it is not read.
    """
    draws = sorted({d for a, _ in m for d in a.draws}, key=str)
    for one, other in combinations(draws, 2):
        if one[0] == other[0] and not any((s - t).number for s, t in zip(one[1:], other[1:], strict=False)):
            return _of_two_turns(rounds, m, prefix, one, other)
    staying = frozenset(draw for draw in draws if _stays(rounds, m, draw))
    body = monomial(m)
    for b in reversed(prefix):  # a mean over samples goes with its client
        if b.kind == "i":
            body = bind(b, body)
    clients = sorted({n for a, _ in m for n in _clients(a)})
    if rounds.alone:
        return expectation(_averaged(rounds, renamed(body, dict.fromkeys(clients, Index("n"))), staying))
    apart = _averaged(rounds, body, staying)
    if len(clients) < 2:
        return expectation(apart)
    merged = [n for n in clients if n in {b.index for b in prefix if b.kind == "n"}]
    if len(clients) > 2 or not merged:
        raise RejectedError("draws of more than two clients in one product")
    new = {merged[0]: Index(next(n for n in clients if n != merged[0]))}  # which may be the first client
    together = _averaged(rounds, renamed(body, new), staying)
    return expectation(apart + (together - renamed(apart, new)) / parameter("N"))


def _clients(a: Atom) -> Iterator[str]:
    """The clients whose draws are in an atom."""
    if a.kind in SCALARS:
        yield from a.data[1:]
    if a.kind == "hit":
        yield a.data[1]
    for v in _vectors_of(a):
        yield from _clients_of_vector(v)


def _clients_of_vector(v: Atom) -> Iterator[str]:
    if v.kind in (*SAMPLED, "noise"):
        yield v.data[1]
    if v.kind == "kept":
        yield from v.data[1]
        yield from _clients_of_vector(v.data[3])


def _stays(rounds: Rounds, m: Monomial, draw: Draw) -> bool:
    """Whether the samples of a turn's draw stay what they are, as something else may hang on them.

    Raises:
        RejectedError: where something hangs on another draw.
    """
    for a, _ in m:
        for moment in a.moments:
            if len(draw) < 2:
                raise RejectedError(f"{moment[0]} is multiplied with a sample that no round draws")
            if not _before(rounds, moment, draw):
                if rounds.draws[draw[0]].op != "sample" or len(draw) < 3:
                    raise RejectedError(f"{moment[0]} may hang on the draw that it is multiplied with")
                return True
    return False


def _before(rounds: Rounds, moment: Any, draw: Draw) -> bool:
    """Whether a state or tap does not hang on a draw."""
    name, (k, *turns), *_ = moment
    later = _least(rounds, draw[1] - k)
    if name in rounds.reader.words.states:
        return later >= 0
    if later:
        return later > 0
    now, before = rounds.taps[name]
    if draw[0] not in now | before:
        return True
    own, other = rounds.loops_around(name), rounds.loops_around(draw[0])
    for loop, another, at, turn in zip(own, other, turns, draw[2:], strict=False):
        later = _least(rounds, turn - at)
        if loop is not another or later < 0:
            return False
        if later > 0:
            return True
    return len(other) >= len(own) > 0 and draw[0] not in now


def _least(rounds: Rounds, q: Quotient) -> int:
    """What a difference of indices is at least; -1 where that is less than 0, or not known."""
    if not rounds.reader.whole(q) or any(c < 0 for c in q.over.values()):
        return -1
    return int(q.over.get((), 0))


def _of_two_turns(rounds: Rounds, m: Monomial, prefix: list[Binder], one: Draw, other: Draw) -> Quotient:
    """E of a product, summed over two turns of a loop, with the gradient at a sample of each.

    What a gradient at a sample differs by from its mean has mean 0 whatever the other draws are, those of earlier turns
    among them: in the sum over both turns of products of two such differences only equal turns are left.

    Raises:
        RejectedError: where it is none.
    """
    both = next((a for a, e in m if e == 1 and a.kind == "dot" and a.draws == {one, other}), None)
    sums = {number_of(b.index).text: b for b in prefix if b.kind == "h"}
    here, there = (sums.get(d[2].text) if len(d) == 3 else None for d in (one, other))
    rest = tuple((a, e) for a, e in m if a != both)
    if both is None or here is None or there is None or here.upper is None or there.upper != here.upper:
        raise RejectedError(f"two draws of {one[0]} that may be the same")
    turns = {here.index, there.index}
    if (
        one[:2] != other[:2]
        or [v.kind for v in both.data] != ["sampled"] * 2
        or not all(_before(rounds, moment, v.data[0]) for v in both.data for moment in v.moments)
        or any(one[0] in {d[0] for d in a.draws} or (a.random and turns & a.free) for a, _ in rest)
        or not all(_before(rounds, moment, one[:2]) for a, _ in rest for moment in a.moments)
    ):
        raise RejectedError(f"two draws of {one[0]} in a product that hangs on them in other ways")

    def mean(v: Atom) -> Quotient:
        place, point = replace(PLAIN, n=v.data[1], owner=v.data[1]), v.data[2]
        if isinstance(point, Quotient):
            return rounds.reader.function("f_n", point, place, True)
        there, zero = (rounds.reader.function("f_n", q, place, True) for q in (as_vector(point), ZERO))
        return there - zero  # what a quadratic's gradient adds for it

    def of(q: Quotient) -> Quotient:
        return expectation(q, lambda inner, more: expected(rounds, inner, [*prefix, *more]))

    g, h = both.data
    others, means, now = monomial(rest), dot(mean(g), mean(h)), {str(there.index): here.index}
    equal = of(renamed(others * of_atom(both), now)) - of(renamed(others * means, now))
    mixed = dot(as_vector(g), mean(h)) + dot(mean(g), as_vector(h)) - means
    return of(others * mixed) + equal / here.upper


def _averaged(rounds: Rounds, q: Quotient, staying: frozenset[Draw]) -> Quotient:
    """The mean over the draws in it but some, those of clients with different indices being of different clients."""
    if any(a.draws for p in q.under for mono, _ in p for a, _ in mono):
        raise RejectedError("a division by what is drawn")
    found = ZERO
    for m, c in q:
        found = found + constant(c) * _of_product(rounds, m, staying)
    return found * Quotient(ONE.over, q.under)


@closing
def _of_product(rounds: Rounds, m: Monomial, staying: frozenset[Draw]) -> Quotient:
    if all(a.draws <= staying for a, _ in m):
        return monomial(m)
    binders: list[Binder] = []
    body = ONE
    for a, e in m:
        for _ in range(e if a.kind == "bind" and a.draws else 0):
            these, inside = opened(a)
            binders, body = [*binders, *these], body * monomial(inside)
    if binders:
        outside = monomial(tuple((a, e) for a, e in m if not (a.kind == "bind" and a.draws and e > 0)))
        found = _averaged(rounds, outside * body, staying)
        for b in reversed(binders):
            found = bind(b, found)
        return found
    hit = next((a for a, _ in m if a.kind == "hit" and a.data[0] not in staying), None)
    if hit is not None:
        return _averaged(rounds, _hit(rounds, hit, m), staying)
    for a, e in m:
        if a.draws and (e < 0 or a.kind not in (*SCALARS, *OF_VECTORS)):
            raise RejectedError(f"{a.kind} of what is drawn")
        if any(v.kind == "each" and v.draws for v in _vectors_of(a)):
            raise RejectedError("a vector of which each coordinate is made of what is drawn")
    scalars = tuple((a, e) for a, e in m if a.kind in SCALARS)
    rest = tuple((a, e) for a, e in m if a.kind not in SCALARS)
    if scalars:
        return _scalars(rounds, scalars) * _of_product(rounds, rest, staying)
    for _, v in _vectors(rest):
        if v.kind not in (*SAMPLED, "noise", "kept") or any(x.draws for x in v.data[2:3] if v.kind == "sampled"):
            raise RejectedError("a gradient at what is drawn, in a product")
    within = {draw for _, v in _vectors(rest) if v.kind == "kept" for draw in v.data[3].draws}
    outermost = sorted({v.data[:2] for _, v in _vectors(rest) if v.data[0] not in within | staying}, key=str)
    if not outermost:
        raise RejectedError("what is kept of what is kept by the same draw")
    step = rounds.draws[outermost[0][0][0]]
    n = outermost[0][1]
    own = [(position, v) for position, v in _vectors(rest) if v.data[:2] == outermost[0]]
    if step.op == "keep":
        made = _kept(rest, own)
    elif step.op == "noise":
        made = _noise(rounds, step, outermost[0], rest, own)
    elif step.op == "sample":
        made = _sampled(rounds, step, outermost[0], rest, own, n)
    else:
        raise RejectedError(f"{step.op} is not averaged")
    return _averaged(rounds, made, staying)


def _hit(rounds: Rounds, hit: Atom, m: Monomial) -> Quotient:
    """A product that is 0 unless the sample drawn is a certain one: then what is at the drawn one is at that one.

    Raises:
        RejectedError: for a batch, and where something else hangs on that draw.
    """
    draw, n, i = hit.data
    if not rounds.is_sample(draw) or any(a == hit and e < 0 for a, e in m):
        raise RejectedError("an entry of a table that a batch replaces, or a division by what is drawn")
    rest = tuple((a, e) for a, e in m if a != hit)
    made = _replaced(rest, lambda _, v: _at(v, i) if v.kind in SAMPLED and v.data[:2] == (draw, n) else as_vector(v))
    for mono, _ in made:
        for a, e in mono:
            of_it = a.kind == "hit" and a.data[:2] == (draw, n)
            plain = a.kind in OF_VECTORS and all(v.kind in SAMPLED for v in _vectors_of(a) if draw in v.draws)
            elsewhere = [v.data[1] for v in _vectors_of(a) if draw in v.draws] if plain else []
            if of_it or (draw in a.draws and a.kind != "hit" and (e < 0 or not plain or n in elsewhere)):
                raise RejectedError("an entry of a table that a draw replaces, beside what else hangs on it")
    return made / of_atom(atom("samples", n))


def _at(v: Atom, i: Index) -> Quotient:
    """A vector at a drawn sample, at another one."""
    if v.kind == "sampled":
        return as_vector(atom("grad", (v.data[1], i), v.data[2]))
    name, indices, n, _ = v.data[2]
    return as_vector(atom("state", name, indices, n, i))


def _scalars(rounds: Rounds, m: Monomial) -> Quotient:
    """E of a product of draws of 0 and 1, and of counts."""
    from theory.derivation.rounds import formula

    found = ONE
    powers: dict[Draw, dict[Index, int]] = {}
    for a, e in m:
        if a.kind == "share":
            if e != 1 or any(other.data[0] == a.data[0] for other, _ in m if other != a):
                raise RejectedError("the weight of a client in an average, beside another of the same draw")
            found = found * _weight(rounds, a.data[0])
            continue
        powers.setdefault(a.data[0], {})[a.data[1] if len(a.data) > 1 else Index("")] = e
    for draw, by_client in powers.items():
        step = rounds.draws[draw[0]]
        here = [replace(PLAIN, n=n, owner=n, k=draw[1]) for n in by_client]
        number = [formula(rounds.reader, step.numbers[0], place) for place in here]
        if any("" in p.free for p in number):
            raise RejectedError(f"{step.op} with a number for each client")
        if step.op in ("coin", "coins"):
            for p in number:
                found = found * p
            continue
        if step.op != "choose" or number[0].free:
            raise RejectedError(f"{step.op} in a product")
        S, N, times = number[0], parameter("N"), sorted(by_client.values())
        pairs = S * (S - ONE)
        if len(times) == 1 and (not step.flag or times == [1]):
            found = found * S / N
        elif times == [2] and step.flag:
            found = found * (S / N + pairs / (N * N))
        elif times == [1, 1] and step.flag:
            found = found * pairs / (N * N)
        elif len(times) == 2 and not step.flag:
            found = found * pairs / (N * (N - ONE))
        else:
            raise RejectedError("chosen clients in a product of that many")
    return found


def _weight(rounds: Rounds, draw: Draw) -> Quotient:
    """E of a client's weight in an average: the chance that there is one, divided among all alike."""
    from theory.derivation.rounds import formula

    step = rounds.draws[draw[0]]
    if step.op == "choose":
        return ONE / parameter("N")
    chance = formula(rounds.reader, step.numbers[0], replace(PLAIN, k=draw[1]))
    if step.op != "coins" or chance.free:
        raise RejectedError(f"an average with {step.op}, or with a chance for each client")
    return (ONE - power(ONE - chance, parameter("N"))) / parameter("N")


def _vectors_of(a: Atom) -> tuple[Atom, ...]:
    """The vectors of an inner product, of a vector, or of a coordinate."""
    return tuple(v for v in a.data if isinstance(v, Atom)) if a.kind in OF_VECTORS else ()


def _vectors(m: Monomial) -> list[tuple[int, Atom]]:
    """The drawn vectors of a product, as often as they occur, each with the number of its place."""
    places = [v for a, e in m if a.kind in OF_VECTORS for _ in range(e) for v in _vectors_of(a)]
    return [(j, v) for j, v in enumerate(places) if v.draws]


def _replaced(m: Monomial, new: Callable[[int, Atom], Quotient]) -> Quotient:
    """A product with the vectors at some places replaced."""
    found, j = ONE, 0
    for a, e in m:
        if a.kind not in OF_VECTORS or e < 0:
            found = found * of_atom(a, e)
            continue
        for _ in range(e):
            vectors = []
            for v in _vectors_of(a):
                vectors.append(new(j, v))
                j += 1
            if a.kind == "entry":
                found = found * coordinate(vectors[0], a.data[1])
            else:
                found = found * (dot(*vectors) if a.kind == "dot" else vectors[0])
    return found


def _kept(m: Monomial, own: list[tuple[int, Atom]]) -> Quotient:
    places = [j for j, _ in own]
    if (
        len(own) == 2
        and places[0] % 2 == 0
        and places[1] == places[0] + 1
        and all(a.kind not in ("vec", "entry") for a, _ in m)
    ):
        scale = parameter("d") / own[0][1].data[2]
    elif len(own) == 1:
        scale = ONE
    else:
        raise RejectedError("what is kept of vectors in several products")
    return scale * _replaced(m, lambda j, v: as_vector(v.data[3] if j in places else v))


def _noise(rounds: Rounds, step: Any, key: tuple[Any, ...], m: Monomial, own: list[tuple[int, Atom]]) -> Quotient:
    from theory.derivation.rounds import formula

    if len(own) == 1:
        return ZERO
    same = [a for a, e in m if a.kind == "dot" and e == 1 and a.data[0] == a.data[1] == own[0][1]]
    if len(own) != 2 or not same:
        raise RejectedError("noise in a product of another kind")
    place = replace(PLAIN, n=key[1], owner=key[1], k=key[0][1])
    return formula(rounds.reader, step.numbers[0], place) * monomial(tuple((a, e) for a, e in m if a != same[0]))


def _sampled(
    rounds: Rounds, step: Any, key: tuple[Any, ...], m: Monomial, own: list[tuple[int, Atom]], n: Index
) -> Quotient:
    from theory.derivation.rounds import formula

    b = formula(rounds.reader, step.numbers[0], replace(PLAIN, n=n, owner=n, k=key[0][1]))
    places = [j for j, _ in own]

    def over(*samples: Index) -> Quotient:
        """The gradients at these samples, one for each place, taken over them."""
        which = dict(zip(places, samples, strict=True))
        made = _replaced(m, lambda j, v: _at(v, which[j]) if j in which else as_vector(v))
        for i in dict.fromkeys(samples):
            made = bind(Binder("i", i, n), made)
        return made

    i = fresh("i")
    together = over(*[i] * len(own))
    if len(own) == 1 or b.number == 1:
        return together
    if len(own) != 2 or not step.flag:
        raise RejectedError("a batch in a product of that many")
    return together / b + over(i, fresh("i")) * (ONE - ONE / b)
