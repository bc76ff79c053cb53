"""Another claim with a derivation of its own as a line: its sentence for other parameters and vectors.

The derivation is checked by the kernel under the other claim's own hypotheses. The line is accepted where these hold
here: then the other claim is true of every instance of this one, with what is put for its names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from theory.claim import Claim
from theory.derivation.combinations import mapping_of
from theory.derivation.domains import by_domain
from theory.derivation.kernel import Kernel, accepted
from theory.derivation.named import numbered
from theory.derivation.polynomials import RejectedError
from theory.derivation.reading import PLAIN
from theory.derivation.statements import Found, Line, NotProvedError, same
from theory.derivation.writing import instantiated
from theory.domain import Domain
from theory.for_every import ForEvery
from theory.formula import Apply, Name, Number
from theory.predicates import Connected, Predicate
from theory.sentence import (
    ALL_CLIENTS,
    COORDINATE,
    OVER,
    Expression,
    Relation,
    Sentence,
    applied,
    everything,
    index_of,
    parse_expression,
    read,
    replaced,
    text_of,
)

DEEPEST = 4


def claimed(kernel: Kernel, data: Mapping[str, Any], line: Line) -> Found:
    """It is what another claim says, whose hypotheses hold here."""
    other = data.get("derivation")
    if not isinstance(other, Claim):
        raise RejectedError(f"the derivation is that of a claim, and not a {type(other).__name__}")
    if data.get("id", other.id) != other.id:
        raise RejectedError(f"{data['id']} is another claim than that of the derivation, {other.id}")
    if kernel.depth >= DEEPEST:
        raise RejectedError(f"claims are nested more than {DEEPEST} deep")
    if other.program is not None and (
        kernel.claim.program is None or other.program.to_json() != kernel.claim.program.to_json()
    ):
        raise RejectedError(f"{other.id} is about another algorithm")
    if not other.proof:
        raise RejectedError(f"{other.id} has no derivation")
    try:
        last = accepted(other, *numbered(other, other.proof), kernel.depth + 1)[1]
    except NotProvedError as error:
        where = ", ".join(text for text in (kernel.where.get(id(data), ""), other.id, error.where) if text)
        raise NotProvedError(f"{line.name} ({other.id}, {error.line})", error.why, where, error.sentence) from None
    if last.reach:
        raise RejectedError(f"{other.id} is about the rounds and turns of the run only, and lines are about all")
    new = {name: kernel.expression(text) for name, text in mapping_of(data, "put").items()}
    _fitting(kernel, other, new)
    _inside(kernel, other, new)
    for relation in other.relations:
        _holds(kernel, other, relation, new)
    texts = [text for one in other.predicates for text in _assumed(kernel, other, one, new)]
    said = instantiated(other, other.sentence, new)
    for side in (said.left, said.right):
        kernel.has_value(side)
    if not same(line.gap, line.relation, _saying(kernel, line, said)):
        raise RejectedError(f"{other.id} says {said} here")
    return Found(hypotheses=frozenset(texts), citations=last.citations)


def _saying(kernel: Kernel, line: Line, said: Sentence) -> Line:
    return Line(line.name, said, PLAIN, kernel.reader.difference(said))


def _assuming(other: Claim) -> Iterator[Expression]:
    """All that is in what the claim assumes, its definitions put into it."""
    for one in other.relations:
        for side in (one.left, one.right):
            yield replaced(side, other.definitions)
    for predicate in other.predicates:
        for constant in predicate.constants:
            yield replaced(constant, other.definitions)


def _fitting(kernel: Kernel, other: Claim, new: Mapping[str, Expression]) -> None:
    """Nothing where names may be put so: of the same kind, without indices that the other claim has, and certain.

    Raises:
        RejectedError: where they may not.
    """
    words, own = other.vocabulary, set[str]()
    trees = [part for tree in _assuming(other) for part in everything(tree)]
    assumed = {part.name for part in trees if isinstance(part, Name)}
    sides = [replaced(side, other.definitions) for side in (other.sentence.left, other.sentence.right)]
    trees += [part for side in sides for part in everything(side)]
    taken = frozenset().union(*(read(part, words).free for part in trees))
    operations = {part.operation for part in trees if isinstance(part, Apply)}
    taken |= {OVER[op][1] for op in operations if op in OVER} | ({"n"} if operations & set(ALL_CLIENTS) else set())
    if other.of is not None:
        initial = [parse_expression(state.initial) for state in other.of.program.state]
        own = {part.name for tree in initial for part in everything(tree) if isinstance(part, Name)}
        own |= set(other.of.parameters)
    drawing = other.of is not None or bool(operations & {"E", "quantile"})
    for name, tree in new.items():
        vector = name in words.free_vectors
        number = name in other.symbols and name != "K" and not index_of(name)[1]
        if not (vector or number) or name in own:
            raise RejectedError(f"{name} is no parameter or vector of {other.id} for which another may be put")
        meant = read(tree, kernel.claim.vocabulary)
        if vector != (meant.shape == "vector"):
            raise RejectedError(f"{text_of(tree)} for {name}: a number for a vector, or a vector for a number")
        if meant.random and (drawing or not vector):
            raise RejectedError(f"{text_of(tree)} for {name} is random")
        if meant.free and name in assumed:  # what is assumed of all clients would be known of each beside its own
            raise RejectedError(f"{text_of(tree)} for {name} has an index, and {other.id} assumes something of it")
        if meant.free & taken - set(words.free_vectors.get(name, "")):
            raise RejectedError(f"{text_of(tree)} for {name} has an index that {other.id} has, too")
        if any(isinstance(part, Apply) and part.operation == COORDINATE for part in everything(tree)):
            raise RejectedError("a coordinate is put for nothing")
    for name in words.free_vectors:
        if name not in new and name not in kernel.claim.vocabulary.free_vectors:
            raise RejectedError(f"nothing is put for the vector {name}")


def _inside(kernel: Kernel, other: Claim, new: Mapping[str, Expression]) -> None:
    """Nothing where all parameters of the other claim are in their domains there.

    Raises:
        RejectedError: where one need not be.
    """
    for symbol in (one for one in other.symbols if one != "K"):
        if symbol not in new and symbol not in kernel.claim.symbols:
            raise RejectedError(f"nothing is put for {symbol}")
        domain, tree = other.domains[index_of(symbol)[0]], new.get(symbol, Name(symbol))
        indexed = bool(index_of(symbol)[1])
        whole = not domain.integer or kernel.reader.whole(kernel.reader.value(tree))
        if not whole or not all(_beyond(kernel, gap, strict, indexed) for gap, strict in _ends(tree, domain)):
            raise RejectedError(f"nothing says that {text_of(tree)} is in {domain}, as {symbol} of {other.id}")


def _ends(tree: Expression, domain: Domain) -> Iterator[tuple[Expression, bool]]:
    """What is to be at least 0, or more."""
    if domain.lower is not None:
        yield applied("-", (tree, Number(Fraction(domain.lower)))), domain.lower_open
    if domain.upper is not None:
        yield applied("-", (Number(Fraction(domain.upper)), tree)), domain.upper_open


def _beyond(kernel: Kernel, gap: Expression, strict: bool, indexed: bool) -> bool:
    relation: Relation = "<" if strict else "<="
    if by_domain(kernel.reader, kernel.signs, kernel.reader.value(gap), relation):
        return True
    return not indexed and (kernel.signs.positive(gap) if strict else kernel.signs.nonnegative(gap))


def _holds(kernel: Kernel, other: Claim, relation: Sentence, new: Mapping[str, Expression]) -> None:
    """Nothing where a relation of the other claim is a line here, or a hypothesis; it counts as used.

    Raises:
        RejectedError: where it is neither.
    """
    said = instantiated(other, relation, new)
    for side in (said.left, said.right):
        kernel.has_value(side)
    gap = kernel.reader.difference(said)
    free = frozenset[str]().union(*(read(side, other.vocabulary).free for side in (relation.left, relation.right)))
    for one in (*kernel.known.values(), *kernel.hypotheses):
        if one.place == PLAIN and same(gap, said.relation, one) and not (free and (one.fixed or one.reach)):
            kernel.touched.append(one)
            return
    raise RejectedError(f"{said}, as {other.id} assumes, is no line or hypothesis here")


def _assumed(kernel: Kernel, other: Claim, one: Predicate, new: Mapping[str, Expression]) -> list[str]:
    """The assumption here that is one of the other claim.

    Raises:
        RejectedError: where there is none.
    """
    constants = [kernel.reader.value(replaced(replaced(c, other.definitions), new)) for c in one.constants]
    claim = kernel.claim
    for text, mine in zip((*claim.assuming, *claim.standing), claim.assumptions, strict=True):
        if not isinstance(mine, Predicate) or isinstance(mine, Connected):
            continue
        if type(mine) is not type(one) or mine.function != one.function:
            continue
        if isinstance(mine, ForEvery) and mine != one:
            continue
        values = [kernel.reader.value(c) for c in mine.constants]
        if len(values) == len(constants) and all((a - b).zero for a, b in zip(values, constants, strict=True)):
            return [text]
    raise RejectedError(f"{one.text} of {other.id} is not assumed here")
