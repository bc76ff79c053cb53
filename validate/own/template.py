"""The file that `fedproof new` writes."""

from __future__ import annotations

import re
from pathlib import Path

from theory import catalog
from theory.claim import LABEL

TEMPLATE = r'''"""A paper of my own. This file is a program: fedproof runs it. For its verdicts, and for a page of them:

    fedproof check FILE --quick
    fedproof report FILE --quick
"""

from theory import Convex, Hypothesis, Paper, Smooth, Step, StronglyConvex
from validate.own import claim, parameters

# The paper's symbols, each bound to what is measured of an instance. Known names:
MEASURES
SYMBOLS = parameters(
    delta="step",
    mu="strong_convexity",
    L="sample_smoothness",
    H="local_steps",
    k="round",
    R2="start_distance",
    noise="noise_at_minimiser",
)

# Each hypothesis has a relation between the symbols, or an assumption (theory.assumptions lists them) on the functions
# of the samples or the clients, or both. One in words only cannot be checked, and then nothing is refuted.
HYPOTHESES = (
    Hypothesis("smooth", "every sample's gradient is L-Lipschitz", assumption=Smooth("L", "sample")),
    Hypothesis("convex", "every sample's function is convex", assumption=Convex("sample")),
    Hypothesis("strongly convex", "every client's function is mu-strongly convex", assumption=StronglyConvex("mu")),
    Hypothesis("step size", "delta <= 1/(2L)", relation="delta <= 1/(2*L)"),
    Hypothesis("one local step", "the clients average after each step", relation="H <= 1"),
)

# The claim is: quantity <= right, of an algorithm (relation=">=" or "=" for others). Known names:
QUANTITIES
ALGORITHMS
# Mind what the server does with participation="independent": it divides what client n sends by p_n, which is unbiased.
# Where the paper averages over those that take part, undivided, say participation="independent-mean".
THEOREM = claim(
    "NAME/noise-ball",
    "E||x_k - x*||^2 <= (1 - delta mu)^k ||x_0 - x*||^2 + 2 delta noise/mu.",
    quantity="squared_distance",
    right="(1-delta*mu)**k*R2 + 2*delta*noise/mu",
    algorithm="local-sgd",
    participation="everybody",
    parameters=SYMBOLS,  # those that it uses
    hypotheses=HYPOTHESES,
    # The lines of its proof. One that compares formulas has them as `identity`, and is replayed by algebra for all
    # values of the symbols in their domains; here q = 1 - delta mu, c = 2 delta^2 noise, and a stands for q^k.
    steps=(
        Step("k = 0", "R^2", "<=", r"R^2+\frac{c}{1-q}", "identity", identity=("R2", "R2 + c/(delta*mu)")),
        Step(
            "k to k+1",
            r"q(aR^2+\frac{c}{1-q})+c",
            "=",
            r"qaR^2+\frac{c}{1-q}",
            "identity",
            identity=("(1-delta*mu)*(a*R2 + c/(delta*mu)) + c", "(1-delta*mu)*a*R2 + c/(delta*mu)"),
        ),
        Step(
            "noise ball",
            r"\frac{c}{1-q}",
            "=",
            r"\frac{2\delta\sigma^2}{\mu}",
            "substitution",
            identity=("2*delta**2*noise/(delta*mu)", "2*delta*noise/mu"),
        ),
    ),
)

PAPER = Paper("NAME", "TITLE", "me", (THEOREM,))
'''


def text(name: str, file: str) -> str:
    """The template as a file of that name, with a paper of that name; its tables are those of `validate.own.tables`."""
    from validate.own.tables import ALGORITHMS, MEASURES, PARTICIPATION, QUANTITIES

    def listed(entries: dict[str, str]) -> str:
        return "\n".join(f"#   {key:28}{meaning}" for key, meaning in entries.items())

    measures = {key: entry.meaning for key, entry in MEASURES.items()}
    quantities = {key: f"{entry.meaning}; {entry.of}" for key, entry in QUANTITIES.items()}
    return (
        TEMPLATE.replace("MEASURES", listed(measures))
        .replace("QUANTITIES", listed(quantities))
        .replace("ALGORITHMS", listed({**ALGORITHMS, **PARTICIPATION}))
        .replace("FILE", file)
        .replace("NAME", name)
        .replace("TITLE", name.replace("-", " "))
    )


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
