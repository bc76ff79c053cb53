"""What perm sets out to solve: the bound (GEN), the programs (1) and (2) for the mixing weights, the objective (3)."""

from __future__ import annotations

from theory.claim import Claim, Quantity
from theory.papers.perm.words import (
    SIMPLEX,
    C,
    alpha_weights,
    disc,
    lam,
    n,
    rad,
    result,
    risk_star,
    vc,
    z,
)

WEIGHTS = Quantity("mixing_weights", "alpha_i*, a point of the simplex", r"\alpha_i^*")
RISK = Quantity("risk", "L_i(h_alpha), the true risk of client i", r"\mathcal{L}_i(\hat h_{\alpha})")
OBJECTIVE = Quantity("objective", "Phi(a, v)", r"\Phi(\alpha,v)")

SUMS = "f_i is printed as a sum over the samples of client i; with a sum, L, mu, delta, G and z all scale with n_i."

GEN = result(
    "gen",
    "equation",
    "risk of a mixture of empirical losses",
    "(GEN)",
    "L_i(h_alpha) <= L_i(h_i*) + sum_j alpha_j R_j + 2 sum_j alpha_j disc(D_j, D_i) + C sqrt(sum_j alpha_j^2/n_j) "
    "(informal, cited).",
    RISK.latex
    + r"\leq\mathcal{L}_i(h_i^*)+\sum_j\alpha(j)R_j+2\sum_j\alpha(j)\mathrm{disc}(D_j,D_i)"
    + r"+C\sqrt{\sum_j\frac{\alpha(j)^2}{n_j}}",
    RISK,
    "Section 2, (GEN)",
    parameters=(alpha_weights, rad, disc, n, C, risk_star),
    hypotheses=(SIMPLEX,),
    definitions={
        "complexity": "sum(alpha*rad)",
        "discrepancy": "2*sum(alpha*disc)",
        "deviation": "C*sqrt(sum(alpha**2/n))",
    },
    relation="<=",
    right="risk_star + complexity + discrepancy + deviation",
    remarks=("It holds with high probability only; the probability is inside C, which the paper does not give.",),
)
EQ1 = result(
    "eq1",
    "equation",
    "weights from pairwise discrepancies",
    "(1)",
    "alpha_i* = argmin over the simplex of sum_j alpha_j max_w |f_i(w) - f_j(w)| + sum_j alpha_j^2/n_j.",
    r"\alpha_i^*=\mathrm{argmin}_{\alpha}\;\sum_j\alpha(j)\max_w|f_i(w)-f_j(w)|+\sum_j\frac{\alpha(j)^2}{n_j}",
    WEIGHTS,
    "Section 3.1, (1)",
    relation="=",
    remarks=("(GEN) has C times the square root of the last sum; here it has neither the root nor a weight.", SUMS),
)
EQ2 = result(
    "eq2",
    "equation",
    "weights from gradients at the common optimum",
    "(2)",
    "alpha_i* = argmin over the simplex of g_i(w*, alpha) = sum_j alpha_j z_j + lam sum_j alpha_j^2/n_j, z_j = "
    "||grad f_i(w*) - grad f_j(w*)||^2.",
    r"\alpha_i^*=\mathrm{argmin}_{\alpha}\;\sum_j\alpha(j)z_j+\lambda\sum_j\frac{\alpha(j)^2}{n_j},"
    r"\;z_j=\Vert\nabla f_i(w^*)-\nabla f_j(w^*)\Vert^2",
    WEIGHTS,
    "Section 3.1, (2)",
    relation="=",
    parameters=(z, n, lam),
    remarks=(
        "The dissimilarity of gradients is called an upper bound of the discrepancy sup_w |f_i - f_j|; it is none: "
        "f_j = f_i + 1 has equal gradients everywhere and discrepancy 1.",
        "The minimiser is unique: alpha_j = n_j max(0, nu - z_j)/(2 lam); it is sparse for small lam, and later proofs "
        "divide by alpha_j.",
        SUMS,
    ),
)
EQ2_HETEROGENEOUS = result(
    "eq2-heterogeneous",
    "equation",
    "weights for clients with models of their own",
    "Section 3.3",
    "alpha_i* = argmin over the simplex of sum_j alpha_j sqrt(VC_j/n_j) + sum_j alpha_j z_j + lam sum_j alpha_j^2/n_j, "
    "z_j = ||grad f_i(m_i . w*) - grad f_j(m_j . w*)||^2.",
    r"\alpha_i^*=\mathrm{argmin}_{\alpha}\;\sum_j\alpha(j)(\sqrt{\frac{VC_j}{n_j}}+z_j)"
    r"+\lambda\sum_j\frac{\alpha(j)^2}{n_j}",
    WEIGHTS,
    "Section 3.3",
    relation="=",
    parameters=(z, n, lam, vc),
    remarks=("z_i is 0 as before, so client i is treated as (2) treats it with z_j + sqrt(VC_j/n_j) for z_j.",),
)
EQ3 = result(
    "eq3",
    "definition",
    "the objective of a personalised model",
    "(3)",
    "Phi(a, v) = (1/N) sum_j a_j f_j(v).",
    r"\Phi(\alpha,v)=\frac{1}{N}\sum_j\alpha(j)f_j(v)",
    OBJECTIVE,
    "Section 3.1, (3)",
    relation="=",
    remarks=(
        "With 1/N in front, Phi is (mu/N)-strongly convex and (L/N)-smooth; Lemma 2's proof, Lemmas 10 to 12 and "
        "Theorems 2 and 3 use Phi = sum_j a_j f_j. An epoch moves by about eta N K sum_j a_j grad f_j, which is "
        "eta N^2 K grad Phi with (3).",
    ),
)
CLAIMS: tuple[Claim, ...] = (GEN, EQ1, EQ2, EQ2_HETEROGENEOUS)
