"""False neighbours of claims: true ones are not called false, and false ones are killed."""

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.language import noise_ball, scaffold, vectors
from tests.validate.command_line import call, complaint, printed
from theory import algorithm, claim
from theory.claim import Claim
from theory.program.altering import algorithm_of, altered
from theory.sentence import parse_expression, signed_terms, text_of
from validate import verifier
from validate.instances.occasion import occasion
from validate.mutate import Finding, MutationReport, kill_rate, mutate, mutate_all, summary
from validate.mutate.findings import UNBROKEN
from validate.mutate.judged import QUICK, finding_of
from validate.mutate.neighbours import Neighbour, moves, neighbours, places, put
from validate.mutate.oracle import Oracle

LANGUAGE = Path(__file__).parents[1] / "language"
TRUE = (vectors.JENSEN, vectors.YOUNG)
LONG = (vectors.COCOERCIVE, noise_ball.ONE_STEP)
FEW = 9
"""Mutants, one of every kind, of a claim about a run; all of them in slow tests."""


@cache
def report(one: Claim, every: bool) -> MutationReport:
    return mutate(one, quick=True, mutants=None if every or one.of is None else FEW)


LARGE = [pytest.param(one, True, marks=pytest.mark.slow, id=one.id) for one in (*LONG, scaffold.STAYS)]


@pytest.mark.parametrize(("one", "every"), [*(pytest.param(one, False, id=f"{one.id}-few") for one in TRUE), *LARGE])
def test_what_is_false_is_killed_and_the_claim_stands(one: Claim, every: bool) -> None:
    found = report(one, every)
    assert found.stands
    assert found.false >= 5
    assert found.kill_rate is not None
    assert found.kill_rate >= 0.9


@pytest.mark.parametrize("claims", [TRUE, pytest.param(LONG, marks=pytest.mark.slow)], ids=["short", "long"])
def test_a_false_neighbour_is_broken_exactly_by_the_instance_that_is_shown(claims: tuple[Claim, ...]) -> None:
    for finding in (f for one in claims for f in report(one, False).findings):
        assert finding.false == (finding.counterexample is not None)
        if finding.counterexample is None:
            continue
        shown: Any = finding.counterexample.to_json()
        at = occasion(finding.mutant.claim, shown["instance"])
        assert at.unmet == (), finding.mutant.name
        again = [row for row in at.measured.broken if dict(row.at) == shown["index"]]
        assert again, finding.mutant.name
        if isinstance(shown["left"], Fraction):
            assert (again[0].left, again[0].right) == (shown["left"], shown["right"])


@pytest.mark.parametrize("quick", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_true_neighbours_are_not_called_false(quick: bool) -> None:
    """By theorems: a bound from above that is larger, fewer hypotheses than a lemma needs, another order of clients.

    In slow tests the check is the full one, of all mutants, and of a claim about a run.
    """
    true = {
        vectors.JENSEN: ("norm2(mean_n(a_n)) <= 2*mean_n(norm2(a_n))", "norm2(mean_n(a_n)) <= max_n(norm2(a_n))"),
        vectors.YOUNG: ("norm2(a) <= (1 + c)*norm2(a) + (1 + 1/c)*norm2(b)",),
    }
    for one, statements in true.items():
        outcomes = {
            f.mutant.claim.statement: f.outcome for f in (report(one, False) if quick else mutate(one)).findings
        }
        for statement in statements:
            assert outcomes[statement] in ("weaker", "not shown false"), statement
    for finding in () if quick else report(noise_ball.ONE_STEP, True).findings:
        if finding.mutant.description.endswith(("times 2, on the right", "times 11/10, on the right")) and (
            finding.mutant.description.startswith(("2*eta", "(1 - eta*mu)"))
        ):
            assert finding.outcome == "weaker", finding.mutant.description


def test_a_claim_that_is_false_does_not_stand() -> None:
    assert not report(vectors.WRONG_WAY, False).stands
    assert not mutate(claim("no-descent", "E(norm2(x[1])) <= norm2(x0)", of=noise_ball.parallel_sgd), quick=True).stands


def test_equal_functions_are_left_out() -> None:
    """Twice the left side is half the right side; a factor 1 is no factor."""
    for one in (vectors.YOUNG, noise_ball.ONE_STEP):
        statements = [neighbour.claim for neighbour in neighbours(one)]
        assert len({(c.statement, tuple(c.where.items()), c.assuming, id(c.of)) for c in statements}) == len(statements)
    with_one = claim("one", "norm2(a + b) <= 2*norm2(a) + 2*1*norm2(b)", vectors=("a", "b"))
    assert all(n.claim.statement != "norm2(a + b) <= 2*norm2(a) + 2*norm2(b)" for n in neighbours(with_one))


def test_every_part_of_a_claim_is_moved() -> None:
    kinds = {one.kind for one in neighbours(noise_ball.ONE_STEP)}
    assert kinds >= {
        "coefficient scaled", "term dropped", "exponent moved", "index moved", "function exchanged",
        "relation turned round", "hypothesis dropped", "hypothesis weakened", "algorithm changed",
    }  # fmt: skip
    found = {one.description: one for one in neighbours(noise_ball.ONE_STEP)}
    longer = found["eta <= 2*1/(2*L) for eta <= 1/(2*L)"]
    assert longer.claim.assuming[-1] == "eta <= 2*1/(2*L)"
    assert not longer.same_instances
    assert found["x[k] at k + 1, on the right"].same_instances
    assert [n.name for n in neighbours(noise_ball.ONE_STEP)][:2] == [
        "noise-ball/one-step/mutant-001", "noise-ball/one-step/mutant-002"
    ]  # fmt: skip


def test_a_definition_in_an_assumption_moves_the_instances() -> None:
    moved = claim(
        "moved", "norm2(x - y) <= room", where={"room": "2*R"}, assuming=("norm2(x - y) <= room",), vectors=("x", "y")
    )
    assert not any(one.same_instances for one in neighbours(moved) if "in room" in one.description)
    free = replace(moved, assuming=())
    assert all(one.same_instances for one in neighbours(free) if "in room" in one.description)


def test_trees() -> None:
    tree = parse_expression("(1 + c)*norm2(a - b) - 3*x[k+1]**2")
    assert [text_of(t) for *_, t in signed_terms(tree)] == ["(1 + c)*norm2(a - b)", "3*x[k + 1]**2"]
    for place in places(tree):
        assert put(tree, place.path, place.node) == tree
    inside = {text_of(p.node) for p in places(tree) if p.vectors}
    assert inside == {"a - b", "a", "b"}
    words = [what for _, what, _ in moves(parse_expression("norm2(x[k])"))]
    assert "x[k] at k + 1" in words
    assert not any("k is" in what or what.startswith("k times") for what in words)


def test_a_sign_that_is_turned_twice_is_the_one_that_was_written() -> None:
    def twin(sign):
        @algorithm
        def step(w, x, *, eta):
            return x - eta * w.mean(w.gradient(x, w.sample()) + sign * w.gradient(x))

        return step.program

    assert [p.body for _, p in altered(twin(-1), (Fraction(-1),))].count(twin(1).body) == 1


def test_programs_with_a_term_less() -> None:
    program = noise_ball.parallel_sgd.program
    found = dict(altered(program, (Fraction(0), Fraction(2))))
    assert len(found) == 4
    still = next(other for words, other in found.items() if words.startswith("the algorithm without (-eta)"))
    assert still.operations == program.operations
    stays = replace(noise_ball.ONE_STEP, statement="norm2(x[k+1] - x0) <= 0", of=algorithm_of(still))
    instance = {"parameters": {"eta": "1/4"}, "problem": {"clients": [[{"h": 1, "a": 1}]]}, "start": 5, "rounds": 2}
    at = occasion(stays, {**instance, "constants": {"L": 1, "mu": 1}})
    assert [row.status for row in at.measured.rows] == ["holds", "holds"]
    moves_on = replace(stays, of=noise_ball.parallel_sgd)
    assert occasion(moves_on, instance).measured.broken
    with pytest.raises(TypeError, match="there is no function to call"):
        algorithm_of(still).function(None, None)


def test_a_factor_that_is_not_positive_is_refused() -> None:
    right = vectors.YOUNG.sentence.right
    with pytest.raises(ValueError, match="attained"):
        neighbours(vectors.YOUNG, ((right, Fraction(0)),))
    with pytest.raises(ValueError, match="attained"):
        neighbours(vectors.YOUNG, ((vectors.JENSEN.sentence.right, Fraction(1, 2)),))


Beginning = tuple[MutationReport, list[Finding]]


@pytest.fixture(scope="module")
def beginning(tmp_path_factory: pytest.TempPathFactory) -> Beginning:
    """As many mutants of a claim as it has kinds, and what was told while they were judged."""
    told: list[Finding] = []
    kinds = {one.kind for one in neighbours(vectors.YOUNG)}
    out = tmp_path_factory.mktemp("mutants")
    return mutate(vectors.YOUNG, quick=True, mutants=len(kinds), judged=told.append, out=out), told


def test_certificates_of_mutants(beginning: Beginning) -> None:
    killed = [f for f in beginning[0].findings if f.killed]
    assert killed
    for finding in killed:
        assert finding.certificate is not None
        data = json.loads(finding.certificate.read_text())
        assert verifier.verify(data).valid
        assert data["statement"] == finding.mutant.claim.statement
        assert data["claim"] == finding.mutant.name


def test_a_claim_is_cut_off_where_its_time_is_over(beginning: Beginning) -> None:
    """What was judged in time is what a run without limit says of the same mutants; each was told at once."""
    found, told = beginning
    assert not found.cut
    assert found.seconds > 0
    assert sorted(f.mutant.name for f in told) == sorted(f.mutant.name for f in found.findings)
    none = mutate(vectors.YOUNG, quick=True, seconds=1e-9)
    assert none.cut
    assert none.findings == ()
    assert none.kill_rate is None


def test_a_beginning_of_the_mutants_has_every_kind(beginning: Beginning) -> None:
    findings = beginning[0].findings
    assert len({f.mutant.kind for f in findings}) == len(findings)


def test_what_only_the_oracle_breaks_is_put_to_the_ordinary_check(monkeypatch: pytest.MonkeyPatch) -> None:
    """A check of no instance at all sees nothing; the ordinary one does, and is not told where."""
    monkeypatch.setattr("validate.mutate.judged.of_the_worst", lambda *_: None)
    blind = replace(QUICK, pool=0, evaluations=0, far=0)
    loose = next(n for n in neighbours(vectors.JENSEN) if n.description.endswith("times 9/10, on the right"))
    alone = finding_of(loose, Oracle(vectors.JENSEN, 0), blind, None)
    assert alone.outcome == "not shown false"
    finding = finding_of(loose, Oracle(vectors.JENSEN, 20), blind, None)
    assert finding.by_oracle
    assert finding.killed
    monkeypatch.setattr("validate.mutate.judged.ORDINARY", blind)
    survivor = finding_of(loose, Oracle(vectors.JENSEN, 20), blind, None)
    assert survivor.outcome == "survived"


def test_where_the_claim_is_broken_its_mutants_are_left_out() -> None:
    assert mutate(vectors.WRONG_WAY, quick=True, standing=True).findings == ()


def test_the_command_on_a_file_and_its_log(tmp_path: Path) -> None:
    log = tmp_path / "mutants.jsonl"
    target = f"{LANGUAGE / 'vectors.py'}:jensen"
    document = printed("mutate", target, "--quick", "--mutants", "4", "--log", str(log))
    detail = document["detail"]
    assert document["id"] == "vectors/jensen"
    assert document["mutants"] == len(detail) == 4
    assert document["false"] == sum(entry["false"] for entry in detail)
    assert document["killed"] == sum(entry["killed"] for entry in detail)
    assert document["kill_rate"] == document["killed"] / document["false"]
    assert document["reasons"].get(UNBROKEN, 0) == sum(entry["reason"] == UNBROKEN for entry in detail)
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    assert sorted(lines, key=lambda e: e["name"]) == sorted(detail, key=lambda e: e["name"])
    assert call("mutate", target, "--quick", "--log", str(tmp_path)).exit_code == 2
    mine = tmp_path / "mine.json"
    mine.write_text("[1, 2]")
    assert "no log of mutants" in complaint(call("mutate", target, "--quick", "--log", str(mine)))
    assert mine.read_text() == "[1, 2]"


@pytest.mark.slow
def test_papers_have_the_claims_that_stand() -> None:
    document = printed("mutate", str(LANGUAGE / "vectors.py"), "--quick", "--mutants", "1")
    shown = {entry["id"] for entry in document["detail"]}
    assert "vectors/young" in shown
    assert not shown & {"vectors/wrong-way", "vectors/without-convexity"}


def test_bad_input() -> None:
    with pytest.raises(ValueError, match="is no sentence, so it has no mutants"):
        mutate("fedmim/remark-iv3", quick=True)
    with pytest.raises(ValueError, match="what no formula says"):
        mutate("perm/gen", quick=True)
    with pytest.raises(ValueError, match="textbook/nothing"):
        mutate("textbook/nothing", quick=True)
    with pytest.raises(ValueError, match="nobody"):
        mutate_all("nobody", quick=True)
    with pytest.raises(ValueError, match="mutants=0"):
        mutate(vectors.YOUNG, mutants=0)
    with pytest.raises(ValueError, match="seconds=0"):
        mutate(vectors.YOUNG, seconds=0)


# --- the command, on reports that were not computed -------------------------------------------------------------------


def faked(*outcomes: Any) -> Callable[..., MutationReport]:
    """A report with these outcomes, in place of a computed one."""
    findings = [
        Finding(Neighbour(f"vectors/young/mutant-{i:03d}", vectors.YOUNG, "term dropped", "moved"), outcome,
                outcome == "survived")
        for i, outcome in enumerate(outcomes, 1)
    ]  # fmt: skip
    return lambda label, **options: MutationReport(str(label), True, tuple(findings))


def test_a_paper_has_one_summary(monkeypatch: pytest.MonkeyPatch) -> None:
    one = faked("killed", "survived")
    monkeypatch.setattr("validate.mutate.mutate_all", lambda paper, **options: [one("a/b"), one("a/c")])
    result = call("mutate", "textbook", "--json")
    found = json.loads(result.stdout)
    assert result.exit_code == 1
    assert (found["id"], found["mutants"], found["false"], found["killed"]) == ("textbook", 4, 4, 2)
    assert [d["id"] for d in found["detail"]] == ["a/b", "a/c"]
    text = call("mutate", "textbook").stdout
    assert "survived: " in text
    assert "kill rate" in text


def test_a_summary_counts_the_oracle_apart() -> None:
    reports = [faked("killed", "survived")("vectors/young")]
    assert summary("x", reports)["oracle"] == {"false": 1, "killed": 0, "kill_rate": 0.0}
    assert kill_rate([]) is None
