"""Shi, Ling, Wu, Yin: EXTRA (SIAM J. Optim. 2015; arXiv 1404.6264v4).

Theorem 3.5 is of what happens as k grows. (3.30) needs least and largest eigenvalues of W~, of W~ - W and of
I + W - 2*W~, and a solution of (W~ - W) p = -alpha*grad f(x*): of a matrix a sentence has rho alone.
"""

from __future__ import annotations

from theory.claim import Paper, claim

SOURCE = "Shi, Ling, Wu, Yin, EXTRA, SIAM J. Optim. 2015"

CLAIMS = (
    claim(
        "theorem-3-5", title="EXTRA, orders of the residuals", source=f"{SOURCE}, Theorem 3.5", sure="transcribed",
        remarks=(
            "0 < alpha < 2*lambda_min(W~)/L_f; as k -> inf, (1/k)*sum_{t=1}^k norm_G(z^t - z^{t+1})**2 = O(1/k), and "
            "min_{t<=k} of it = o(1/k)",
            "the same two orders for norm_{W~}(U q^t + alpha*grad f(x^t))**2 and for norm2(U x^t)",
        ),
    ),
    claim(
        "eq-3-30", title="EXTRA, a step where the mixed objective is strongly convex", kind="equation",
        equation="(3.30)", source=f"{SOURCE}, in the proof of Theorem 3.7", sure="transcribed",
        remarks=(
            "norm2 of x^{k+1} - x* in the matrix alpha*(2*mu_g - eta)*I - (W~ - W) + 2*(I + W - 2*W~), "
            "+ norm_G(z^k - z^{k+1})**2 - alpha*L_f**2/eta*norm2(x^k - x^{k+1}) >= delta*norm_G(z^{k+1} - z*)**2",
            "for 0 < delta <= min(alpha*(2*mu_g - eta)*lam+/(theta*(sigma_max(I + W - 2*W~) + alpha*L_f)**2 "
            "+ lambda_max(W~)*lam+), (theta - 1)*(eta*lambda_min(W~) - alpha*L_f**2)*lam+"
            "/(theta*eta*(sigma_max(W~) + alpha*L_f)**2)), lam+ the least non-zero eigenvalue of W~ - W",
        ),
    ),
)  # fmt: skip

PAPER = Paper("extra", "EXTRA", "Shi, Ling, Wu, Yin", CLAIMS, family="decentralised")
