"""What the tests of the sliders share: claims, formulas to draw, and a page of its own for some claims."""

import importlib.util
from collections.abc import Mapping
from functools import cache, reduce
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from theory import catalog
from theory.bound import Bound, Hypothesis, Parameter
from theory.calculator import ROUNDS, calculator
from theory.claim import Claim, Paper
from theory.domain import POSITIVE, REAL
from validate.report.play import play

LANGUAGE = Path(__file__).parents[2] / "language"


def numbers(claim: Claim | Bound) -> Bound:
    """A claim as the sliders have it."""
    return calculator(claim).bound if isinstance(claim, Claim) else claim


def in_file(path: Path) -> Paper:
    """The paper of an example."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.PAPER


EXAMPLES = [in_file(path) for path in sorted(LANGUAGE.glob("*.py")) if path.stem != "__init__"]
_ALL = [numbers(c) for paper in (*catalog.papers(), *EXAMPLES) for c in paper.claims]
CLAIMS = [c for c in _ALL if c.right is not None and ROUNDS not in {p.name for p in c.parameters}]
_BY_ID = {c.id: c for c in CLAIMS}
SAME = 1e-12  # relative difference that libraries' exp, log and powers may cause


@cache
def data_of(name: str) -> dict[str, Any]:
    found = play(_BY_ID[name] if name in _BY_ID else numbers(catalog.claim(name)))
    assert found is not None
    return found


def starts(data: Mapping[str, Any]) -> dict[str, Any]:
    return {p["name"]: p["start"] for p in data["parameters"]}


OPERATIONS: dict[str, Any] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "**": np.power,
    "power": np.power,
    "neg": np.negative,
    "sqrt": np.sqrt,
    "log": np.log,
    "exp": np.exp,
    "abs": np.abs,
    "min": lambda *a: reduce(np.minimum, a),
    "max": lambda *a: reduce(np.maximum, a),
    "sum": np.sum,
    "mean": np.mean,
    "amax": np.max,
    "amin": np.min,
}


def run(program: Mapping[str, Any], values: Mapping[str, Any]) -> list[Any]:
    """The list form, as the docstring of `theory.listing` says it."""
    found = [np.asarray(values[name], dtype=float) for name in program["inputs"]]
    found += [np.float64(number) for number in program["numbers"]]
    with np.errstate(all="ignore"):
        for name, *places in program["steps"]:
            if name == "power":
                found.append(np.power(found[places[0]], float(places[1])))
            else:
                found.append(OPERATIONS[name](*[found[place] for place in places]))
    return found


def same(left: Any, right: Any) -> bool:
    """Whether numbers or vectors agree to 1e-12, those that are not finite counting as one undefined value."""
    a, b = np.asarray(left, dtype=float), np.asarray(right, dtype=float)
    if a.shape != b.shape or not np.array_equal(np.isfinite(a), np.isfinite(b)):
        return False
    fine = np.isfinite(a)
    return bool(np.allclose(a[fine], b[fine], rtol=SAME, atol=0))


def made(right: str, relation: str = "a < b", **more: Any) -> Bound:
    parameters = (
        Parameter("a", REAL, "a number"),
        Parameter("b", POSITIVE, "another"),
        Parameter("v", REAL, "a vector", shape="vector"),
    )
    return Bound(
        "made/one",
        f"({right}) + 0*twice",
        parameters,
        (Hypothesis("order", "", relation),),
        {"twice": f"2*({right})"},
        left="what is bounded",
        **more,
    )


VECTORS = st.recursive(
    st.just("v"),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*/"), st.sampled_from(["a", "b", "3"])).map(lambda p: f"({''.join(p)})"),
        st.tuples(inner, inner, st.sampled_from(["min", "max"])).map(lambda p: f"{p[2]}({p[0]},{p[1]})"),
        st.tuples(inner, st.integers(-3, 20)).map(lambda p: f"({p[0]})**({p[1]})"),
    ),
    max_leaves=3,
)
FORMULAS = st.recursive(
    st.one_of(
        st.sampled_from(["a", "b", "2", "0.1", "1/3", "7"]),
        st.tuples(st.sampled_from(["sum", "mean", "amax", "amin"]), VECTORS).map(lambda p: f"{p[0]}({p[1]})"),
    ),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "/", "**"]), inner).map(lambda p: f"({''.join(p)})"),
        st.tuples(st.sampled_from(["sqrt", "log", "exp", "abs", "-"]), inner).map(lambda p: f"({p[0]}({p[1]}))"),
        st.tuples(inner, inner, inner, st.sampled_from(["min", "max"])).map(lambda p: f"{p[3]}({','.join(p[:3])})"),
        st.tuples(inner, st.integers(-3, 20)).map(lambda p: f"({p[0]})**({p[1]})"),
    ),
    max_leaves=6,
).filter(lambda text: len(text) < 400)


SMALL = st.integers(-40, 40).map(lambda n: n / 8)
INPUTS = st.fixed_dictionaries(
    {"a": SMALL, "b": st.integers(1, 40).map(lambda n: n / 8), "v": st.lists(SMALL, min_size=1, max_size=4)}
)


def page_of(claims: list[Any], starts: Mapping[str, Mapping[str, Any]] | None = None) -> str:
    from jinja2 import ChoiceLoader, DictLoader, Environment, FileSystemLoader, StrictUndefined

    import validate.report

    text = (
        '{% from "play.html" import playground, play_script %}<!doctype html><html lang="en"><meta charset="utf-8">'
        '<title>play</title><style>{% include "style.css" %}{% include "play.css" %}</style>'
        "<main>{% for c in claims %}{{ playground(c) }}{% endfor %}</main>{{ play_script() }}"
    )
    folder = Path(validate.report.__file__).parent / "templates"
    environment = Environment(
        loader=ChoiceLoader([DictLoader({"play-test.html": text}), FileSystemLoader(folder)]),
        autoescape=True,
        undefined=StrictUndefined,
    )
    shown = [
        SimpleNamespace(claim=c, target=c.id, play=play(c, (starts or {}).get(c.id))) for c in map(numbers, claims)
    ]
    return environment.get_template("play-test.html").render(claims=shown)
