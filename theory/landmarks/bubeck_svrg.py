"""Bubeck: Convex Optimization, Algorithms and Complexity (2015), section 6.3: SVRG of Johnson and Zhang.

alpha of the book is mu here, beta is L. A round is an epoch; its end is the mean of the first H inner points.
"""

from __future__ import annotations

from theory.claim import Paper, claim
from theory.derivation import claimed, combined, domain, induction, step, telescope
from theory.program import algorithm

SOURCE = "Bubeck, Convex Optimization: Algorithms and Complexity, 2015, section 6.3"


@algorithm
def svrg(w, y, *, eta, H):
    """H inner steps from y; the next y is their mean, y itself the first."""
    full = w.full_gradient(y)
    x = y
    total = 0 * y
    for _ in w.repeat(H):
        w.tap("x", x)
        i = w.sample()
        total = total + x
        x = x - eta * (w.mean(w.gradient(x, i) - w.gradient(y, i)) + full)
    return total / H


ASSUMED = ("smooth(f_ni, L)", "convex(f_ni)", "strongly_convex(f, mu)", "N <= 1")

SHARE = "1/(2*eta*(1 - 2*L*eta)*H)"
X = "x[k, h]"
Y = "y[k]"
EPOCH = (
    step(
        "turn",
        f"E(norm2(x[k, h+1] - xstar)) == E(norm2({X} - xstar)) - 2*eta*E(dot(grad(f, {X}), {X} - xstar)) + "
        f"eta**2*E(norm2(grad(f, {X}))) "
        f"+ eta**2/N*E(mean_n(mean_i(norm2(grad(f_ni, {X}) - grad(f_ni, {Y}))) - norm2(grad(f_n, {X}) - "
        f"grad(f_n, {Y}))))",
    ),
    combined("short", "1 - 2*L*eta > 0", "eta < 1/(2*L) times 2*L"),
    combined(
        "nearer",
        f"E(norm2(x[k, h+1] - xstar)) <= E(norm2({X} - xstar)) - 2*eta*(1 - 2*L*eta)*(E(f({X})) - fstar) + "
        f"4*L*eta**2*(E(f({Y})) - fstar)",
        f"turn; E: convex f ({X}, xstar) times 2*eta; minimiser times 2*eta - 8*L*eta**2; "
        f"E mean_n mean_i: smooth convex f_ni ({X}, xstar) times 4*L*eta**2; E mean_n mean_i: smooth convex "
        f"f_ni ({Y}, xstar) times 4*L*eta**2; "
        f"E: zero ({X} - xstar) times -4*L*eta**2; E: zero ({Y} - xstar) times -4*L*eta**2; "
        f"E: zero (grad(f, {X})) times 2*eta**2; zero (grad(f, xstar)) times -eta**2",
        f"E mean_n mean_i: grad(f_ni, {X}) + grad(f_ni, {Y}) - 2*grad(f_ni, xstar) - (grad(f, {X}) + "
        f"grad(f, {Y}) - 2*grad(f, xstar)) times eta**2; "
        f"E mean_n mean_i: grad(f_ni, {X}) - grad(f_ni, {Y}) - (grad(f_n, {X}) - grad(f_n, {Y})) times "
        "eta**2*(N - 1)/N; "
        f"E mean_n: grad(f_n, {X}) - grad(f_n, {Y}) - (grad(f, {X}) - grad(f, {Y})) times eta**2; "
        f"E: grad(f, {X}) - grad(f, xstar) times eta**2; E: grad(f, {Y}) - grad(f, xstar) times 2*eta**2",
    ),
    telescope("inner", f"E(norm2({X} - xstar))", "sum_h", "H"),
    step("start", f"E(norm2(x[k, 0] - xstar)) == E(norm2({Y} - xstar))"),
    step("end", f"E(f(y[k+1])) == E(f(mean_h({X})))"),
    combined(
        "all",
        None,
        f"end; E mean_h: convex f (mean_h({X}), {X}); sum_h: nearer times {SHARE}; inner times -{SHARE}; "
        f"start times {SHARE}; "
        f"E: strongly_convex f (xstar, {Y}) times 2/mu*{SHARE}; E: zero ({Y} - xstar) times -2/mu*{SHARE}; "
        f"minimiser times -2/mu*{SHARE}",
        f"E: x[k, H] - xstar times {SHARE}",
    ),
)

ONE_EPOCH = claim(
        "epoch",
        "E(f(y[k+1])) - fstar <= (1/(mu*eta*(1 - 2*L*eta)*H) + 2*L*eta/(1 - 2*L*eta))*(E(f(y[k])) - fstar)",
        of=svrg, assuming=(*ASSUMED, "eta < 1/(2*L)"),
        kind="equation", proof=EPOCH, title="an epoch of SVRG", source=f"{SOURCE}, p. 338", sure="transcribed",
    )  # fmt: skip
GAP = "(E(f(y[k])) - fstar)"
RUN = (
    combined("tenth", "L*eta == 1/10", "eta == 1/(10*L) times L"),
    domain("positive", "0 < L"),
    combined("step size", "eta < 1/(2*L)", "tenth times 1/L; positive times 2/(5*L**2)"),
    combined("short", "1 - 2*L*eta > 0", "tenth times 2; positive times 4/(5*L)"),
    claimed("epoch", ONE_EPOCH),
    combined(
        "work", "mu*eta*(1 - 2*L*eta)*H == 8/5", "H == 20*L/mu times mu*eta*(1 - 2*L*eta); tenth times 16 - 40*L*eta"
    ),
    combined("first", "1/(mu*eta*(1 - 2*L*eta)*H) == 5/8", "work times -5/(8*mu*eta*(1 - 2*L*eta)*H)"),
    combined("second", "2*L*eta/(1 - 2*L*eta) == 1/4", "tenth times 10/(4*(1 - 2*L*eta))"),
    combined("next", f"E(f(y[k+1])) - fstar <= 7/8*{GAP}", f"epoch; first times {GAP}; second times {GAP}"),
    induction(
        "all",
        None,
        base=[combined("start")],
        step=[combined("again", None, "next; IH times 9/10; E: infimum (y[k]) times 1/40")],
    ),
)

CLAIMS = (
    ONE_EPOCH,
    claim(
        "theorem-6-5",
        "E(f(y[k])) - fstar <= (9/10)**k*(f(x0) - fstar)",
        of=svrg, assuming=(*ASSUMED, "eta == 1/(10*L)", "H == 20*L/mu"),
        proof=RUN, rests_on=("epoch",), title="SVRG, strongly convex", source=f"{SOURCE}, Theorem 6.5",
        sure="transcribed",
    ),
)  # fmt: skip

PAPER = Paper(
    "bubeck-svrg",
    "Convex Optimization: Algorithms and Complexity, section 6.3",
    "Bubeck",
    CLAIMS,
    family="variance reduction",
)
