"""Kind "order": a family of instances, one for each K = j^q, on which a claimed order K^-a fails.

What remains for the reader: the claim is that order along that schedule, and the hypotheses are those of the paper.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from .checks import Checks, Report
from .functions import Function
from .hypotheses import HEAD, check_hypotheses, check_parameters, head, named, smooth_samples
from .measures import Context, total
from .quadratic_rounds import read_instance
from .reading import FormatError, fields, integer, list_of, number, shown


def verify_order(data: dict[str, Any]) -> Report:
    """A family of instances, one for each K = j^q, on which the claimed order K^-a fails along delta = K^-eps.

    One round with S = M = 1 and one sample a client maps the error e = theta - x* to
    e - (delta/N) sum_n (1_n/p_n) h_n (e + x* - a_n). Started at x*, it has mean 0 for ever, and its second moment m_k
    obeys m_{k+1} = A m_k + B, so m_k = m_inf (1 - A^k) with m_inf = B/(1-A), and for 0 < A < 1 the average of m_k over
    k < K is at least m_inf (1 - 1/(K (1-A))). The squared gradient norm is the squared curvature times e^2.
    """
    extra = " claimed_exponent epsilon base contraction noise constant growth from"
    fields(data, "the certificate", HEAD + extra, "definitions note")
    checks = Checks()
    given = head(data)
    claimed, eps = number(data["claimed_exponent"], "claimed_exponent", 0), number(data["epsilon"], "epsilon", 0)
    q = integer(data["base"], "base", 1, 24)
    growth, j0 = integer(data["growth"], "growth", 1, 24), integer(data["from"], "from", 1, 10**6)
    c = number(data["constant"], "constant", 0, open_low=True)
    if (q * eps).denominator != 1 or (q * claimed).denominator != 1 or max(q * eps, q * claimed) > 24:
        raise FormatError("base times epsilon and base times claimed_exponent must be integers up to 24")
    instance = read_instance(data["instance"], rounds=1, step="1")
    N, hbar = len(instance.clients), instance.curvature
    simple = instance.S == instance.M == 1 and all(len(x.h) == 1 for x in instance.clients)
    plain = (instance.aggregation, instance.empty) == ("unbiased", "keep")
    checks.check(simple and plain, "S = M = 1, every client has one sample, and the aggregation is unbiased")
    checks.check(hbar > 0, f"f has the curvature {shown(hbar)} > 0")
    checks.check(eps > 0, f"the step is delta = K^-{eps} = j^-{q * eps} at K = j^{q}")
    if not checks.valid:
        return Report(False, tuple(checks.lines))
    optimum = instance.linear / hbar
    checks.check(instance.theta0 == optimum, f"the start is the minimiser {shown(optimum)}")
    # E (1_n/p_n)^2 = 1/p_n, so the participation adds to the mean step the variance below
    noise = [(1 / x.p[0] - 1) / N**2 * x.curvature**2 for x in instance.clients]
    A = [Fraction(1), -2 * hbar, hbar**2 + total(noise)]  # in powers of delta
    gaps = [(optimum - x.a[0]) ** 2 for x in instance.clients]
    B = [Fraction(0), Fraction(0), total([v * gap for v, gap in zip(noise, gaps, strict=True)])]
    for name, coefficients in (("contraction", A), ("noise", B)):
        printed = [number(v, name) for v in list_of(data[name], name)]
        text = " + ".join(f"({shown(v)}) delta^{i}" for i, v in enumerate(coefficients) if v)
        checks.check(printed == coefficients, f"{name} {'A' if name == 'contraction' else 'B'} = {text or 0}")
    j = Function([Fraction(0), Fraction(1)])
    delta, K = 1 / j ** int(q * eps), j**q
    a, b = (sum((v * delta**i for i, v in enumerate(part)), Function([Fraction(0)])) for part in (A, B))
    proved = a.never_negative(j0, True) and (1 - a).never_negative(j0, True)
    checks.check(proved, f"0 < A < 1 for every j >= {j0}")
    limit = b / (1 - a)
    below = hbar**2 * limit * (1 - 1 / (K * (1 - a)))
    proved = (below * j ** int(q * claimed) - c * j**growth).never_negative(j0)
    says = f"the mean squared gradient norm over k < K, times K^{claimed}, is at least {c} j^{growth}"
    checks.check(proved, f"{says} for every j >= {j0}, K = j^{q}: it is not O(K^-{claimed})")

    def bounded(bound: Fraction | None) -> bool:
        """E||v||^2 = h_n^2 (m_k + (x* - a_n)^2), and m_k <= m_inf; without a number, any number will do."""
        top = [x.curvature**2 * (limit + gap) for x, gap in zip(instance.clients, gaps, strict=True)]
        ceiling = 1 + max(value.at(j0) for value in top) if bound is None else bound
        return all((ceiling - value).never_negative(j0) for value in top)

    schedule = {"delta": delta, "K": K, "eps": eps, "j": j}
    by_hand = ("eps", "epsilon", "G2")  # the parameters that mean something else along a schedule
    for name in by_hand[:2]:
        if name in given:
            checks.equal(f"parameter {name}", data["parameters"][name], eps)
    if "G2" in given:
        checks.check(bounded(given["G2"]), f"parameter G2 = {shown(given['G2'])} >= E||v||^2 for every j >= {j0}")
    computable = ("L", "mu", "N", "S", "M", "p", "sum_inv_p", "mean_inv_p", "f0_gap")
    context = Context(instance, (), {}, given, computable, smooth_samples(data["hypotheses"]))
    look = named(context, data.get("definitions"), schedule)
    check_parameters(checks, context, by_hand)
    check_hypotheses(checks, data["hypotheses"], context, look, bounded, j0)
    return Report(checks.valid, tuple(checks.lines))
