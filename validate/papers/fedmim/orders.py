"""The remarks of fedmim: orders of the bounds, what is left of them when they are put right, and what B does."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from theory.claim import Claim
from validate.algebra import same
from validate.papers.fedmim.lemmas import Lines, find, steps
from validate.verdict import Evidence


def orders(claim: Claim) -> Evidence | None:
    """The lines of a remark that speak of orders in one variable, by algebra; None where it has none."""
    from theory.catalog import claim as by_id
    from validate.replay.line_checks import by_order

    found = {s.label: by_order(s.order, by_id) for s in claim.steps if s.order is not None}
    if not found:
        return None
    wrong = {label: finding.detail for label, finding in found.items() if finding.outcome != "proved"}
    data = {"lines": {label: finding.detail for label, finding in found.items()}}
    if not wrong:
        return Evidence("order", "holds", f"{', '.join(found)}: as claimed, by algebra", data=data)
    text = "; ".join(f"{label}: {detail}" for label, detail in wrong.items())
    return Evidence("order", "fails", f"by algebra, of the bound itself: {text}", data=data)


def speed_up_in_s() -> Lines:
    """Remark IV.1 put right: (35) at eta_l = r/K with r = sqrt(S/T), so T = S/r^2 and 1/sqrt(ST) = r/S."""
    second = "9*A**2*K*L**2*s + 72*A*K**2*L**2*G2 + 3*L**2*V*C"
    return {
        "r/S is the root of 1/(ST)": same("(r/S)**2", "1/(S*(S/r**2))"),
        "the start": same("F/(r/K*lam*K*(S/r**2))", "r/S*F/lam"),
        "first order": same("(r/K*L*s/S + 4*(r/K)*K*L*G2/S)/lam", "r/S*(L*s/K + 4*L*G2)/lam"),
        "second order, r^2 = S/T": same(
            f"(r/K)**2*({second})/lam", "r**2*(9*A**2*L**2*s/K + 72*A*L**2*G2 + 3*L**2*V/K**2*C)/lam"
        ),
        **steps(find("remark-iv2/corrected"), "V over K^2"),
    }


def speed_up_under_pl() -> Lines:
    """Remark IV.2 put right."""
    return steps(find("remark-iv2/corrected"))


RATES: dict[str, tuple[Callable[[], Lines], str]] = {
    "remark-iv1/corrected": (
        speed_up_in_s,
        "eta_l put into (35), whose terms are 1/sqrt(ST) and S/T times what does not grow with K, for a C that does "
        "not either",
    ),
    "remark-iv2/corrected": (
        speed_up_under_pl,
        "eta_l put into (39), whose terms are 1/(mu ST), ell/(mu ST) and ell^2/(mu T)^2 times what does not grow with "
        "K, for a C that does not; ell >= 1 is the theorem's condition on the step",
    ),
}


def influence_of_b(claim: Claim) -> list[Evidence]:
    """Remark IV.3: B enters by (33), and cannot be left out of it."""
    h, eta, lam, T = (Fraction(1), Fraction(-9, 10)), Fraction(3, 16), Fraction(49, 100), 109
    mean = sum(h) / 2
    growth = sum((1 - eta * s) ** 2 for s in h) / 2
    left = min(mean**2 * growth**t for t in range(T))
    right = mean / 2 / (eta * lam * T)
    ratio = sum(s**2 for s in h) / 2 / mean**2
    shown = all(steps(claim).values())
    text = (
        f"B is in no term, but (33) makes the first term of (7) at least 128 L B^2 (f_0-f_*)/T"
        f"{' (by algebra)' if shown else ''}; and without a condition on B the theorem is false: f = x^2/2 and -(9/20) "
        f"x^2, S = K = 1, eta_l = 3/16, B^2 = {ratio}, T = {T}: left side {left}, right side {float(right):.6g} "
        "(theorem-iv1-eq7, with a certificate). 'Weakly' is no formula, so there is nothing to certify"
    )
    broken = shown and left > right
    return [Evidence("exact", "fails" if broken else "undecided", text, data={"left": str(left), "right": str(right)})]
