"""Relations that speak of the run: their worst values, what they ask of an instance, and the verifier's own view."""

from fractions import Fraction as F

from theory import algorithm, claim
from theory.sentence import parse_sentence
from validate import verifier
from validate.both_sides import sides, words_of
from validate.breaks import certificate_of_break
from validate.instances import read_instance, read_problem
from validate.instances.hunt import hunt
from validate.instances.occasion import occasion
from validate.instances.pool import Drawn, drawn


@algorithm(x="each x0")
def walk(w, x, *, eta):
    g = w.gradient(x, w.sample())
    w.tap("g", g)
    return x - eta * g


BOUNDED = claim(
    "bounded", "E(norm2(x[k] - x0)) <= (eta*sigma*k)**2", of=walk, assuming=("norm(g[k]) <= sigma", "eta <= 1")
)
# f = x^2/2 +- x, from 1: the sampled gradients are 2 and 0, then those of -1 + 1 = 0 and ...
TWO = read_problem({"clients": [[{"h": 1, "b": 1}, {"h": 1, "b": -1}]]})


def test_the_pool_keeps_to_the_relation():
    found = [one for one in (drawn(BOUNDED, seed) for seed in range(30)) if one is not None]
    assert len(found) >= 10
    for one in found:
        both = sides(
            parse_sentence("norm(g[k]) <= sigma"), words_of(one.instance), one.instance, {"sigma": one.values["sigma"]}
        )
        assert both.holds


def broken(sigma):
    """The false neighbour without the factor eta, put to two rounds on `TWO`."""
    false = claim("false", "E(norm2(x[k] - x0)) <= (eta*sigma*k)**2/8", of=walk, assuming=BOUNDED.assuming)
    data = {"algorithm": "walk", "parameters": {"eta": 1}, "problem": TWO.to_json(), "start": 1, "rounds": 1}
    return occasion(false, Drawn(read_instance(data, walk), {"sigma": sigma}, {"eta": F(1), "sigma": sigma}))


def test_the_verifier_plays_the_run_for_the_relation():
    made = certificate_of_break(broken(F(2)))
    assert verifier.verify(made).valid
    less = {**made, "parameters": {**made["parameters"], "sigma": "19/10"}}
    assert not verifier.verify(less).valid


def test_an_instance_whose_run_violates_it_is_told():
    assert broken(F(2)).unmet == ()
    assert broken(F(1)).unmet == ("norm(g[k]) <= sigma",)


def test_sides_of_an_equation_with_roots_are_compared_to_many_bits():
    @algorithm
    def rooted(w, x, *, eta):
        return x + eta * w.sqrt(w.ones())

    data = {"algorithm": "rooted", "parameters": {"eta": 2}, "problem": TWO.to_json(), "start": 1, "rounds": 1}
    instance = read_instance(data, rooted)

    def row(text):
        (found,) = sides(parse_sentence(text), words_of(instance), instance).rows
        return found

    same = row("sqrt(2)*sqrt(3)*norm(x[1]) == sqrt(6)*norm(x[1])")
    assert (same.status, same.agrees) == ("undecided", True)
    other = row("sqrt(2)*sqrt(3) == sqrt(6)*(1 + eta/10**20)")
    assert (other.status, other.agrees) == ("broken", False)


def test_an_equation_with_roots_is_supported_where_its_sides_agree():
    @algorithm
    def scaled(w, x, *, eta):
        return x - eta * w.over(w.full_gradient(x), w.sqrt(w.times(x, x) + w.ones()))

    def verdict(factor):
        one = claim("scaled", f"norm2(x[1] - x0) == {factor}*norm(x[1] - x0)**2", of=scaled, assuming=("eta <= 1",))
        found = hunt(one, pool=40, evaluations=0, operations=10**6)
        return found.broken is not None, len(found.seen)

    assert verdict("1")[0] is False
    assert verdict("1")[1] >= 20
    assert verdict("(1 + eta/1000)")[0] is True
