"""Law: a proof proves its claim. Move the right side of a proved claim, or drop a hypothesis that its proof uses: it is
proved no longer. What was shown at numbers, or of other lines, is not called proved."""

import ast
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from tests.laws.older_lemmas import CLAIMS, COCOERCIVE, DESCENT, NONEXPANSIVE
from theory import catalog, claim
from theory.claim import Claim, FunctionAt, Given, Hypothesis, Parameter, Quantity, Step, VectorLine, VectorSentence
from theory.domain import NONNEGATIVE, POSITIVE, REAL
from theory.inequality.vectors import Space, inner, square
from validate import proving
from validate.algebra import holds
from validate.replay import evidence as replay_evidence
from validate.replay import replay
from validate.verdict import NOTHING_COVERED, Coverage, decide

ROOT = Path(__file__).parents[2]


def outcomes(c: Claim) -> set[str]:
    return {e.outcome for e in proving.evidence(c)}


def proof(c: Claim) -> dict:
    return next(e.data for e in proving.evidence(c) if e.outcome == "proved")


OLDER = [c for c in catalog.claims() if isinstance(c, Claim) and c.right is not None]
PROVED = [c for c in (*OLDER, *CLAIMS) if "proved" in outcomes(c)]
IDS = [c.id for c in PROVED]


def test_some_claims_are_proved() -> None:
    assert len(PROVED) >= 6
    assert {c.id for c in CLAIMS} <= set(IDS)
    assert {c.paper for c in PROVED} >= {"own", "open-fl"}


@pytest.mark.parametrize("c", PROVED, ids=IDS)
def test_the_evidence_carries_the_sentence_that_was_proved(c: Claim) -> None:
    said = proof(c)["sentence"]
    assert (said["relation"], said["right"]) == (c.relation, c.right)
    assert said["definitions"] == dict(c.definitions)
    assert said["left"]
    assert set(said["hypotheses"]) <= {h.name for h in c.conditions}


def moved(c: Claim) -> list[str]:
    if c.relation in (">=", ">"):
        return [f"1000*({c.right}) + 1", f"({c.right}) + 1", "10**9"]
    shifted = f"({c.right}) + 1" if c.relation == "=" else f"({c.right}) - 1"
    return [f"({c.right})/1000", shifted, "-1"]


@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize("c", PROVED, ids=IDS)
def test_a_moved_right_side_is_not_proved(c: Claim, place: int) -> None:
    assert "proved" not in outcomes(replace(c, right=moved(c)[place]))


@pytest.mark.parametrize("c", PROVED, ids=IDS)
def test_each_hypothesis_that_a_proof_uses_is_needed(c: Claim) -> None:
    for name in proof(c)["sentence"]["hypotheses"]:
        less = proving.without(c, name)
        assert "proved" not in outcomes(less), name


@pytest.mark.parametrize("c", PROVED, ids=IDS)
def test_a_strict_relation_is_not_proved_where_equality_is_attained(c: Claim) -> None:
    """Each of these is attained: all vectors 0, or the first index of a sequence, or an identity."""
    assert "proved" not in outcomes(replace(c, relation=">" if c.relation == ">=" else "<"))


@pytest.mark.parametrize("c", [c for c in PROVED if c.relation != "="], ids=lambda c: c.id)
def test_the_relation_turned_round_is_not_proved(c: Claim) -> None:
    assert "proved" not in outcomes(replace(c, relation="<=" if c.relation == ">=" else ">="))


@pytest.mark.parametrize("c", [c for c in PROVED if c.definitions], ids=lambda c: c.id)
def test_a_corrupted_definition_is_not_proved(c: Claim) -> None:
    assert "proved" not in outcomes(replace(c, definitions={n: f"2*({t}) + 1" for n, t in c.definitions.items()}))


@pytest.mark.parametrize("c", [c for c in PROVED if c.sentence], ids=lambda c: c.id)
def test_a_hypothesis_with_other_words_is_another_hypothesis(c: Claim) -> None:
    """A condition on vectors belongs to the hypotheses that say it, as they stand."""
    of = {h.name for g in c.sentence.given for h in g.of} & set(proof(c)["sentence"]["hypotheses"])
    for name in of:
        other = tuple(replace(h, statement="nothing is said") if h.name == name else h for h in c.hypotheses)
        assert "proved" not in outcomes(replace(c, hypotheses=other)), name


@pytest.mark.parametrize("c", [c for c in PROVED if c.sentence and c.vectors], ids=lambda c: c.id)
def test_sentence_and_vector_line_agree_at_the_settings(c: Claim) -> None:
    """Two descriptions of one claim: what the one says is false at its settings is not proved of the other."""
    from theory.inequality.prover import Proof, prove

    for setting in c.vectors.settings:
        space, statement, given = c.vectors.build({k: Fraction(v) for k, v in setting.items()})
        assert isinstance(prove(statement, given, space), Proof)


def test_only_one_module_says_proved() -> None:
    """The word as an outcome of evidence stands in `validate.proving` alone."""
    found = set()
    for path in (ROOT / "validate").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            made = isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) == "Evidence"
            if made and any(isinstance(n, ast.Constant) and n.value == "proved" for n in ast.walk(node)):
                found.add(path.name)
            # nor by way of a variable
            if isinstance(node, ast.AnnAssign) and "Outcome" in ast.unparse(node.annotation):
                name = ast.unparse(node.annotation)
                values = {n.value for n in ast.walk(node) if isinstance(n, ast.Constant)}
                if "proved" in values and "LineOutcome" not in name and path.name != "verdict.py":
                    found.add(path.name)
    assert found == {"proving.py"}


def test_no_paper_s_own_evidence_is_proved(tmp_path) -> None:
    """`special` of every paper: lines may hold, and do not reach the claim."""
    from validate import papers

    held = 0
    for label in ("perm/lemma-4/corrected", "open-fl/eq15"):
        one = claim(label)
        for c in (one, replace(one, right="-1") if one.right is not None else one):
            found, _ = papers.module(c.paper).special(c, tmp_path)
            assert "proved" not in {e.outcome for e in found}
            held += any("do not reach the claim" in e.detail for e in found)
    assert held >= 2


# --- what a reader may write -----------------------------------------------------------------------------------------

X = Quantity("x", "x", "x")


def own(right: str, relation: str = "<=", **rest) -> Claim:
    quantity = rest.pop("quantity", X)
    return Claim("own/a", "lemma", "a", "(1)", "a", "a", quantity, "own", right=right, relation=relation, **rest)


MU = Parameter("mu", POSITIVE, "modulus")
DELTA = Parameter("delta", POSITIVE, "step")
SHORT = Hypothesis("step", "delta <= 1/mu", relation="delta <= 1/mu")


@pytest.mark.parametrize(
    ("formula", "relation", "right", "expected"),
    [
        ("(1-delta*mu)**2", "<=", "1-delta*mu", True),
        ("(1-delta*mu)**2", "<", "1-delta*mu", False),  # delta == 1/mu
        ("1-delta*mu", ">=", "(1-delta*mu)**2", True),
        ("1-delta*mu", ">", "(1-delta*mu)**2", False),
        ("delta", "<", "delta", False),
        ("delta", "<=", "delta", True),
        ("delta", "<", "delta + mu", True),
        ("delta", ">", "delta + mu", False),
        ("delta*mu", "<=", "1", True),
        ("delta*mu", "<=", "1/2", False),
        ("exp(delta)", ">=", "1", False),  # true, and beyond the method: silent
    ],
)
def test_claims_about_numbers(formula: str, relation: str, right: str, expected: bool) -> None:
    c = own(right, relation, quantity=replace(X, formula=formula), parameters=(DELTA, MU), hypotheses=(SHORT,))
    assert ("proved" in outcomes(c)) is expected


def test_a_number_s_hypothesis_is_used_by_name_and_needed() -> None:
    c = own("1", quantity=replace(X, formula="delta*mu"), parameters=(DELTA, MU), hypotheses=(SHORT,))
    assert proof(c)["sentence"]["hypotheses"] == ["step"]
    assert "proved" not in outcomes(replace(c, hypotheses=()))


FLAT = Hypothesis("flat", "f(x) - f* <= -7 says the one")
STEEP = Hypothesis("steep", "f(x) >= f* says the other")


def test_contradictory_hypotheses_are_vacuous() -> None:
    """f(x) - f* <= -7 follows from what cannot be."""

    def build(values):
        space = Space(("x",), ("fx", "fmin"))
        f, least = space.value("fx"), space.value("fmin")
        return space, f - least <= -7, [(f - least <= -8).named("flat"), (f >= least).named("steep")]

    (found,) = proving.evidence(own("-7", vectors=VectorLine(build)))
    assert found.outcome == "vacuous"
    assert "flat" in found.detail
    assert "steep" in found.detail
    assert decide("own/a", [found]).verdict == "vacuous"
    read = VectorSentence(
        ("x",),
        {"x": "fx - fmin"},
        ("fx", "fmin"),
        given=(Given("below", (FLAT,), "fx - fmin <= -8"), Given("above", (STEEP,), "fx >= fmin")),
    )
    (found,) = proving.evidence(own("-7", sentence=read, hypotheses=(FLAT, STEEP)))
    assert found.outcome == "vacuous"
    assert "flat and steep" in found.detail
    assert outcomes(own("-7", sentence=read, hypotheses=(FLAT,))) == {"proved"}  # now it is a consequence


def test_what_contradicts_itself_at_every_parameter_proves_nothing() -> None:
    """A squared norm below 0: with a parameter it is vacuous at its settings only, and says so."""
    t = Parameter("t", POSITIVE, "t")
    below = Given("below", (FLAT,), "norm2(a) <= -t")
    read = VectorSentence(("a",), {"x": "norm2(a)"}, given=(below,), multipliers={"below": "1"})
    line = VectorLine(lambda values: (Space(), Space().constant(0) <= 0, []), ({"t": "1"},))
    (found,) = proving.evidence(own("-7", sentence=read, vectors=line, parameters=(t,), hypotheses=(FLAT,)))
    assert found.outcome == "undecided"
    assert "contradict" in found.detail


def jensen(turned: bool) -> VectorLine:
    """The square of a mean of n vectors against the mean of their squares."""

    def build(values):
        n = int(values["n"])
        space = Space(tuple(f"a{i}" for i in range(n)))
        total = space.zero()
        for v in space.vectors_of():
            total = total + v / n
        squares = sum([square(v) for v in space.vectors_of()], space.constant(0)) / n
        return space, squares <= square(total) if turned else square(total) <= squares, []

    return VectorLine(build, ({"n": "1"},), "every n")


@pytest.mark.parametrize("turned", [False, True])
def test_a_proof_at_settings_is_no_proof(turned: bool) -> None:
    (found,) = proving.evidence(
        own("second", parameters=(Parameter("second", NONNEGATIVE, "s"),), vectors=jensen(turned))
    )
    assert found.outcome == "holds"
    assert "n=1" in found.detail
    assert "at these numbers only" in found.detail
    assert decide("own/a", [found]).verdict == "undecided"
    assert decide("own/a", [found], coverage=Coverage(True, "a pool")).verdict == "undecided"


def test_a_refuted_vector_statement_keeps_its_vectors_and_its_setting() -> None:
    c = replace(COCOERCIVE, right="2*gradient_distance2/L")
    (found,) = proving.evidence(c)
    assert (found.outcome, found.origin) == ("fails", "search")
    assert found.data["refutation"]["kind"] == "refutation"
    assert set(found.data["setting"]) == {"L"}


def test_a_setting_that_the_hypotheses_exclude_refutes_nothing() -> None:
    """Beyond 2/L a gradient step expands."""
    c = NONEXPANSIVE
    long = replace(
        c,
        vectors=replace(c.vectors, settings=({"delta": "3", "L": "1"},)),
        sentence=replace(c.sentence, multipliers={}),
    )
    assert outcomes(long) == {"undecided"}
    assert outcomes(replace(long, sentence=None)) == {"undecided"}
    assert outcomes(replace(long, hypotheses=c.hypotheses[:2])) == {"fails"}


def test_the_certificate_of_a_refuted_sentence_is_compared_with_the_claim(tmp_path: Path) -> None:
    from validate import certificate
    from validate.checking import check

    c = replace(COCOERCIVE, right="2*gradient_distance2/L")
    result = check(c, quick=True, out=tmp_path)
    assert result.verdict == "refuted"
    assert certificate.differences(certificate.read(result.certificate), c) == ()
    assert certificate.differences(certificate.read(result.certificate), COCOERCIVE)


def test_a_function_s_conditions_are_those_of_the_claim_s_assumptions() -> None:
    """Another constant in an assumption is another condition."""
    from theory.assumptions import Smooth

    c = DESCENT
    (smooth,) = c.hypotheses
    twice = Parameter("M", POSITIVE, "another constant")
    other = replace(c, parameters=(*c.parameters, twice), hypotheses=(replace(smooth, assumption=Smooth("M")),))
    assert "proved" not in outcomes(other)
    assert "proved" not in outcomes(replace(c, hypotheses=(replace(smooth, assumption=Smooth("L", "sample")),)))


def test_vectors_and_functions_of_one_s_own() -> None:
    point = FunctionAt("h", {"u": ("u", "gu", "hu"), "v": ("v", "gv", "hv")})
    convex = COCOERCIVE.hypotheses[1]
    read = VectorSentence(("u", "v", "gu", "gv"), {"x": "dot(gu - gv, u - v)"}, ("hu", "hv"), (point,))
    assert outcomes(own("0", ">=", sentence=read, hypotheses=(convex,))) == {"proved"}
    assert outcomes(own("0", ">=", sentence=read)) == {"fails"}
    assert outcomes(own("0", "<=", sentence=read, hypotheses=(convex,))) == {"fails"}


# --- replays ---------------------------------------------------------------------------------------------------------


def line(relation: str, left: str, right: str, label: str = "(1)", **rest) -> Step:
    return Step(label, left, relation, right, "inequality", identity=(left, right), **rest)


def test_a_strict_line_is_not_read_as_a_weak_one() -> None:
    assert holds(line("<", "x", "x"), {}) is None
    assert holds(line("<", "x", "x + y"), {"y": POSITIVE}) is True
    assert holds(line("<", "x", "x + y"), {}) is None
    found = replay(own("x", "<", steps=(line("<", "x", "x"),)))
    assert found.lines[0].outcome == "refuted"


def test_unrelated_lines_do_not_hold_for_the_claim() -> None:
    found = replay(own("-1", steps=(line("<=", "0", "y**2"),)))
    assert [one.outcome for one in found.lines] == ["proved"]
    said = replay_evidence(found)
    assert said.outcome == "undecided"
    assert "its last line is not the claim" in said.detail
    tied = own("x + y", parameters=(Parameter("y", NONNEGATIVE, "y"),), steps=(line("<=", "x", "x + y"),))
    assert replay(tied).reaches
    assert replay_evidence(replay(tied)).outcome == "holds"
    assert not replay(replace(tied, right="x + y - 1")).reaches
    assert not replay(replace(tied, relation="<")).reaches
    for coverage in (NOTHING_COVERED, Coverage(True, "a pool")):
        assert decide("own/a", [replay_evidence(replay(tied))], coverage=coverage).verdict == "undecided"


def test_lines_are_looked_at_where_the_hypotheses_hold() -> None:
    steps = (line("<=", "(1-delta*mu)**2", "1-delta*mu"),)
    c = own("1", parameters=(DELTA, MU), hypotheses=(SHORT,), steps=steps)
    assert replay(c).lines[0].outcome == "proved"
    found = replay(replace(c, hypotheses=())).lines[0]
    assert found.outcome == "refuted"
    values = {name: Fraction(text) for name, text in found.counterexample["values"].items()}
    assert values["delta"] * values["mu"] > 1
    # a relation that uses a definition, of no help to algebra, still keeps excluded values out
    bent = Hypothesis("bent", "a < 1", relation="a < 1")
    c = own(
        "1",
        parameters=(DELTA, MU),
        hypotheses=(bent,),
        definitions={"a": "delta**2*mu"},
        steps=(line("<", "delta**2*mu", "1"),),
    )
    assert replay(c).lines[0].outcome in ("proved", "undecided")
    assert replay(replace(c, hypotheses=())).lines[0].outcome == "refuted"


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("1", "2**k", {"undecided", "proved"}),
        ("exp(k)", "1", {"refuted"}),
        ("k", "max(k, 1)", {"undecided", "proved"}),
        ("max(k, 1)", "k", {"refuted"}),
        ("abs(z)", "z", {"refuted"}),
        ("log(k)", "k", {"undecided", "proved"}),
        ("1/0", "k", {"undecided"}),
        ("2**(2**k)", "1", {"refuted"}),
    ],
)
def test_no_line_is_a_crash(left: str, right: str, expected: set[str]) -> None:
    z, k = Parameter("z", REAL, "z"), Parameter("k", NONNEGATIVE, "k")
    found = replay(own("1", parameters=(z, k), steps=(line("<=", left, right),)))
    assert found.lines[0].outcome in expected


def test_a_vector_line_at_settings_holds_and_is_not_proved() -> None:
    step = Step("(1)", "", "<=", "", "inequality", vectors=jensen(turned=True))
    (found,) = replay(own("1", steps=(step,))).lines
    assert found.outcome == "holds"
    assert "n=1" in found.detail
    free = VectorLine(
        lambda values: (
            (s := Space(("a", "b"))),
            inner(*s.vectors_of()) * 2 <= square(s.vector("a")) + square(s.vector("b")),
            [],
        )
    )
    (found,) = replay(own("1", steps=(replace(step, vectors=free),))).lines
    assert found.outcome == "proved"


def test_a_geometric_sum_is_proved_by_induction_over_its_own_right_side() -> None:
    c = claim("fedavg-svrg/lemma-v1-eq13")
    left = "sum_k(alpha**k)"
    assert c.statement == f"{left} == (1 - alpha**K)/(1 - alpha)"
    assert "proved" in outcomes(c)
    for right in ("(1-alpha**K)/(1-alpha) + 10**6", "(1-alpha**(K+1))/(1-alpha)", "K", "1/(1-alpha)"):
        assert "proved" not in outcomes(replace(c, statement=f"{left} == {right}"))
    assert "proved" in outcomes(replace(c, statement=f"{left} == 1/(1-alpha) - alpha**K/(1-alpha)"))
    assert "proved" not in outcomes(replace(c, assuming=()))


def test_a_reader_s_file_is_not_proved_by_contradiction(tmp_path: Path) -> None:
    """From the command line, as a new user would."""
    text = """
from theory import Paper, claim

FLAT = claim("a", "norm2(x) <= -7", vectors=("x",), assuming=("norm2(x) <= -8",), kind="lemma")
PAPER = Paper("mine", "t", "a", (FLAT,))
"""
    (tmp_path / "mine.py").write_text(text, encoding="utf-8")
    command = [sys.executable, "-c", "from validate.cli import main; main()", "check", "mine.py", "--quick", "--json"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert '"verdict": "vacuous"' in ran.stdout, ran.stdout + ran.stderr
