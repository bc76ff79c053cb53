"""Claims and papers: checked when made, frozen, and evaluated through their methods."""

import re
from typing import Any

import pytest

from theory import algorithm
from theory.claim import Claim, Paper, claim
from theory.domain import COUNT, POSITIVE
from theory.program import Algorithm


def make(label: str = "theorem-1", **changes: Any) -> Claim:
    fields: dict[str, Any] = {
        "assuming": ("smooth(f, L)", "strongly_convex(f, mu)", "mu <= L"),
        "where": {"kappa": "L/mu"},
        "paper": "toy",
    }
    made: Claim = claim(label, "f(x0) - fstar <= 1 + kappa", **(fields | changes))
    return made


def test_a_paper_holds_its_own_claims_once() -> None:
    c = make()
    assert list(Paper("toy", "t", "a", (c,))) == [c]
    with pytest.raises(ValueError, match="used twice"):
        Paper("toy", "t", "a", (c, c))
    with pytest.raises(ValueError, match="does not belong to paper 'other'"):
        Paper("other", "t", "a", (c,))
    repair = make("theorem-1/corrected", amends="theorem-2")
    with pytest.raises(ValueError, match="amends 'theorem-2', which the paper does not have"):
        Paper("toy", "t", "a", (c, repair))
    assert Paper("toy", "t", "a", (c, make("theorem-1/corrected", amends="theorem-1"))).claims[1].amended == c.id


def test_a_paper_makes_claims_its_own_and_holds_nothing_else() -> None:
    mine = make(paper="")
    assert Paper("mine", "t", "a", (mine,)).claims[0].id == "mine/theorem-1"
    with pytest.raises(ValueError, match="paper 'mine': 'x' is no claim"):
        Paper("mine", "t", "a", ("x",))  # type: ignore[arg-type]


@pytest.mark.parametrize("what", ["nonnegative", (0, None), None])
def test_what_is_no_domain_is_refused_when_the_claim_is_made(what):
    with pytest.raises(ValueError, match=r"claim 'one': parameters has a=.* is to be one of .*REAL, POSITIVE, NONNEG"):
        claim("one", "a*c >= 0", parameters={"a": what})


@pytest.mark.parametrize(
    ("name", "text", "instead"),
    [
        ("vectors", "x", ("x",)),
        ("vectors", "a_n, b", ("a_n", "b")),
        ("vectors", "a_n b", ("a_n", "b")),
        ("rests_on", "lemma-1, lemma-2", ("lemma-1", "lemma-2")),
        ("assuming", "eta <= 1/L", ("eta <= 1/L",)),
        ("assuming", "smooth(f, L), eta <= 1/L", ("smooth(f, L)", "eta <= 1/L")),
        ("standing", "for every x, y: f(x) <= f(y)", ("for every x, y: f(x) <= f(y)",)),
        ("remarks", "As printed, in a footnote.", ("As printed, in a footnote.",)),
    ],
)
def test_a_text_for_a_tuple_is_told_the_tuple(name: str, text: str, instead: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match=re.escape(f"{name}={text!r} is text; write a tuple of texts, {instead!r}")):
        claim("one", "norm2(x) >= 0", **{name: text})


def test_definitions_may_be_written_in_any_order() -> None:
    says, m = "norm2(mean_n(a_n)) <= q*m", {"m": "mean_n(norm2(a_n))"}
    forward = claim("jensen", says, vectors=("a_n",), where={**m, "q": "m/m"})
    backward = claim("jensen", says, vectors=("a_n",), where={"q": "m/m", **m})
    assert tuple(backward.definitions) == ("m", "q")
    assert backward.definitions == forward.definitions
    assert backward.symbols == forward.symbols


@pytest.mark.parametrize(("where", "through"), [({"p": "p + 1"}, "$"), ({"p": "q + 1", "q": "p + 1"}, ", through q$")])
def test_a_definition_does_not_speak_of_itself(where: dict[str, str], through: str) -> None:
    with pytest.raises(ValueError, match=f"the definition of p speaks of p{through}"):
        claim("circular", "norm2(a) <= p*norm2(a)", vectors=("a",), where=where)


@pytest.mark.parametrize(
    ("statement", "more", "why"),
    [
        ("(1 + a)**n >= 1 + n*a", {}, r"n numbers the clients, .* another name \(taken are the indices n, i, k, h, j,"),
        ("a <= c", {"assuming": ("c >= n*a",)}, "n numbers the clients"),
        ("a*i <= 2*a*i", {}, "i numbers a client's samples"),
        ("norm2(x) <= h*norm2(x)", {"vectors": ("x",)}, "h numbers turns of loops"),
        ("a**j <= 1", {}, "j numbers turns of loops"),
        ("a <= a", {"parameters": {"n": COUNT}}, "the name 'n' means something else than a parameter"),
    ],
)
def test_a_parameter_does_not_have_the_name_of_an_index(statement: str, more: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        claim("index", statement, **more)


@algorithm
def heard(w: Any, x: Any, *, eta: Any, p: Any, H: Any) -> Any:
    y = w.each(x)
    for _ in w.repeat(H):
        y = y - eta * w.gradient(y)
    return w.where(w.coin(p), w.mean(y), x)


@algorithm
def indexed(w: Any, x: Any, *, eta_k: Any) -> Any:
    return x - eta_k * w.full_gradient(x)


@algorithm
def divided_outside(w: Any, x: Any, *, eta: Any, p: Any) -> Any:
    g = w.gradient(x)
    return x - eta / p * w.mean(w.where(w.coins(p), g, 0 * g))


@algorithm
def divided_inside(w: Any, x: Any, *, eta: Any, p: Any) -> Any:
    g = w.gradient(x)
    return x - eta * w.mean(w.where(w.coins(p), g / p, 0 * g))


def test_one_number_a_client_stands_with_what_clients_have() -> None:
    statement = "E(norm2(x[1] - x0)) <= eta**2*mean_n(norm2(grad(f_n, x0))/p_n)"
    with pytest.raises(ValueError, match=r"p_n is one number a client, and in line \d+ of divided_outside it stands"):
        claim("one", statement, of=divided_outside)
    assert claim("one", statement, of=divided_inside).symbols == ("eta", "p_n")


@pytest.mark.parametrize(
    ("of", "statement", "why"),
    [
        (heard, "E(f(x[k])) <= f(x0) + mean_n(p_n)", r"p_n is one number a client, and w.coin\(p\) takes one for all"),
        (
            heard,
            "E(f(x[k])) <= f(x0) + mean_n(H_n)",
            r"H_n is one number a client, and w.repeat\(H\) takes one for all",
        ),
        (
            indexed,
            "f(x[k]) <= f(x0)",
            "has a parameter eta_k: call it eta there; claims say eta_k of one number a round",
        ),
    ],
)
def test_parameters_are_what_the_algorithm_takes(of: Algorithm, statement: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        claim("one", statement, of=of)


def test_a_name_in_an_index_is_of_an_integer():
    """As T of the last round, which an author need not say."""

    @algorithm
    def descent(w, x, *, eta):
        return x - eta * w.full_gradient(x)

    one = claim("last", "f(x[T]) <= t*f(x0)", of=descent)
    assert one.domains["T"] == COUNT
    assert one.domains["t"] == POSITIVE
