"""Rounds traced into programs: what they say, what is refused, and that the same round is the same program."""

import json
import textwrap

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theory.claim import claim
from theory.derivation.search.searching import search
from theory.formula import parse
from theory.program import (
    Algorithm,
    Beginning,
    Loop,
    Program,
    ProgramError,
    State,
    algorithm,
    from_json,
    limits,
    names_in,
    pseudo_code,
    text_of,
)


def made(body: str, head: str = "@algorithm", signature: str = "w, x, *, eta, H, p, S") -> Algorithm:
    """An algorithm from the text of its body."""
    source = f"{head}\ndef a({signature}):\n{textwrap.indent(textwrap.dedent(body).strip(), '    ')}\n"
    names: dict[str, object] = {"algorithm": algorithm}
    exec(compile(source, "written.py", "exec"), names)
    found = names["a"]
    assert isinstance(found, Algorithm)
    return found


@algorithm(x="x0", c="each grad(f_n, x0)")
def scaffold(w, x, c, *, eta, eta_g, H, S):
    """SCAFFOLD.

    More of it.
    """
    active = w.choose(S)
    cbar = w.mean(c)
    y = w.each(x)
    for _ in w.repeat(H):
        w.tap("y", y)
        y = y - eta * (w.gradient(y) - c + cbar)
    plus = c - cbar + (x - y) / (H * eta)
    return x + eta_g * w.average(y - x, active), w.where(active, plus, c)


def test_a_round_is_a_program():
    program = scaffold.program
    assert program.about == "SCAFFOLD."
    assert [(s.name, s.kind, s.initial) for s in program.state] == [
        ("x", "server", "x0"),
        ("c", "client", "grad(f_n, x0)"),
    ]
    assert program.parameters == ("eta", "eta_g", "H", "S")
    assert program.taps == {"y": ("client", 1)}
    assert program.operations >= {"choose", "mean", "each", "repeat", "gradient", "average", "where", "tap", "linear"}
    loops = [step for step in program.steps if isinstance(step, Loop)]
    assert [len(loop.carried) for loop in loops] == [1]
    assert program.random
    assert from_json(json.loads(json.dumps(program.to_json()))) == program


def test_pseudo_code_has_all_turns_of_a_tap():
    nested = made(
        """
        y = w.each(x)
        w.tap("u", y)
        for h in w.repeat(H):
            w.tap("y", y)
            for j in w.repeat(2):
                w.tap("v", y)
                y = y - eta*w.gradient(y)
        return w.mean(y)
        """
    )
    text = pseudo_code(nested.program)
    for line in ("# u[k] is ", "# y[k, h] is ", "# v[k, h, h2] is ", "repeat 2 times, h2 = 0, 1, ...:"):
        assert line in text


def test_what_draws_ask_of_their_numbers():
    body = """
    active = w.choose(S)
    again = w.choose(S, replace=True)
    g = w.keep(w.gradient(x), H)
    coin = w.coin(p/2)
    return x - eta*w.average(g, active) - coin*w.average(w.top(g, 2*H), again)
    """
    asked = [(op, text_of(number), text_of(most)) for op, number, most in limits(made(body).program)]
    assert asked == [("choose", "S", "N"), ("keep", "H", "d"), ("coin", "(p / 2)", "1"), ("top", "(2 * H)", "d")]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("return x - eta*w.full_gradient(x)", "g = w.full_gradient(x)\nstep = eta*g\nreturn x - step"),
        ("return (x - eta*w.full_gradient(x))*2/2", "return x*2/2 - eta*w.full_gradient(x)*2/2"),
        (
            "for h in w.repeat(H):\n    x = x - eta*w.full_gradient(x)\nreturn x",
            "y = x\nfor turn in w.repeat(H):\n    g = w.full_gradient(y)\n    y = -eta*g + y\nreturn y - 0",
        ),
        ("unused = w.sample()\nreturn x", "return x"),
    ],
)
def test_the_same_round_is_the_same_program(one, other):
    first, second = made(one).program, made(other).program
    if "-eta*g + y" in other or "2/2" in one:  # the order of a sum stays the author's
        assert {step.op for step in first.steps} == {step.op for step in second.steps}
        assert first.kinds.keys() == second.kinds.keys()
    else:
        assert first == second


def test_what_a_loop_remembers_for_a_turn_is_carried():
    program = made(
        """
        y, before = x, x
        for h in w.repeat(H):
            y, before = y - eta*w.full_gradient(y) + p*(y - before), y
        return y + before
        """
    ).program
    (loop,) = (step for step in program.steps if isinstance(step, Loop))
    assert len(loop.carried) == 2
    first, second = loop.carried
    assert {first.first, second.first} == {"_0"}
    names = {c.name: c for c in loop.carried}
    delayed = next(c for c in loop.carried if c.following in names)
    assert delayed.following != delayed.name  # it becomes what the other one was


def test_loops_inside_loops():
    program = made(
        """
        y = x
        for h in w.repeat(H):
            for j in w.repeat(3):
                y = y - eta/(h + j + 1)*w.full_gradient(y)
            y = y + p*(x - y)
        return y
        """
    ).program
    loops = [step for step in program.steps if isinstance(step, Loop)]
    assert [loop.index for loop in loops] == ["h", "h2"]
    assert from_json(program.to_json()) == program


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return x*x", r"written.py, line 3: a product of two vectors: w.times"),
        ("if w.coin(p):\n    x = 2*x\nreturn x", r"line 3: a branch on a value"),
        ("return w.grad(x)", r"line 3: w.grad is no primitive; did you mean w.gradient\?"),
        ("for h in w.repeat(H):\n    x = x/2\n    break\nreturn x", "leaves a loop of w.repeat before its end"),
        ("for h in w.repeat(H):\n    if h == 0:\n        x = 2*x\nreturn x", "line 4: a comparison of values"),
        ("return w.gradient(x)", "the state x is a server's and becomes a client's value; average it with w.mean"),
        ("return 3", "gives 3 for its state x"),
        ("return x, x", "gives 2 values and has 1 state variables"),
        ("return x + 1", "a vector plus a number: multiply w.ones"),
        ("return w.mix(x, eta)", "w.mix takes a client's value, not a server's value"),
        ("return eta/x", r"a number divided by a vector: w.over"),
        ("return x/x", r"a quotient of two vectors: w.over"),
        ("return x**2", r"a power of a vector: w.times"),
        (
            "for h in range(H):\n    x = x/2\nreturn x",
            r"line 3: H is a value taken for a Python number.*`for h in w.repeat\(H\)`, without range",
        ),
        ("for h in range(H - 1):\n    x = x/2\nreturn x", r"\(H - 1\) is a value .*`for h in w.repeat\(H - 1\)`"),
        ("return x*float(eta)", r"eta is a value taken for a Python number.*; w.sqrt is a root"),
        (
            "s, y = 0, w.each(x)\nfor h in w.repeat(H):\n    y = y/2\n    s = s + y\nreturn w.mean(s)/H",
            r"line 4: the turns of a loop do different things.*begins with a vector, such as s = 0\*x",
        ),
        ("y = w.each(x)\nreturn y.mean()", r"line 4: y.mean: a value has no methods; write w.mean\(y\)"),
        ("return (2*x).norm()*x", r"\(...\).norm: a value has no methods; write w.norm\(...\)"),
        ("return eta.sqrt()*x", r"eta.sqrt: a value has no methods; write w.sqrt\(eta\)"),
        ("return x.maen()", r"x.maen: a value has nothing of this name; did you mean w.mean\?"),
        ("return x.T", "x.T: a value has nothing of this name; w has average, before, "),
        ("return x*eta.value", "eta.value: a value has nothing of this name; w has average, before, "),
        ("return x*eta[w.k]", r"eta\[...\]: write eta alone, also where it is another number .* in claims eta_k is"),
        ("return x*eta(w.k)", r"eta\(...\): write eta alone, also where it is another number .* in claims eta_k is"),
        ("c = w.coins(p)\nreturn x*c[0]", r"c\[...\]: a number, or one of every client, is taken as it is"),
        ("x[0] = 1\nreturn x", r"an entry of a value is put: w.put\(table, i, v\)"),
        ("return x*w.d", r"w.d is no primitive; the dimension .* by the name d: \(w, x, \*, d\)"),
        ("return x*w.N", r"w.N is no primitive; the number of clients .* by the name N: \(w, x, \*, N\)"),
        ("return x*w.n", r"w.n is no primitive; the number of clients .* by the name N: \(w, x, \*, N\)"),
        (
            "return x - w.full_gradient(x) + w.noise(eta)",
            r"w.noise\(eta\) is a vector for each client, .* the variance eta/N: .* w.mean\(w.noise\(N\*eta\)\)",
        ),
        (
            "for h in w.repeat(H):\n    x = x + w.noise(eta)\nreturn x",
            r"and becomes a client's value; .* the variance eta/N: .* w.mean\(w.noise\(N\*eta\)\)",
        ),
        (
            "return w.full_gradient(x + w.noise(eta))",
            r"w.full_gradient takes a server's .* w.mean\(w.noise\(N\*eta\)\)",
        ),
        ("return w.gradient(x) + w.mean(w.noise(eta))", "average it with w.mean, or begin with 'each'$"),
        ("return x*max(eta, 1)", "a comparison of values"),
        ("return w.where(w.coin(p), x, eta)", "w.where takes a server's or a client's or a table value"),
        ("return x*'2'", "'2' where a number is needed"),
        ("return x[0]", "an entry of a value, x: what is done to coordinates is done to all"),
        ("return sum(x)", "a loop over a value"),
        ("w.tap('x', x)\nreturn x", "the tap 'x' has a name that is taken"),
        ("w.tap('k', x)\nreturn x", "w.tap takes a name that means nothing else"),
        (
            "kept = []\nfor h in w.repeat(H):\n    x = x/2\n    kept.append(x)\nreturn kept[0]",
            "an early turn of a loop",
        ),
        ("return w.visit(x, lambda v, one: one.visit(v, None))", "w.visit inside w.visit"),
        ("return w.visit(x, lambda v, one: None)", "the turn of w.visit gives None"),
        ("return w.mean(w.mix(w.each(x), w.coin(p)))", "w.mix takes the name of a parameter"),
        ("c = 0\nfor h in w.repeat(7):\n    c = c + 1\nreturn x/c", "hangs on how often Python runs the body"),
        (
            "total, c = 0*x, 0\nfor h in w.repeat(H):\n    x = x/2\n    total, c = total + x, c + 1\nreturn total/c",
            "hangs on how often Python runs the body of a loop",
        ),
        (
            "t = []\ndef turn(v, one):\n    t.append(1)\n    return v/len(t)\nreturn w.visit(x, turn)",
            "may not count or gather in Python's variables",
        ),
        (
            "s = [0*x]\ndef turn(v, i):\n    s[0] = s[0] + v\n    return v/2\n"
            "w.pass_over(w.each(x), turn)\nreturn w.mean(s[0])",
            "may not count or gather in Python's variables",
        ),
        (
            "turns = w.repeat(H)\nfor h in turns:\n    x = 2*x\nfor h in turns:\n    x = 2*x\nreturn x",
            "line 6: a loop over turns that are gone through",
        ),
        ("return w.keep(x, 0.5)", r"w.keep takes an integer of at least 1, not 0.5"),
        ("return w.top(x, 0)", r"w.top takes an integer of at least 1, not 0"),
        ("return w.top(x)", r"w.top\(\) missing 1 required positional argument: 'm'"),
        ("return x - w.mean(w.gradient(x, w.sample(3/2)))", r"w.sample takes an integer of at least 1, not 1.5"),
        ("return 1/3*x", r"line 3: 0.3333333333333333 is rounded: write Fraction\(1, 3\)"),
        # of 16 digits, and of 15 as a fraction in lowest terms
        ("return 0.1040000000000008*x", r"line 3: 0.1040000000000008 is rounded"),
        ("return 2**0.5*x", r"line 3: 1.4142135623730951 is rounded: write w.sqrt"),
    ],
)
def test_what_a_program_cannot_say_names_line_and_remedy(body, message):
    with pytest.raises(ProgramError, match=message):
        _ = made(body).program


def test_a_misspelt_start_is_named():
    with pytest.raises(ProgramError, match="x='x1' speaks of x1, which is neither x0 nor a parameter"):
        algorithm(x="x1")(lambda w, x, *, eta: x)


@pytest.mark.parametrize(
    ("head", "signature", "body", "message"),
    [
        (
            '@algorithm(t="table 0", x="x0")',
            "w, t, x",
            "return t, t[w.sample()]",
            r"a table are taken with w.get\(table",
        ),
        (
            '@algorithm(past="3 times x0")',
            "w, past",
            "return past[0]",
            r"past: w.combine\(alpha, past\) makes one vector",
        ),
    ],
)
def test_an_entry_is_taken_as_its_kind_has_it(head, signature, body, message):
    with pytest.raises(ProgramError, match=message):
        _ = made(body, head, signature).program


def test_the_noise_that_a_message_names_has_the_variance_that_it_says():
    """The mean over the clients of w.noise(N*s) is one vector with E norm2 = s, for every number of clients."""
    noisy = made("return x + w.mean(w.noise(N*s))", "@algorithm", "w, x, *, N, s")
    one = claim("c", "E(norm2(x[k+1] - x[k])) == s", of=noisy)
    assert search(one).lines is not None


def test_passes_inside_a_loop():
    program = made(
        """
        y = w.each(x)
        for h in w.repeat(H):
            y = w.pass_over(y, lambda v, i: v - eta*w.gradient(v, i))
        return w.mean(y)
        """
    ).program
    assert [step.op for step in program.steps if isinstance(step, Loop)] == ["repeat", "pass"]
    assert from_json(program.to_json()) == program


def test_what_the_last_turn_left_is_there_after_the_loop():
    program = made("for h in w.repeat(H):\n    g = w.full_gradient(x)\n    x = x - eta*g\nreturn x + g").program
    assert len(next(step for step in program.steps if isinstance(step, Loop)).carried) == 1


def test_a_float_is_the_decimal_that_is_written():
    assert made("return 0.123456789*x").program.body[0].numbers[0] == parse("123456789/1000000000")


@pytest.mark.parametrize(
    ("head", "signature", "message"),
    [
        ("@algorithm", "w, x, y, *, eta", "has 2 state variables: say what they are at first"),
        ('@algorithm(x="x0", z="0")', "w, x, y", "has the state x, y, and the decorator speaks of x, z"),
        ("@algorithm", "w", "needs w and at least one state variable"),
        ("@algorithm", "w, x, *args", r"takes \*args"),
        ("@algorithm", "w, x, *, k", "the name 'k' means something else"),
        (
            "@algorithm",
            "w, x, *, n",
            r"'n' means something else in claims; take another one \(taken are the indices n, i",
        ),
        ("@algorithm", "w, x, *, j", "the name 'j' means something else"),
        ("@algorithm", "w, x, *, fstar", "the name 'fstar' means something else"),
        ("@algorithm", "w, x, *, eta='a'", "the default 'a' is not a number"),
        ('@algorithm(x="table 2 times 0")', "w, x", "a table is not remembered"),
    ],
)
def test_the_decorator_refuses_what_is_no_round(head, signature, message):
    with pytest.raises(ProgramError, match=message):
        made("return x", head, signature)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda d: d["round"][0].update(do="explode"),
        lambda d: d["round"][0].update(kind="cloud"),
        lambda d: d["round"][-1].update(of=["_99"]),
        lambda d: d["round"].append(d["round"][0]),
        lambda d: d.update(result=["_77"]),
        lambda d: d.update(result=[]),
        lambda d: d["state"][0].update(initial=""),
        lambda d: d["round"][0].update(numbers=["import os"]),
        lambda d: d.pop("round"),
        lambda d: d["round"][0].update(to="x"),
    ],
)
def test_data_that_are_no_program_are_refused(spoil):
    data = json.loads(json.dumps(made("return x - eta*w.full_gradient(x)").program.to_json()))
    spoil(data)
    with pytest.raises(ProgramError):
        from_json(data)


PIECES = st.sampled_from(
    [
        "x = x - eta*w.full_gradient(x)",
        "i = w.sample()\nx = x - eta*w.mean(w.gradient(x, i) - w.gradient(v, i)) - eta*w.full_gradient(v)",
        "x = w.where(w.coin(p), x, v)",
        "v = p*v + (1 - p)*x",
        "x = w.average(w.each(x) - eta*w.gradient(x), w.choose(S))",
        "y = w.each(x)\nfor h in w.repeat(H):\n    y = y - eta*w.gradient(y) + (y - v)/(h + 2)\nx = w.mean(y)",
        "for h in w.repeat(H):\n    x, v = x - eta*w.full_gradient(x) + p*(x - v), x",
        "x = w.mean(w.pass_over(w.each(x), lambda y, i: y - eta*w.gradient(y, i)))",
        "x = w.visit(x, lambda y, one: y - eta*one.gradient(y))",
        "x = w.keep(x, 1) + w.project(v, 2)",
        "x = x/(1 + w.norm(v)) - w.mean(w.noise(p))",
    ]
)


@settings(max_examples=60, deadline=None)
@given(st.lists(PIECES, min_size=1, max_size=5))
def test_random_programs_survive_json_and_are_told(pieces):
    program = made("\n".join([*pieces, "return x, v"]), '@algorithm(x="x0", v="0")', "w, x, v, *, eta, H, p, S").program
    assert from_json(json.loads(json.dumps(program.to_json()))) == program
    text = pseudo_code(program)
    assert text.count("next ") == 2
    assert isinstance(program, Program)
    assert set(program.result) <= set(program.kinds)


def test_the_start_is_read_in_one_place() -> None:
    """Numbers stand for vectors here: x0 = 3, 0, and gradients 10 v, 100 v, 1000 v of f, f_n, f_ni."""
    scale = {"f": 10, "f_n": 100, "f_ni": 1000}
    reader = Beginning(3, 0, lambda which, v: scale[which] * v, lambda formula: 2 if names_in(formula) else 0)
    values = {
        "x0": 3, "0": 0, "-x0": -3, "x0 - eta*grad(f, x0)": 3 - 2 * 30, "grad(f_n, x0 + x0)/eta": 300, "eta*x0": 6,
        "x0*eta": 6, "grad(f_ni, grad(f_n, x0))": 300_000,
    }  # fmt: skip
    for text, value in values.items():
        assert reader.of(State("x", "server", text)) == value
    for text in ("norm(x0)*x0", "x0*x0", "1/x0", "grad(g, x0)", "x0(", "y", "1", "x0/0"):
        with pytest.raises(ValueError, match="the state x begins with"):
            reader.of(State("x", "server", text))


def test_by_coordinates_is_said_once() -> None:
    @algorithm
    def scaled(w, x, *, eta):  # type: ignore[no-untyped-def]
        g = w.full_gradient(x)
        length = w.sqrt(w.times(g, g) + eta * w.ones())
        return x - w.larger(w.over(w.ones(), w.over(x, g)), w.sqrt(w.over(g, length)))

    text = pseudo_code(scaled.program).replace("length", "v")
    root = "sqrt(g o g + eta*(1, ..., 1))"
    last = text.splitlines()[-1].replace(root, "v").strip()
    assert root in text
    assert last == "next x = x - max((1, ..., 1) / (x / g), sqrt(g / v)) by coordinates"
