"""The rules of lines, but for combinations and inductions: the script of a line by each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from theory.derivation.export import schemas
from theory.derivation.export.combining import by_combination
from theory.derivation.export.forms import Lines, NotExportedError, block, poly_term
from theory.derivation.export.laws import NeededError
from theory.derivation.export.names import Said, safe
from theory.derivation.export.replacing import same_when
from theory.derivation.export.scope import BeyondError, Line, Written
from theory.derivation.export.signs import ratio
from theory.derivation.export.terms import (
    ONE,
    ZERO,
    App,
    Ip,
    Num,
    Pow,
    count,
    minus,
    name,
    put,
    text_of,
    times,
)  # fmt: skip
from theory.derivation.export.terms import everything as all_parts
from theory.derivation.export.turns import of_turns
from theory.for_every import predicate_of
from theory.formula import text_of as formula_text
from theory.sentence import (
    TURNS,
    parse_expression,
)

if TYPE_CHECKING:
    from theory.derivation.export.proof import Proof


def by_hypothesis(derivation: Proof, one: Written, line: Line) -> Lines:
    said, proof = derivation.at(derivation.find(str(line.sentence)), {})
    if said == derivation.goal(line):
        return [f"exact {proof}."]
    return derivation.from_lines([(said, proof)], line)


def by_domain(derivation: Proof, one: Written, line: Line) -> Lines:
    facts = []
    for symbol in derivation.setting.symbols:
        base, index = derivation.setting.placed(symbol)
        if index and index not in line.free:
            continue
        domain = derivation.setting.claim.domains[base]
        word, whole = safe(base), derivation.setting.whole(symbol)
        at = f" {index}" + (" ltac:(side)" if index == "n" else "") if index else ""
        ends = [e for e, v in (("dom", whole), ("low", not whole and domain.lower is not None)) if v]
        ends += ["top"] if domain.upper is not None else []
        for end in ends:
            facts.append(f"pose proof (le_INR _ _ {word}_{end})." if whole else f"pose proof ({word}_{end}{at}).")
    facts += _of_index(derivation, line)
    for draw in derivation.laws.draws.values():
        if draw.op == "choose" and draw.number and str(line.sentence) == f"{formula_text(draw.number)} <= N":
            if "fits" not in derivation.setting.needs:
                raise NeededError("fits")
            facts.append(f"pose proof {draw.name}_fits.")
    said = derivation.goal(line)
    for word in sorted({text_of(t.args[0]) for side in (said.left, said.right) for t in all_parts(side)
                        if isinstance(t, App) and t.head == "INR"}):  # fmt: skip
        facts.append(f"pose proof (pos_INR {word}).")
        facts.append(f"try (pose proof (le_INR 1 {word} ltac:(counts))).")
    return [*facts, "simpl INR in *; lra."]


def _of_index(derivation: Proof, line: Line) -> Lines:
    """How far a round, or a turn, goes, where that is what the line says: one less than their number, or so many."""
    goal, facts = derivation.goal(line), []
    for index in (i for i in line.free if i in ("k", *TURNS)):
        end = App("INR", (name("K") if index == "k" else derivation.setting.turns_of(index),))
        here = App("INR", (name(index),))
        for less in (ZERO, ONE):
            if derivation.normal.equal(minus(goal.right, goal.left), minus(minus(end, here), less)):
                if index == "k" and less == ZERO and not ("k" in line.within or line.to_the_end):
                    raise BeyondError(index, f"{line.sentence} is said of k up to K", to_the_end=True)
                if index not in line.within and less == ONE:
                    raise BeyondError(index, f"{line.sentence} is said of indices in a sum")
                one = f"INR {index} + {text_of(less)} <= {text_of(end)}"
                proof = "rewrite <- S_INR" if less == ONE else "rewrite Rplus_0_r"
                facts.append(f"assert ({one}) by ({proof}; apply le_INR; lia).")
    return facts


def by_at(derivation: Proof, one: Written, line: Line) -> Lines:
    other = derivation.find(one["line"])
    vectors = [key for key in one.get("put", {}) if key not in ("k", "n", "i", "h", "j", "K")]
    if vectors:
        raise NotExportedError(f"a line at another {vectors[0]} is not exported yet")
    return derivation.from_lines([derivation.at(other, derivation.put_at(one.get("put", {})))], line)


def by_mean(derivation: Proof, one: Written, line: Line) -> Lines:
    return by_combination(derivation, {"parts": [{"line": one["line"], "over": one["over"]}]}, line)


def by_step(derivation: Proof, one: Written, line: Line) -> Lines:
    goal = derivation.goal(line)
    if one.get("using"):
        return same_when(derivation, goal, [str(text) for text in one["using"]], True)
    lines = derivation.null(goal, derivation.unfolding)
    if lines is not None:
        return lines
    try:
        lines = derivation.equation(goal.left, goal.right, derivation.unfolding)
    except NotExportedError:
        lines = of_turns(derivation, goal)
        if lines is None:
            raise
        return lines
    if lines is None:
        form = text_of(poly_term(derivation.unfolding.norm(minus(goal.left, goal.right))[0]))
        raise NotExportedError(f"{goal.text} is not what the round says: {form[:300]} is left")
    start = [] if goal.relation == "==" else ["right."]
    return [*start, *lines]


def by_assumption(derivation: Proof, one: Written, line: Line) -> Lines:
    given = one.get("at", {})
    env = {**derivation.env, **derivation.fixed}
    points = {key: derivation.setting.term(parse_expression(text), env) for key, text in given.items() if key in "xyv"}
    of = []
    for text in one.get("of", ()):
        assumed = predicate_of(text)
        assert assumed is not None
        of.append(assumed)
    said, proof = schemas.instance(derivation.setting, one["schema"], of, one.get("on", ""), points, env)
    return derivation.scaled(said, proof, line)


def by_single(derivation: Proof, one: Written, line: Line) -> Lines:
    goal = derivation.goal(line)
    of = str(one.get("of", "N"))
    if goal.relation == "<" or (of == "N" and "n" in line.free):
        raise NotExportedError(f"one {of}, of {line.sentence}, is not exported yet")
    word = of if of == "N" else safe(of)
    clients = App("INR", (name(word),))
    sign = derivation.signs.prove(minus(ONE, clients))
    new = {word: count(1)}
    if one.get("unfold"):
        rest = derivation.equation(goal.left, goal.right, derivation.with_one(name(word)))
    else:
        rest = derivation.equation(put(goal.left, new), put(goal.right, new))
    equal = None if rest is None else rest if one.get("unfold") else ["rewrite One.", *rest]
    if sign is None or equal is None:
        raise NotExportedError(f"one {of}: {line.sentence} is not shown for one")
    start = ["right."] if goal.relation == "<=" else []
    return [
        f"assert (Least : 0 <= {text_of(minus(ONE, clients))}).",
        *block(sign),
        f"assert (One : {word} = 1%nat) by (apply one_client; [counts|assumption]).",
        *start,
        *equal,
    ]


def by_zero(derivation: Proof, one: Written, line: Line) -> Lines:
    goal = derivation.goal(line)
    if goal.relation == "<" or one.get("over"):
        raise NotExportedError("that an inner product is 0 on average is not exported yet")
    said, proof = derivation.at(derivation.find(one["line"]), {})
    of, with_ = derivation.expression(one["of"]), derivation.expression(one["with"])
    square = Said(Ip(of, of), said.relation, ZERO)
    script = derivation.scaled_from(square, said, proof)
    if script is None or said.relation == "<":
        raise NotExportedError(f"the line {one['line']} does not say that {text_of(of)} is 0")
    h, z = derivation.normal.fresh("H"), derivation.normal.fresh("Z")
    null = Said(Ip(of, with_), "==", ZERO)
    lines = [f"assert ({h} : {square.text}).", *block(script), f"assert ({z} : {null.text})."]
    weak = f"(Req_le _ _ {h})" if said.relation == "==" else h
    lines.append(f"{{ exact (ip_null _ _ {weak}). }}")
    last = derivation.scaled_from(goal, null, z)
    if last is None:
        raise NotExportedError(f"{line.sentence} is another sentence")
    return [*lines, *last]


def by_root(derivation: Proof, one: Written, line: Line) -> Lines:
    goal = derivation.goal(line)
    said, proof = derivation.at(derivation.find(one["line"]), derivation.put_at(one.get("put", {})))
    squares = Said(times(goal.left, goal.left), goal.relation, times(goal.right, goal.right))
    signs = [derivation.signs.prove(side) for side in (goal.right, goal.left)]
    if goal.relation == "<=":
        signs = signs[:1]
    if None in signs or goal.relation == "<":
        raise NotExportedError(f"the root {line.sentence} is not exported yet")
    script = derivation.scaled_from(squares, said, proof)
    if script is None:
        raise NotExportedError(f"the root {line.sentence} is of another line")
    lemma = "root_le" if goal.relation == "<=" else "root_eq"
    return [f"apply {lemma}.", *block(script), *(text for sign in signs for text in block(sign or []))]


def by_power(derivation: Proof, one: Written, line: Line) -> Lines:
    said, proof = derivation.at(derivation.find(one["line"]), {})
    exponent = parse_expression(str(one["exponent"]))
    env = {"K": name("K"), **derivation.env, **derivation.fixed}
    powers = [derivation.setting.power(side, exponent, env) for side in (said.left, said.right)]
    sign = derivation.signs.prove(said.left)
    if sign is None or any(not isinstance(p, Pow) for p in powers):
        raise NotExportedError(f"the power {line.sentence} is not exported yet")
    raised = Said(powers[0], "==" if said.relation == "==" else "<=", powers[1])
    goal = derivation.goal(line)
    h = derivation.normal.fresh("H")
    how = (
        [f"rewrite {proof}. reflexivity."]
        if said.relation == "=="
        else ["apply pow_incr. split.", *block(sign), f"apply {'Rlt_le, ' if said.relation == '<' else ''}{proof}."]
    )
    lines = [f"assert ({h} : {raised.text}).", *block(how)]
    c = ratio(derivation.normal, minus(goal.right, goal.left), minus(raised.right, raised.left))
    if c is None or c <= 0:
        raise NotExportedError(f"the power {line.sentence} is another sentence")
    return [*lines, *derivation.close(goal, [derivation.part(raised, h, Num(c), goal.relation)])]
