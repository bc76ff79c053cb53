"""The rule `axiom`: what is true of all numbers and vectors, of maxima, sums and norms, of weights on the simplex."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from .derivation_facts import TURNED, furthest
from .derivation_lines import Goal
from .derivation_sets import Sets
from .reading import FormatError, Uncheckable, fields, list_of, shown, text_of
from .sentences import OVER, Node, Sentence, read_formula, read_sentence
from .stated import steps_of
from .steps import Step

AXIOMS = {
    "cauchy": (2, ("dot(a_, b_) <= norm(a_)*norm(b_)",)),
    "triangle": (2, ("norm(a_ + b_) <= norm(a_) + norm(b_)",)),
    "coordinate": (1, ("coordinate(a_)**2 <= norm2(a_)",)),
    "exp": (1, ("exp(a_) >= 1 + a_",)),
    "exp sum": (2, ("exp(a_ + b_) == exp(a_)*exp(b_)",)),
    "exp power": (2, ("exp(a_*b_) == exp(a_)**b_",)),
    "log": (1, ("log(a_) <= a_ - 1",)),
    "log product": (2, ("log(a_*b_) == log(a_) + log(b_)",)),
    "log quotient": (2, ("log(a_/b_) == log(a_) - log(b_)",)),
    "exp log": (1, ("exp(log(a_)) == a_",)),
    "log exp": (1, ("log(exp(a_)) == a_",)),
    "power sum": (3, ("a_**(b_ + c_) == a_**b_*a_**c_",)),
    "power product": (3, ("(a_*b_)**c_ == a_**c_*b_**c_",)),
    "power power": (3, ("(a_**b_)**c_ == a_**(b_*c_)",)),
    "square": (1, ("0 <= a_*a_",)),
    "abs": (1, ("a_ <= abs(a_)", "-a_ <= abs(a_)")),
    "bernoulli": (2, ("(1 + a_)**b_ >= 1 + b_*a_",)),
    "simplex": (
        2,
        (
            "0 <= simplex_n(a_, b_)",
            "sum_n(simplex_n(a_, b_)) == 1",
            "sum_n(simplex_n(a_, b_)*(a_ + 2*b_*simplex_n(a_, b_))) <= a_ + 2*b_*simplex_n(a_, b_)",
        ),
    ),
    "quantile": (1, ("a_ <= quantile(a_, 1)",)),
    "markov": (2, ("quantile(a_, 1 - b_) <= E(a_)/b_",)),
    "quantile norm": (2, ("quantile(norm(a_), b_)**2 == quantile(norm2(a_), b_)",)),
}
"""How many expressions, and the sentences."""
OF_VECTORS = ("cauchy", "triangle", "coordinate")
ONE = Node("number", value=Fraction(1))


class Axioms(Sets):
    """Sentences that are true whatever is assumed."""

    def axiom(self, goal: Goal) -> None:
        """A sentence that is true of all numbers and vectors."""
        fields(goal.data, "the line", "by schema", "name sentence of over")
        name, over = text_of(goal.data["schema"], "schema"), str(goal.data.get("over", ""))
        if of_sums := self.of_sums().get(name):
            return of_sums(goal)
        of = [self.defined(read_formula(t, "of")) for t in list_of(goal.data.get("of", []), "of")]
        for s in self.sentences(name, of, over, goal):
            if any(self.signs.undefined(side, self.start) for side in (s.left, s.right)):
                continue
            d = self.normal.difference(s.left, s.relation, s.right, self.start)
            relation = TURNED[s.relation] if s.relation[0] == ">" else s.relation
            if self.follows(relation, d, goal.relation, goal.difference):
                ops = {side.op for side in (s.left, s.right)} if name == "extreme" else set[str]()
                for index in {op[-1] for op in ops} & set("khj"):  # of the rounds of the run, and turns of each
                    if index != "k":
                        self.normal.own_range(index, s.left)
                    goal.used.reach = furthest(goal.used.reach, {index: 1})
                return None
        raise Uncheckable("it is not what the axiom says of these expressions")

    def sentences(self, name: str, of: list[Node], over: str, goal: Goal) -> Iterable[Sentence]:
        """The sentences that an axiom may have.

        Raises:
            FormatError: for what is none.
        """
        vectors = {self.claimed.words.read(tree).vector for tree in of}
        if name == "quantile norm" and len(of) == 2:
            vectors = {vectors == {True, False} and not self.claimed.words.read(of[0]).vector}
        if vectors != {name in OF_VECTORS}:
            raise FormatError(f"the axiom {shown(name)} takes {'vectors' if name in OF_VECTORS else 'numbers'}")
        if name in ("max", "min"):
            if len(of) < 2 or len(of) > 20:
                raise Uncheckable(f"the axiom {name} takes two expressions or more")
            whole = Node(name, tuple(of))
            return [Sentence(e, "<=" if name == "max" else ">=", whole, "") for e in of]
        if name == "extreme":
            how = OVER.get(over, ("", ""))[0]
            if len(of) != 1 or how not in ("max", "min"):
                raise Uncheckable("the axiom extreme takes one expression, over a maximum or minimum")
            return [Sentence(of[0], "<=" if how == "max" else ">=", Node(over, (of[0],)), "")]
        if name == "bounds":
            return self.bounds(of, over, goal)
        if name == "exponents":
            return self.exponents(of)
        if name == "part":
            return [self.part(of, over)]
        if name == "triangle" and over:
            return [self.over_norms(of, over)]
        if name not in AXIOMS or len(of) != AXIOMS[name][0]:
            raise Uncheckable(f"the axiom {shown(name)} is not known here, or takes another number of expressions")
        self.asked(name, of)
        trees = dict(zip(("a_", "b_", "c_"), of, strict=False))
        found = (read_sentence(text, "an axiom") for text in AXIOMS[name][1])
        return [Sentence(put(s.left, trees), s.relation, put(s.right, trees), "") for s in found]

    def asked(self, name: str, of: list[Node]) -> None:
        """What has to hold of the expressions of an axiom."""
        of_logarithms = name in ("log", "log product", "log quotient", "exp log")
        if of_logarithms and not all(self.signs.pos(e, self.start) for e in of):
            raise Uncheckable("the argument of a logarithm is not certainly positive")
        bases = of[: 2 if name == "power product" else 1]
        if name.startswith("power ") and not all(self.signs.pos(e, self.start) for e in bases):
            raise Uncheckable(f"{name}: a base is not certainly positive")
        if name in ("bernoulli", "exp power"):
            whole = self.signs.integer(of[1], self.start) and self.signs.nonneg(of[1], self.start)
            if not whole or (name == "bernoulli" and not self.signs.nonneg(Node("+", (ONE, of[0])), self.start)):
                raise Uncheckable(f"{name}: the exponent is no nonnegative integer, or the base may be negative")
        if name == "markov":
            chances = (of[1], Node("-", (ONE, of[1])))
            if not (self.signs.nonneg(of[0], self.start) and all(self.signs.pos(p, self.start) for p in chances)):
                raise Uncheckable("markov: the number may be negative, or the probability is not between 0 and 1")
        if name == "quantile" and self.noisy():
            raise Uncheckable("with noise there is no largest of finitely many outcomes")

    def noisy(self) -> bool:
        """Whether the algorithm draws noise, of which there are not finitely many outcomes."""
        program = self.claimed.program
        return program is not None and any(isinstance(s, Step) and s.op == "noise" for s in steps_of(program.body))

    def bounds(self, of: list[Node], over: str, goal: Goal) -> list[Sentence]:
        """A maximum is at most what is at least all of which it is; a minimum likewise."""
        if len(of) < 2 or len(of) > 20 or (over and (len(of) > 2 or over not in OVER)) or goal.env is not self.start:
            raise Uncheckable("bounds takes expressions and what bounds them; one expression over an index")
        *parts, most = of
        how, index = OVER[over] if over else ("", "")
        if over and (how not in ("max", "min") or index in self.claimed.words.read(most).free):
            raise Uncheckable("bounds is over max or min of an index that the bound does not have")
        found = []
        for kind in (how,) if how else ("max", "min"):
            gaps = [Node("-", (most, e) if kind == "max" else (e, most)) for e in parts]
            if all(self.signs.everywhere(gap, self.start, index) for gap in gaps):
                whole = Node(over, (parts[0],)) if over else Node(kind, tuple(parts)) if len(parts) > 1 else parts[0]
                found.append(Sentence(whole, "<=" if kind == "max" else ">=", most, ""))
        if not found:
            raise Uncheckable("nothing says that it bounds each of the expressions")
        return found

    def exponents(self, of: list[Node]) -> list[Sentence]:
        """Powers of a number that is at least 1 grow with the exponent; those of one in [0, 1] fall.

        The exponents are integers that are at least 0, or the number is positive.
        """
        if len(of) != 3:
            raise Uncheckable("exponents takes a number and two exponents")
        a, e, f = of
        signs, start = self.signs, self.start
        whole = signs.integer(e, start) and signs.integer(f, start) and signs.nonneg(e, start)
        if not ((whole or signs.pos(a, start)) and signs.nonneg(Node("-", (f, e)), start)):
            raise Uncheckable(
                "exponents: not certainly in order, or not integers >= 0 of a base that may not be positive"
            )
        few, many = Node("**", (a, e)), Node("**", (a, f))
        found = []
        if signs.nonneg(Node("-", (a, ONE)), start):
            found.append(Sentence(few, "<=", many, ""))
        if signs.nonneg(a, start) and signs.nonneg(Node("-", (ONE, a)), start):
            found.append(Sentence(many, "<=", few, ""))
        return found

    def part(self, of: list[Node], over: str) -> Sentence:
        """A term is at most the sum of those that are at least 0."""
        if len(of) != 1 or over not in ("sum_n", "sum_i") or not self.signs.everywhere(of[0], self.start, over[-1]):
            raise Uncheckable("part takes one number that is certainly at least 0, and a sum over n or i")
        return Sentence(of[0], "<=", Node(over, (of[0],)), "")

    def over_norms(self, of: list[Node], over: str) -> Sentence:
        """The norm of a mean or sum, or of an expectation, is at most that of the norms."""
        how = OVER.get(over, ("", ""))[0]
        if len(of) != 1 or not (how in ("mean", "sum") or (over == "E" and not self.noisy())):
            raise Uncheckable("triangle takes one vector, and a mean or sum over an index, or E of what is not noisy")
        (v,) = of
        return Sentence(Node("norm", (Node(over, (v,)),)), "<=", Node(over, (Node("norm", (v,)),)), "")


def put(tree: Node, trees: dict[str, Node]) -> Node:
    """A tree with others in the place of names."""
    if tree.op == "name":
        return trees.get(tree.name, tree)
    return Node(tree.op, tuple(put(a, trees) for a in tree.args), tree.name, tree.value)
