"""The SGD side of the open-fl paper: stability, averaging and Theorem 2, as printed, with readings and repairs."""

from __future__ import annotations

from theory.claim import Claim, Step
from theory.papers.open_fl import sgd_lines as lines
from theory.papers.open_fl.sgd_equations import EQUATIONS
from theory.papers.open_fl.sgd_proofs import PROOF_AT_ETA, PROOF_FOR_ALL_TIME, PROOF_OF_CORRECTED, PROOF_OF_THEOREM_2
from theory.papers.open_fl.sgd_words import (
    AVERAGED_SQUARE,
    CURVED_OR_SHORT,
    EVERY_SQUARED_ITERATE_NORM,
    INDEPENDENT_WEIGHTS,
    KAPPA,
    MOMENTS_ONLY,
    NEXT,
    ONE_STEP,
    ROOT_MEAN_SQUARE_EVER,
    SHORT_STEP,
    SOMEBODY,
    SQUARED_FULL_STEP,
    STABLE_CLIENT,
    WEIGHTS,
    radius,
    second_moment,
)
from theory.papers.open_fl.words import (
    A1_CONVEX,
    A1_SMOOTH,
    A2,
    A3,
    NEXT_SQUARED_ITERATE_NORM,
    ROOT_MEAN_SQUARE_ITERATE,
    STEP_SIZE,
    UNBIASED,
    L,
    eta,
    identifier,
    mu,
    r,
    sigma,
)

CLAIMS: tuple[Claim, ...] = (
    Claim(
        id=identifier("definition-1"),
        kind="definition",
        title="stability",
        equation="Definition 1",
        statement="An optimiser is stable if there are finite R and k0 such that for all k >= k0 ||x^k||^2 <= R^2 "
        "implies E[||x^{k+1}||^2 | x^k] <= R^2.",
        latex=r"\Vert x^k\Vert^2\leq R^2\Rightarrow\mathbb{E}[\Vert x^{k+1}\Vert^2|x^k]\leq R^2",
        quantity=NEXT_SQUARED_ITERATE_NORM,
        source="Definition 1, Section II-C",
        relation="<=",
        parameters=(radius,),
        remarks=(
            "It speaks of one step from a known point of the ball. It is no bound for all time: see "
            "definition-1/for-all-time.",
            "For one function with one noise it is not monotone in R: gradients without noise in B(0,1) and with noise "
            "outside can be stable at R = 1 and at no R slightly above.",
        ),
    ),
    Claim(
        id=identifier("definition-1/for-all-time"),
        kind="proposition",
        title="a stable optimiser stays in the ball in mean square",
        equation="Definition 1",
        statement="If Definition 1 holds at R for SGD on f, under Assumptions 1 and 3 with eta in (0, 1/L], then "
        "||x^0|| <= R implies E||x^k||^2 <= R^2 for every k.",
        latex=r"\Vert x^0\Vert\leq R\Rightarrow\mathbb{E}\Vert x^k\Vert^2\leq R^2\ \mathrm{for\ all}\ k",
        quantity=EVERY_SQUARED_ITERATE_NORM,
        source="a reading of Definition 1 and of Section III-A",
        parameters=(radius,),
        hypotheses=(A1_CONVEX, A1_SMOOTH, A2, UNBIASED, A3, STEP_SIZE),
        relation="<=",
        right="R**2",
        remarks=(
            "Reads 'the system has stability on both local update iterations and communication iterations' (the proof "
            "of Proposition 1) as a bound that holds from then on, as the word stability and the figures suggest.",
            "After one step only E||x^k||^2 <= R^2 is known, x^k itself may be outside, and Definition 1 says nothing "
            "there.",
            "It is true of every R >= sqrt((kappa+1)/2 (r^2+sigma^2/L^2)), by theorem-2/corrected-2. In two or more "
            "dimensions it is also true from the least radius on at which Definition 1 holds for the whole class: the "
            "squared worst step is concave in R^2, so Jensen's inequality carries it on.",
        ),
    ),
    Claim(
        id=identifier("proposition-1"),
        kind="proposition",
        title="stable clients make a stable system",
        equation="Proposition 1, (4)",
        statement="If every client's local optimiser is stable at R (Definition 1), then ||x_i^k|| <= R for all i "
        "implies E[||x_i^{k+1}||^2 | x^k] <= R^2 for all i, at a communication too: E||sum_i d_i x_i / sum_i d_i||^2 "
        "<= R^2 for non-negative i.i.d. d_i.",
        latex=AVERAGED_SQUARE.latex + r"\leq R^2",
        quantity=AVERAGED_SQUARE,
        source="Proposition 1 and (4), Section III-A",
        parameters=(radius,),
        hypotheses=(A1_CONVEX, A1_SMOOTH, A2, STABLE_CLIENT, WEIGHTS),
        standing=(SOMEBODY,),
        relation="<=",
        right="R**2",
        vectors=lines.AVERAGED,
        steps=(
            Step(
                "(i)",
                NEXT,
                "<=",
                "R^2",
                "hypothesis",
                "Definition 1, once more; p is E||x_i^{k+1}||^2",
                identity=("p", "p"),
            ),
            Step(
                "(4)",
                AVERAGED_SQUARE.latex,
                "<=",
                "R^2",
                "inequality",
                "the ball is convex. Neither equal distributions nor independence of the d_i is used when ||x_i|| <= R "
                "for sure; only d_i >= 0 with a positive sum",
                vectors=lines.AVERAGED,
            ),
        ),
        remarks=(
            "The weights need be non-negative with a positive sum, no more: neither i.i.d. nor independent of the "
            "iterates, as every ||x_i|| <= R surely. A client that joins and takes the average is covered.",
            "Nobody selected: (4) is 0/0, with probability (1-p)^N for Bernoulli(p) draws. Keeping the old model keeps "
            "the ball; so does setting it to 0.",
            "One R has to do for all clients. Definition 1 gives each some R, and is not monotone in R, so a common "
            "one is a hypothesis (for SGD on a class it exists: the largest of the clients' radii).",
            "It is a statement about one iteration, from points in the ball; see proposition-1/second-moments for what "
            "is left after it.",
        ),
    ),
    Claim(
        id=identifier("proposition-1/second-moments"),
        kind="proposition",
        title="averaging with second moments and independent weights",
        equation="Proposition 1, (4)",
        statement="If E||x_i||^2 <= R2 for all i, d_i >= 0 with a positive sum, and the d_i are independent of the "
        "x_i, then E||sum_i d_i x_i / sum_i d_i||^2 <= R2.",
        latex=AVERAGED_SQUARE.latex + r"\leq R^2",
        quantity=AVERAGED_SQUARE,
        source="a reading of Proposition 1, Section III-A",
        parameters=(second_moment,),
        hypotheses=(MOMENTS_ONLY, INDEPENDENT_WEIGHTS),
        standing=(SOMEBODY,),
        relation="<=",
        right="R2",
        remarks=(
            "Reads (4) where it is used: after random local steps the second moments are bounded, the points are not.",
        ),
    ),
    Claim(
        id=identifier("proposition-1/dependent-weights"),
        kind="proposition",
        title="averaging with second moments and any weights",
        equation="Proposition 1, (4)",
        statement="If E||x_i||^2 <= R2 for all i and d_i >= 0 with a positive sum, then "
        "E||sum_i d_i x_i / sum_i d_i||^2 <= R2, however the d_i depend on the x_i.",
        latex=AVERAGED_SQUARE.latex + r"\leq R^2",
        quantity=AVERAGED_SQUARE,
        source="a reading of Proposition 1, Section III-A",
        parameters=(second_moment,),
        relation="<=",
        right="R2",
        remarks=(
            "Reads (4) without the independence of weights and iterates, which the proof does not name ('the selection "
            "is independent of client number').",
        ),
    ),
    Claim(
        id=identifier("theorem-2"),
        kind="theorem",
        title="radius of stability of SGD",
        equation="Theorem 2",
        statement="Under Assumptions 1 and 3, with x* in B(0,r) and eta in (0,1/L], SGD is stable (Definition 1) at "
        "R = r + sqrt(max(3,kappa)) sqrt(2 r^2 + sigma^2/L^2).",
        latex=r"R=r+\sqrt{\max(3,\kappa)}\sqrt{2r^2+\frac{\sigma^2}{L^2}}",
        quantity=ROOT_MEAN_SQUARE_ITERATE,
        source="Theorem 2, Section III-B; proof in Section VI-A",
        parameters=(mu, L, r, sigma),
        hypotheses=ONE_STEP,
        definitions=KAPPA,
        relation="<=",
        right="r + sqrt(max(3, kappa))*sqrt(2*r**2 + sigma**2/L**2)",
        vectors=lines.PRINTED,
        steps=PROOF_OF_THEOREM_2,
        remarks=(
            "True, and loose. The least radius of the class is sqrt((kappa+1)/2 (r^2+sigma^2/L^2)) at eta = 1/L in two "
            "or more dimensions while sigma^2 <= (2 kappa+1) L^2 r^2, and smaller beyond; over kappa in [1, 1000] and "
            "sigma/(L r) in [0, 1000] the printed one is 1.29 to 3.45 times that (3.45 at kappa = 1, towards 2 as "
            "kappa grows at sigma = 0).",
            "It holds for all time too, as every R above theorem-2/corrected-2 does; the printed proof does not show "
            "it.",
        ),
    ),
    Claim(
        id=identifier("theorem-2/corrected"),
        kind="theorem",
        title="the least radius of stability of SGD",
        equation="Theorem 2",
        statement="Under Assumptions 1 and 3, with x* in B(0,r) and eta in (0,1/L], SGD is stable (Definition 1) at "
        "every R >= sqrt((kappa+1)/2 (r^2 + sigma^2/L^2)). At eta = 1/L, in two or more dimensions, no smaller R is "
        "possible while sigma^2 <= (2 kappa + 1) L^2 r^2.",
        latex=r"R=\sqrt{" + SQUARED_FULL_STEP + "}",
        quantity=ROOT_MEAN_SQUARE_ITERATE,
        source="repair of Theorem 2",
        parameters=(mu, L, r, sigma),
        hypotheses=ONE_STEP,
        definitions=KAPPA,
        relation="<=",
        right="sqrt((kappa+1)/2*(r**2 + sigma**2/L**2))",
        vectors=lines.CORRECTED,
        steps=PROOF_OF_CORRECTED,
        amends=identifier("theorem-2"),
        derivation="||x - grad f(x)/L||^2 <= (kappa-1)/(kappa+1) ||x||^2 + ||x*||^2 for every x; with the noise the "
        "right side is at most R^2 for ||x|| <= R exactly from its fixed point on. Equality at H with the eigenvalues "
        "mu and L in the plane of x and x*, at the angle of theory.stability.worst_cosine. Lemma 4 for shorter steps.",
        remarks=(
            "Beyond sigma^2 = (2 kappa+1) L^2 r^2, and always in one dimension, the worst x and x* are parallel and "
            "the least radius solves ((1-a)R + a r)^2 + eta^2 sigma^2 = R^2 with a = eta mu: "
            "theory.stability.exact_radius.",
        ),
    ),
    Claim(
        id=identifier("theorem-2/corrected-2"),
        kind="theorem",
        title="one radius for the whole open system and all time",
        equation="Theorem 2",
        statement="Under Assumptions 1, 2 and 3 with eta in (0,1/L]: if E||x_i^0||^2 <= R^2 for all clients, then "
        "E||x_i^k||^2 <= R^2 for all clients and every k of Algorithm 1, with R = sqrt((kappa+1)/2 (r^2 + "
        "sigma^2/L^2)), for averages with non-negative weights of positive sum that are independent of the iterates; a "
        "client that joins takes the broadcast model.",
        latex=r"\sup_k\mathbb{E}\Vert x_i^k\Vert^2\leq" + SQUARED_FULL_STEP,
        quantity=ROOT_MEAN_SQUARE_EVER,
        source="repair of Theorem 2 with Proposition 1",
        parameters=(mu, L, r, sigma),
        hypotheses=(*ONE_STEP, INDEPENDENT_WEIGHTS, SOMEBODY),
        definitions=KAPPA,
        relation="<=",
        right="sqrt((kappa+1)/2*(r**2 + sigma**2/L**2))",
        steps=PROOF_FOR_ALL_TIME,
        amends=identifier("theorem-2"),
        derivation="the bound of theorem-2/corrected is affine in ||x||^2, so it holds in expectation from any random "
        "iterate, and its fixed point is kept for ever; averages keep it by proposition-1/second-moments.",
        remarks=(
            "In two or more dimensions the exact one-step radius, smaller when sigma^2 > (2 kappa+1) L^2 r^2, is kept "
            "for ever as well: the squared worst step is concave in R^2.",
        ),
    ),
    Claim(
        id=identifier("theorem-2/corrected-3"),
        kind="theorem",
        title="the radius at a given step size",
        equation="Theorem 2",
        statement="As theorem-2/corrected-2 at a step eta in (0,1/L]: R(eta)^2 = A (A - eta mu L)/((1 - eta A) mu L) "
        "r^2 + eta A/(mu L) sigma^2 with A = (L+mu)/2.",
        latex=r"R(\eta)^2=\frac{A(A-\eta\mu L)}{(1-\eta A)\mu L}r^2+\frac{\eta A}{\mu L}\sigma^2,\ A=\frac{L+\mu}{2}",
        quantity=ROOT_MEAN_SQUARE_EVER,
        source="repair of Theorem 2",
        parameters=(mu, L, r, sigma, eta),
        hypotheses=(*ONE_STEP, SHORT_STEP, CURVED_OR_SHORT, INDEPENDENT_WEIGHTS, SOMEBODY),
        definitions={"A": "(L+mu)/2"},
        relation="<=",
        right="sqrt(A*(A - eta*mu*L)/((1 - eta*A)*mu*L)*r**2 + eta*A/(mu*L)*sigma**2)",
        vectors=lines.CORRECTED_AT_ETA,
        steps=PROOF_AT_ETA,
        amends=identifier("theorem-2"),
        derivation="||x - eta grad f(x)||^2 <= c(1+q) ||x||^2 + (1-c)(1+q) ||x*||^2, by Young's inequality on p - eta "
        "e; the fixed point of what the noise adds. It increases with eta, to theorem-2/corrected-2 at eta = 1/L.",
    ),
    *EQUATIONS,
)
