"""The page of the language's words, from the code that reads them.

    python docs/words.py

Writes words.md; a test fails where it is not what this writes.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from theory.domain import NAMED
from theory.formula import SCALAR_FUNCTIONS
from theory.predicates import PREDICATES
from theory.program.tracer import Tracer
from theory.sentence.trees import INDICES, OVER, SPECIAL

HERE = Path(__file__).parent
ABOUT = """# The words of the language

Each with one line; [the language](language.md) shows how they go together. This page is made from the code that reads
them, by [docs/words.py](words.py).
"""

MEANING: Mapping[str, str] = {
    "x[k]": "a state after k rounds; of every client where each has one",
    "y[k, h]": "a tap in turn h of a loop; v[k, h, j] one in turn j of a loop in it",
    "past[k, j]": "what a state that remembers vectors has j rounds back",
    "x0": "the start",
    "xstar": "the minimiser of f",
    "xstar_n": "the minimiser of f_n",
    "fstar": "the least value of f",
    "f": "the mean of the clients' functions, at a point",
    "f_n": "the function of client n, the mean of its samples'",
    "f_ni": "the function of sample i of client n",
    "grad": "grad(f_n, v): the gradient of f, f_n or f_ni at a point",
    "E": "the expectation over all draws",
    "quantile": "quantile(e, q): the least number that e exceeds with probability at most 1 - q",
    "norm2": "the squared Euclidean norm",
    "norm": "the Euclidean norm",
    "dot": "dot(u, v): the inner product",
    "coordinate": "of a vector, any of its coordinates: in lines of derivations only",
    "mean_n": "the mean over an index",
    "sum_n": "the sum over an index",
    "max_n": "the largest over an index",
    "min_n": "the least over an index",
    "first_n": "what it is for the first client, of whom a claim about client i speaks",
    "simplex_n": "simplex_n(c_n, q_n): the weight of n where sum_n(c_n*a_n + q_n*a_n**2) is least over the simplex",
    "argmin_n": "argmin_n(q_n): the minimiser of sum_n(q_n*f_n); argmin_n(q_n, r): over the ball of radius r around 0",
    "sqrt": "the root",
    "log": "the natural logarithm",
    "exp": "e to the power of a number",
    "abs": "the absolute value",
    "min": "the least of two numbers or more",
    "max": "the largest of two numbers or more",
    "N": "the number of clients",
    "d": "the dimension",
    "K": "the number of rounds of the run",
}
WORDS = (SPECIAL - set(OVER) - set(INDICES)) | set(SCALAR_FUNCTIONS) | {f"{how}_n" for how, _ in OVER.values()}
"""What the reader knows; each has its line."""


def page() -> str:
    """The page."""
    return "".join(
        [
            ABOUT,
            _section(
                "A round",
                "What `w` has, the first argument of an algorithm. A value is a vector of the server, or one of every "
                "client.",
                ((f"w.{name}{_arguments(one)}", _line(one)) for name, one in _public(Tracer)),
            ),
            _section(
                "A sentence",
                "Of a claim: left side, relation, right side. Where a word ends with an index, `_n` stands for any of "
                f"{', '.join(f'`_{index}`' for index in INDICES)}: clients, samples, rounds, turns of a loop, turns of "
                "a loop in it.",
                MEANING.items(),
            ),
            _section(
                "Assumptions",
                "Of `f`, `f_n` or `f_ni` in `assuming`; the constants are bound by them.",
                ((name, _line(one)) for name, one in PREDICATES.items()),
            ),
            _section(
                "Domains",
                "In `parameters`, of names that are not just positive.",
                ((name, str(domain)) for name, domain in NAMED.items()),
            ),
        ]
    )


def _public(of: type) -> Iterable[tuple[str, object]]:
    return ((name, one) for name, one in inspect.getmembers(of) if not name.startswith("_"))


def _arguments(one: object) -> str:
    """``(v, i=None)``, or nothing of what is no function."""
    if not inspect.isfunction(one):
        return ""
    shown = [
        name if p.default is p.empty else f"{name}={p.default!r}"
        for name, p in list(inspect.signature(one).parameters.items())[1:]
    ]
    return f"({', '.join(shown)})"


def _line(one: object) -> str:
    return (inspect.getdoc(one) or "").split("\n")[0]


def _section(title: str, about: str, rows: Iterable[tuple[str, str]]) -> str:
    table = "".join(f"| `{word}` | {_prose(meaning)} |\n" for word, meaning in rows)
    return f"\n## {title}\n\n{about}\n\n| word | is |\n|---|---|\n{table}"


def _prose(text: str) -> str:
    """Text without signs that Markdown reads otherwise."""
    return re.sub(r"([*_<|])", r"\\\1", text.replace("``", "").replace("`", ""))


if __name__ == "__main__":
    (HERE / "words.md").write_text(page(), encoding="utf-8")
