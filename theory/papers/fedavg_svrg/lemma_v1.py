"""Lemma V.1 and the lines of its proof."""

from __future__ import annotations

from theory.claim import Claim, Inference, Step
from theory.papers.fedavg_svrg.lines import substituted
from theory.papers.fedavg_svrg.words import (
    CONVEX_SAMPLES,
    DRIFT,
    LEMMA,
    LHS,
    SMOOTH_SAMPLES,
    SQUARED_DISTANCE,
    SVRG_CONTRACTION,
    SVRG_STEP,
    identifier,
)

PROOF_OF_LEMMA = (
    Step(
        "before (9), first",
        r"\mathbb{E}\Vert v\Vert^2",
        "<=",
        r"2\mathbb{E}\Vert\nabla f_\#(w)-\nabla f_\#(w_n^*)\Vert^2+2\mathbb{E}\Vert[\nabla f_\#(\tilde w)-"
        r"\nabla f_\#(w_n^*)]-\nabla f_n(\tilde w)\Vert^2",
        "inequality",
        "||x+y||^2 <= 2||x||^2 + 2||y||^2",
        vectors=substituted(0, "<=", 1),
    ),
    Step(
        "before (9), second",
        r"2\mathbb{E}\Vert X-\mathbb{E}X\Vert^2",
        "=",
        r"2\mathbb{E}\Vert X\Vert^2-\mathbb{E}\Vert X\Vert^2",
        "identity",
        "X = grad f_#(w~) - grad f_#(w_n*); printed as an equality, true is 2E||X||^2 - 2||EX||^2",
        identity=("2*(second_moment - squared_mean)", "2*second_moment - second_moment"),
        vectors=substituted(1, "=", 2, given="strong samples"),
        chain=substituted(0, "<=", 2, given="strong samples", samples=(4,), mu="1/100"),
        uses=("before (9), first",),
    ),
    Step(
        "before (9), third",
        r"2\mathbb{E}\Vert\nabla f_\#(w)-\nabla f_\#(w_n^*)\Vert^2+2\mathbb{E}\Vert X\Vert^2-\mathbb{E}\Vert X\Vert^2",
        "<=",
        r"2\mathbb{E}\Vert\nabla f_\#(w)-\nabla f_\#(w_n^*)\Vert^2+2\mathbb{E}\Vert X\Vert^2",
        "inequality",
        "true of E||v||^2 whatever stands before it, as E||X - EX||^2 <= E||X||^2",
        vectors=substituted(2, "<=", 3),
        chain=substituted(0, "<=", 3),
        uses=("before (9), second",),
    ),
    Step(
        "before (9), fourth",
        r"2\mathbb{E}\Vert\nabla f_\#(w)-\nabla f_\#(w_n^*)\Vert^2+2\mathbb{E}\Vert X\Vert^2",
        "<=",
        r"4L[f_n(w)-f_n(w_n^*)+f_n(\tilde w)-f_n(w_n^*)]",
        "cited",
        "Theorem 1 of Johnson and Zhang, whose hypotheses are on every f_{n,i}; with them the line is true",
        vectors=substituted(3, "<=", 4, given="client"),
        chain=substituted(0, "<=", 4, given="client"),
        uses=("before (9), third",),
        needs=(SMOOTH_SAMPLES, CONVEX_SAMPLES),
    ),
    Step(
        "(9)",
        r"\sum_{m'=0}^{m-1}\mathbb{E}\Vert v_{n,m'}^k\Vert^2",
        "<=",
        r"4Lm(\mathbb{E}[f_n(w_{n,m}^k)-f_n(w_n^*)]+\mathbb{E}[f_n(\tilde w)-f_n(w_n^*)])",
        "cited",
        "needs every f_{n,i} to be convex and L-smooth; w_{n,m} is a random earlier iterate, which Algorithm 1 never "
        "draws",
        claim=identifier("lemma-v1-eq9"),
        uses=("before (9), fourth",),
        needs=(SMOOTH_SAMPLES, CONVEX_SAMPLES),
    ),
    Step(
        "(10)",
        r"\mathbb{E}[f_n(w_{n,m}^k)-f_n(w_n^*)]",
        "<=",
        r"\alpha^k\mathbb{E}[f_n(\tilde w_n^k)-f_n(w_n^*)]",
        "cited",
        "the cited theorem contracts once a snapshot of ONE client's own SVRG; k counts rounds, which restart at "
        "theta^k",
        claim=identifier("lemma-v1-eq10"),
        needs=(SVRG_STEP, SVRG_CONTRACTION, SMOOTH_SAMPLES, CONVEX_SAMPLES),
    ),
    Step(
        "(11)",
        r"\mathbb{E}[f_n(w_{n,m}^k)-f_n(w_n^*)]",
        "<=",
        r"\alpha^kD",
        "substitution",
        "(10) with the bound D",
        claim=identifier("lemma-v1-eq10"),
        uses=("(10)",),
        inference=Inference(remains=("q*start_gap", "q*(start_gap + rest)")),
    ),
    Step(
        "(12)",
        DRIFT.latex,
        "<=",
        r"8Lm\alpha^kD",
        "substitution",
        "(10) into both expectations of (9); the snapshot's is at theta^k itself and does not shrink with k",
        claim=identifier("lemma-v1-eq12"),
        uses=("(9)", "(10)", "(11)"),
        inference=Inference(remains=("4*L*m*(q*D + q*D)", "8*L*m*q*D")),
    ),
    Step(
        "(13)",
        r"\sum_{k=0}^{K-1}\alpha^k",
        "=",
        r"\frac{1-\alpha^K}{1-\alpha}",
        "summation",
        "geometric sum",
        claim=identifier("lemma-v1-eq13"),
    ),
    Step(
        "(14)",
        LHS,
        "<=",
        r"\frac{2}{\delta KM}(f(\theta^0)-f^*)+\frac{8D\delta^2L^3(M-1)^2(1-\alpha^K)}{K(1-\alpha)}"
        r"+\frac{8D\delta L^2(M-1)}{KN}\sum_{k=0}^{K-1}\alpha^k\sum_n\frac{1}{p_n}",
        "substitution",
        "(12) and (13) into (7); the last factor should be M, as the sum over m has M terms",
        claim=identifier("lemma-v1-eq14"),
        uses=("(12)", "(13)"),
        inference=Inference(  # g the sum of alpha^k, c the sum of alpha^k/p_n
            remains=(
                "delta**2*L**2*(M-1)/(K*M*N)*N*8*L*D*g*M*(M-1)/2 + delta*L/(K*N)*8*L*M*D*c",
                "8*D*delta**2*L**3*(M-1)**2*g/K + 8*D*delta*L**2*(M-1)/(K*N)*c",
            )
        ),
    ),
)

LEMMA_V1 = Claim(
    id=identifier("lemma-v1"),
    kind="lemma",
    title="convergence to the optimal point at rate O(1/K) with a constant step",
    equation="Lemma V.1",
    statement=(
        "Under Assumption 4 (and those of Theorem V.1), Algorithm 1 with a constant step converges to the optimal "
        "point at a rate of no less than O(1/K)."
    ),
    latex=r"\theta^k\to\theta^*\ \mathrm{at\ rate}\ O(1/K)",
    quantity=SQUARED_DISTANCE,
    source="Lemma V.1",
    relation="<=",
    hypotheses=LEMMA,
    steps=PROOF_OF_LEMMA,
    remarks=(
        "With different clients, local steps have a fixed point other than the optimum (client drift), whatever K.",
        "With p_n < 1 the participation noise does not vanish at the optimum.",
        "What is true: a decay of order 1/K down to a floor, lemma-v1-eq14/corrected.",
    ),
)

CLAIMS: tuple[Claim, ...] = (LEMMA_V1,)
