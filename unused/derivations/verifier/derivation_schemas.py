"""What assumptions on functions say at points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .assumed import Assumption
from .derivation_atoms import frees_of
from .derivation_defined import Defined
from .derivation_normal import LEVELS, Normal
from .derivation_places import Env
from .derivation_terms import Poly
from .reading import FormatError, Uncheckable, list_of, shown, text_of
from .sentences import OVER, Node, Sentence, everything, names_in, read_formula, read_sentence

INTERPOLATION = "({F}(x_) - {F}(y_) - dot({G}y_), x_ - y_))"
SCHEMAS: Mapping[str, tuple[str, str]] = {
    "above": ("smooth", "{F}(y_) <= {F}(x_) + dot({G}x_), y_ - x_) + L_/2*norm2(y_ - x_)"),
    "below": ("smooth", "{F}(y_) >= {F}(x_) + dot({G}x_), y_ - x_) - L_/2*norm2(y_ - x_)"),
    "lipschitz-gradient": ("smooth", "norm2({G}x_) - {G}y_)) <= L_**2*norm2(x_ - y_)"),
    "smooth": (
        "smooth",
        "{F}(x_) >= {F}(y_) - L_/4*norm2(x_ - y_) + dot({G}x_) + {G}y_), x_ - y_)/2 + norm2({G}x_) - {G}y_))/(4*L_)",
    ),
    "convex": ("convex", "{F}(y_) >= {F}(x_) + dot({G}x_), y_ - x_)"),
    "smooth convex": (
        "smooth convex",
        "{F}(x_) >= {F}(y_) + dot({G}y_), x_ - y_) + norm2({G}x_) - {G}y_))/(2*L_)",
    ),
    "strongly_convex": ("strongly_convex", "{F}(y_) >= {F}(x_) + dot({G}x_), y_ - x_) + mu_/2*norm2(y_ - x_)"),
    "smooth strongly_convex": (
        "smooth strongly_convex",
        f"2*(L_ - mu_)*{INTERPOLATION} >= norm2({{G}}x_) - {{G}}y_)) + mu_*L_*norm2(x_ - y_)"
        " - 2*mu_*dot({G}x_) - {G}y_), x_ - y_)",
    ),
    "curvature": ("smooth strongly_convex", "mu_ <= L_"),
    "bounded": ("lipschitz", "norm2({G}v_)) <= G_**2"),
    "bounded on ball": ("bounded_gradients", "norm2({G}v_)) <= G_**2"),
    "stable": ("stable", "norm2(v_ - eta_*{G}v_)) <= R_**2"),
    "values": ("lipschitz", "({F}(x_) - {F}(y_))**2 <= G_**2*norm2(x_ - y_)"),
    "pl": ("pl", "norm2({G}v_)) >= 2*m_*({F}(v_) - fstar)"),
    "zero": ("same_minimiser", "dot({G}xstar), v_) == 0"),
    "least": ("same_minimiser", "{F}(xstar) <= {F}(v_)"),
    "variance": ("bounded_variance", "mean_i(norm2(grad(f_ni, v_) - grad(f_n, v_))) <= s_"),
    "dissimilar": ("dissimilar", "mean_n(norm2(grad(f_n, v_))) <= A_**2 + B_**2*norm2(grad(f, v_))"),
}
SPREAD = "mean_n(norm2(grad(f_n, v_) - grad(f, v_))) <= A_**2"
OF_NOTHING: Mapping[str, str] = {
    "infimum": "fstar <= f(v_)",
    "minimiser": "f(xstar) == fstar",
    "zero": "dot(grad(f, xstar), v_) == 0",
    "zero n": "dot(grad(f_n, xstar_n), v_) == 0",
    "minimiser n": "f_n(xstar_n) <= f_n(v_)",
}
SAMPLED_STABLE = "mean_i(norm2(v_ - eta_*grad(f_ni, v_))) <= R_**2"
INSIDE = ("bounded on ball", "stable")
"""Where norm(v_) <= R_."""
CONSTANTS = {
    "smooth": ("L_",), "convex": (), "strongly_convex": ("mu_",), "lipschitz": ("G_",), "bounded_gradients": ("G_",),
    "pl": ("m_",), "same_minimiser": (), "bounded_variance": ("s_",), "dissimilar": ("A_", "B_"),
    "stable": ("eta_", "R_"),
}  # fmt: skip


@dataclass(frozen=True)
class Schema:
    """A sentence, and the environment in which its names have their values."""

    sentence: Sentence
    env: Env


class Schemas:
    """Sentences of the rule `assumption`."""

    def __init__(self, normal: Normal, signs: Defined, over: str) -> None:
        self.normal, self.signs, self.over = normal, signs, over
        self.assumptions = {a.text: a for a in normal.claimed.assumptions}
        self.read: dict[str, Sentence] = {}

    def sentence(self, text: str) -> Sentence:
        """A template's sentence."""
        if text not in self.read:
            self.read[text] = read_sentence(text, "a schema")
        return self.read[text]

    def assumption(self, data: Mapping[str, Any], env: Env, moved: bool = False) -> Schema:
        """What the named assumptions say at the given points.

        Args:
            data: the line.
            env: at which indices.
            moved: whether a line is meant at other indices than those at which it was accepted.

        Raises:
            FormatError: for what is none of the claim's assumptions, or no schema of theirs.
        """
        name = text_of(data.get("schema"), "schema")
        texts = [text_of(t, "of").strip() for t in list_of(data.get("of", []), "of")]
        at = data.get("at", {})
        if not isinstance(at, dict) or not (name == "every" or at.keys() <= {"x", "y", "v"}):
            raise FormatError("at is not an object of the vectors x, y, v")
        used = []
        for text in texts:
            if text not in self.assumptions:
                raise Uncheckable(f"{shown(text)} is none of the claim's assumptions")
            used.append(self.assumptions[text])
        if used and self.over:
            raise Uncheckable("the assumptions are made on a domain only, which is not read in derivations")
        on = data.get("on")
        if name == "every":
            return self.for_every(used, at, on, env)
        if not used:
            if name not in OF_NOTHING or on not in (None, "f"):
                raise Uncheckable(f"the schema {shown(name)} needs assumptions")
            return self.filled(OF_NOTHING[name], self.vectors(at, env), env)
        level = self.level(used, on)
        text, constants = self.text(name, used, level)
        function = LEVELS[level]
        text = text.replace("{F}", function).replace("{G}", f"grad({function}, ")
        if name in ("smooth", "smooth convex") and not self.signs.pos(constants["L_"], env):
            raise Uncheckable("the constant of smoothness is not certainly positive")
        found = self.filled(text, self.vectors(at, env), env, constants)
        if name in INSIDE and not moved:
            room = read_formula("R_ - norm(v_)", "a schema")
            if not self.signs.nonneg(room, found.env):
                raise Uncheckable("nothing says that the point is in the ball")
        return found

    def for_every(self, used: Sequence[Assumption], at: Mapping[str, Any], on: object, env: Env) -> Schema:
        """What a sentence that is assumed for every point says at points."""
        said = used[0].sentence if len(used) == 1 else None
        if said is None or on is not None or at.keys() != set(used[0].points):
            raise Uncheckable("every takes one assumption for every point, and each of its points")
        given = {name.removesuffix("_"): value for name, value in self.vectors(at, env).items()}
        self.apart(said, given)
        return Schema(said, replace(env, given={**env.given, **given}))

    def level(self, used: Sequence[Assumption], on: object) -> int:
        """The functions that are meant: the coarsest of the assumptions', or those that `on` says, no finer."""
        own = [LEVELS.index(a.function) for a in used if a.function]
        chosen = min(own, default=0)
        if on is not None:
            if on not in LEVELS or LEVELS.index(str(on)) > chosen or not own:
                raise Uncheckable(f"on={shown(on)} is no function of which this is assumed")
            chosen = LEVELS.index(str(on))
        for a in used:
            free = frozenset[str]().union(*(self.normal.claimed.words.read(c).free for c in a.constants))
            own_indices = {"bounded_variance": "n", "dissimilar": "", "stable": "n"}
            allowed = set(own_indices.get(a.name, "ni"[:chosen]))
            if free - allowed:
                raise Uncheckable(f"a constant of {shown(a.text)} is one for each: it says nothing of the mean")
        return chosen

    def text(self, name: str, used: Sequence[Assumption], level: int) -> tuple[str, dict[str, Node]]:
        """The schema's sentence, and the constants by their names there."""
        needs, text = SCHEMAS.get(name, ("", ""))
        kinds = [a.name for a in used]
        allowed = {tuple(sorted(needs.split()))}
        if name == "bounded":
            allowed.add(("bounded_gradients",))
        if name in ("convex", "smooth convex"):  # mu is positive
            allowed.add(tuple(sorted(needs.replace("convex", "strongly_convex").split())))
        if tuple(sorted(kinds)) not in allowed:
            raise Uncheckable(f"the schema {shown(name)} is not one of {', '.join(kinds)}")
        constants: dict[str, Node] = {}
        for a in used:
            names = CONSTANTS[a.name]
            if a.name == "dissimilar" and len(a.constants) == 1:
                text, names = SPREAD, ("A_",)
            if name == "bounded on ball":
                names = ("G_", "R_")
            if name == "stable" and LEVELS.index(a.function) != level:
                raise Uncheckable(f"{shown(a.text)} says it of {a.function} only")
            if name == "stable" and level == 2:
                text = SAMPLED_STABLE
            if len(names) != len(a.constants):
                raise Uncheckable(f"{shown(a.text)} is assumed on a ball, which is not read in derivations")
            constants |= dict(zip(names, a.constants, strict=True))
        if name == "pl" and (level != 0 or used[0].function != "f"):
            raise Uncheckable("pl is read of f only")
        return text, constants

    def vectors(self, at: Mapping[str, Any], env: Env) -> dict[str, Poly]:
        """The points."""
        found = {}
        for name, text in at.items():
            tree = read_formula(text, f"the point {name}")
            if not self.normal.claimed.words.read(tree).vector:
                raise FormatError(f"the point {name} is no vector: {shown(text)}")
            reason = self.signs.undefined(tree, env)
            if reason:
                raise Uncheckable(f"in the point {name} {reason} is not certainly in its domain")
            found[f"{name}_"] = self.normal.value(tree, env)
        return found

    def filled(self, text: str, given: Mapping[str, Poly], env: Env, trees: Mapping[str, Node] | None = None) -> Schema:
        """A template with values for its names."""
        trees = trees or {}
        values = {**given, **{name: self.normal.value(tree, env) for name, tree in trees.items()}}
        sentence = self.sentence(text)
        wanted = {"x_", "y_", "v_"} & (names_in(sentence.left) | names_in(sentence.right))
        if wanted != given.keys() & {"x_", "y_", "v_"}:
            raise Uncheckable(f"the schema takes the points {', '.join(sorted(w[0] for w in wanted)) or '(none)'}")
        self.apart(sentence, given)
        within = replace(
            env,
            given={**env.given, **values},
            trees={**env.trees, **{name: (tree, env) for name, tree in trees.items()}},
        )
        return Schema(sentence, within)

    @staticmethod
    def apart(sentence: Sentence, given: Mapping[str, Poly]) -> None:
        """Nothing where no point has an index over which the sentence takes something."""
        parts = [*everything(sentence.left), *everything(sentence.right)]
        taken = {OVER[node.op][1] for node in parts if node.op in OVER}
        if any(frees_of(p) & (taken | {"i"} if taken else taken) for p in given.values()):
            raise Uncheckable("a point is one for each of the clients, or samples, of which the schema takes the mean")
