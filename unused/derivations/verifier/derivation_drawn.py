"""Rules that unfold a round: what the algorithm makes, the sample that is drawn, averages of clients by convexity."""

from __future__ import annotations

from collections.abc import Callable

from .derivation_facts import furthest
from .derivation_lines import Goal
from .derivation_rounds import Round
from .derivation_rules import Rules
from .derivation_terms import UNIT, Poly, all_atoms
from .derivation_turns import modes
from .reading import FormatError, Uncheckable, fields, list_of


class Drawn(Rules):
    """Rules that unfold a round and look at a draw in it."""

    def unfolded(self, goal: Goal, look: Callable[[Round, Poly], bool], shares: bool = False) -> None:
        """Tries the rounds, and turns, that a sentence may be about, with what is made in them unfolded.

        Args:
            goal: the sentence.
            look: what is to be so of the round, and of the difference of the sides after it.
            shares: whether averages are meant with their weights, where the sides are not taken.

        Raises:
            Uncheckable: where none is what is looked for.
        """
        if self.claimed.program is None or goal.relation == "<":
            raise Uncheckable("there is no algorithm, or the sentence is a strict inequality")
        s, why = goal.sentence, ""
        for at, path, turning in modes(self.normal, [self.normal.value(side, goal.env) for side in (s.left, s.right)]):
            made = Round(self.normal, at, path, shares, turning)
            for deep in (False, True) if made.by_coordinates else (False,):
                self.normal.round, made.deep = made, deep
                try:
                    d = {} if shares else self.normal.difference(s.left, s.relation, s.right, goal.env)
                    if look(made, d):
                        goal.used.reach = furthest(goal.used.reach, made.carries())
                        return
                except Uncheckable as reason:
                    why = why or f": {reason}"
                finally:
                    self.normal.round = None
        raise Uncheckable(f"it is not what the round makes{why}")

    def step(self, goal: Goal) -> None:
        """Both sides are the same when states after a round are what the algorithm makes of those before."""
        fields(goal.data, "the line", "by", "name sentence using")
        equal = [self.find(name, goal.scope) for name in list_of(goal.data.get("using", []), "using")]
        if len(equal) > 4:
            raise FormatError("a step with too many lines")
        for fact in equal:
            goal.used.add(fact)
        if goal.difference:
            self.unfolded(goal, lambda _, d: self.same_when(d, equal))

    # the sample that is drawn

    def drawn(self, goal: Goal) -> None:
        """What a line says of every sample is so of the one that is drawn."""
        fields(goal.data, "the line", "by line", "name sentence")
        fact, s = self.find(goal.data["line"], goal.scope), goal.sentence
        goal.used.add(fact)
        if fact.held & {"n", "i"}:
            raise Uncheckable("that line is not known of every sample")
        if any("i" in self.claimed.words.read(side).free for side in (s.left, s.right)):
            raise Uncheckable("the sentence is about a sample itself")

        def look(unfolded: Round, d: Poly) -> bool:
            found = self._every_sample(unfolded, d)
            return found is not None and self.follows(fact.relation, fact.difference, goal.relation, found)

        self.unfolded(goal, look)

    def _every_sample(self, unfolded: Round, d: Poly) -> Poly | None:
        """With i in the place of the one sample that is drawn; None where other draws are in it, or other clients'."""
        draws = {draw for m in d for a, _ in m for draw in a.dr}
        if len(draws) != 1:
            return None
        ((draw, client),) = draws
        kind, number, *_ = unfolded.kinds[draw]
        entries = any(a.tag == "draw" for a in all_atoms(d))
        if entries or client != "n" or kind != "sample" or number != UNIT or unfolded.depth[draw] < 0:
            return None
        return unfolded.expectation.indexed(d, draw, client, "i")

    # averages

    def average(self, goal: Goal) -> None:
        """The squared norm of p + sum_n(w_n*q_n), weights w_n of an average, is at most what convexity says.

        They are at least 0, and their sum is 1, or all are 0; E(w_n) is the same for all clients.
        """
        fields(goal.data, "the line", "by", "name sentence")
        s, al = goal.sentence, self.algebra
        square = s.left.args[0] if s.left.op == "E" else s.left
        if s.relation != "<=" or square.op != "norm2":
            raise Uncheckable("it is no bound on norm2(...), nor on E(norm2(...))")

        def look(unfolded: Round, _: Poly) -> bool:
            most = self._most(unfolded, self.normal.value(square.args[0], goal.env))
            if s.left.op == "E":
                most = al.expect(unfolded.expected(most))
            least = self.normal.value(s.right, goal.env)
            return not self._weights(unfolded, least) and al.is_zero(al.sub(least, most))

        self.unfolded(goal, look, shares=True)

    def _weights(self, unfolded: Round, p: Poly) -> set[int]:
        """The draws of weights in a polynomial."""
        return {draw for m in p for a, _ in m for draw, _ in a.dr} & set((unfolded.shares or {}).values())

    def _most(self, unfolded: Round, moved: Poly) -> Poly:
        """What the squared norm is at most: linear in the weights."""
        al, shares = self.algebra, unfolded.shares or {}
        own = self._weights(unfolded, moved)
        if len(own) != 1:
            raise Uncheckable("it is not made with one average of clients")
        (share,) = own
        if unfolded.depth[share] < 0:
            raise Uncheckable("an average in every turn of a loop")
        mark = al.count
        N, client = al.of(al.atom("p", "N")), al.fresh("n")
        alone: Poly = {}
        weighed: Poly = {}
        for m, c in moved.items():
            binders, pairs = al.spread(m, lambda a: any(draw == share for draw, _ in a.dr))
            weights = [a for a, e in pairs if a.tag == "draw" and a.parts[1] == share and e == 1]
            if not any(draw == share for a, _ in pairs for draw, _ in a.dr):
                alone = al.add(alone, {m: c})
                continue
            bound = [b for b in binders if weights and b[1] == weights[0].parts[2].parts[0]]
            rest = [pair for pair in pairs if pair[0] not in weights]
            if len(weights) != 1 or not bound:
                raise Uncheckable("weights of clients in a product")
            term = al.close([b for b in binders if b is not bound[0]], rest)
            weighed = al.add(weighed, al.scale(al.renamed(term, {bound[0][1]: client}), c))
        weighed = al.mul(weighed, al.inverse(N))
        elsewhere = {share, *(active for active, other in shares.items() if other == share)}
        if any(draw in elsewhere for p in (alone, weighed) for m in p for a, _ in m for draw, _ in a.dr):
            raise Uncheckable("the draw of the average elsewhere in it")
        weight = al.of(al.atom("draw", "share", share, al.var(client)))
        products = al.add(al.scale(al.dot(alone, weighed), 2), al.dot(weighed, weighed))
        whole = al.mul(N, al.bind(al.mul(weight, products), ("n", client, "")))
        return al.done(al.add(al.dot(alone, alone), whole), mark)
