"""Evidence that only some of open-fl's claims about Adam need: feasibility, algebra, and refutations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from theory.claim import Claim
from validate.algebra import checked_lines, holds
from validate.papers.open_fl import adam_communication as communication
from validate.papers.open_fl import adam_readings as readings
from validate.verdict import Evidence, Outcome

Found = tuple[list[Evidence], Path | None]


def special_evidence(claim: Claim, out: Path) -> Found:
    """Evidence that is particular to a claim, and the path of a certificate when it refutes the claim."""
    if claim.label in communication.INSTANCES:
        return communication.refutation(claim, out)
    if claim.label in readings.EVIDENCE:
        return [*readings.EVIDENCE[claim.label](claim)], None
    find = _ALGEBRA.get(claim.label)
    return ([find(claim)] if find is not None else []), None


def _identities(how: str, lines: Mapping[str, tuple[str, str]], more: Mapping[str, bool] | None = None) -> Evidence:
    """Lines that all have to be identities."""
    from validate.algebra import same

    found = {name: same(*sides) for name, sides in lines.items()} | dict(more or {})
    return checked_lines(found, how)


def _corrected(claim: Claim) -> Evidence:
    """||u + v + w|| <= A + B + C from ||u|| <= A, ||v|| <= B, ||w|| <= C, for all of them at once."""
    gap = "(A+B+C)*(u**2/A + v**2/B + w**2/C) - (u+v+w)**2"
    squares = "(B*u-A*v)**2/(A*B) + (C*u-A*w)**2/(A*C) + (C*v-B*w)**2/(B*C)"
    lines = {
        "three lengths, in each coordinate": (gap, squares),
        "their sum": (claim.right or "0", "sigma/mu + r + eta*sigma/sqrt(eps)"),
    }
    return _identities(
        "||x^k - x*|| <= ||grad f(x^k)||/mu <= sigma/mu, ||x*|| <= r, and the step is at most eta ||h||/sqrt(eps) "
        "with h a "
        "convex combination of vectors of length at most sigma; the lengths add up, for all parameters",
        lines,
    )


def _sufficient(claim: Claim) -> Evidence:
    """|u+s|^2 <= (1+t)|u|^2 + (1+1/t)|s|^2 with t = r/(R-r), and |u|^2 <= R^2 - 2rR in expectation."""
    (step,) = [s for s in _steps("theorem-3") if s.label == "(18)"]
    lines = {
        "weighted square, in each coordinate": ("(1+t)*u**2 + (1+1/t)*s**2 - (u+s)**2", "(t*u-s)**2/t"),
        "what is left, R = r + w": ("(r+w)**2 - ((r+w)*((r+w)**2-2*r*(r+w))/w + (r+w)*r)", "(r+w)*r**2/w"),
    }
    assert step.claim == claim.id
    return _identities(
        "||x^k - x*|| <= R + r puts (18) into (17): E||x^{k+1} - x*||^2 <= R^2 - 2rR, so E||x^{k+1}||^2 <= R^2 - R "
        "r^2/(R-r); (18) with a positive offset gives R > 2r, and r = 0 is plain",
        lines,
    )


def _radius(claim: Claim) -> Evidence:
    """(18) is q(R) >= 0, q(R) = (1-a)R^2 - 2(1+a) r R - (a r^2 + K); its roots have a product <= 0."""
    import sympy

    a, r, K, R = sympy.symbols("a r K R", nonnegative=True)
    q = (1 - a) * R**2 - 2 * (1 + a) * r * R - (a * r**2 + K)
    printed = (1 + a) / (1 - a) * r + sympy.sqrt((1 + 3 * a) / (1 - a) ** 2 * r**2 + K / (1 - a))
    condition = R**2 - 2 * r * R - a * (R + r) ** 2 - K
    other = 2 * (1 + a) * r / (1 - a) - printed  # the roots' sum less the printed one
    return _identities(
        "(18) is q(R) >= 0 with q a parabola that opens upwards as kappa C1 < 1 and has q(0) <= 0, so it holds from "
        "its "
        "one root in [0, inf) on, which is (19)",
        {},
        {
            "(18) is q >= 0": sympy.expand(condition - q) == 0,
            "(19) is a root": sympy.simplify(q.subs(R, printed)) == 0,
            "the product of the roots is q(0)/(1-a)": sympy.simplify(printed * other - q.subs(R, 0) / (1 - a)) == 0,
        },
    )


def _parts(claim: Claim) -> Evidence:
    """(21), coordinate by coordinate."""
    (step,) = [s for s in _steps("lemma-5") if s.claim == claim.id]
    found = bool(holds(step, {}))
    return _identities("h^{k+1} and two inverse roots put in, coordinate by coordinate", {}, {"(21)": found})


def _second_part(claim: Claim) -> Evidence:
    lines = {"two samples, in each coordinate": ("-(1-b)*(f*D*(f+e)/2 + f*D*(f-e)/2)", "-(1-b)*D*f**2")}
    return _identities("linear in the sampled gradient, whose mean is grad f(x^k)", lines)


def _third_part(claim: Claim) -> Evidence:
    lines = {
        "a coordinate": ("sigma2*(D-E) - (-f*(E-D)*h)", "(D-E)*(sigma2 - f*h)"),
        "f h <= sigma^2": ("(f**2+h**2)/2 - f*h", "(f-h)**2/2"),
    }
    return _identities("D >= E as vhat never falls, and |f_i|, |h_i| <= sigma", lines)


def _step_length(claim: Claim) -> Evidence:
    """h^2 <= A vhat with A = (1-b1)^2/((1-b2)(1-b1^2/b2)), by induction; (1-b1)^2 <= 1 is then left out."""
    A = "((1-b1)**2/((1-b2)*(1-b1**2/b2)))"
    lines = {
        "h to h+": (
            f"{A}*(b2*v + (1-b2)*g**2) - (b1*h + (1-b1)*g)**2",
            f"b2*({A}*v - h**2) + ((b2-b1**2)*h - b1*(1-b1)*g)**2/(b2-b1**2)",
        ),
    }
    return _identities(
        "by induction over the steps, in each coordinate: h^2 <= (1-beta1)^2/((1-beta2)(1-beta1^2/beta2)) vhat, as "
        "vhat^{k+1} >= beta2 vhat^k + (1-beta2) g^2; this is (1-beta1)^2 times the printed bound, or less",
        lines,
    )


def _above(claim: Claim) -> Evidence:
    """(15): Sigma = d/s + u and A = v - sigma^2/q with u, v >= 0; s = sqrt(eps+sigma^2), q = sqrt(eps)."""
    left = "b*(d/s + u) + c*(v - sigma2/q) + (c*sigma2/q - b*d/s)"
    how = "Lyap + C3 - (f - f*) = b u + c v >= 0, u and v what the bounds on the two terms leave; then strong convexity"
    return _identities(how, {"Lyap + C3 - gap": (left, "b*u + c*v")}, _proved("theorem-3", "strong convexity"))


def _below(claim: Claim) -> Evidence:
    """(16): Sigma = d/q - u and A = sigma^2/q - v with u, v >= 0."""
    left = "(c*sigma2/q + b*d/q) - b*(d/q - u) - c*(sigma2/q - v)"
    how = "C4 - Lyap + (f - f*) = b u + c v >= 0, u and v what the bounds on the two terms leave; then smoothness"
    return _identities(how, {"gap - Lyap + C4": (left, "b*u + c*v")}, _proved("theorem-3", "smoothness"))


def _contraction(claim: Claim) -> Evidence:
    """(14) less the first line of (26), as a sum of terms that are not negative.

    The weighted square is G/s + u1, the squared gradient G = 2 mu gap + u2, Sigma = d/q - u3, A = sigma^2/q - u4, all u
    >= 0, and m = 1/(1-beta1), so that beta1 = 1 - 1/m.
    """
    b, c = "(eta*sigma2*m)", "(eta*(m-1))"
    lyapunov = f"(gap + {b}*(d/q - u3) + {c}*(sigma2/q - u4))"
    constant = "2*mu*eta**2*sigma2*d/(q*s)*(2*m-1)"  # C2 less its second term, which the two lines share
    left = f"-2*mu*eta/s*{lyapunov} + {constant} + eta*((2*mu*gap + u2)/s + u1)"
    right = f"2*mu*eta/s*(eta*sigma2*(m-1)*(d-1)/q + {b}*u3 + {c}*u4) + eta*(u1 + u2/s)"
    lines = {"C1 Lyap + C2 - (26)": (left, right)}
    how = "the right side exceeds that of (26) by terms that are not negative, as d >= 1; (26) is proved on its own"
    return _identities(how, lines, _proved("lemma-5", "(26), fourth line"))


def _theorem(claim: Claim) -> Evidence:
    """(17) with ||x - x*|| <= R + r and R of (19), then (18)."""
    found = {s.label: bool(holds(s, {})) for s in _steps("theorem-3") if s.label == "(19)"}
    how = (
        "(17), (18) and (19) are proved as claims of their own, and (5) is what they give, for two local steps in a "
        "row, "
        "a fresh optimiser, beta1^2 < beta2 and C1 > 0"
    )
    return _identities(how, {}, found)


def _proved(label: str, line: str) -> dict[str, bool]:
    """Whether a proof's line about vectors holds, at its settings where it has some."""
    from validate.replay.line_checks import by_vectors

    (step,) = [s for s in _steps(label) if s.label == line]
    assert step.vectors is not None
    return {line: by_vectors(step.vectors).outcome in ("proved", "holds")}


def _from_lines(claim: Claim) -> Evidence:
    """(17), (25) and (26), as the combination of earlier lines that the proof names, each of them proved."""
    from theory.catalog import claim as find
    from validate.replay.inference import infer

    of = "theorem-3" if claim.label.startswith("eq17") else "lemma-5"
    lines = _steps(f"{of}/with-moment-factors")
    (step,) = [s for s in lines if s.claim == claim.id]
    of_line = {s.label: find(s.claim) for s in lines if s.claim is not None}
    domains = {p.name: p.domain for one in of_line.values() for p in one.parameters}
    found = infer(step, of_line, domains)
    assert found is not None
    outcome: Outcome = "holds" if found.answer == "follows" else "undecided"
    return Evidence("algebra", outcome, f"the line of its proof: {found.detail}; those are claims of their own")


def _steps(label: str) -> tuple[Any, ...]:
    from theory.catalog import claim

    return claim(f"open-fl/{label}").steps


_ALGEBRA: dict[str, Callable[[Claim], Evidence]] = {
    "theorem-3/corrected": _corrected,
    "theorem-3/with-moment-factors": _theorem,
    "lemma-5/with-moment-factors": _contraction,
    "eq15": _above,
    "eq16": _below,
    "eq17/with-moment-factors": _from_lines,
    "eq18": _sufficient,
    "eq19": _radius,
    "eq21": _parts,
    "eq23": _second_part,
    "eq24": _third_part,
    "eq25/step-length": _step_length,
    "eq25/with-moment-factors": _from_lines,
    "eq26/with-moment-factors": _from_lines,
}
