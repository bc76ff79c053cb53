"""Bad command lines: every command and option, with values that are wrong, empty, huge, not finite, or no file."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from functools import cache
from typing import Any

from tests.fuzz.stores import valid_store
from tests.validate.command_line import SPEC

PAPER = """from theory import Paper, algorithm, claim

@algorithm
def descent(w, x, *, eta):
    return x - eta * w.mean(w.gradient(x))

ASSUMED = ("smooth(f_n, L)", "strongly_convex(f_n, mu)", "eta <= 1/L")
TRUE = claim("true", "norm2(x[k] - xstar) <= (1 - eta*mu)**k*norm2(x0 - xstar)", of=descent, assuming=ASSUMED)
FALSE = claim("false", "norm2(x[k] - xstar) <= (1 - 2*eta*mu)**k*norm2(x0 - xstar)", of=descent, assuming=ASSUMED)
NUMBERS = claim("numbers", "a**2 >= b**2", assuming=("a >= b",), parameters={})
PAPER = Paper("mine", "Mine", "a reader", (TRUE, FALSE, NUMBERS))
"""
TEX = r"""\documentclass{article}\begin{document}
\begin{theorem}\label{thm}Then \[ \|x_k - x^\star\|^2 \leq (1-\eta\mu)^k \|x_0-x^\star\|^2 \]\end{theorem}
\begin{equation}\label{eq}\|x_K - x^\star\|^2 \leq \sigma^2\end{equation}
\end{document}
"""
CODE = """
def right(x, problem, eta):
    return x - eta * problem.gradient(x) if False else x
def raises(x, problem, eta):
    raise RuntimeError("mine")
def nothing(x):
    return None
def exits(x):
    raise SystemExit(7)
"""
SWEEP = """claims = ["fedavg-svrg/theorem-v1-eq8"]
rounds = [2, 3]
[[problem]]
kind = "quadratic"
clients = 2
dim = 1
mu = "1/10"
L = 1
heterogeneity = 1
[[algorithm]]
kind = "fedavg-svrg"
step = "1/10"
S = 1
M = 1
"""
INSTANCE = {
    "algorithm": "mine.py:descent",
    "parameters": {"eta": "1/8"},
    "problem": {"clients": [[{"h": 1, "a": 0}], [{"h": 2, "a": 1}]]},
    "start": ["3"],
    "rounds": 3,
}


@cache
def files() -> dict[str, bytes]:
    """The user's files, by name."""
    texts: dict[str, str] = {
        "mine.py": PAPER,
        "broken.py": "raise RuntimeError('mine')\n",
        "syntax.py": "def (:\n",
        "code.py": CODE,
        "paper.tex": TEX,
        "instance.json": json.dumps(INSTANCE),
        "spec.json": json.dumps(SPEC),
        "sweep.toml": SWEEP,
        "notes.txt": "my notes\n",
        "empty.json": "",
        "list.json": "[1, 2]",
        "numbers.csv": "1,2,3\n",
        "site/index.html": "<p>my page</p>\n",
        "site/report.json": "{}\n",
        "results/data.bin": "what I measured\n",
    }
    binary = {"binary.json": bytes(range(256)) * 8, "store.sqlite": valid_store(), "latin.py": b"x = '\xe9'\n"}
    return {**{name: text.encode() for name, text in texts.items()}, **binary}


PATHS = (
    *("missing.json", "missing/deep/file.json", ".", "site", "/", "/dev/null", "unreadable.json", "binary.json"),
    *("empty.json", "list.json", "notes.txt", "loop", "dangling", "a" * 300, "line\nbreak", "~", "-", "results"),
    *("locked/new", "store.sqlite", "mine.py", "latin.py", "site/index.html", "\x1b[2J.json", "é.json", "paper.tex"),
)
NUMBERS = (
    *("nan", "inf", "-inf", "-1", "0", "1e400", "1e308", "-1e308", "1e-400", "5e-324", "99999999999999999999", "1.5"),
    *("1/0", "1/3", "abc", "٣", "1,2", ",", " ", "", "9" * 5000, "1e99999999", "0x10", "1_000", "True", "--json"),
)
NAMES = (
    *(
        "nonsense",
        "perm",
        "all",
        "mine.py",
        "mine.py:",
        "mine.py:true",
        "mine.py:false",
        "mine.py:numbers",
        "mine.py:no",
    ),
    *("broken.py", "syntax.py:a", "latin.py", "missing.py:a", "textbook/young", "saga/lemma-3", "fedmim/eq25", "é", ""),
    *("fedmim/remark-iv3", "perm/lemma-1", "a/b/c", "../mine.py:true", "code.py:right", "code.py:raises", "code:right"),
    *("code.py:nothing", "code.py:exits", "os:getcwd", "missing:round", "mine.py:descent", "algorithms/fedavg", ":"),
)
ASSIGNED = (
    *("L=nan", "L=inf", "L=1e400", "L=-1", "L=0", "L=", "=1", "L", "L=1/0", "L=2**L", "L=9**9**9", "K=1e18", "K=0"),
    *(
        "K=1.5",
        "nonsense=1",
        "eta=1/8",
        "eta=1e308",
        "L=" + "9" * 4001,
        "L=(((",
        "L=__import__('os')",
        "mu=L",
        "N=10**9",
    ),
)
TEXTS = (
    "",
    " ",
    "sgd",
    "adam",
    "rocq",
    "lean",
    "coq",
    "mean",
    "gap",
    "dask",
    "cuda",
    "cpu",
    "1 <= 0",
    "L <= ",
    "a=b",
    "\x00"[:0],
)
WORTH = {
    **dict.fromkeys(("--set", "--rename", "--suppose"), ASSIGNED),
    **dict.fromkeys(("--out", "--log", "--kept", "--questions", "--export", "--status", "--store", "--proof"), PATHS),
    **dict.fromkeys(("--claims", "--verdicts", "--gradients"), (*PATHS, *NAMES)),
    **dict.fromkeys(("--against", "--implementation", "--also", "--paper"), NAMES),
    **dict.fromkeys(
        ("--to", "--metric", "--tap", "--device", "--engine", "--quantity", "--effort", "--address"), TEXTS
    ),
}
STARTS: tuple[tuple[str, ...], ...] = (
    ("claims",),
    ("claims", "--paper", "mine.py", "--out", "results"),
    ("show", "mine.py:true"),
    ("bound", "mine.py:true", "--set", "eta=1/4", "--set", "mu=1/2", "--set", "L=1", "--set", "k=3",
     "--set", "norm2_x0_xstar=1"),
    ("bound", "textbook/young", "--rigorous", "--set", "t=1", "--set", "norm2_a=1", "--set", "norm2_b=2"),
    ("prove", "mine.py:true", "--out", "new"),
    ("replay", "textbook/jensen-three"),
    ("export", "--to", "rocq", "textbook/young", "--out", "new"),
    ("feasible", "mine.py:true", "--set", "L=1", "--suppose", "mu <= L"),
    ("weights", "--z", "0,0.5,2", "--n", "500,100,1000", "--lam", "200"),
    ("weights", "--gradients", "instance.json", "--n", "1,2", "--lam", "1"),
    ("radius", "sgd", "--set", "mu=1/2", "--set", "L=2", "--set", "r=1", "--set", "sigma=1"),
    ("falsify", "mine.py:false", "--seconds", "2", "--out", "new"),
    ("repair", "mine.py:numbers", "--seconds", "3"),
    ("repair", "mine.py:false", "--seconds", "3"),
    ("mutate", "textbook/jensen-three", "--quick", "--seconds", "3", "--mutants", "2", "--out", "new",
     "--log", "l.jsonl"),
    ("sharpen", "mine.py:numbers", "--seconds", "3", "--out", "new"),
    ("sharpen", "mine.py:true", "--seconds", "3", "--out", "new"),
    ("new", "fresh.py"),
    ("read", "paper.tex:thm", "--against", "mine.py:descent", "--questions", "open.toml"),
    ("read", "paper.tex:eq", "--questions", "open.toml"),
    ("moments", "instance.json", "--exact"),
    ("moments", "instance.json", "--rigorous"),
    ("moments", "spec.json"),
    ("measure", "mine.py:false", "instance.json", "--set", "mu=1"),
    ("compare", "--L", "10", "--N", "10", "--rounds", "100", "--mu", "1", "--H", "2", "--out", "new.svg"),
    ("compare", "--L", "10", "--N", "10", "--rounds", "100", "--only", "--also", "mine.py", "--verdicts", "results"),
    ("diff", "mine.py:true", "--implementation", "code.py:right", "--set", "eta=1/8"),
    ("diff", "mine.py:true", "--implementation", "code.py:raises", "--tolerance", "1e-6"),
    ("audit", "instance.json", "--ball", "1"),
    ("audit", "mine.py:true"),
    ("check", "mine.py:numbers", "--quick", "--out", "new", "--jobs", "1"),
    ("check", "mine.py:false", "--quick", "--out", "new", "--jobs", "2"),
    ("verify", "instance.json", "--claims", "mine.py"),
    ("report", "mine.py", "--quick", "--out", "new", "--jobs", "1"),
    ("review", "mine.py:numbers", "--quick", "--out", "review.md", "--kept", "new", "--jobs", "1"),
    ("reproduce", "fedavg-svrg", "--quick", "--out", "new"),
    ("simulate", "instance.json", "--runs", "16", "--out", "runs.npz", "--block", "8"),
    ("simulate", "spec.json", "--runs", "8", "--metric", "suboptimality", "--device", "cpu"),
    ("sweep", "sweep.toml", "--out", "s.sqlite", "--workers", "1"),
    ("sweep", "--status", "store.sqlite", "--export", "table.csv"),
    ("doctor", "--no-self-test"),
    ("--install-completion",),
)  # fmt: skip


@cache
def options() -> dict[str, dict[str, bool]]:
    """The options of each command, and which of them are flags."""
    import typer

    from validate.cli import app

    group: Any = typer.main.get_command(app)
    return {
        name: {p.opts[0]: p.is_flag for p in command.params if p.param_type_name == "option"}
        for name, command in group.commands.items()
    }


def worth(option: str) -> tuple[str, ...]:
    """Values for an option."""
    return WORTH.get(option, NUMBERS)


@dataclass(frozen=True)
class Case:
    """A command line, where it runs, and after how many seconds it is interrupted, if it is."""

    words: tuple[str, ...]
    place: str
    interrupted: float | None


def case(draw: random.Random, places: tuple[str, ...]) -> Case:
    """One more.

    Args:
        draw: from which it is drawn.
        places: where it may run, beside as usual.
    """
    words = list(draw.choice(STARTS))
    known = options().get(words[0], {})
    for _ in range(draw.choice((0, 1, 1, 1, 2, 3))):
        kind = draw.choice(("value",) * 6 + ("option",) * 4 + ("word", "remove", "repeat"))
        at = draw.randrange(len(words) > 1, len(words))
        if kind == "value" and at and not words[at].startswith("--"):
            before = words[at - 1]
            words[at] = draw.choice(worth(before) if before.startswith("--") else (*PATHS, *NAMES, *NUMBERS))
        elif kind == "option" and known:
            name = draw.choice(list(known))
            words += [name] if known[name] else [name, draw.choice(worth(name))]
        elif kind == "word":
            words.insert(at, draw.choice((*NAMES, *PATHS, "--", "--nonsense", "--json", "-h")))
        elif kind == "remove" and len(words) > 1:
            del words[at]
        elif kind == "repeat":
            words.insert(at, words[at])
    place = draw.choice(("as usual",) * 12 + places)
    # nobody waits for hours: what still computes then is ended as a reader would end it
    after = draw.uniform(0.05, 8) if place == "interrupted" else draw.uniform(15, 25)
    return Case(tuple(words), place, after)
