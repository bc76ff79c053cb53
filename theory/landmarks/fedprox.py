"""Li, Sahu, Zaheer, Sanjabi, Talwalkar, Smith: Federated Optimization in Heterogeneous Networks (MLSys 2020).

K devices of the paper are S here, drawn with replacement, p_k = 1/N; exact proximal steps (gamma = 0) where a run
is spoken of. L_minus bounds how negative curvatures are: in Theorem 4 it is L, a bound that smoothness gives.
"""

from __future__ import annotations

from theory.claim import Paper, claim
from theory.derivation import axiom, cases, claimed, combined, domain, root
from theory.domain import AT_LEAST_ONE, Domain
from theory.program import algorithm

SOURCE = "Li, Sahu, Zaheer, Sanjabi, Talwalkar, Smith, Federated Optimization in Heterogeneous Networks, MLSys 2020"


@algorithm
def fedprox(w, x, *, mu, S):
    """Exact minimisers of f_n + mu/2*norm2(. - x), of S devices drawn with replacement."""
    return w.average(w.prox(x, 1 / mu), w.choose(S, replace=True))


RHO = (
    "1/mu - gamma*B/mu - B*(1 + gamma)*sqrt(2)/(mubar*sqrt(S)) - L*B*(1 + gamma)/(mubar*mu) "
    "- L*(1 + gamma)**2*B**2/(2*mubar**2) - L*B**2*(1 + gamma)**2/(mubar**2*S)*(2*sqrt(2*S) + 2)"
)
EXACT = RHO.replace("(1 + gamma)**2*", "").replace("*(1 + gamma)**2", "").replace("*(1 + gamma)", "")
EXACT = EXACT.replace(" - gamma*B/mu", "")
CONVEX = EXACT.replace("mubar", "mu")
LIMIT = (
    "mu*rho is below this number for every mu, and tends to it as mu grows: there is a mu with rho > 0 if this is > 0"
)
NUMBERS = {"B": AT_LEAST_ONE, "gamma": Domain(0, 1)}

POS = (
    "1 times L*B*(1 + gamma)/(mu - L_minus); 1 times L*(1 + gamma)**2*B**2*mu/(2*(mu - L_minus)**2); 1 times "
    "L*B**2*(1 + gamma)**2*mu/((mu - L_minus)**2*S)*(2*sqrt(2*S) + 2)"
)
NECESSARY = (
    combined("room", "mu - L_minus > 0", "mu > L_minus"),
    combined(
        "one", "gamma*B < 1", "rho > 0 times mu", POS + "; 1 times mu*B*(1 + gamma)*sqrt(2)/((mu - L_minus)*sqrt(S))"
    ),
    combined("of squares", "1**2 <= 2", squares="1"),
    root("of two", "of squares", "1 <= sqrt(2)"),
    combined(
        "two",
        "B/sqrt(S) < 1",
        "rho > 0 times mu; of two times B*mu/((mu - L_minus)*sqrt(S))",
        POS + "; 1 times gamma*B; 1 times mu*B*gamma*sqrt(2)/((mu - L_minus)*sqrt(S)); 1 times B*L_minus/((mu - "
        "L_minus)*sqrt(S))",
    ),
    cases(
        "all",
        None,
        "gamma*B <= B/sqrt(S)",
        first=[
            axiom("larger", "max(gamma*B, B/sqrt(S)) <= B/sqrt(S)", "bounds", "gamma*B", "B/sqrt(S)", "B/sqrt(S)"),
            combined("first", None, "larger; two"),
        ],
        second=[
            axiom("larger", "max(gamma*B, B/sqrt(S)) <= gamma*B", "bounds", "gamma*B", "B/sqrt(S)", "gamma*B"),
            combined("second", None, "larger; one"),
        ],
    ),
)
MANY_DEVICES = (
    domain("S positive", "S > 0"),
    combined("of squares", "(2*sqrt(2)*B)**2 <= S", "S >= 8*B**2"),
    combined("equal", "2*S <= (sqrt(2)*sqrt(S))**2"),
    root("split", "equal", "sqrt(2*S) <= sqrt(2)*sqrt(S)"),
    root("many", "of squares", "2*sqrt(2)*B <= sqrt(S)"),
    combined(
        "all",
        None,
        "many times 1/(2*mu*sqrt(S)); B >= 3 times L*B/(3*mu**2); B >= 3 times L*B/(3*mu**2); many times "
        "L*B/(mu**2*sqrt(S)); S >= 8*B**2 times 2*L/(8*mu**2*S); split times 2*L*B**2/(mu**2*S); B >= 3 "
        "times L*(B + 3)/(36*mu**2)",
        "1 times 11/36*L*B**2/mu**2",
    ),
)
V = "mean_n(a_n)"
DISSIMILARITY = (
    domain("room", "eps > 0"),
    combined("not zero", f"norm2({V}) > 0", f"norm2({V}) > eps; room"),
    combined(
        "squared",
        f"mean_n(norm2(a_n))/norm2({V}) <= 1 + sigma**2/eps",
        f"mean_n(norm2(a_n - {V})) <= sigma**2 times 1/norm2({V}); norm2({V}) > eps times sigma**2/(eps*norm2({V}))",
    ),
    root("all", "squared"),
)

LINE_16 = claim(
        "a-3-line-16/corrected",
        "rho >= 1/(2*mu) - 3*L*B**2/(2*mu**2)",
        where={"rho": CONVEX}, parameters={"B": AT_LEAST_ONE}, assuming=("B >= 3", "S >= 8*B**2"),
        amends="a-3-line-16", kind="equation", proof=MANY_DEVICES, title="the same where B <= sqrt(K/8)",
        source=f"{SOURCE}, appendix A.3", sure="read",
    )  # fmt: skip
THE_CHOICE = (claimed("line", LINE_16, {"mu": "6*L*B**2"}), combined("all", None, "line"))

CLAIMS = (
    claim(
        "theorem-4",
        "E(f(x[1])) <= f(x0) - rho*norm2(grad(f, x0))",
        of=fedprox,
        where={
            "mubar": "mu - L", "rho": EXACT, "B": "sqrt(mean_n(norm2(grad(f_n, x0)))/norm2(grad(f, x0)))",
        },
        assuming=("smooth(f_n, L)", "mu > L", "rho > 0"),
        title="one round of FedProx", source=f"{SOURCE}, Theorem 4", sure="read",
        remarks=("gamma = 0: exact proximal steps; B is the dissimilarity at x0",),
    ),
    claim(
        "remark-5-necessary",
        "max(gamma*B, B/sqrt(S)) < 1",
        where={"rho": RHO, "mubar": "mu - L_minus"}, parameters=NUMBERS,
        assuming=("mu > L_minus", "rho > 0"),
        kind="remark", rests_on=("theorem-4",),
        proof=NECESSARY, title="rho > 0 needs gamma*B < 1 and B/sqrt(K) < 1", source=f"{SOURCE}, Remark 5", sure="read",
    ),
    claim(
        "remark-5-sufficient",
        "1 - gamma*B - B*(1 + gamma)*sqrt(2)/sqrt(S) > 0",
        parameters=NUMBERS, assuming=("gamma*B < 1", "B/sqrt(S) < 1"),
        kind="remark", rests_on=("theorem-4",), title="gamma*B < 1 and B/sqrt(K) < 1 are enough for a mu with rho > 0",
        source=f"{SOURCE}, Remark 5", sure="read", remarks=(LIMIT,),
    ),
    claim(
        "corollary-7",
        "rho >= 1/(24*L*B**2)",
        where={"rho": CONVEX, "mu": "6*L*B**2"}, parameters={"B": AT_LEAST_ONE},
        assuming=("B >= 100", "B <= sqrt(S)/2"),
        kind="corollary", rests_on=("a-3-line-17",),
        title="the choice mu = 6 L B**2 for convex functions", source=f"{SOURCE}, Corollary 7",
        sure="read", remarks=("printed with ~= for mu and for rho; 1 << B is B >= 100 here",),
    ),
    claim(
        "corollary-7/corrected",
        "rho >= 1/(24*L*B**2)",
        where={"rho": CONVEX, "mu": "6*L*B**2"}, parameters={"B": AT_LEAST_ONE},
        assuming=("B >= 3", "S >= 8*B**2"), amends="corollary-7",
        kind="corollary", proof=THE_CHOICE, title="the same where B <= sqrt(K/8)", source=f"{SOURCE}, Corollary 7",
        sure="read",
    ),
    claim(
        "a-3-condition",
        "1 - B*sqrt(2)/sqrt(S) > 0",
        parameters={"B": AT_LEAST_ONE}, assuming=("B < sqrt(S)",),
        kind="equation", rests_on=("theorem-4",),
        title="a decrease is possible if B < sqrt(K)", source=f"{SOURCE}, appendix A.3", sure="read",
        remarks=(LIMIT,),
    ),
    claim(
        "a-3-line-16",
        "rho >= 1/(2*mu) - 3*L*B**2/(2*mu**2)",
        where={"rho": CONVEX}, parameters={"B": AT_LEAST_ONE}, assuming=("B >= 100", "B <= sqrt(S)/2"),
        kind="equation", equation="(16)", rests_on=("theorem-4",),
        title="the decrease for B <= sqrt(K)/2", source=f"{SOURCE}, appendix A.3",
        sure="read", remarks=("printed with <~; 1 << B is B >= 100 here",),
    ),
    LINE_16,
    claim(
        "a-3-line-17",
        "1/(2*mu) - 3*L*B**2/(2*mu**2) >= 1/(24*L*B**2)",
        where={"mu": "6*L*B**2"}, parameters={"B": AT_LEAST_ONE},
        kind="equation", equation="(17)", rests_on=("a-3-line-16",),
        title="what (16) is at mu = 6 L B**2", source=f"{SOURCE}, appendix A.3",
        sure="read", remarks=("printed with ~= for mu and with <~; Corollary 7 is the same of rho itself",),
    ),
    claim(
        "a-3-iterations", rests_on=("a-3-line-17",),
        title="iterations of FedProx for one gradient of norm2 below eps, convex", kind="equation",
        source=f"{SOURCE}, appendix A.3", sure="read", remarks=("O(L*B**2*Delta/eps) iterations",),
    ),
    claim(
        "corollary-9", rests_on=("theorem-4", "corollary-9/line"),
        title="one round of FedProx, devices of unequal exactness", kind="corollary",
        source=f"{SOURCE}, Corollary 9", sure="read",
        remarks=("Theorem 4 with gamma**t = max_{k in S_t} gamma_k**t in place of gamma: rho**t is then random",),
    ),
    claim(
        "corollary-9/line",
        "mean_n((1 + gamma_n)*norm(a_n)) <= (1 + max_n(q_n*gamma_n))*mean_n(norm(a_n))",
        vectors=("a_n",), parameters={"gamma_n": Domain(0, 1), "q_n": Domain(0, 1, integer=True)},
        assuming=("sum_n(q_n) == S",),
        kind="equation", title="a line of its proof: the largest gamma of the chosen devices", sure="read",
        source=f"{SOURCE}, Corollary 9", remarks=("q_n is 1 for the devices in S_t; a_n are the gradients",),
    ),
    claim(
        "corollary-10",
        "sqrt(mean_n(norm2(a_n))/norm2(mean_n(a_n))) <= sqrt(1 + sigma**2/eps)",
        vectors=("a_n",), assuming=("mean_n(norm2(a_n - mean_n(a_n))) <= sigma**2", "norm2(mean_n(a_n)) > eps"),
        kind="corollary", proof=DISSIMILARITY, title="bounded variance bounds the dissimilarity",
        source=f"{SOURCE}, Corollary 10",
        sure="read",
        remarks=("a_n are the gradients of the devices at a point with norm2 of the mean above eps",),
    ),
    claim(
        "theorem-6", rests_on=("theorem-4",), title="iterations of FedProx for a mean squared gradient of eps",
        source=f"{SOURCE}, Theorem 6", sure="read",
        remarks=("after T = O(Delta/(rho*eps)) iterations mean_t E norm2(grad f(w^t)) <= eps",),
    ),
)  # fmt: skip

PAPER = Paper(
    "fedprox",
    "Federated Optimization in Heterogeneous Networks",
    "Li, Sahu, Zaheer, Sanjabi, Talwalkar, Smith",
    CLAIMS,
    family="FedProx",
)
