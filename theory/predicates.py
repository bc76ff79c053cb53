"""The assumptions on functions, sampling and networks that claims make, each a class of its own.

A claim writes ``smooth(f_ni, L)``; the class says what that means, which of its arguments are constants and which way
they may be wrong, and gives itself as data. What a problem satisfies is found by `validate`, by type.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, Literal

from theory.domain import Domain
from theory.formula import Apply, Name, Number
from theory.sentence import FUNCTION_NAMES, Expression, SentenceError, text_of

Direction = Literal["up", "down", "exact"]
"""Which numbers are constants too, where one is: larger ones (``up``, as L of smooth), smaller ones (``down``, as mu of
strongly_convex), or none (``exact``, as rho of connected)."""


def base_of(constant: Expression) -> tuple[str, int] | None:
    """The name and the power that a constant is, as ``sigma**2`` is of sigma; None for any other formula."""
    if isinstance(constant, Name):
        return constant.name, 1
    if isinstance(constant, Apply) and constant.operation == "**":
        name, power = constant.arguments
        if isinstance(name, Name) and isinstance(power, Number) and power.value >= 1 and power.value.denominator == 1:
            return name.name, int(power.value)
    return None


def value_of_base(value: Any, power: int) -> Any:
    """The number of which a value that is not negative is this power: a Fraction where it is one, else a float."""
    if power == 1:
        return value
    if isinstance(value, Fraction | int):
        value = Fraction(value)
        try:
            ends = [round(end ** (1 / power)) for end in (value.numerator, value.denominator)]
        except OverflowError:
            return float(value) ** (1 / power)
        if Fraction(*ends) ** power == value:
            return Fraction(*ends)
    return float(value) ** (1 / power)


@dataclass(frozen=True)
class Predicate:
    """An assumption.

    Attributes:
        function: f, f_n or f_ni (every n, every i), where it is about functions; else empty.
        constants: its constants, in the order of its arguments: names or formulas.
        written: how a claim writes one, for messages.
    """

    function: str
    constants: tuple[Expression, ...]

    name: ClassVar[str]
    written: ClassVar[str]
    about: ClassVar[Literal["function", "gradients", "network"]] = "function"
    directions: ClassVar[tuple[Direction, ...]] = ()
    latex: ClassVar[str]
    meaning: ClassVar[str]

    @property
    def text(self) -> str:
        """As a claim writes it."""
        return f"{self.name}({', '.join([*([self.function] if self.function else []), *map(text_of, self.constants)])})"

    @property
    def binds(self) -> Mapping[str, Direction]:
        """The names that its constants are, or powers of which they are, with their direction."""
        found = zip(map(base_of, self.constants), self.directions, strict=True)
        return {base[0]: direction for base, direction in found if base is not None}

    @property
    def ranges(self) -> Mapping[str, Domain]:
        """Domains of names that it binds, where they are not simply positive."""
        return {}

    def to_json(self) -> dict[str, Any]:
        return {"predicate": self.name, "function": self.function, "constants": [text_of(c) for c in self.constants]}

    def __str__(self) -> str:
        return f"{self.text}: {self.meaning.format(f=self.function, c=[text_of(c) for c in self.constants])}"


@dataclass(frozen=True)
class Smooth(Predicate):
    """norm(grad(f, x) - grad(f, y)) <= L*norm(x - y), convex or not."""

    name = "smooth"
    written = "smooth(f, L)"
    directions = ("up",)
    latex = r"{f}\text{{ is }}{c}\text{{-smooth}}"
    meaning = "the gradient of {f} is {c[0]}-Lipschitz, convex or not"


@dataclass(frozen=True)
class Convex(Predicate):
    """f is convex."""

    name = "convex"
    written = "convex(f)"
    latex = r"{f}\text{{ is convex}}"
    meaning = "{f} is convex"


@dataclass(frozen=True)
class StronglyConvex(Predicate):
    """f - mu/2*norm2 is convex, mu > 0."""

    name = "strongly_convex"
    written = "strongly_convex(f, mu)"
    directions = ("down",)
    latex = r"{f}\text{{ is }}{c}\text{{-strongly convex}}"
    meaning = "{f} minus {c[0]}/2 times the squared norm is convex, {c[0]} > 0"


@dataclass(frozen=True)
class Lipschitz(Predicate):
    """abs(f(x) - f(y)) <= G*norm(x - y)."""

    name = "lipschitz"
    written = "lipschitz(f, G)"
    directions = ("up",)
    latex = r"{f}\text{{ is }}{c}\text{{-Lipschitz}}"
    meaning = "{f} is {c[0]}-Lipschitz"


@dataclass(frozen=True)
class BoundedGradients(Predicate):
    """norm(grad(f, x)) <= G for every x; with a second constant R, wherever norm(x) <= R."""

    name = "bounded_gradients"
    written = "bounded_gradients(f, G)"

    @property
    def on_ball(self) -> bool:
        """Whether it is asked on a ball only."""
        return len(self.constants) == 2

    @property
    def latex(self) -> str:  # type: ignore[override]
        """With `typeset`'s places."""
        return r"\|\nabla {f}(x)\| \leq {c}" if self.on_ball else r"\|\nabla {f}\| \leq {c}"

    @property
    def meaning(self) -> str:  # type: ignore[override]
        """In words."""
        where = " wherever norm(x) <= {c[1]}" if self.on_ball else ""
        return f"the gradients of {{f}} have norm at most {{c[0]}}{where}"

    @property
    def directions(self) -> tuple[Direction, ...]:  # type: ignore[override]
        """On a ball nothing is the best constant: it hangs on the radius."""
        return ("exact", "exact") if self.on_ball else ("up",)

    @property
    def binds(self) -> Mapping[str, Direction]:
        """The bound, where it is asked everywhere."""
        return {} if self.on_ball else super().binds


@dataclass(frozen=True)
class Stable(Predicate):
    """mean_i norm2(x - eta*grad(f_ni, x)) <= R**2 wherever norm(x) <= R: a step of SGD keeps the ball in mean square.

    Of f and f_n: norm(x - eta*grad(f, x)) <= R there. Constants: the step eta, the radius R.
    """

    name = "stable"
    written = "stable(f_ni, eta, R)"
    directions = ("exact", "exact")
    latex = r"{f}\text{{: a step keeps the ball }}({c})"
    meaning = (
        "a step of size {c[0]} on a sample of {f} keeps the ball of radius {c[1]} around 0 in mean square, from each "
        "of its points"
    )

    @property
    def binds(self) -> Mapping[str, Direction]:
        """Nothing: step and radius are numbers of the claim."""
        return {}


@dataclass(frozen=True)
class Quadratic(Predicate):
    """f is a quadratic."""

    name = "quadratic"
    written = "quadratic(f)"
    latex = r"{f}\text{{ is quadratic}}"
    meaning = "{f} is a quadratic"


@dataclass(frozen=True)
class PolyakLojasiewicz(Predicate):
    """norm2(grad(f, x)) >= 2*mu*(f(x) - fstar) for every x."""

    name = "pl"
    written = "pl(f, mu)"
    directions = ("down",)
    latex = r"{f}\text{{ is }}{c}\text{{-PL}}"
    meaning = "norm2(grad({f}, x)) >= 2*{c[0]}*({f}(x) - its infimum) for every x"


@dataclass(frozen=True)
class BoundedBelow(Predicate):
    """f is bounded below."""

    name = "bounded_below"
    written = "bounded_below(f)"
    latex = r"\inf {f} > -\infty"
    meaning = "{f} is bounded below"


@dataclass(frozen=True)
class SameMinimiser(Predicate):
    """Every minimiser of f minimises each."""

    name = "same_minimiser"
    written = "same_minimiser(f_n)"
    latex = r"\text{{every minimiser of }}f\text{{ minimises }}{f}"
    meaning = "every minimiser of f minimises {f}"


@dataclass(frozen=True)
class BoundedVariance(Predicate):
    """mean_i norm2(grad f_ni(x) - grad f_n(x)) <= sigma2 for every n and x."""

    name = "bounded_variance"
    written = "bounded_variance(sigma2)"
    about = "gradients"
    directions = ("up",)
    latex = r"\operatorname{{mean}}_{{i}} \|\nabla f_{{ni}}-\nabla f_{{n}}\|^{{2}} \leq {c}"
    meaning = "the variance of a client's sampled gradient is at most {c[0]} everywhere"


@dataclass(frozen=True)
class Dissimilar(Predicate):
    """mean_n norm2(grad f_n(x)) <= G**2 + B**2*norm2(grad f(x)); with one constant, the mean squared distance."""

    name = "dissimilar"
    written = "dissimilar(zeta)"
    about = "gradients"

    @property
    def spread(self) -> bool:
        """Whether it is about the distance of the clients' gradients from their mean (one constant)."""
        return len(self.constants) == 1

    @property
    def latex(self) -> str:  # type: ignore[override]
        """As a formula."""
        if self.spread:
            return r"\operatorname{{mean}}_{{n}} \|\nabla f_{{n}}-\nabla f\|^{{2}} \leq {squares[0]}"
        return r"\operatorname{{mean}}_{{n}} \|\nabla f_{{n}}\|^{{2}} \leq {squares[0]}+{squares[1]} \|\nabla f\|^{{2}}"

    @property
    def meaning(self) -> str:  # type: ignore[override]
        """In words."""
        if self.spread:
            return "mean_n norm2(grad f_n(x) - grad f(x)) <= {c[0]}**2 for every x"
        return "mean_n norm2(grad f_n(x)) <= {c[0]}**2 + {c[1]}**2*norm2(grad f(x)) for every x"

    @property
    def directions(self) -> tuple[Direction, ...]:  # type: ignore[override]
        """Of its one or two constants."""
        return tuple("up" for _ in self.constants)


@dataclass(frozen=True)
class Connected(Predicate):
    """W is symmetric and doubly stochastic; rho < 1 is the largest absolute value of its eigenvalues but the one 1."""

    matrix: str = field(default="W")
    name = "connected"
    written = "connected(W)"
    about = "network"
    latex = r"{c}\text{{ is a gossip matrix}}"
    meaning = "the matrix is symmetric and doubly stochastic; rho < 1 is its second eigenvalue"

    @property
    def text(self) -> str:
        return f"connected({self.matrix})"

    @property
    def binds(self) -> Mapping[str, Direction]:
        """The second eigenvalue."""
        return {"rho": "exact"}

    @property
    def ranges(self) -> Mapping[str, Domain]:
        """It is 0 where all entries of the matrix are alike."""
        return {"rho": Domain(0, 1, upper_open=True)}

    def to_json(self) -> dict[str, Any]:
        return {"predicate": self.name, "matrix": self.matrix}


PREDICATES: Mapping[str, type[Predicate]] = {
    one.name: one
    for one in (
        Smooth, Convex, StronglyConvex, Lipschitz, BoundedGradients, Quadratic, PolyakLojasiewicz, BoundedBelow,
        SameMinimiser, BoundedVariance, Dissimilar, Connected, Stable,
    )
}  # fmt: skip
_NUMBERS: Mapping[str, tuple[int, ...]] = {
    "bounded_variance": (1,),
    "dissimilar": (1, 2),
    "bounded_gradients": (1, 2),
}


def predicate(name: str, arguments: Sequence[Expression]) -> Predicate:
    """The assumption that a claim writes as ``name(arguments)``.

    Raises:
        SentenceError: for a name that is none, or other arguments than it takes.
    """
    if name not in PREDICATES:
        close = difflib.get_close_matches(name, PREDICATES, 1)
        hint = f"; did you mean {PREDICATES[close[0]].written}?" if close else f"; there are {', '.join(PREDICATES)}"
        raise SentenceError(f"the assumption {name}(...) is not known{hint}")
    kind = PREDICATES[name]
    written, usual = f"{name}({', '.join(map(text_of, arguments))})", f", as in {kind.written}"
    if kind is Connected:
        if len(arguments) != 1 or not isinstance(arguments[0], Name):
            raise SentenceError(f"{written}: connected takes the name of the matrix, connected(W)")
        return Connected("", (), arguments[0].name)
    function = ""
    if kind.about == "function":
        if not arguments or not isinstance(arguments[0], Name) or arguments[0].name not in FUNCTION_NAMES:
            raise SentenceError(f"{written}: the first argument of {name} is f, f_n or f_ni{usual}")
        function, arguments = arguments[0].name, arguments[1:]
    wanted = _NUMBERS.get(name, (len(kind.directions) if isinstance(kind.directions, tuple) else 0,))
    if len(arguments) not in wanted:
        counts = " or ".join(map(str, wanted))
        raise SentenceError(f"{written}: {name} takes {counts} constants, not {len(arguments)}{usual}")
    for constant in arguments:
        if isinstance(constant, Name) and constant.name in FUNCTION_NAMES:
            raise SentenceError(f"{written}: {constant.name} is a function, and a constant is needed")
        if isinstance(constant, Number) and constant.value <= 0:
            raise SentenceError(f"{written}: the constant {constant.value} is not positive")
    return kind(function, tuple(arguments))
