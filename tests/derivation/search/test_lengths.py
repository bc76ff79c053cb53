"""What is so of lengths: sums, means and inner products of vectors."""

import pytest

from tests.derivation.search.finding import is_found, is_not_found
from theory import claim

OF_TWO = {
    "triangle": "norm(u + v) <= norm(u) + norm(v)",
    "a difference": "norm(u - v) <= norm(u) + norm(v)",
    "the other side": "norm(u) - norm(v) <= norm(u - v)",
    "turned": "norm(u - v) >= norm(u) - norm(v)",
    "the distance of lengths": "abs(norm(u) - norm(v)) <= norm(u - v)",
    "a multiple": "norm(u - c*v) <= norm(u) + c*norm(v)",
    "a share": "norm((u + v)/c) <= norm(u)/c + norm(v)/c",
    "a product": "dot(u, v) <= norm(u)*norm(v)",
    "a negative product": "-dot(u, v) <= norm(u)*norm(v)",
    "the size of a product": "abs(dot(u, v)) <= norm(u)*norm(v)",
    "its square": "dot(u, v)**2 <= norm2(u)*norm2(v)",
}
FALSE_OF_TWO = {
    "half": "norm(u + v) <= norm(u) + norm(v)/2",
    "the other side": "norm(u) - norm(v) <= norm(u - v)/2",
    "a multiple": "norm(u - c*v) <= norm(u) + norm(v)",
    "the distance of lengths": "norm(u - v) <= abs(norm(u) - norm(v))",
    "a product": "dot(u, v) <= norm(u)*norm(v)/2",
    "its square": "dot(u, v)**2 <= norm2(u)*norm2(v)/2",
}
OF_CLIENTS = {
    "a mean": "norm(mean_n(a_n)) <= mean_n(norm(a_n))",
    "a sum": "norm(sum_n(a_n)) <= sum_n(norm(a_n))",
    "the largest": "norm(mean_n(a_n)) <= max_n(norm(a_n))",
}


@pytest.mark.parametrize("name", OF_TWO)
def test_of_two_vectors(name: str) -> None:
    is_found(claim("lengths", OF_TWO[name], vectors=("u", "v")))


@pytest.mark.parametrize("name", FALSE_OF_TWO)
def test_false_of_two_vectors(name: str) -> None:
    is_not_found(claim("lengths", FALSE_OF_TWO[name], vectors=("u", "v")))


@pytest.mark.parametrize("name", OF_CLIENTS)
def test_of_clients(name: str) -> None:
    is_found(claim("lengths", OF_CLIENTS[name], vectors=("a_n",)))


def test_of_three_vectors_and_of_gradients() -> None:
    is_found(claim("three", "norm(u - 2*v + w) <= norm(u) + 2*norm(v) + norm(w)", vectors=("u", "v", "w")))
    is_found(claim("way", "norm(u - w) <= norm(u - v) + norm(v - w)", vectors=("u", "v", "w")))
    gradients = "norm(grad(f_n, x)) <= norm(grad(f_n, x) - grad(f, x)) + norm(grad(f, x))"
    is_found(claim("own", gradients, vectors=("x",), assuming=("smooth(f_n, L)",)))
    is_not_found(claim("largest", "norm(mean_n(a_n)) >= mean_n(norm(a_n))", vectors=("a_n",)))
