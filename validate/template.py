"""The file that `fedproof new` writes."""

from __future__ import annotations

import re
from pathlib import Path

from theory import catalog
from theory.claim import LABEL

TEMPLATE = r'''"""A paper of my own. This file is a program: fedproof runs it.

    fedproof check FILE --quick        # the verdicts; each claim below says which
    fedproof show FILE:noise-ball      # one claim: its sentence, what it assumes, the algorithm in words
    fedproof bound FILE:noise-ball --set eta=1/4 ...     # the right side for your numbers
    fedproof measure FILE:noise-ball INSTANCE.json       # both sides on an instance of yours
    fedproof simulate INSTANCE.json    # many runs there, of the algorithm that it names: "FILE:local_sgd"

docs/language.md has all of the language, docs/tutorial.md takes a theorem from its paper to a verdict, and
docs/derivation-lines.md has what the lines of a derivation are written with.
"""

from theory import Paper, algorithm, claim
from theory.derivation import combined


# An algorithm is one round. Its parameters are those after the *. The server's model x begins at x0; w has the
# primitives: gradient, sample, each, mean, repeat, choose, average, where, coin, keep, mix, prox, noise and others.
@algorithm
def local_sgd(w, x, *, eta, H):
    y = w.each(x)  # a copy for every client
    for h in w.repeat(H):
        y = y - eta * w.gradient(y, w.sample())  # every client draws one of its samples
    return w.mean(y)


# What the claims assume: relations between parameters, and predicates on functions, which bind the constants in them.
# f is the mean of the clients' functions f_n, and f_n that of its samples' functions f_ni.
ASSUMED = ("smooth(f_ni, L)", "convex(f_ni)", "strongly_convex(f_n, mu)", "eta <= 1/(2*L)")

# Names of your own for formulas: the variance of a sampled gradient at the minimiser, and how far the clients disagree.
WHERE = {
    "sigma2": "mean_n(mean_i(norm2(grad(f_ni, xstar) - grad(f_n, xstar))))",
    "zeta2": "mean_n(norm2(grad(f_n, xstar)))",
}

# A claim is a sentence: left side, relation, right side. x[k] is the model after k rounds, E(...) is over all draws,
# and a free k means: for every k. With one local step the noise of N clients averages out.
# A quick check says: supported (nothing breaks it, and no derivation is found; one may be found, or written, yet).
NOISE_BALL = claim(
    "noise-ball",
    "E(norm2(x[k] - xstar)) <= (1 - eta*mu)**k*norm2(x0 - xstar) + 2*eta*sigma2/(mu*N)",
    of=local_sgd,
    assuming=(*ASSUMED, "H == 1"),
    where={"sigma2": WHERE["sigma2"]},
    source="Theorem 1",
)

# With H local steps and no disagreement between the clients, the distance shrinks H times a round.
# A quick check says: supported.
LOCAL_STEPS = claim(
    "local-steps",
    "E(norm2(x[k] - xstar)) <= (1 - eta*mu)**(H*k)*norm2(x0 - xstar) + 2*eta*sigma2/mu",
    of=local_sgd,
    assuming=(*ASSUMED, "zeta2 <= 0"),
    where=WHERE,
    source="Theorem 2",
)

# A lemma about vectors alone, for any number of them. A quick check says: proved (it finds a derivation).
JENSEN = claim("jensen", "norm2(mean_n(a_n)) <= mean_n(norm2(a_n))", vectors=("a_n",), kind="lemma", source="Lemma 1")

# A claim may have a derivation of your own: lines, each with the rule by which it follows. Here the right side less the
# left is a square times 1/c. Where a line does not follow, the check says which, and what is left over.
# A quick check says: proved.
YOUNG = claim(
    "young",
    "norm2(a + b) <= (1 + c)*norm2(a) + (1 + 1/c)*norm2(b)",
    vectors=("a", "b"),
    kind="lemma",
    source="Lemma 2",
    proof=(combined("all", squares="c*a - b times 1/c"),),
)

PAPER = Paper("NAME", "TITLE", "me", (NOISE_BALL, LOCAL_STEPS, JENSEN, YOUNG))
'''


def text(name: str, file: str) -> str:
    """The template as a file of that name, with a paper of that name."""
    return TEMPLATE.replace("FILE", file).replace("NAME", name).replace("TITLE", name.replace("-", " "))


def written(path: str | Path, force: bool = False) -> str:
    """Write the template to a file.

    Args:
        path: ends with ``.py``; the paper gets its name from it, ``my_paper.py`` that of ``my-paper``.
        force: overwrite what is there.

    Returns:
        The paper's name.

    Raises:
        ValueError: for a path that ends otherwise, or gives no name that a new paper may have; for a file that is there
            already, or one that hides a package of fedproof.
        OSError: when it cannot be written.
    """
    path = Path(path)
    name = re.sub(r"[_ ]", "-", path.stem.lower())
    if path.suffix != ".py" or not LABEL.match(name):
        raise ValueError(f"{path} is not a name such as my_paper.py: letters, digits, '_' and '-', then .py")
    if any(paper.name == name for paper in catalog.papers()):
        raise ValueError(f"there is a paper {name!r} already; give yours another name than {path.name}")
    if path.stem in ("theory", "sim", "validate"):
        raise ValueError(f"{path.name} would hide fedproof's own package {path.stem!r}; give it another name")
    try:
        with path.open("w" if force else "x", encoding="utf-8") as file:
            file.write(text(name, path.name))
    except FileExistsError:
        raise ValueError(f"{path} is there already; --force overwrites it") from None
    return name
