"""SGD with a step of each round: true (t) and false (f)."""

from theory import Paper, algorithm, claim


@algorithm
def sgd(w, x, *, eta):
    return x - eta * w.mean(w.gradient(x, w.sample()))


S2 = {"s2": "mean_n(mean_i(norm2(grad(f_ni,xstar)-grad(f_n,xstar))))"}
A = ("smooth(f_ni, L)", "convex(f_ni)", "strongly_convex(f, mu)")
T = [
    claim(
        "t1",
        "E(norm2(x[k+1]-xstar)) <= (1-eta_k*mu)*E(norm2(x[k]-xstar)) + 2*eta_k**2*s2/N",
        of=sgd,
        assuming=(*A, "eta_k <= 1/(2*L)"),
        where=S2,
    ),
    claim(
        "f1",
        "E(norm2(x[k+1]-xstar)) <= (1-eta_k*mu)*E(norm2(x[k]-xstar)) + 2*eta_k**2*s2/N**2",
        of=sgd,
        assuming=(*A, "eta_k <= 1/(2*L)"),
        where=S2,
    ),
    claim(
        "t2",
        "E(norm2(x[k+1]-xstar)) <= (1-mu/(2*L*(k+1)))*E(norm2(x[k]-xstar)) + s2/(2*N*L**2*(k+1)**2)",
        of=sgd,
        assuming=(*A, "eta_k == 1/(2*L*(k+1))"),
        where=S2,
    ),
    claim(
        "f2",
        "E(norm2(x[k+1]-xstar)) <= (1-mu/(2*L*(k+1)))*E(norm2(x[k]-xstar)) + s2/(2*N*L**2*(k+1)**3)",
        of=sgd,
        assuming=(*A, "eta_k == 1/(2*L*(k+1))"),
        where=S2,
    ),
]
PAPER = Paper("sched", "a", "b", tuple(T))
