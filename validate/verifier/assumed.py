"""Whether a problem satisfies an assumption, in fractions: here for quadratics, else elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .every import check_words, constants_of, everywhere, split
from .implied import DECIDE as DECIDE_OF_POINTS
from .implied import dissimilar as dissimilar_points
from .implied import variance as variance_of_points
from .intervals import Interval
from .on_ball import on_ball
from .points import Points
from .quadratics import Function, Problem, definiteness, null_space, product, semidefinite, shifted
from .reading import FormatError, Uncheckable, fields, list_of, shown, text_of
from .ridges import Ridges
from .ridges_assumed import DECIDE as DECIDE_OF_RIDGES
from .ridges_assumed import dissimilar as dissimilar_ridges
from .ridges_assumed import variance as variance_of_ridges
from .scalars import ZERO, Number, square
from .sentences import FUNCTIONS, Node, Sentence, names_in, read_call, read_formula, read_sentence
from .spoken import World

UP, DOWN = -1, 1
"""Which end of an interval is the stronger constant: of an upper bound the low one, of a lower bound the high one."""
ON_FUNCTIONS: Mapping[str, tuple[int, ...]] = {
    "smooth": (UP,), "convex": (), "strongly_convex": (DOWN,), "lipschitz": (UP,), "bounded_gradients": (UP,),
    "quadratic": (), "pl": (DOWN,), "bounded_below": (), "same_minimiser": (), "stable": (UP, DOWN),
}  # fmt: skip
"""Of each assumption on functions, its constants."""
ON_BALL: Mapping[str, tuple[int, ...]] = {"bounded_gradients": (UP, DOWN), "stable": (UP, DOWN)}
"""Of each that is asked on a ball, its constants there, the radius last."""
WORDS = {
    "smooth": "the gradient of {f} is {0}-Lipschitz, convex or not",
    "convex": "{f} is convex",
    "strongly_convex": "{f} minus {0}/2 times the squared norm is convex, {0} > 0",
    "lipschitz": "{f} is {0}-Lipschitz",
    "bounded_gradients": "the gradients of {f} have norm at most {0}",
    "quadratic": "{f} is a quadratic",
    "pl": "norm2(grad({f}, x)) >= 2*{0}*({f}(x) - its infimum) for every x, {0} > 0",
    "bounded_below": "{f} is bounded below",
    "same_minimiser": "every minimiser of f minimises {f}",
    "on_ball": "the gradients of {f} have norm at most {0} wherever norm(x) <= {1}",
    "stable": "mean_i norm2(x - {0}*grad({f}, x)) <= {1}**2 wherever norm(x) <= {1}",
    "bounded_variance": "mean_i norm2(grad f_ni(x) - grad f_n(x)) <= {0} for every n and x",
    "dissimilar": "mean_n norm2(grad f_n(x)) <= {0}**2 + {1}**2*norm2(grad f(x)) for every x",
    "spread": "mean_n norm2(grad f_n(x) - grad f(x)) <= {0}**2 for every x",
    "connected": "{0} is symmetric, doubly stochastic; rho < 1 is the largest absolute value of its other eigenvalues",
}


@dataclass(frozen=True)
class Assumption:
    """An assumption: its text, name, function (empty for none), constants, and the matrix of ``connected``.

    One for every point (`every`) has its points and its sentence, too.
    """

    text: str
    name: str
    function: str
    constants: tuple[Node, ...]
    matrix: str
    points: tuple[str, ...] = ()
    sentence: Sentence | None = None

    @property
    def meaning(self) -> str:
        """In words."""
        if self.sentence is not None:
            return f"{self.sentence.text}, wherever {' and '.join(self.points)} may be"
        inside = self.text[self.text.index("(") + 1 : self.text.rindex(")")]
        given = _arguments(inside)[1 if self.function else 0 :]
        name = "spread" if self.name == "dissimilar" and len(given) == 1 else self.name
        name = "on_ball" if self.name == "bounded_gradients" and len(given) == 2 else name
        return WORDS[name].format(*given, f=self.function)


def _arguments(text: str) -> list[str]:
    """Arguments, split at the commas outside of brackets."""
    found, depth = [""], 0
    for c in text:
        depth += (c in "([") - (c in ")]")
        if c == "," and not depth:
            found.append("")
        else:
            found[-1] += c
    return [part.strip() for part in found]


def read_assumption(data: Any) -> Assumption:
    """An assumption as text and as data, which must be the same.

    Raises:
        FormatError: otherwise.
    """
    fields(data, "an assumption", "text predicate", "function constants matrix points sentence")
    text = text_of(data["text"], "an assumption").strip()
    said_for_all = split(text)
    if said_for_all is not None:
        points, sentence = said_for_all
        beside = read_sentence(data.get("sentence"), "an assumption")
        same = data["predicate"] == "for every" and data.get("points") == list(points)
        if not (same and alike_sentences(beside, sentence)):
            raise FormatError(f"the assumption {shown(text)} is not the one that is given as data beside it")
        return Assumption(text, "for every", "", constants_of(points, sentence), "", points, sentence)
    call = read_call(text, "an assumption")
    if call is None:
        raise FormatError(f"{shown(text)} is no assumption")
    name, arguments = call
    function = ""
    if arguments and arguments[0].op == "function":
        function, arguments = arguments[0].name, arguments[1:]
    matrix = ""
    if name == "connected":
        if function or len(arguments) != 1 or arguments[0].op != "name":
            raise FormatError(f"{shown(text)}: connected takes the name of a matrix")
        matrix, arguments = arguments[0].name, ()
    elif name in ("bounded_variance", "dissimilar"):
        if function or len(arguments) not in ((1,) if name == "bounded_variance" else (1, 2)):
            raise FormatError(f"{shown(text)} has other arguments than it takes")
    elif (
        name not in ON_FUNCTIONS
        or function not in FUNCTIONS
        or len(arguments) not in {len(known[name]) for known in (ON_FUNCTIONS, ON_BALL) if name in known}
    ):
        raise FormatError(f"{shown(text)} is no assumption that is known here, or has other arguments than it takes")
    said = [read_formula(c, "a constant") for c in list_of(data.get("constants", []), "constants")]
    same = len(said) == len(arguments) and all(alike(a, b) for a, b in zip(said, arguments, strict=True))
    if (data["predicate"], data.get("function", ""), data.get("matrix", "")) != (name, function, matrix) or not same:
        raise FormatError(f"the assumption {shown(text)} is not the one that is given as data beside it")
    return Assumption(text, name, function, arguments, matrix)


def alike(one: Node, two: Node) -> bool:
    """Whether two trees are the same."""
    if (one.op, one.name, one.value, len(one.args)) != (two.op, two.name, two.value, len(two.args)):
        return False
    return all(alike(a, b) for a, b in zip(one.args, two.args, strict=True))


def alike_sentences(one: Sentence, two: Sentence) -> bool:
    """Whether two sentences are the same."""
    return one.relation == two.relation and alike(one.left, two.left) and alike(one.right, two.right)


def holds(assumption: Assumption, world: World) -> bool:
    """Whether it is true of the problem, with the given constants.

    Raises:
        Uncheckable: where a constant has no value.
    """
    if assumption.name == "connected":
        return connected(world, assumption.matrix)
    problem = world.given_problem()
    world.work.spend(sum(map(len, problem.samples)) * problem.d**3)
    if assumption.sentence is not None:
        free = check_words(assumption.points, assumption.sentence, world.words)
        places = [{"n": n, "i": i} for n, own in enumerate(problem.samples) for i in range(len(own))]
        places = places if "i" in free else [p for p in places if not p["i"]] if free else places[:1]
        return all(everywhere(assumption.points, assumption.sentence, at, world) for at in places)
    known = DECIDE
    if isinstance(problem, Points):
        known, variance, dissimilar = DECIDE_OF_POINTS, variance_of_points, dissimilar_points
    elif isinstance(problem, Ridges):
        known, variance, dissimilar = DECIDE_OF_RIDGES, variance_of_ridges, dissimilar_ridges
    if assumption.name in ("bounded_variance", "dissimilar") and not isinstance(problem, Points | Ridges):
        return _said_everywhere(assumption, world)
    if assumption.name == "bounded_variance":
        return all(variance(problem, n, _constants(assumption, world, {"n": n}, (UP,))[0]) for n in range(problem.N))
    if assumption.name == "dissimilar":
        return dissimilar(problem, _constants(assumption, world, {}, (UP,) * len(assumption.constants)))
    if assumption.name in ON_BALL and len(assumption.constants) == len(ON_BALL[assumption.name]):
        return on_ball(assumption, world, _constants(assumption, world, {}, ON_BALL[assumption.name]))
    directions = ON_FUNCTIONS[assumption.name]
    decide = known[assumption.name]
    for function, at in problem.all_named(assumption.function):
        if not decide(problem, function, *_constants(assumption, world, at, directions)):
            return False
    return True


def _constants(
    assumption: Assumption, world: World, at: Mapping[str, int], directions: Sequence[int]
) -> list[Fraction]:
    """The constants as fractions; of an interval the end that makes the assumption stronger."""
    found = []
    for tree, direction in zip(assumption.constants, directions, strict=True):
        for name in names_in(tree):
            value = world.parameters.get(name)
            if isinstance(value, tuple) and len(set(value)) > 1:
                raise Uncheckable(f"{name} is one number a client, and is to be written {name}_n")
        value_: Number = world.value(tree, at, None)
        if isinstance(value_, Interval):
            value_ = value_.ends[0 if direction == UP else 1]
        if not isinstance(value_, Fraction):
            raise Uncheckable(f"a constant of {assumption.text} is no number")
        found.append(value_)
    return found


# --- one function -----------------------------------------------------------------------------------------------------


def _smooth(problem: Problem, f: Function, L: Fraction) -> bool:
    return semidefinite(shifted(f.H, -1, L)) and semidefinite(shifted(f.H, 1, L))


def _strongly_convex(problem: Problem, f: Function, mu: Fraction) -> bool:
    return mu > 0 and semidefinite(shifted(f.H, 1, -mu))


def _bounded(problem: Problem, f: Function, G: Fraction) -> bool:
    return G >= 0 and not any(map(any, f.H)) and square(f.b) <= G**2


def _pl(problem: Problem, f: Function, mu: Fraction) -> bool:
    """Bounded below, and every eigenvalue 0 or at least mu."""
    if mu <= 0 or problem.minimum(f) is None:
        return False
    return semidefinite(
        [[a - mu * b for a, b in zip(r, s, strict=True)] for r, s in zip(product(f.H, f.H), f.H, strict=True)]
    )


def _same_minimiser(problem: Problem, f: Function) -> bool:
    found = problem.minimum(problem.mean)
    if found is None:
        return True
    if not semidefinite(f.H) or any(f.gradient(found[0])):
        return False
    return not any(
        any(sum((h * x for h, x in zip(row, v, strict=True)), ZERO) for row in f.H) for v in null_space(problem.mean.H)
    )


DECIDE: Mapping[str, Callable[..., bool]] = {
    "smooth": _smooth,
    "convex": lambda problem, f: semidefinite(f.H),
    "strongly_convex": _strongly_convex,
    "lipschitz": _bounded,
    "bounded_gradients": _bounded,
    "quadratic": lambda problem, f: True,
    "pl": _pl,
    "bounded_below": lambda problem, f: problem.minimum(f) is not None,
    "same_minimiser": _same_minimiser,
}


# --- all clients ------------------------------------------------------------------------------------------------------


SAID = {
    ("bounded_variance", 1): read_sentence("mean_i(norm2(grad(f_ni, x) - grad(f_n, x))) <= c_1", "an assumption"),
    ("dissimilar", 1): read_sentence("mean_n(norm2(grad(f_n, x) - grad(f, x))) <= c_1**2", "an assumption"),
    ("dissimilar", 2): read_sentence(
        "mean_n(norm2(grad(f_n, x))) <= c_1**2 + c_2**2*norm2(grad(f, x))", "an assumption"
    ),
}
"""What is said of every x, of quadratics and pieces; c_1 and c_2 are the constants."""


def _said_everywhere(assumption: Assumption, world: World) -> bool:
    count, of_each = len(assumption.constants), assumption.name == "bounded_variance"
    for n in range(world.given_problem().N) if of_each else (0,):
        values = _constants(assumption, world, {"n": n} if of_each else {}, (UP,) * count)
        if any(value < 0 for value in values):
            return False
        constants = {f"c_{place}": value for place, value in enumerate(values, 1)}
        if not everywhere(("x",), SAID[assumption.name, count], {"n": n}, world, constants):
            return False
    return True


def connected(world: World, name: str) -> bool:
    """Symmetric, doubly stochastic, and rho, where it is given, the largest absolute value of the other eigenvalues.

    With J the matrix of ones over N, these are the eigenvalues of W - J: all of them are at most rho in absolute value
    if rho^2 I - (W - J)^2 is positive semidefinite, and one of them is rho if it is singular.
    """
    W = world.parameters.get(name)
    N = world.size("N")
    if not isinstance(W, tuple) or len(W) != N or any(not isinstance(row, tuple) or len(row) != N for row in W):
        raise Uncheckable(f"{name} is no matrix with a row for each client")
    world.work.spend(2 * N**3)
    if any(W[i][j] != W[j][i] or W[i][j] < 0 for i in range(N) for j in range(N)) or any(sum(row) != 1 for row in W):
        return False
    away = [[x - Fraction(1, N) for x in row] for row in W]
    square = product(away, away)
    if "rho" not in world.parameters:
        return definiteness(shifted(square, -1, 1)) == (True, N)
    rho = world.parameters["rho"]
    if not isinstance(rho, Fraction) or not 0 <= rho < 1:
        return False
    definite, rank = definiteness(shifted(square, -1, rho**2))
    return definite and rank < N
