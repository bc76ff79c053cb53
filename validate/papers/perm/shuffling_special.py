"""Evidence about the claims on shuffling beyond the survey: proofs, certificates, runs of the whole algorithms."""

from __future__ import annotations

from pathlib import Path

from theory.claim import Claim
from validate.algebra import checked_lines
from validate.papers.perm.shuffling_proofs import PROOFS
from validate.papers.perm.shuffling_refutations import BROKEN, refute, refute_identity, refute_products
from validate.papers.perm.shuffling_runs import personal_sides
from validate.papers.perm.shuffling_scenarios import personal
from validate.verdict import Evidence

Found = tuple[list[Evidence], Path | None]

PERSONAL_RUNS = 60
MEASURED = {  # label -> whether it is about Algorithm 2, whether its step has the logarithm
    "theorem-2/corrected": (False, False),
    "theorem-2/corrected-2": (False, True),
    "theorem-3/corrected": (True, False),
}


def special_evidence(claim: Claim, out: Path) -> Found:
    """Evidence that is particular to a claim, and the path of a certificate when it refutes the claim."""
    if claim.label in BROKEN:
        return refute(claim, out)
    if claim.label in ("proposition-1", "lemma-7"):
        return refute_identity(claim, out)
    if claim.label == "proposition-2":
        return refute_products(claim, out)
    if claim.label in MEASURED:
        return [_personal(claim)], None
    if claim.label == "theorem-3":
        return [_hidden_constants()], None
    proof = PROOFS.get(claim.label)
    return ([checked_lines(proof[0](), proof[1])] if proof is not None else []), None


def _personal(claim: Claim) -> Evidence:
    """Runs of the two-stage or the single-loop algorithm with weights from their own descent."""
    single, logarithmic = MEASURED[claim.label]
    sides = personal_sides(claim, list(personal(PERSONAL_RUNS, single=single, logarithmic=logarithmic)))
    broken = [left / right for left, right in sides if left > right * (1 + 1e-9)]
    tightness = max((left / right for left, right in sides), default=None)
    data = {"runs": len(sides), "broken": len(broken)}
    what = f"{len(sides)} runs on scalar quadratics, the global model without noise, expectations over all orders"
    if not sides:
        return Evidence("exact", "undecided", f"no run satisfies its hypotheses: {what}", data=data)
    if broken:
        return Evidence("exact", "fails", f"broken in {len(broken)} of {what}", tightness=tightness, data=data)
    text = f"never broken in {what}; left side at most {tightness:.3g} times the right side"
    return Evidence("exact", "holds", text, tightness=tightness, data=data)


def _hidden_constants() -> Evidence:
    """Theorem 3's step, with the constant of its Theta, against Lemma 11's condition."""
    from theory.catalog import claim as find
    from theory.feasible import Limits, feasible_relations

    relations = ["mu <= L", "eta == c_eta*log(N*K*R**3)/(mu*R)", "c_eta >= 1", "eta <= 1/(4*N*K*R*L)"]
    domains = {p.name: p.domain for p in find("perm/theorem-2").parameters}
    found = feasible_relations(relations, domains, limits=Limits(boxes=2000))
    text = (
        "its O(.) and Theta hide all constants. With Lemma 11's eta <= 1/(4NKRL), on which it rests, a step c "
        "log(NKR^3)/(mu R) needs 4 c N K kappa log(NKR^3) <= 1: "
        + ("proved to be impossible for c >= 1" if found.outcome == "empty" else "not decided for c >= 1")
        + ", and for any c > 0 it is so for all R beyond exp(1/(12 c)). What it rests on is vacuous "
        "(theorem-3-explicit) or refuted (lemmas 14 and 15)"
    )
    return Evidence("hypotheses", "undecided", text, data=found.to_json())
