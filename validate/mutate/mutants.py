"""False neighbours of a claim: its formula with one thing moved, or the claim with one hypothesis dropped.

A mutant differs from the claim in one place: a coefficient scaled, a term dropped, an exponent or an index moved, two
parameters swapped, a hypothesis dropped. Relation, quantity and parameters stay. Mutants that are the same function as
the claim, or as an earlier mutant, are left out. Whether a mutant is false is found out in `validate.mutate.trial`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from theory.claim import Claim
from theory.formula import Apply, Formula, Name, Number, UndefinedError, names_in, parse, text_of

if TYPE_CHECKING:
    import numpy as np

    Array: TypeAlias = np.ndarray[Any, Any]

Kind = Literal[
    "coefficient scaled",
    "scaled below what is attained",
    "term dropped",
    "exponent moved",
    "index moved",
    "parameters swapped",
    "hypothesis dropped",
]
Path: TypeAlias = tuple[int, ...]

FACTORS = (Fraction(1, 2), Fraction(9, 10), Fraction(11, 10), Fraction(2))
RIGHT = "right"  # the place of the right side; other places are names of definitions
POINTS = 12  # at which two formulas are compared
_SAME = 1e-11  # relative
_EXPONENT_AT_MOST = 100  # an exponent beyond it is no place for a small step


@dataclass(frozen=True)
class Mutant:
    """A claim with one thing changed.

    Attributes:
        name: the id of the claim and a number, ``fedavg-svrg/theorem-v1-eq8/mutant-003``.
        claim: the changed claim; it keeps the id of the original, by which its left side is measured.
        kind: what was done.
        description: what was done, and where.
    """

    name: str
    claim: Claim
    kind: Kind
    description: str

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "name": self.name,
            "kind": self.kind,
            "description": self.description,
            "right": self.claim.right,
            "definitions": dict(self.claim.definitions),
            "hypotheses": [h.name for h in self.claim.conditions],
        }

    def stated(self) -> Claim:
        """The mutant as a claim with an id and a statement of its own, for a certificate."""
        text = f"Not in the paper: a mutant of {self.claim.id} ({self.description}). {self.claim.quantity.meaning} "
        text += f"{self.claim.relation} {self.claim.right}"
        terms = "; ".join(f"{name} = {formula}" for name, formula in self.claim.definitions.items())
        if terms:
            text += f", where {terms}"
        return replace(self.claim, id=self.name, statement=f"{text}.", steps=(), remarks=())


@dataclass(frozen=True)
class Place:
    """A subtree of a claim's formulas.

    Attributes:
        formula: the name of a definition, or `RIGHT`.
        path: the arguments to descend by.
    """

    formula: str
    path: Path = ()


def mutants(claim: Claim, attained: Sequence[tuple[Place, Fraction]] = ()) -> list[Mutant]:
    """The neighbours of a claim, in a fixed order, each another function or with a hypothesis less.

    Args:
        claim: a claim with a right side.
        attained: terms with the factor by which each is to be scaled, below what instances attain (see
            `validate.mutate.trial`); places as `terms` gives them.

    Raises:
        ValueError: for a claim without right side, or a factor that is not positive.
    """
    formulas = _formulas(claim)
    points = _Points(claim)
    original = points.values(claim)
    assert original is not None
    seen = [original]
    found: list[Mutant] = []

    def keep(changed: Claim, kind: Kind, description: str) -> None:
        found.append(Mutant(f"{claim.id}/mutant-{len(found) + 1:03d}", changed, kind, description))

    for kind, description, moved in _moves(claim, formulas, attained):
        changed = _rebuilt(claim, moved)
        values = points.values(changed)
        if values is None or _among(values, seen):
            continue
        seen.append(values)
        keep(changed, kind, description)
    for hypothesis in claim.conditions:
        rest, standing = (tuple(h for h in some if h is not hypothesis) for some in (claim.hypotheses, claim.standing))
        changed = replace(claim, hypotheses=rest, standing=standing)
        keep(changed, "hypothesis dropped", f"without the hypothesis {hypothesis.name!r}")
    return found


def terms(claim: Claim) -> list[Place]:
    """The whole right side, then its additive terms, seen through definitions that it adds up.

    Raises:
        ValueError: for a claim without right side.
    """
    formulas = _formulas(claim)
    found = [Place(RIGHT)]

    def descend(place: Place) -> None:
        node = _at(formulas[place.formula], place.path)
        if isinstance(node, Apply) and node.operation in ("+", "-", "neg"):
            for i in range(len(node.arguments)):
                descend(Place(place.formula, (*place.path, i)))
        elif isinstance(node, Name) and node.name in formulas:
            descend(Place(node.name))
        elif place not in found:
            found.append(place)

    descend(found[0])
    return found


def scaled(claim: Claim, place: Place, factor: Fraction) -> Claim:
    """The claim with one subtree multiplied by a number."""
    formulas = _formulas(claim)
    return _rebuilt(claim, {place.formula: _scale(formulas[place.formula], place.path, factor)})


def _formulas(claim: Claim) -> dict[str, Formula]:
    """The right side and the definitions that it uses, directly or not."""
    if claim.right is None:
        raise ValueError(f"claim={claim.id!r} has no right side, so no mutants; read its statement")
    right = parse(claim.right)
    definitions = {name: parse(text) for name, text in claim.definitions.items()}
    used = set(names_in(right))
    for name in reversed(definitions):
        if name in used:
            used |= names_in(definitions[name])
    return {name: tree for name, tree in definitions.items() if name in used} | {RIGHT: right}


def _rebuilt(claim: Claim, moved: dict[str, Formula]) -> Claim:
    """The claim with some formulas replaced; the text of the others stays as it is."""
    assert claim.right is not None
    definitions = {n: text_of(moved[n]) if n in moved else text for n, text in claim.definitions.items()}
    right = text_of(moved[RIGHT]) if RIGHT in moved else claim.right
    return replace(claim, right=right, definitions=definitions)


def _moves(
    claim: Claim, formulas: dict[str, Formula], attained: Sequence[tuple[Place, Fraction]]
) -> Iterator[tuple[Kind, str, dict[str, Formula]]]:
    """What is done, in words, and the formulas that it changes."""
    for place, factor in attained:
        if not factor > 0:
            raise ValueError(f"attained={factor} is outside (0, inf)")
        text = f"{_words(formulas, place)} times {factor}, below what is attained"
        tree = _scale(formulas[place.formula], place.path, factor)
        yield "scaled below what is attained", text, {place.formula: tree}
    for formula, tree in formulas.items():
        for path, node, parent in _nodes(tree):
            place = Place(formula, path)
            for kind, text, changed in _local(claim, formulas, place, node, parent):
                yield kind, text, {formula: _put(tree, path, changed)}
    used = set[str]().union(*map(names_in, formulas.values()))
    for a, b in combinations([p for p in claim.parameters if p.name in used], 2):
        if a.domain == b.domain and a.shape == b.shape:
            both = {a.name: b.name, b.name: a.name}
            moved = {name: _renamed(tree, both) for name, tree in formulas.items()}
            yield "parameters swapped", f"{a.name} and {b.name} swapped", moved


def _local(
    claim: Claim, formulas: dict[str, Formula], place: Place, node: Formula, parent: Apply | None
) -> Iterator[tuple[Kind, str, Formula]]:
    """What can be done to one subtree, with the changed subtree."""
    added = parent is None or parent.operation in ("+", "-", "neg")
    multiplied = parent is None or parent.operation in ("*", "/")
    where = _words(formulas, place)
    partial = parent is not None and isinstance(node, Apply) and node.operation in ("+", "-", "neg")
    defined = isinstance(node, Name) and node.name in formulas  # scaled where it is defined
    if added and not isinstance(node, Number) and not partial and not defined:
        for factor in FACTORS:
            yield "coefficient scaled", f"{where} times {factor}", _times(factor, node)
    if isinstance(node, Number) and (parent is None or parent.operation != "**"):
        yield from _number(node, where, added)
    if isinstance(node, Apply) and node.operation in ("+", "-"):
        yield from _dropped(node, where)
    if isinstance(node, Apply) and node.operation == "**":
        base, exponent = node.arguments
        if isinstance(exponent, Number) and abs(exponent.value) < _EXPONENT_AT_MOST:
            for step in (-1, 1):
                moved = exponent.value + step
                text = f"the exponent of {where} moved to {moved}"
                yield "exponent moved", text, Apply("**", (base, Number(moved)))
    integers = {p.name for p in claim.parameters if p.domain.integer}
    if isinstance(node, Name) and node.name not in formulas:
        if multiplied:
            yield "exponent moved", f"the factor {where} dropped", Number(Fraction(1))
            yield "exponent moved", f"the factor {where} squared", Apply("**", (node, Number(Fraction(2))))
        if node.name in integers:
            for operation, sign in (("+", "+"), ("-", "-")):
                one = Apply(operation, (node, Number(Fraction(1))))
                yield "index moved", f"{where} moved to {node.name}{sign}1", one


def _number(node: Number, where: str, added: bool) -> Iterator[tuple[Kind, str, Formula]]:
    """An index such as the 1 of M-1, or a coefficient."""
    for step in (-1, 1):
        moved = node.value + step
        if added:
            yield "index moved", f"{where} moved to {moved}", Number(moved)
        elif moved > 0:
            yield "coefficient scaled", f"{where} moved to {moved}", Number(moved)
    if not added:
        for factor in (Fraction(1, 2), Fraction(2)):
            yield "coefficient scaled", f"{where} times {factor}", Number(node.value * factor)


def _dropped(node: Apply, where: str) -> Iterator[tuple[Kind, str, Formula]]:
    first, second = node.arguments
    for gone, left in ((first, second if node.operation == "+" else Apply("neg", (second,))), (second, first)):
        # partial sums come later, with their own terms; constants are indices (M-1), and stay with their names
        if not (isinstance(gone, Apply) and gone.operation in ("+", "-")) and names_in(gone) and names_in(left):
            yield "term dropped", f"{_short(gone)} dropped from {where}", left


def _nodes(tree: Formula, path: Path = (), parent: Apply | None = None) -> Iterator[tuple[Path, Formula, Apply | None]]:
    """Every subtree, from the root down, with its path and its parent."""
    yield path, tree, parent
    if isinstance(tree, Apply):
        for i, argument in enumerate(tree.arguments):
            yield from _nodes(argument, (*path, i), tree)


def _at(tree: Formula, path: Path) -> Formula:
    for i in path:
        assert isinstance(tree, Apply)
        tree = tree.arguments[i]
    return tree


def _put(tree: Formula, path: Path, piece: Formula) -> Formula:
    if not path:
        return piece
    assert isinstance(tree, Apply)
    arguments = list(tree.arguments)
    arguments[path[0]] = _put(arguments[path[0]], path[1:], piece)
    return Apply(tree.operation, tuple(arguments))


def _times(factor: Fraction, tree: Formula) -> Formula:
    return Apply("*", (Number(factor), tree))


def _scale(tree: Formula, path: Path, factor: Fraction) -> Formula:
    return _put(tree, path, _times(factor, _at(tree, path)))


def _renamed(tree: Formula, names: dict[str, str]) -> Formula:
    if isinstance(tree, Name):
        return Name(names.get(tree.name, tree.name))
    if isinstance(tree, Apply):
        return Apply(tree.operation, tuple([_renamed(argument, names) for argument in tree.arguments]))
    return tree


def _words(formulas: dict[str, Formula], place: Place) -> str:
    """A subtree, and where it stands."""
    name = "the right side" if place.formula == RIGHT else place.formula
    if not place.path:
        return name
    return f"{_short(_at(formulas[place.formula], place.path))} in {name}"


def _short(tree: Formula) -> str:
    text = text_of(tree)
    if text.startswith("(") and isinstance(tree, Apply):
        text = text[1:-1]
    return text if len(text) <= 60 else f"{text[:57]}..."


class _Points:
    """Values of the parameters at which formulas are compared: generic, the same for every run of the program."""

    def __init__(self, claim: Claim) -> None:
        import numpy as np

        rng = np.random.default_rng(7)
        self.parameters: dict[str, Array] = {}
        for p in claim.parameters:
            shape = (POINTS,) if p.shape == "scalar" else (POINTS, 3)
            lower, upper = p.domain.lower, p.domain.upper
            if p.domain.integer:
                values = (0 if lower is None else np.ceil(lower)) + rng.integers(1, 9, shape).astype(np.float64)
                values = values if upper is None else np.minimum(values, np.floor(upper))
            elif lower is not None and upper is not None:
                values = lower + (upper - lower) * rng.uniform(0.05, 0.95, shape)
            elif upper is not None:
                values = upper - np.exp(rng.uniform(-1.5, 1.0, shape))
            else:
                values = rng.normal(size=shape) if lower is None else lower + np.exp(rng.uniform(-1.5, 1.0, shape))
            self.parameters[p.name] = values

    def values(self, claim: Claim) -> Array | None:
        """The right side at the points, NaN where it is undefined; None where it is so everywhere."""
        import numpy as np

        try:
            values = np.broadcast_to(np.asarray(claim.bound(**self.parameters), dtype=np.float64), (POINTS,))
        except UndefinedError:
            return None
        values = np.where(np.isfinite(values), values, np.nan)
        return None if np.isnan(values).all() else values


def _among(values: Array, seen: Sequence[Array]) -> bool:
    """Whether they are the same as earlier ones but for rounding, undefined at the same points."""
    import numpy as np

    return bool(np.isclose(values, np.stack(seen), rtol=_SAME, atol=0, equal_nan=True).all(axis=-1).any())
