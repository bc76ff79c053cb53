"""Law: a proof proves its claim. Move the right side of a proved claim, turn or sharpen its relation, drop a hypothesis
that its derivation uses, or change a definition: neither kernel nor verifier accepts the derivation any longer.

All claims of the papers that are proved are meant (`tests.laws.proved_claims`). The search is run in slow tests.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterable
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from tests.derivation.both import verified
from tests.laws.proved_claims import Lines, proved, searched
from tests.textbook_results import PROVED as LABELS
from tests.textbook_results import RESULTS
from theory import catalog, claim
from theory.claim import Claim
from theory.derivation import Checked, NotProvedError, check
from theory.sentence import read
from validate import proving, verifier
from validate.certificate.derivation import derivation_certificate
from validate.examine import examine
from validate.verifier import FormatError

ROOT = Path(__file__).parents[2]
PROVED = [c for c, _ in proved().values()]


def outcomes(c: Claim) -> set[str]:
    return {e.outcome for e in proving.evidence(c)}


def lines_of(c: Claim) -> Lines:
    return proved()[c.id][1]


LONG, SHORT = 16, 10
"""Lines: longer derivations are checked in slow tests, and what is moved in a derivation that is not short."""


def asked(claims: Iterable[Claim], most: int = SHORT) -> list[ParameterSet]:
    """Parameters of a test: claims, slow where their derivation has more lines."""
    long = [pytest.mark.slow]
    return [pytest.param(c, id=c.id, marks=long if len(lines_of(c)) > most else []) for c in claims]


def once_and_whole(claims: Iterable[Claim]) -> list[ParameterSet]:
    """The same, with the least move of each; slow ones with all moves of all."""
    every = [pytest.param(c, True, id=f"{c.id}-all", marks=pytest.mark.slow) for c in claims]
    return [pytest.param(c, False, id=c.id) for c in claims if len(lines_of(c)) <= SHORT] + every


def by_kernel(c: Claim, lines: Lines) -> Checked | None:
    try:
        return check(c, lines)
    except NotProvedError:
        return None


def by_verifier(c: Claim, lines: Lines) -> bool:
    try:
        return verifier.verify(derivation_certificate(c, lines)).valid
    except FormatError:
        return False


def accepted(c: Claim, lines: Lines) -> bool:
    """Whether the kernel accepts lines, or the verifier does."""
    return by_verifier(c, lines) or by_kernel(c, lines) is not None


def moved_lines(c: Claim, other: Claim) -> Lines:
    """The derivation with the sentence of another claim in the place of the claim's own."""
    lines = deepcopy(list(lines_of(c)))
    left = list(lines)
    for line in left:
        left += [inner for key in ("base", "step", "first", "second") for inner in line.get(key, ())]
        if line.get("sentence", "").replace(" ", "") == c.statement.replace(" ", ""):
            line["sentence"] = other.statement
    return lines


def sides(c: Claim) -> tuple[str, str, str]:
    relation = c.sentence.relation
    left, _, right = c.statement.partition(f" {relation} ")
    return left, relation, right


def with_sides(c: Claim, left: str, relation: str, right: str) -> Claim:
    return replace(c, statement=f"{left} {relation} {right}")


def moves(c: Claim) -> list[str]:
    """Three right sides with which a claim says more."""
    _, relation, right = sides(c)
    sign = "+" if relation in (">=", ">") else "-"
    moved = [f"{right} {sign} 1/10**12", f"-({right}) {sign} 1", f"({right})/1000"]
    if right == "0":
        del moved[2]  # a share of 0 is no other right side
    elif relation in (">=", ">"):
        moved[2] = f"1000*({right}) + 1"
    return moved


def without(c: Claim, texts: tuple[str, ...]) -> Claim | None:
    """The claim without some of its hypotheses; None where that is no claim any more."""
    try:
        for text in texts:
            c = proving.without(c, text)
    except ValueError:
        return None
    return c


def test_enough_claims_are_proved() -> None:
    assert len(PROVED) >= 69
    textbook = {c.label: c for c in PROVED if c.paper == "textbook"}
    assert set(textbook) == set(LABELS)
    for label, c in textbook.items():
        assert (c.proof is not None) is (RESULTS[label][0] == "written"), label


@pytest.mark.parametrize("c", asked(PROVED, LONG))
def test_kernel_and_verifier_accept_the_derivation_of_this_sentence(c: Claim) -> None:
    checked = by_kernel(c, lines_of(c))
    assert checked is not None
    assert {*checked.hypotheses, *checked.unused} == {*c.assuming, *c.standing}
    assert not {*checked.hypotheses} & {*checked.unused}
    assert by_verifier(c, lines_of(c))


@pytest.mark.parametrize(("c", "every"), once_and_whole(PROVED))
def test_a_moved_right_side_is_not_proved(c: Claim, every: bool) -> None:
    left, relation, _ = sides(c)
    for text in moves(c) if every else moves(c)[:1]:
        other = with_sides(c, left, relation, text)
        assert not accepted(other, moved_lines(c, other)), text


@pytest.mark.parametrize(("c", "every"), once_and_whole(PROVED))
def test_the_relation_turned_round_or_sharpened_is_not_proved(c: Claim, every: bool) -> None:
    left, relation, right = sides(c)
    others = {"<=": ("<", ">=", "=="), ">=": (">", "<=", "=="), "==": ("<", ">"), "<": (">",), ">": ("<",)}[relation]
    if right == "0" and left.startswith("norm2("):  # what is 0 is at least 0, and equal to it
        others = ("<", ">")
    for sign in others if every else others[:1]:
        other = with_sides(c, left, sign, right)
        assert not accepted(other, moved_lines(c, other)), sign


@pytest.mark.parametrize("c", asked(PROVED))
def test_each_hypothesis_that_a_proof_uses_is_needed_by_it_and_no_other(c: Claim) -> None:
    checked = check(c, lines_of(c))
    for text in checked.hypotheses:
        less = without(c, (text,))
        assert less is None or not accepted(less, lines_of(c)), text
    less = without(c, checked.unused)
    if checked.unused and less is not None:
        assert by_kernel(less, lines_of(c)) is not None, checked.unused
        assert by_verifier(less, lines_of(c)), checked.unused


def test_a_hypothesis_that_is_never_needed_is_said() -> None:
    c = claim("textbook/participation-variance")
    (item,) = proving.evidence(c)
    assert "never needed: p_n <= 1" in item.detail
    assert item.data is not None
    assert item.data["proof"]["unused"] == ["p_n <= 1"]


WHATEVER = {
    "fedavg-svrg/remark-rate/corrected": {"delta"},
    "perm/eq2": {"z_n"},
    "perm/eq2-heterogeneous": {"z_n", "c_n"},
}
"""Definitions of whatever value these claims are true: a step size of any order, which gives no better rate; weights
that are least for some costs, whatever these are."""


@pytest.mark.parametrize("c", asked(c for c in PROVED if c.where))
def test_a_corrupted_definition_is_not_proved(c: Claim) -> None:
    """Each by itself, in a direction in which the claim gets false."""
    for name, text in c.where.items():
        if not re.search(rf"\b{name}\b", " ".join((c.statement, *c.where.values(), *c.assuming))):
            continue  # nothing is said with it
        if name in WHATEVER.get(c.id, ()):
            continue
        vector = read(c.definitions[name], c.vocabulary).shape == "vector"
        left, relation, right = sides(c)  # of a right side smaller ones say more, unless it is taken off there
        shrinks = relation == "<=" and name in right and name not in left and f"- {name}" not in right
        new = f"2*({text})" if vector else f"({text})/1000" if shrinks else f"2*({text}) + 1"
        assert not accepted(replace(c, where={**c.where, name: new}), lines_of(c)), name


@pytest.mark.slow
@pytest.mark.parametrize("c", [c for c in PROVED if c.proof is None], ids=lambda c: c.id)
def test_a_check_finds_what_is_kept_and_nothing_for_a_claim_that_says_more(c: Claim) -> None:
    again = searched(c)
    assert again is not None
    assert accepted(c, again)
    left, relation, _ = sides(c)
    for text in moves(c):
        assert "proved" not in outcomes(with_sides(c, left, relation, text)), text


@pytest.mark.slow
@pytest.mark.parametrize("c", [c for c in PROVED if c.proof is not None], ids=lambda c: c.id)
def test_a_written_derivation_is_not_found_for_a_claim_that_says_more(c: Claim) -> None:
    left, relation, _ = sides(c)
    for text in moves(c):
        assert "proved" not in outcomes(replace(with_sides(c, left, relation, text), proof=None)), text


@pytest.mark.parametrize("paper", sorted({c.paper for c in PROVED}))
def test_the_verifier_accepts_every_derivation_too(paper: str) -> None:
    """Long ones among them, which have limits of their own."""
    assert not [c.id for c in PROVED if c.paper == paper and not verified(c, lines_of(c))]


WRITTEN = [c for name in catalog.COLLECTIONS for c in catalog.claims(name) if c.proof is not None]


@pytest.mark.parametrize("c", WRITTEN, ids=lambda c: c.id)
def test_both_accept_every_derivation_that_is_written_for_a_landmark(c: Claim) -> None:
    assert outcomes(c) == {"proved"}


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


# --- what a reader may write -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("(1-delta*mu)**2 <= 1-delta*mu", True),
        ("(1-delta*mu)**2 < 1-delta*mu", False),  # delta == 1/mu
        ("1-delta*mu >= (1-delta*mu)**2", True),
        ("1-delta*mu > (1-delta*mu)**2", False),
        ("delta < delta", False),
        ("delta <= delta", True),
        ("delta < delta + mu", True),
        ("delta > delta + mu", False),
        ("delta*mu <= 1", True),
        ("delta*mu <= 1/2", False),
        ("exp(delta) >= 1", True),
        ("exp(delta) <= 1", False),
        ("exp(delta) >= 1 + delta + delta**2/2", False),  # true, and beyond the method: silent
    ],
)
def test_claims_about_numbers(statement: str, expected: bool) -> None:
    one = claim("a", statement, assuming=("delta <= 1/mu",))
    assert ("proved" in outcomes(one)) is expected


def test_a_number_s_hypothesis_is_used_and_needed() -> None:
    one = claim("a", "delta*mu <= 1", assuming=("delta <= 1/mu",))
    (found,) = proving.evidence(one)
    assert found.data is not None
    assert found.data["sentence"]["hypotheses"] == ["delta <= 1/mu"]
    assert "proved" not in outcomes(replace(one, assuming=()))


def test_a_geometric_sum_is_proved_by_induction_over_its_own_right_side() -> None:
    c = claim("fedavg-svrg/lemma-v1-eq13")
    left = "sum_k(alpha**k)"
    assert c.statement == f"{left} == (1 - alpha**K)/(1 - alpha)"
    assert "proved" in outcomes(c)
    for right in ("(1-alpha**K)/(1-alpha) + 10**6", "(1-alpha**(K+1))/(1-alpha)", "K", "1/(1-alpha)"):
        assert "proved" not in outcomes(replace(c, statement=f"{left} == {right}"))
    assert "proved" in outcomes(replace(c, statement=f"{left} == 1/(1-alpha) - alpha**K/(1-alpha)"))
    without = replace(c, assuming=())  # where alpha is 1, both say nothing
    assert "proved" in outcomes(without)
    assert by_verifier(without, lines_of(c))


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


@pytest.mark.parametrize(
    ("most", "verdict", "said"), [("0.36", "refuted", "refuted"), ("0.4", "proved", "proved, citing A Book")]
)
def test_what_stands_on_a_citation_says_so_and_is_tried_like_what_is_not_proved(most, verdict, said, tmp_path):
    """a*K*(1 - a)**K comes to 1/e: a source that says less is broken late, from K = 26 on."""
    proof = ({"name": "all", "by": "citation", "source": "A Book"},)
    result = examine(
        claim("one", f"a*K*(1 - a)**K <= {most}", assuming=("a < 1",), proof=proof), quick=True, out=tmp_path
    )
    assert (result.verdict, result.said) == (verdict, said)
