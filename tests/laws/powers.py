"""Theorems in a file of one's own, each beside neighbours in which a power of N, of H or of b is wrong.

`TRUE` and `FALSE` are their labels. The false ones are false in the sizes that a reader means, many clients or many
local steps; with five of each, constants would hide most of them.
"""

from theory import Paper, algorithm, claim


@algorithm
def local_sgd(w, x, *, delta, H):
    """Local SGD: everybody takes H steps with sampled gradients, and the server averages."""
    y = w.each(x)
    for _ in w.repeat(H):
        w.tap("y", y)
        y = y - delta * w.gradient(y, w.sample())
    return w.mean(y)


@algorithm
def drawn_sgd(w, x, *, delta, b):
    """One step of b clients, drawn uniformly."""
    return x - delta * w.average(w.gradient(x), w.choose(b))


SMOOTH, CONVEX, STRONG = "smooth(f_ni, L)", "convex(f_ni)", "strongly_convex(f_n, mu)"
ALL = (SMOOTH, CONVEX, STRONG)
ONE = ("delta <= 1/(2*L)", "H <= 1")
SAME = ("noise <= 0", "het <= 0")
WHERE = {
    "R2": "norm2(x0 - xstar)",
    "noise": "mean_n(mean_i(norm2(grad(f_ni, xstar) - grad(f_n, xstar))))",
    "het": "mean_n(norm2(grad(f_n, xstar)))",
    "G2": "max_n(max_k(max_h(E(mean_i(norm2(grad(f_ni, y[k, h])))))))",
}
AFTER, NEXT, NOW = "E(norm2(x[k] - xstar))", "E(norm2(x[k+1] - xstar))", "E(norm2(x[k] - xstar))"
VALUE, SLOPE = "mean_k(E(f(x[k]) - fstar))", "mean_k(E(norm2(grad(f, x[k]))))"
Q = "(1 - delta*mu)"
GAP = "2*(f(x0) - fstar)/(delta*K)"

# label: algorithm, left side, the right sides (the true one first), assumptions
FAMILIES = {
    "ball": (
        local_sgd, AFTER,
        (f"{Q}**k*R2 + 2*delta*noise/(mu*N)", f"{Q}**k*R2 + 2*delta*noise/(mu*N**2)",
         f"{Q}**k*R2 + 2*delta*noise/(mu*N**(3/2))"),
        (*ALL, *ONE),
    ),
    "step": (
        local_sgd, NEXT, (f"{Q}*{NOW} + 2*delta**2*noise/N", f"{Q}*{NOW} + 2*delta**2*noise/N**2"), (*ALL, *ONE),
    ),
    "tied": (
        local_sgd, NEXT, (f"{Q}*{NOW} + 2*delta**2*noise/N", f"{Q}*{NOW} + 2*delta**2*noise/N**2"),
        (*ALL, "delta == 1/(2*L)", "H <= 1"),
    ),
    "local": (local_sgd, AFTER, (f"{Q}**(H*k)*R2", f"{Q}**(H**2*k)*R2"), (*ALL, "delta <= 1/L", *SAME)),
    "local-noise": (
        local_sgd, AFTER,
        (f"{Q}**(H*k)*R2 + 2*delta*noise/mu", f"{Q}**(H*k)*R2 + 2*delta*noise/(mu*H)",
         f"{Q}**(H*k)*R2 + 12*delta*noise/(mu*H)"),
        (*ALL, "delta <= 1/(2*L)", "het <= 0"),
    ),
    "batch": (
        drawn_sgd, NEXT, (f"{Q}*{NOW} + 2*delta**2*het/b", f"{Q}*{NOW} + 2*delta**2*het/b**2"),
        ("smooth(f_n, L)", "convex(f_n)", STRONG, "delta <= 1/(4*L)"),
    ),
    "convex": (
        local_sgd, VALUE, ("R2/(delta*K) + 2*delta*noise/N", "R2/(delta*K) + 2*delta*noise/N**2"),
        (SMOOTH, CONVEX, "delta <= 1/(4*L)", "H <= 1"),
    ),
    "nonconvex": (
        local_sgd, SLOPE, (f"{GAP} + L*delta*worst/N", f"{GAP} + L*delta*worst/N**2"),
        (SMOOTH, "bounded_variance(worst)", "delta <= 1/L", "H <= 1"),
    ),
    "second": (
        local_sgd, NEXT,
        (f"{NOW} + delta**2*H**2*G2 + 2*delta*H*sqrt({NOW}*G2)", f"{NOW} + delta**2*H*G2/4 + delta*sqrt({NOW}*G2)"),
        ALL,
    ),
}  # fmt: skip


def _claims():
    found = {}
    for family, (of, left, rights, assuming) in FAMILIES.items():
        for i, right in enumerate(rights):
            label = f"{family}-wrong-{i}" if i else family
            used = {name: text for name, text in WHERE.items() if any(name in t for t in (right, *assuming))}
            found[label] = claim(label, f"{left} <= {right}", of=of, assuming=assuming, where=used)
    return found


CLAIMS = _claims()
TRUE = tuple(label for label in CLAIMS if "wrong" not in label)
FALSE = tuple(label for label in CLAIMS if "wrong" in label)
PAPER = Paper("powers", "Powers of N, H and b", "a reader", tuple(CLAIMS.values()))
