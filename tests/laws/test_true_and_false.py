"""Claims as readers write them, 621 of them, with what is true of each in the comment above it.

The comment says TRUE, FALSE or VACUOUS, and why. Some are checked always, all of them where slow tests run.
"""

import re
from pathlib import Path

import pytest

from theory.claim import Paper
from validate.examine import examine

FOLDER = Path(__file__).parent.parent / "language" / "true_and_false"
LABELLED = re.compile(r"# (TRUE|FALSE|VACUOUS)\b.*?\bclaim\(\s*\"([\w-]+)\"", re.DOTALL)
WORDS = {"TRUE": ("proved", "supported"), "FALSE": ("refuted",), "VACUOUS": ("vacuous",)}
OPEN = {
    "counted/K": "its only number has two values, which earn no support",
    "mixed/flat": "its assumptions leave constants only, so that every start is a minimiser",
    "unheld/partial": "beyond 200 clients, of whom two are drawn: it is seen to grow, and undecided",
    "unheld/no-pell": "it is false between integers: that none was met tells nothing of larger ones",
    "chances/tail-2": "functions that curve and are least at the start are drawn in one dimension only",
    "chances/maximal-4": "samples whose gradients cancel are hardly drawn, and nothing moves without",
    "gossip/agree-largest": "of single clients nothing is said where no network breaks it: few are tried",
    "drafts/turns": "a quick check does not come to hundreds of turns in each of several rounds",
    "remembered/signs-whole": "of signs and coins d and K grow together to 8 only, and left over right does too",
    "outsiders/clipped": "a quick check climbs from lean quadratics, not far enough; written otherwise it is refuted",
}
QUICK = (
    "undrawn/any-graph",
    "zeros/chances-by-squares",
    "zeros/budget-of-turns",
    "zeros/third-powers",
    "zeros/mean-of-roots",
    "zeros/batch-of-eight",
    "mixed/three-hundred",
    "knees/four-each",
    "functions/signs",
    "far/harmonic-seven",
    "mixed/compound",
    "mixed/heavy",
    "mixed/light",
    "mixed/strict",
    "willing/overbooked",
    "willing/thompson-split",
    "willing/one-coin-averaged",
    "corners/downhill",
    "ends/end",
    "ends/end-reached",
    "ends/both-ends",
    "ends/end-and-nothing",
    "ends/weightless",
    "ends/largest-weight",
    "ends/steps-differ",
    "ends/middle-steps",
    "functions/perturbed",
    "functions/more-than-half",
    "functions/both",
    "spread/split",
    "spread/own-distance-swapped",
    "spread/balance",
    "weights/weighted-mean",
    "weights/four-obtuse",
    "weights/thin-line",
    "numbers/one-point",
    "numbers/thin",
    "numbers/basel-late",
    "variates/cold-stays",
    "gossip/agree-faster",
    "gossip/agree-largest-squared",
    "outsiders/fast-gossip",
    "largest/memory-light",
    "batches/twice-same",
    "cohort/replaced-finite",
    "tricky/last-is-least",
    "lines/trapezoid-sharper",
    "beyond/logarithm",
    "beyond/count",
    "tied/bessel",
    "tied/parseval",
    "tied/normed-less",
    "tied/steep",
    "counted/kas-noproof",
    "counted/kdom",
    "inverses/i11",
    "sums/maxmin2",
    "steps/varb3",
    "drawn/part2",
    "unheld/ridge",
    "unheld/ridge-beyond",
    "unheld/pell",
    "unheld/voted",
    "crowds/from-xstar-less",
    "crowds/mean-is-nearer-by-a-tenth",
    "crowds/ninety-of-ten",
    "crowds/share-of-d",
    "crowds/strong-growth",
    "crowds/ascent",
    "crowds/steeper",
    "crowds/flatter",
    "narrow/square",
    "narrow/half",
    "narrow/twice",
    "narrow/powers",
    "narrow/heavy",
    "narrow/long-step-falls",
    "narrow/shares",
    "narrow/condition",
    "narrow/condition-turned",
    "drafts/turns-at-half",
    "drafts/first-round",
    "drafts/passes",
    "drafts/signs",
    "drafts/roots",
    "remembered/lengths",
    "remembered/falls",
    "shares/third",
    "shares/wells-of-seven",
)


def labelled() -> dict[str, tuple[str, object]]:
    """By ``file/label``: what is true of the claim, and the claim."""
    found = {}
    for path in sorted(FOLDER.glob("*.py")):
        text = path.read_text(encoding="utf-8")
        names: dict[str, object] = {}
        exec(compile(text, str(path), "exec"), names)
        paper = names["PAPER"]
        assert isinstance(paper, Paper)
        truths = {label: truth for truth, label in LABELLED.findall(text)}
        assert list(truths) == [claim.label for claim in paper], path.name
        found |= {claim.id: (truths[claim.label], claim) for claim in paper}
    return found


CLAIMS = labelled()


def test_every_claim_is_there():
    truths = [truth for truth, _ in CLAIMS.values()]
    assert [truths.count(truth) for truth in WORDS] == [237, 368, 16]
    assert set(OPEN) | set(QUICK) <= set(CLAIMS)


def _marked(name: str):
    if name in OPEN:
        return pytest.param(name, marks=[pytest.mark.slow, pytest.mark.xfail(reason=OPEN[name], strict=True)])
    return pytest.param(name, marks=[] if name in QUICK else [pytest.mark.slow])


@pytest.mark.parametrize("name", [*map(_marked, CLAIMS)])
def test_a_claim_gets_the_word_that_is_true_of_it(name, tmp_path):
    truth, claim = CLAIMS[name]
    result = examine(claim, quick=True, out=tmp_path)
    assert result.verdict in WORDS[truth], (result.covered, result.evidence[0].detail)
    if truth == "FALSE":
        assert result.origin in ("pool", "search", "worst case")
