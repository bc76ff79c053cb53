"""The catalogue: built-in papers, those of other distributions, and `from theory import claim`."""

import importlib.metadata
import logging
import subprocess
import sys
import types
from collections.abc import Callable, Iterator

import pytest

from tests.theory.toys import in_numbers
from theory import catalog
from theory.claim import Paper, unread
from theory.claim import claim as written
from theory.expression import check, right_side


def toy(name: str, *labels: str) -> Paper:
    return Paper(name, "title", "authors", tuple(written(label, "t <= t + s") for label in labels))


class Entry:
    """An entry point that gives a thing, or raises it."""

    def __init__(self, name: str, thing: object) -> None:
        self.name, self.value, self.thing = name, f"{name}_module:PAPER", thing

    def load(self) -> object:
        if isinstance(self.thing, BaseException):
            raise self.thing
        return self.thing


@pytest.fixture
def plug_ins(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """A function that puts entry points in place of the installed ones, and two toy papers in place of the built-in."""
    for name in ("alpha", "beta"):
        module = types.ModuleType(f"toy_{name}")
        module.PAPER = toy(name, "theorem-1", "theorem-2")  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(catalog, "BUILT_IN", {"alpha": "toy_alpha", "beta": "toy_beta"})

    def install(*entries: Entry) -> None:
        catalog._others.cache_clear()
        monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: entries if group == catalog.GROUP else ())

    install()
    yield install
    catalog._others.cache_clear()
    catalog._built_in.cache_clear()


def test_other_distributions_add_papers(plug_ins: Callable[..., None]) -> None:
    module = types.ModuleType("with_paper")
    module.PAPER = toy("delta", "lemma-1")  # type: ignore[attr-defined]
    plug_ins(Entry("z", toy("gamma", "lemma-1")), Entry("a", module))
    assert [p.name for p in catalog.papers()] == ["alpha", "beta", "delta", "gamma"]
    assert catalog.claim("gamma/lemma-1").id == "gamma/lemma-1"
    assert catalog.paper("delta") is module.PAPER


@pytest.mark.parametrize(
    "thing", [ImportError("no such module"), ZeroDivisionError(), object(), None, SyntaxError("x")]
)
def test_a_broken_plug_in_is_left_out_with_a_warning(
    plug_ins: Callable[..., None], thing: object, caplog: pytest.LogCaptureFixture
) -> None:
    plug_ins(Entry("broken", thing), Entry("sound", toy("gamma", "lemma-1")))
    with caplog.at_level(logging.WARNING):
        assert [p.name for p in catalog.papers()] == ["alpha", "beta", "gamma"]
    assert [r.levelname for r in caplog.records] == ["WARNING"]
    assert "'broken' (broken_module:PAPER)" in caplog.text


def test_a_name_is_given_to_one_paper(plug_ins: Callable[..., None]) -> None:
    plug_ins(Entry("mine", toy("alpha", "lemma-1")))
    with pytest.raises(ValueError, match=r"'mine' .* has the name of the built-in paper 'alpha'"):
        catalog.papers()
    assert catalog.claim("alpha/theorem-1").id == "alpha/theorem-1"  # the built-in ones still serve
    plug_ins(Entry("one", toy("gamma", "lemma-1")), Entry("two", toy("gamma", "lemma-1")))
    with pytest.raises(ValueError, match=r"'two' .* another plug-in's paper, 'gamma'"):
        catalog.papers()
    plug_ins(Entry("same", sys.modules["toy_alpha"]))
    assert [p.name for p in catalog.papers()] == ["alpha", "beta"]


def test_a_module_holds_the_paper_that_it_is_listed_for(
    plug_ins: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalog, "BUILT_IN", {"alpha": "toy_beta"})
    with pytest.raises(ValueError, match="toy_beta holds the paper 'beta', not 'alpha'"):
        catalog.paper("alpha")


@pytest.mark.parametrize(
    "code",
    [
        "from theory import claim",
        "import theory.claim; from theory import claim",
        "from theory.claim import Paper; import theory; claim = theory.claim",
        "import importlib; importlib.import_module('theory.claim'); from theory import claim",
        "import theory.catalog; import theory.claim as claim",
    ],
)
def test_claim_is_the_function_whatever_was_imported_before(code: str) -> None:
    code += "; print(callable(claim)); from theory.claim import Paper; import theory; print(callable(theory.claim))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.split() == ["True", "True"]


def test_every_formula_of_every_built_in_claim_is_sound() -> None:
    found = [c for name in catalog.BUILT_IN for c in catalog.paper(name).claims]
    assert found
    for c in found:
        assert catalog.claim(c.id) is c
        numbers = in_numbers(c)
        check(numbers)
        # a root of what is not positive, which sympy refuses
        if (
            c.id != "fedavg-svrg/lemma-v1"
            and numbers.right is not None
            and all(p.shape == "scalar" for p in numbers.parameters)
        ):
            assert right_side(numbers).free_symbols <= {p.symbol for p in numbers.parameters}


@pytest.mark.parametrize("name", [p.name for p in catalog.papers()])
def test_every_claim_that_comes_with_it_can_be_read(name: str) -> None:
    """The catalogue lists claims before anything of them is read; here all of it is."""
    for one in catalog.claims(name):
        one.read()


def test_what_was_written_unread_is_refused_when_it_is_read() -> None:
    with unread():
        one = written("one", "t <= t +", title="one")
    with pytest.raises(ValueError, match=r"claim 'one': .*cannot be read"):
        one.read()
    with pytest.raises(ValueError, match=r"claim 'two': .*cannot be read"):
        written("two", "t <= t +")
