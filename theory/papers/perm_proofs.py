"""Derivations of what is true of PERM: lines, for every number of clients, turns and rounds."""

from __future__ import annotations

from typing import Any

from theory.derivation import assumed, at, axiom, combined, domain, drawn, induction, power, root, step

Lines = tuple[dict[str, Any], ...]

# --- weights on the simplex ------------------------------------------------------------------------------------------


def level(name: str, weight: str, cost: str, curvature: str) -> dict[str, Any]:
    """No client's marginal cost is below the mean of all clients' by weight."""
    marginal = f"({cost} + 2*({curvature})*{weight})"
    return axiom(name, f"sum_n({weight}*{marginal}) <= {marginal}", "simplex", cost, curvature)


def solved(costs: str, weight: str) -> Lines:
    """That mean, at the weights b_n, less that at a_n."""
    below = f"-sum_n(a_n*({costs} + 2*({weight}/m_n)*a_n))"
    parts = ({"line": "level", "over": ["sum_n"], "times": "b_n"}, {"line": "sum_n(b_n) == 1", "times": below})
    return level("level", "a_n", costs, f"{weight}/m_n"), combined("all", None, parts)


def observed(x: str, z: str, a: str, zeta: str, b: str, told: bool = True) -> Lines:
    """The observation of section 3.1: weights a at costs z, which are those at x, and b at zeta, those at w*."""
    costs, moved, start = "lam/m_n", f"({z} - {zeta})", "(first_n(grad(f_n, xstar)) - grad(f_n, xstar))"
    dist2, grown = f"norm2({x} - xstar)", f"(grad(f_n, {x}) - grad(f_n, xstar))"
    apart, ends = f"(first_n{grown} - {grown})", f"(2*{start} + first_n{grown} - {grown})"
    most = f"norm({apart})*norm({ends})"
    return (
        level("of a", a, z, costs),
        level("of b", b, zeta, costs),
        axiom("all of a", f"sum_n({a}) == 1", "simplex", z, costs),
        axiom("all of b", f"sum_n({b}) == 1", "simplex", zeta, costs),
        axiom("largest", "m_n <= max_n(m_n)", "extreme", "m_n", over="max_n"),
        combined(
            "both",
            f"2*lam*sum_n(({a} - {b})**2/m_n) <= -sum_n({moved}*({a} - {b}))",
            [
                {"line": "of a", "over": ["sum_n"], "times": b},
                {"line": "of b", "over": ["sum_n"], "times": a},
                {"line": "all of b", "times": f"-sum_n({a}*({z} + 2*({costs})*{a}))"},
                {"line": "all of a", "times": f"-sum_n({b}*({zeta} + 2*({costs})*{b}))"},
            ],
        ),
        combined(
            "lipschitz",
            f"sum_n(({a} - {b})**2) <= kappa_g**2*sum_n({moved}**2)",
            {"both": "2*kappa_g", "sum_n: largest": f"2*({a} - {b})**2/m_n"},
            {f"sum_n: {a} - {b} + kappa_g*{moved}": "1"},
        ),
        combined(
            "cocoercive",
            f"norm2{grown} <= L*dot({grown}, {x} - xstar)",
            {f"smooth convex f_n ({x}, xstar)": "L", f"smooth convex f_n (xstar, {x})": "L"},
        ),
        combined(
            "near",
            f"norm2({apart}) <= L**2*{dist2}",
            {"cocoercive": "2", "first_n: cocoercive": "2"},
            {f"first_n{grown} + {grown} - L*({x} - xstar)": "1"},
        ),
        axiom("less", f"dot({apart}, {ends}) <= {most}", "cauchy", apart, ends),
        axiom("more", f"-dot({apart}, {ends}) <= {most}", "cauchy", f"-{apart}", ends),
        combined(
            "moved",
            f"{moved}**2 <= L**2*{dist2}*(8*{zeta} + 16*L**2*{dist2})",
            [
                {"line": "less", "times": f"{most} + dot({apart}, {ends})"},
                {"line": "near", "times": f"norm2({ends}) + 2*L**2*{dist2}"},
            ],
            {f"2*{start} - {apart}": f"L**2*{dist2}", "1": f"14*L**4*{dist2}**2"},
        ),
        combined(
            "observation",
            f"sum_n(({a} - {b})**2) <= 4*L**2*kappa_g**2*sum_n(2*{zeta} + 4*L**2*{dist2})*{dist2}" if told else None,
            {"lipschitz": "1", "sum_n: moved": "kappa_g**2"},
        ),
    )


# --- local SGD: Lemmas 4 to 6 ----------------------------------------------------------------------------------------

Y, LOCAL_MEAN, NEXT = "y[k, h]", "mean_n(y[k, h])", "mean_n(y[k, h+1])"
HERE, GRADIENTS_HERE = f"({LOCAL_MEAN})", f"mean_n(grad(f_n, {Y}))"
APART_HERE = f"grad(f_n, {Y}) - grad(f_n, {LOCAL_MEAN})"
NOISE_HERE = f"mean_n(mean_i(E(norm2(grad(f_ni, {Y}) - grad(f_n, {Y})))))"
DISTANCE, SPREAD = f"E(norm2({LOCAL_MEAN} - xstar))", f"mean_n(E(norm2({Y} - {LOCAL_MEAN})))"


def local_step(sentence: str | None = None) -> Lines:
    """Lemma 4: a turn takes the mean nearer to w*."""
    return (
        step(
            "turn",
            f"E(norm2({NEXT} - xstar)) == E(norm2({HERE} - xstar - gamma*{GRADIENTS_HERE})) + gamma**2/N*{NOISE_HERE}",
        ),
        combined(
            "one step",
            sentence,
            {
                "turn": "1",
                f"E mean_n: variance ({Y})": "gamma**2/N",
                f"E mean_n: strongly_convex f_n ({Y}, xstar)": "2*gamma",
                f"E mean_n: above f_n ({Y}, {LOCAL_MEAN})": "2*gamma",
                f"E mean_n: lipschitz-gradient f_n ({Y}, {LOCAL_MEAN})": "2*gamma**2",
                f"E: above f ({LOCAL_MEAN}, {HERE} - grad(f, {LOCAL_MEAN})/L)": "4*gamma**2*L",
                f"E: infimum ({HERE} - grad(f, {LOCAL_MEAN})/L)": "4*gamma**2*L",
                "minimiser": "4*gamma**2*L",
            },
            [
                {"of": f"{Y} - {LOCAL_MEAN}", "over": ["E", "mean_n"], "times": "mu*gamma"},
                {"of": f"{APART_HERE} - mean_n({APART_HERE})", "over": ["E", "mean_n"], "times": "2*gamma**2"},
                {"of": f"mean_n({APART_HERE}) - grad(f, {LOCAL_MEAN})", "over": ["E"], "times": "gamma**2"},
            ],
        ),
    )


def of_zeta() -> Lines:
    """zeta is at least what it is the largest of."""
    one = f"norm2(grad(f_n, {Y}) - grad(f, {Y}))"
    all_ = f"max_n({one})"
    law = f"quantile({all_}, 1)"
    return (
        axiom("clients", f"{one} <= {all_}", "extreme", one, over="max_n"),
        axiom("outcomes", f"{all_} <= {law}", "quantile", all_),
        axiom("turns", f"{law} <= max_h({law})", "extreme", law, over="max_h"),
        axiom("rounds", f"max_h({law}) <= zeta", "extreme", f"max_h({law})", over="max_k"),
        combined("apart", f"{one} <= zeta", {"clients": "1", "outcomes": "1", "turns": "1", "rounds": "1"}),
        combined("not negative", "0 <= zeta", {"apart": "1"}, {f"grad(f_n, {Y}) - grad(f, {Y})": "1"}),
    )


def drifted(sentence: str | None = None) -> Lines:
    """Lemma 5: V_h = (1/N) sum E||y_n - y||^2 grows by 1 + 1/(2H) and by b; (1 - h/(2H)) V_h <= h b."""
    moved, rest = f"({Y} - gamma*grad(f, {Y}))", f"(grad(f_n, {Y}) - grad(f, {Y}))"
    ahead, whole = f"({LOCAL_MEAN} - gamma*grad(f, {LOCAL_MEAN}))", f"({Y} - gamma*grad(f_n, {Y}))"
    b, more = "(gamma**2*delta2 + (1 + 2*H)*gamma**2*zeta)", "(1 + 1/(2*H))"
    over = ["E", "mean_n"]
    after = SPREAD.replace("h]", "h+1]")
    return (
        *of_zeta(),
        step("noisy", f"{after} == mean_n(E(norm2({whole} - mean_n{whole}))) + gamma**2*(N - 1)/N*{NOISE_HERE}"),
        combined(
            "drift turn",
            f"{after} <= {more}*{SPREAD} + {b}",
            {
                "noisy": "1",
                f"E mean_n: variance ({Y})": "gamma**2*(N - 1)/N",
                "E mean_n: apart": "(1 + 2*H)*gamma**2",
                f"E mean_n: smooth convex f ({Y}, {LOCAL_MEAN})": f"2*gamma*{more}",
                f"E mean_n: smooth convex f ({LOCAL_MEAN}, {Y})": f"2*gamma*{more}",
            },
            [
                {
                    "of": f"{moved} - mean_n{moved} + 2*H*gamma*({rest} - mean_n{rest})",
                    "over": over,
                    "times": "1/(2*H)",
                },
                {"of": f"mean_n{rest}", "over": ["E"], "times": "(1 + 2*H)*gamma**2"},
                {"of": f"mean_n{moved} - {ahead}", "over": ["E"], "times": more},
                {
                    "of": f"grad(f, {Y}) - grad(f, {LOCAL_MEAN})",
                    "over": over,
                    "times": f"{more}*gamma*(2/L - gamma)",
                },
                {"of": "1", "times": "gamma**2*delta2/N"},
            ],
        ),
        domain("before", "h <= H - 1"),
        domain("some turn", "0 < H"),
        domain("a turn", "1 <= H"),
        combined("inside", "h <= H", {"before": "1"}, {"1": "1"}),
        combined("not beyond", "h + 1 <= 2*H", {"before": "1", "some turn": "1"}),
        combined("half way", "h < 2*H", {"before": "1", "some turn": "1"}, {"1": "1"}),
        induction(
            "growth",
            f"(1 - h/(2*H))*{SPREAD} <= h*{b}",
            [step("begin")],
            [
                combined(
                    "go on",
                    None,
                    {"IH": "1", "drift turn": "1 - (h + 1)/(2*H)"},
                    [
                        {"of": f"{Y} - {LOCAL_MEAN}", "over": over, "times": "(h + 1)/(2*H)**2"},
                        {"of": "1", "times": f"(h + 1)/(2*H)*{b}"},
                    ],
                )
            ],
            on="h",
        ),
        combined(
            "drift",
            sentence,
            {"growth": "1/(1 - h/(2*H))"},
            {
                "1": "H*gamma**2*delta2*(5*(H - h) + H)/(2*H - h)"
                " + 2*H*gamma**2*zeta*(5*H*(H - h) + H*(H - 1) + (H - h))/(2*H - h)"
            },
        ),
    )


def last_local() -> Lines:
    """Lemma 6: V' <= (1 - mu gamma) V + c over the turns of a round, and over rounds."""
    rest, q, far = "(drift_term + noise_term)", "(1 - mu*gamma)", "E(norm2(x[k] - xstar))"
    loss, of_spread = f"(2*gamma - 4*gamma**2*L)*(E(f({LOCAL_MEAN})) - f(xstar))", "(gamma*L + 2*gamma**2*L**2)"
    return (
        combined("no longer", "gamma <= 2/L", {"gamma <= 1/(2*L)": "1"}, {"1": "3/(2*L)"}),
        *drifted(f"{SPREAD} <= spread"),
        *local_step(f"E(norm2({NEXT} - xstar)) <= {q}*{DISTANCE} - {loss} + {of_spread}*{SPREAD} + gamma**2*delta2/N"),
        combined("slow", "mu*gamma <= 1", {"curvature f": "gamma", "gamma <= 1/(2*L)": "L"}, {"1": "1/2"}),
        combined("short", "2*L*gamma <= 1", {"gamma <= 1/(2*L)": "2*L"}),
        combined(
            "one turn",
            f"E(norm2({NEXT} - xstar)) <= {q}*{DISTANCE} + {of_spread}*spread + gamma**2*delta2/N",
            {
                "one step": "1",
                "drift": of_spread,
                f"E: infimum ({LOCAL_MEAN})": "2*gamma*(1 - 2*L*gamma)",
                "minimiser": "2*gamma*(1 - 2*L*gamma)",
            },
        ),
        induction(
            "of a round",
            f"{DISTANCE} - {rest} <= {q}**h*({far} - {rest})",
            [step("at first")],
            [combined("next turn", None, {"one turn": "1", "IH": q})],
            on="h",
        ),
        at("last turn", "of a round", h="H"),
        step("end", "E(norm2(x[k+1] - xstar)) == E(norm2(mean_n(y[k, H]) - xstar))"),
        induction(
            "of the run",
            f"{far} - {rest} <= {q}**(k*H)*(dist0 - {rest})",
            [combined("first round")],
            [combined("next round", None, {"end": "1", "last turn": "1", "IH": f"{q}**H"})],
        ),
        at("last round", "of the run", k="K"),
        combined("all", None, {"last round": "1"}, {"1": f"{q}**(K*H)*{rest}"}),
    )


# --- norms: Lemma 10, Proposition 3 ----------------------------------------------------------------------------------


def part_of_weights() -> Lines:
    """Lemma 10: what is chosen of a sum with weights is no longer than the longest."""
    g = "grad(f_n, x0)"
    return (
        step("chosen or not", f"norm2(part[0]) == dot(part[0], alpha_n*{g})"),
        combined(
            "shorter",
            f"norm2(part[0]) <= alpha_n**2*norm2({g})",
            {"chosen or not": "2"},
            {f"part[0] - alpha_n*{g}": "1"},
        ),
        root("of each", "shorter", f"norm(part[0]) <= alpha_n*norm({g})"),
        axiom("largest", f"norm({g}) <= G", "extreme", f"norm({g})", over="max_n"),
        step("squared", "norm2(x[1]) == norm2(sum_n(part[0]))"),
        root("sum", "squared", "norm(x[1]) == norm(sum_n(part[0]))"),
        axiom("triangle", "norm(sum_n(part[0])) <= sum_n(norm(part[0]))", "triangle", "part[0]", over="sum_n"),
        combined(
            "all",
            None,
            {
                "sum": "1",
                "triangle": "1",
                "sum_n: of each": "1",
                "sum_n: largest": "alpha_n",
                "sum_n(alpha_n) == 1": "G",
            },
        ),
    )


def turned_by() -> Lines:
    """Proposition 3: ||s'|| <= (1 + eta N L) ||s|| + c ||x|| in a turn, so ||s|| <= c h (1 + eta N L)^h ||x||."""
    s, bent, c, b = "s[k, h]", "bent[k, h]", "eta*alpha_n*N", "(1 + eta*N*L)"
    moved, added, taken = f"({s} - {c}*{bent})", f"({c}*x[k])", f"(-{c}*{bent})"
    return (
        assumed(
            "every sample",
            f"norm2(grad(f_ni, {s}) - grad(f_ni, {s} - {s})) <= L**2*norm2({s})",
            ["smooth(f_ni, L)"],
            "lipschitz-gradient",
            x=s,
            y=f"{s} - {s}",
        ),
        drawn("bent 2", "every sample", f"norm2({bent}) <= L**2*norm2({s})"),
        root("bent", "bent 2", f"norm({bent}) <= L*norm({s})"),
        step("made 2", f"norm2(s[k, h+1]) == norm2({moved} + {added})"),
        root("made", "made 2", f"norm(s[k, h+1]) == norm({moved} + {added})"),
        axiom("added", f"norm({moved} + {added}) <= norm{moved} + norm{added}", "triangle", moved, added),
        axiom("taken", f"norm({s} + {taken}) <= norm({s}) + norm{taken}", "triangle", s, taken),
        combined("scaled 2", f"norm2{added} == ({c})**2*norm2(x[k])"),
        combined("turned 2", f"norm2{taken} == ({c})**2*norm2({bent})"),
        root("scaled", "scaled 2", f"norm{added} == {c}*norm(x[k])"),
        root("turned", "turned 2", f"norm{taken} == {c}*norm({bent})"),
        combined(
            "turn",
            f"norm(s[k, h+1]) <= {b}*norm({s}) + {c}*norm(x[k])",
            {
                **dict.fromkeys(("made", "added", "taken", "scaled", "turned"), "1"),
                "bent": c,
                "alpha_n <= 1": f"eta*N*L*norm({s})",
            },
        ),
        combined("one", f"1 <= {b}", (), {"1": "eta*N*L"}),
        power("more", "one", "h + 1", f"1 <= {b}**(h + 1)"),
        induction(
            "growth",
            f"norm({s}) <= {c}*h*{b}**h*norm(x[k])",
            [step("begin")],
            [combined("go on", None, {"turn": "1", "IH": b, "more": f"{c}*norm(x[k])"})],
            on="h",
        ),
        at("last turn", "growth", k="0", h="H"),
        step("end 2", "norm2(q[1]) == norm2(s[0, H])"),
        root("end", "end 2", "norm(q[1]) == norm(s[0, H])"),
        combined("all", None, {"end": "1/norm(x0)", "last turn": "1/norm(x0)"}),
    )
