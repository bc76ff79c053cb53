"""A claim's own sentence in a Hilbert space, its parameters kept as symbols.

Inner products of basis vectors and values are symbols too, so that both sides are polynomials of degree one in these,
with coefficients that are functions of the parameters. Nothing is taken from anywhere but the claim: `right`,
`relation`, `definitions`, `parameters`, `hypotheses`, and what its names are in vectors (`sentence`).
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from theory.assumptions import Convex, Smooth, StronglyConvex
from theory.claim import Claim, FunctionAt, Hypothesis

if TYPE_CHECKING:
    from theory.inequality.vectors import Condition, Form, Space


@dataclass(frozen=True)
class Written:
    """``form <= 0``, or ``form == 0``.

    Attributes:
        name: of the condition; empty for the claim.
        form: of degree one in the symbols of the space.
        equation: whether it is an equation.
        of: names of the hypotheses that say it.
    """

    name: str
    form: Any
    equation: bool
    of: tuple[str, ...] = ()


@dataclass(frozen=True)
class Sentence:
    """The claim in vectors.

    Attributes:
        vectors: names of the basis.
        values: names of the numbers.
        claim: the two sides, as a condition.
        strict: whether the claim's relation is.
        given: what its hypotheses say.
        missing: conditions that its author names, and that hypotheses say which the claim does not have.
    """

    vectors: tuple[str, ...]
    values: tuple[str, ...]
    claim: Written
    strict: bool
    given: tuple[Written, ...]
    missing: tuple[str, ...]

    @property
    def gram(self) -> list[list[Any]]:
        """The symbols of the inner products, n x n, symmetric."""
        return _gram(self.vectors)

    @property
    def numbers(self) -> list[Any]:
        """The symbols of the values."""
        return _values(self.values)

    def at(self, setting: Mapping[str, Fraction]) -> tuple[Space, Condition, list[Condition]]:
        """The sentence at values of the parameters, for `theory.inequality.prover`.

        Raises:
            ValueError: when a parameter is left, or a coefficient is no rational number there.
        """
        from theory.inequality.vectors import Space

        space = Space(self.vectors, self.values)
        given = [self._condition(space, c, setting) for c in self.given]
        return space, self._condition(space, self.claim, setting), given

    def given_at(self, setting: Mapping[str, Fraction]) -> tuple[Space, list[Condition]]:
        """The hypotheses alone. Errors as for `at`."""
        from theory.inequality.vectors import Space

        space = Space(self.vectors, self.values)
        return space, [self._condition(space, c, setting) for c in self.given]

    def _condition(self, space: Space, written: Written, setting: Mapping[str, Fraction]) -> Condition:
        import sympy

        from theory.inequality.vectors import Condition

        at = {sympy.Symbol(k): sympy.Rational(v.numerator, v.denominator) for k, v in setting.items()}
        return Condition(written.name, self._form(space, written.form.subs(at)), "==" if written.equation else "<=")

    def _form(self, space: Space, form: Any) -> Form:
        from theory.inequality.vectors import Form

        gram, values, rest = self.coefficients(form)
        return Form(
            space,
            {place: number(c) for place, c in gram.items() if c != 0},
            {place: number(c) for place, c in values.items() if c != 0},
            number(rest),
        )

    def coefficients(self, form: Any) -> tuple[dict[tuple[int, int], Any], dict[int, Any], Any]:
        """Those of G_ij with i <= j, of F_j, and the rest, as functions of the parameters.

        Raises:
            ValueError: when the form is not of degree one.
        """
        import sympy

        n = len(self.vectors)
        places = [(i, j) for i in range(n) for j in range(i, n)]
        symbols = [self.gram[i][j] for i, j in places] + self.numbers
        form = sympy.expand(form)
        found = [sympy.cancel(sympy.together(sympy.diff(form, s))) for s in symbols]
        rest = sympy.cancel(sympy.together(form.subs(dict.fromkeys(symbols, 0))))
        if any(c.free_symbols & set(symbols) for c in found):
            raise ValueError(f"form={form} is not of degree one in inner products and values")
        return dict(zip(places, found[: len(places)], strict=True)), dict(enumerate(found[len(places) :])), rest


def number(value: Any) -> Fraction:
    """A sympy rational as a Fraction.

    Raises:
        ValueError: when it is none.
    """
    if not value.is_Rational:
        raise ValueError(f"{value} is no rational number: a parameter has no value in this setting")
    return Fraction(int(value.p), int(value.q))


def written(claim: Claim) -> Sentence:
    """The sentence of a claim.

    Raises:
        ValueError: when it has no right side, no `sentence`, or one that cannot be read.
    """
    import sympy

    said = claim.sentence
    if said is None or claim.right is None:
        raise ValueError(f"claim={claim.id!r} has no sentence in vectors")
    reader = _Reader(said.vectors, said.values)
    known: dict[str, Any] = {p.name: sympy.Symbol(p.name) for p in claim.parameters}
    strangers = sorted(set(said.names) - set(known) - {claim.quantity.name})
    if strangers or claim.quantity.name not in said.names:
        raise ValueError(f"{claim.id}: names={list(said.names)!r} is outside the claim's names with its quantity")
    parameters = set(known) - set(said.names)
    for name, text in said.names.items():
        known[name] = reader.scalar(text, parameters)
    left = known.pop(claim.quantity.name)
    right = _scalar_formula(claim, known)
    sign = -1 if claim.relation in (">=", ">") else 1
    stated = Written("", sign * (left - right), claim.relation == "=")
    given: list[Written] = []
    for function in said.functions:
        given += _of_function(reader, function, claim.conditions, parameters)
    missing = []
    for condition in said.given:
        if all(_read_here(h) for h in condition.of):
            said_by = ", ".join(h.name for h in condition.of)
            raise ValueError(
                f"given={condition.name!r} of {claim.id} is to be what {said_by} says: what that says of functions and "
                "numbers is read from it, and words are not; a condition belongs to a hypothesis in words"
            )
        if all(h in claim.conditions for h in condition.of):
            form, equation = reader.relation(condition.relation, parameters)
            given.append(Written(condition.name, form, equation, tuple(h.name for h in condition.of)))
        else:
            missing.append(condition.name)
    sentence = Sentence(said.vectors, said.values, stated, claim.relation in ("<", ">"), tuple(given), tuple(missing))
    sentence.coefficients(stated.form)  # both sides are of degree one
    return sentence


def _read_here(hypothesis: Hypothesis) -> bool:
    """Whether all that it says is read from it: a relation between numbers, or an assumption on functions."""
    if hypothesis.assumption is None:
        return hypothesis.relation is not None
    return isinstance(hypothesis.assumption, Convex | Smooth | StronglyConvex)


def _scalar_formula(claim: Claim, known: Mapping[str, Any]) -> Any:
    """The right side, definitions put in, with values for the names."""
    from theory.expression import names_in, parse, to_sympy

    values = dict(known)
    assert claim.right is not None
    needed = set(names_in(parse(claim.right)))
    for name in reversed(list(claim.definitions)):
        if name in needed:
            needed |= names_in(parse(claim.definitions[name]))
    for name, text in claim.definitions.items():
        if name in needed:
            values[name] = to_sympy(parse(text), values)
    return to_sympy(parse(claim.right), values)


def _of_function(
    reader: _Reader, function: FunctionAt, hypotheses: Sequence[Hypothesis], parameters: set[str]
) -> list[Written]:
    """What the claim's assumptions say of a function at its points, one inequality an ordered pair.

    Convexity, mu-strong convexity and L-Lipschitz gradients each, and those of convex functions with Lipschitz
    gradients (Taylor, Hendrickx, Glineur, Math. Program. 161 (2017), Theorem 4; for mu > 0 multiplied by L - mu, which
    is not negative).
    """
    import sympy

    for part, texts, free in (
        ("gradient", [g for _, g, _ in function.points.values() if g != "0"], reader.vectors),
        ("value", [f for _, _, f in function.points.values()], reader.values),
    ):
        if not set(texts) <= free or len(set(texts)) < len(texts):  # that two are equal is a hypothesis
            raise ValueError(
                f"points of {function.name}: {', '.join(texts)}: every {part} is a name of its own, one of "
                f"{', '.join(sorted(free)) or 'none'}" + (", or 0 at a minimiser" if part == "gradient" else "")
            )
    said = [(h.assumption, h.name) for h in hypotheses if getattr(h.assumption, "of", None) == function.of]
    smooth = [(sympy.Symbol(a.constant), name) for a, name in said if isinstance(a, Smooth)]
    convex = [name for a, name in said if isinstance(a, Convex)]
    strong = [(sympy.Symbol(a.constant), name) for a, name in said if isinstance(a, StronglyConvex)]
    points = {
        label: (reader.vector(x, parameters), reader.vector(g, parameters), reader.scalar(f, parameters))
        for label, (x, g, f) in function.points.items()
    }
    found = []
    for one, (x, g, f) in points.items():
        for other, (y, h, e) in points.items():
            if one == other:
                continue
            place = f"({one},{other})"
            dx, dg = reader.minus(x, y), reader.minus(g, h)
            below = e - f + reader.inner(h, dx)  # f_other + <g_other, x_one - x_other> - f_one
            xx, gx, gg = reader.inner(dx, dx), reader.inner(dg, dx), reader.inner(dg, dg)
            for name in convex[:1]:
                found.append(Written(f"{function.name} convex{place}", below, False, (name,)))
            for m, name in strong[:1]:
                found.append(Written(f"{function.name} strongly convex{place}", below + m / 2 * xx, False, (name,)))
            for L, name in smooth[:1]:
                more = (gg + 2 * L * gx - L**2 * xx) / (4 * L)
                found.append(Written(f"{function.name} smooth{place}", below + more, False, (name,)))
                for also in convex[:1]:
                    both = below + gg / (2 * L)
                    found.append(Written(f"{function.name} smooth convex{place}", both, False, (name, also)))
                for m, also in strong[:1]:
                    both = (L - m) * below + (gg - 2 * m * gx + m * L * xx) / 2
                    label = f"{function.name} smooth strongly convex{place}"
                    found.append(Written(label, both, False, (name, also)))
    return found


def _gram(vectors: Sequence[str]) -> list[list[Any]]:
    import sympy

    n = len(vectors)
    return [[sympy.Symbol(f"<{vectors[min(i, j)]},{vectors[max(i, j)]}>") for j in range(n)] for i in range(n)]


def _values(values: Sequence[str]) -> list[Any]:
    import sympy

    return [sympy.Symbol(f"[{name}]") for name in values]


class _Reader:
    """Formulas in vectors: Python's syntax, read from its tree and never executed. A vector is a list of scalars."""

    def __init__(self, vectors: Sequence[str], values: Sequence[str]) -> None:
        self.size = len(vectors)
        self.vectors, self.values = frozenset(vectors), frozenset(values)
        self.gram = _gram(vectors)
        self.names: dict[str, Any] = {name: [int(i == j) for j in range(self.size)] for i, name in enumerate(vectors)}
        self.names |= dict(zip(values, _values(values), strict=True))

    def vector(self, text: str, parameters: set[str]) -> list[Any]:
        """A vector; ``0`` is one too."""
        found = self._read(text, parameters)
        if found == 0:
            return [0] * self.size
        if not isinstance(found, list):
            raise ValueError(f"formula {text!r} is a number where a vector is needed")
        return found

    def scalar(self, text: str, parameters: set[str]) -> Any:
        """A number."""
        found = self._read(text, parameters)
        if isinstance(found, list):
            raise ValueError(f"formula {text!r} is a vector where a number is needed")
        return found

    def relation(self, text: str, parameters: set[str]) -> tuple[Any, bool]:
        """``form <= 0`` or ``form == 0`` from a relation between two numbers."""
        tree = ast.parse(text.strip(), mode="eval").body
        if not isinstance(tree, ast.Compare) or len(tree.ops) != 1:
            raise ValueError(f"{text!r} is no relation between two sides")
        left, right = (self._value(text, side, parameters) for side in (tree.left, tree.comparators[0]))
        if isinstance(left, list) or isinstance(right, list):
            raise ValueError(f"{text!r} compares vectors")
        if isinstance(tree.ops[0], ast.LtE | ast.Eq):
            return left - right, isinstance(tree.ops[0], ast.Eq)
        if isinstance(tree.ops[0], ast.GtE):
            return right - left, False
        raise ValueError(f"{text!r} has none of the relations <= >= ==")

    def inner(self, u: list[Any], v: list[Any]) -> Any:
        """<u, v>."""
        total: Any = 0
        for a, row in zip(u, self.gram, strict=True):
            for b, symbol in zip(v, row, strict=True):
                total = total + a * b * symbol
        return total

    def minus(self, u: list[Any], v: list[Any]) -> list[Any]:
        """u - v."""
        return [a - b for a, b in zip(u, v, strict=True)]

    def _read(self, text: str, parameters: set[str]) -> Any:
        try:
            return self._value(text, ast.parse(text.strip(), mode="eval").body, parameters)
        except SyntaxError as error:
            raise ValueError(f"formula {text!r} cannot be read: {error.msg}") from None

    def _value(self, text: str, node: ast.expr, parameters: set[str]) -> Any:
        import sympy

        if isinstance(node, ast.Constant) and isinstance(node.value, int) and not isinstance(node.value, bool):
            return sympy.Integer(node.value)
        if isinstance(node, ast.Name):
            if node.id in self.names:
                return self.names[node.id]
            if node.id in parameters:
                return sympy.Symbol(node.id)
            raise ValueError(f"formula {text!r}: unknown name {node.id!r}")
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return self._times(text, sympy.Integer(-1), self._value(text, node.operand, parameters))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
            parts = [self._value(text, a, parameters) for a in node.args]
            wanted = {"dot": 2, "norm2": 1, "norm": 1}.get(node.func.id)
            if wanted != len(parts) or not all(isinstance(p, list) for p in parts):
                raise ValueError(f"formula {text!r}: only dot(u, v), norm2(u) and norm(u) of vectors are known")
            product = self.inner(parts[0], parts[-1])
            return sympy.sqrt(product) if node.func.id == "norm" else product
        if isinstance(node, ast.BinOp):
            a, b = (self._value(text, side, parameters) for side in (node.left, node.right))
            if isinstance(node.op, ast.Add | ast.Sub):
                sign = 1 if isinstance(node.op, ast.Add) else -1
                if isinstance(a, list) != isinstance(b, list):
                    raise ValueError(f"formula {text!r} adds a vector and a number")
                return [x + sign * y for x, y in zip(a, b, strict=True)] if isinstance(a, list) else a + sign * b
            if isinstance(node.op, ast.Mult):
                return self._times(text, a, b)
            if isinstance(node.op, ast.Div) and not isinstance(b, list) and b != 0:
                return self._times(text, 1 / b, a)
            if isinstance(node.op, ast.Pow) and not isinstance(a, list) and getattr(b, "is_Integer", False):
                return a**b
        raise ValueError(f"formula {text!r} has a piece that is not allowed")

    def _times(self, text: str, a: Any, b: Any) -> Any:
        if isinstance(a, list) and isinstance(b, list):
            raise ValueError(f"formula {text!r} multiplies vectors: dot(u, v) is meant")
        if isinstance(a, list):
            a, b = b, a
        return [a * x for x in b] if isinstance(b, list) else a * b
