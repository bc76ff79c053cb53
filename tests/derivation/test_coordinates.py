"""What algorithms make coordinate by coordinate, and lines that speak of any coordinate."""

import pytest

from tests.derivation.both import check
from theory import algorithm, claim
from theory.derivation import NotProvedError, axiom, cases, combined, induction, root, step
from theory.sentence import SentenceError

C = "coordinate({})".format


@algorithm(x="x0", v="0")
def scaled(w, x, v, *, eta, eps):
    """Gradient steps divided by roots of the largest squares so far."""
    g = w.mean(w.gradient(x, w.sample()))
    v = w.larger(v, w.times(g, g))
    t = w.over(w.ones(), w.sqrt(v + eps * w.ones()))
    w.tap("one", w.ones())
    w.tap("square", w.times(x, x))
    w.tap("both", w.times(x, v))
    w.tap("sampled", w.times(x, g))
    w.tap("exact", w.times(x, w.full_gradient(x)))
    w.tap("t", t)
    return x - eta * w.times(t, g), v


@algorithm
def rooted(w, x):
    """A run of one round is possible from 1/2, and none of two."""
    w.tap("one", w.ones())
    w.tap("z", x)
    w.tap("y", w.sqrt(x))
    return x - w.ones()


@algorithm
def inverted(w, x):
    w.tap("y", w.over(w.ones(), x))
    return x - w.ones()


@algorithm
def in_loop(w, x, *, H):
    y = w.each(x)
    for _ in w.repeat(H):
        w.tap("y", y)
        y = w.sqrt(y)
    return w.mean(y)


@algorithm
def kept(w, x, *, m):
    y = w.keep(x, m)
    w.tap("y", w.times(y, y))
    return x


def ends(statement, *lines, of=scaled, **fields):
    return check(claim("one", statement, of=of, **fields), lines)


@pytest.mark.parametrize(
    "statement",
    [
        "dot(one[k], one[k]) == d",
        "dot(one[k], square[k]) == norm2(x[k])",
        "norm2(square[k]) >= 0",
        "dot(x[k], both[k]) == dot(v[k+1], square[k])",
        "dot(one[k], both[k]) == dot(x[k], v[k+1])",
        "E(dot(grad(f, x[k]), sampled[k])) == E(dot(grad(f, x[k]), exact[k]))",
        "norm2(x[k+1] - x[k] + eta*mean_n(x[k+1] - x[k])/eta) == norm2(2*(x[k+1] - x[k]))",
        "E(norm2(exact[k])) == E(norm2(2*exact[k]))/4",
    ],
)
def test_accepted(statement):
    if statement == "norm2(square[k]) >= 0":
        ends(statement, combined("all", None, (), {"square[k]": "1"}))
    else:
        ends(statement, step("all"))


@pytest.mark.parametrize(
    ("statement", "of"),
    [
        ("dot(one[k], one[k]) == 1", scaled),
        ("dot(one[k], square[k]) == 2*norm2(x[k])", scaled),
        ("norm2(square[k]) == norm2(x[k])**2", scaled),
        ("E(norm2(sampled[k])) == E(norm2(exact[k]))", scaled),
        ("dot(t[k], x[k]) == dot(one[k], x[k])", scaled),
        ("E(dot(x[k], y[k])) == d/m*E(norm2(x[k]))", kept),
        ("norm2(y[k, h+1]) == dot(y[k, h], y[k, 0])", in_loop),
    ],
)
def test_rejected(statement, of):
    with pytest.raises(NotProvedError):
        ends(statement, step("all"), of=of)


def test_a_line_for_every_coordinate():
    """v never falls, in any coordinate, and its sum not either."""
    lines = (
        step("one_k", f"{C('one[k]')} == 1"),
        axiom("max", f"{C('v[k]')} <= max({C('v[k]')}, {C('v[k+1]')})", "max", C("v[k]"), C("v[k+1]")),
        step("same", f"max({C('v[k]')}, {C('v[k+1]')}) == {C('v[k+1]')}"),
        combined("grows", f"{C('v[k]')} <= {C('v[k+1]')}", {"max": "1", "same": "1"}),
        combined("all", None, {"coordinates: grows": "1", "coordinates: one_k": f"-({C('v[k+1]')} - {C('v[k]')})"}),
    )
    ends("dot(one[k], v[k]) <= dot(one[k], v[k+1])", *lines)
    with pytest.raises(NotProvedError):
        ends("dot(one[k], v[k+1]) <= dot(one[k], v[k])", *lines)
    with pytest.raises(NotProvedError):  # a line of any coordinate is nothing that can be taken over clients
        ends("dot(one[k], v[k]) <= dot(one[k], v[k+1])", *lines[:-1], combined("all", None, {"mean_n: grows": "1"}))
    with pytest.raises(NotProvedError):
        ends("norm2(v[k]) <= norm2(v[k+1])", *lines[:-1], combined("all", None, {"coordinates: grows": "1"}))


def test_squares_sum_to_the_norm():
    ends(
        "norm2(x[k]) <= d*norm2(x[k])",
        axiom("one", f"{C('x[k]')}**2 <= norm2(x[k])", "coordinate", "x[k]"),
        combined("all", None, {"coordinates: one": "1"}),
    )
    for statement in (f"{C('x[k]')}**2 <= norm(x[k])", f"{C('x[k]')} <= norm2(x[k])", "norm2(x[k]) <= 2"):
        with pytest.raises(NotProvedError):
            ends("norm2(x[k]) <= d*norm2(x[k])", axiom("one", statement, "coordinate", "x[k]"))


def test_in_a_case_of_one_coordinate_nothing_is_said_of_all():
    """In the case that a coordinate is at most 1 the others may be more."""
    of_start = "x0"
    lines = (
        cases(
            "all",
            None,
            f"{C(of_start)} <= 0",
            [combined("sum", "dot(x0, x0) <= 0", {"coordinates: coordinate(x0) <= 0": "1"})],
            [combined("other", None)],
        ),
    )
    with pytest.raises(NotProvedError, match="does not hold for every c"):
        ends("dot(x0, x0) <= 0", *lines)


def test_runs_need_not_go_on():
    """sqrt(x[k])**2 is x[k] in the rounds of the run, and the end of a run may be negative."""
    known = step("square", f"{C('y[k]')}**2 == {C('x[k]')}")
    low = combined("low", f"{C('x[k]')} >= 0", {"square": "1"}, {C("y[k]"): "1"})
    so = combined("all", None, {"coordinates: low": "1", "coordinates: one": "-" + C("x[k]")})
    one = step("one", f"{C('one[k]')} == 1")
    ends("dot(one[k], x[k]) >= 0", one, known, low, so, of=rooted)  # a tap is of a round of the run, and x[k] is not


def test_quotients_in_runs_only():
    """x*(1/x) is 1 in the rounds of the run; at its end x may be 0."""
    product = step("product", f"{C('y[k]')}*{C('x[k]')} == 1")
    ends("dot(y[k], x[k]) == d", product, combined("all", None, {"coordinates: product": "1"}), of=inverted)
    away = cases(
        "all",
        None,
        "norm2(x0) <= 1",
        [combined("so", None, {"coordinates: product": "1"})],
        [combined("so", None, {"coordinates: product": "1"})],
    )
    ends("dot(y[k], x[k]) == d", product, away, of=inverted)
    low = axiom("low", f"{C('x[k]')}**2 <= norm2(x[k])", "coordinate", "x[k]")
    more = combined(
        "more", f"2 - norm2(x[k]) <= {C('y[k]')}**2", {"product": "-2", "low": "1"}, {f"{C('x[k]')} - {C('y[k]')}": "1"}
    )
    cut = combined("cut", f"2 <= norm2(x[k]) + {C('y[k]')}**2", {"more": "1"})
    assert ends("2*d <= d*norm2(x[k]) + norm2(y[k])", product, low, more, cut,
                combined("all", None, {"coordinates: cut": "1"}), of=inverted)  # fmt: skip


@pytest.mark.parametrize(
    ("of", "gives"), [(rooted, "dot(y[k], y[k]) == dot(one[k], x[k])"), (inverted, "dot(y[k], x[k]) == d")]
)
def test_what_a_round_gives_is_not_known_of_the_end(of, gives):
    """The line that ends the proof of a sentence about x[K] may not rest on round K."""
    lines = (step("round", gives), combined("all", None, {"round": "1"}, {"x[k]": "1"}))
    ends(gives, step("all"), of=of)
    with pytest.raises(NotProvedError):
        ends("norm2(x[k]) >= 0", *lines, of=of)
    lines = (step("round", gives), combined("all", None, {"round": "0"}, {"x[k]": "1"}))
    with pytest.raises(NotProvedError, match="too little of the last k"):
        ends("norm2(x[k]) >= 0", *lines, of=of)
    ends("norm2(x[k]) >= 0", combined("all", None, (), {"x[k]": "1"}), of=of)


def test_no_root_of_a_later_round():
    """Lines of the round after the last one carry too far for an induction."""
    squares = "dot(y[{k}], y[{k}]) == dot(one[{k}], z[{k}])".format
    ends(squares(k="k"), step("all"), of=rooted)
    with pytest.raises(NotProvedError, match="more than one k"):
        ends(
            squares(k="k"),
            induction("all", None, [step("first", squares(k="0"))], [step("next", squares(k="k+1"))]),
            of=rooted,
        )


def test_said_in_lines_only():
    with pytest.raises(SentenceError):
        claim("one", "coordinate(x[k]) >= 0", of=scaled)
    with pytest.raises(SentenceError):
        claim("one", "norm2(x[k]) >= 0", of=scaled, assuming=("coordinate(x[k]) >= 0",))
    with pytest.raises(SentenceError):
        claim("one", "a >= 0", of=scaled, where={"a": "coordinate(x[k])"})


def test_roots_are_monotone():
    """1/sqrt falls where v grows."""
    after = f"sqrt({C('v[k+1]')} + eps)"
    grows = f"{C('v[k]')} <= {C('v[k+1]')}"
    ends(
        "dot(one[k], t[k])*sqrt(eps) <= d",
        step("same", f"max({C('v[k]')}, {C('v[k+1]')}) == {C('v[k+1]')}"),
        axiom("max", f"{C('v[k]')} <= max({C('v[k]')}, {C('v[k+1]')})", "max", C("v[k]"), C("v[k+1]")),
        combined("grows", grows, {"max": "1", "same": "1"}),
        induction(
            "v", f"{C('v[k]')} >= 0", [combined("v first", None)], [combined("v next", None, {"IH": "1", "grows": "1"})]
        ),
        combined("w", f"{C('v[k+1]')} >= 0", {"v": "1", "grows": "1"}),
        root("wide", "w", f"sqrt(eps) <= {after}"),
        step("t", f"{C('t[k]')} == 1/{after}"),
        step("one_k", f"{C('one[k]')} == 1"),
        combined("short", f"{C('t[k]')} <= 1/sqrt(eps)", {"t": "1", "wide": f"1/(sqrt(eps)*{after})"}),
        combined("all", None, {"coordinates: short": "sqrt(eps)", "coordinates: one_k": f"sqrt(eps)*{C('t[k]')}"}),
    )
