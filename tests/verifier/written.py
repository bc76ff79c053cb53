"""Derivations written by hand: true ones, as files are."""

from __future__ import annotations

from typing import Any

from validate.verifier import FORMAT

Line = dict[str, Any]


def derivation(
    claim: str,
    statement: str,
    lines: list[Line],
    assuming: tuple[str, ...] = (),
    relations: tuple[str, ...] = (),
    where: dict[str, str] | None = None,
    vectors: tuple[str, ...] = (),
    program: Any = None,
    **more: Any,
) -> dict[str, Any]:
    """A file of kind "derivation"."""
    assumptions = []
    for text in assuming:
        name, inside = text.rstrip(")").split("(", 1)
        function, *constants = [part.strip() for part in inside.split(",")]
        if name in ("dissimilar", "bounded_variance"):
            assumptions.append({"text": text, "predicate": name, "constants": [function, *constants]})
        else:
            assumptions.append({"text": text, "predicate": name, "function": function, "constants": constants})
    return {
        "format": FORMAT,
        "kind": "derivation",
        "claim": claim,
        "statement": statement,
        "assumptions": assumptions,
        "relations": list(relations),
        "definitions": where or {},
        "vectors": list(vectors),
        "program": program,
        "lines": lines,
        **more,
    }


def step(do: str, to: str, kind: str, of: list[str], numbers: list[str], **more: Any) -> dict[str, Any]:
    """A step of a program."""
    return {"do": do, "to": to, "kind": kind, "of": of, "numbers": numbers, **more}


def program(state: dict[str, str], parameters: list[str], body: list[Any], result: list[str]) -> dict[str, Any]:
    """A program as data."""
    return {
        "name": "algorithm",
        "state": [{"name": name, "initial": initial} for name, initial in state.items()],
        "parameters": parameters,
        "round": body,
        "result": result,
    }


def combination(name: str, sentence: str | None, *parts: Any, squares: Any = ()) -> Line:
    """A line by combination; parts are names, or (name, times), or (name, times, over)."""
    read = []
    for part in parts:
        line, *rest = (part,) if isinstance(part, str) else part
        item: Line = {"line": line}
        if rest:
            item["times"] = rest[0]
        if len(rest) > 1:
            item["over"] = list(rest[1])
        read.append(item)
    found: Line = {"name": name, "by": "combination", "parts": read}
    if squares:
        found["squares"] = [dict(zip(("of", "times", "over"), square, strict=False)) for square in squares]
    if sentence is not None:
        found["sentence"] = sentence
    return found


def line(name: str, sentence: str | None, by: str, **more: Any) -> Line:
    """A line."""
    found: Line = {"name": name, "by": by, **more}
    if sentence is not None:
        found["sentence"] = sentence
    return found


# --- without an algorithm ---------------------------------------------------------------------------------------------

JENSEN = derivation(
    "vectors/jensen",
    "norm2(mean_n(a_n)) <= mean_n(norm2(a_n))",
    [combination("all", None, squares=[("a_n - mean_n(a_n)", "1", ["mean_n"])])],
    vectors=("a_n",),
)
YOUNG = derivation(
    "vectors/young",
    "norm2(a + b) <= (1 + c)*norm2(a) + (1 + 1/c)*norm2(b)",
    [combination("all", None, squares=[("c*a - b", "1/c")])],
    vectors=("a", "b"),
)
COCOERCIVE = derivation(
    "vectors/cocoercive",
    "dot(grad(f, x) - grad(f, y), x - y) >= norm2(grad(f, x) - grad(f, y))/L",
    [
        line(
            "one",
            "f(x) >= f(y) + dot(grad(f, y), x - y) + norm2(grad(f, x) - grad(f, y))/(2*L)",
            "assumption",
            of=["smooth(f, L)", "convex(f)"],
            schema="smooth convex",
            at={"x": "x", "y": "y"},
        ),
        line(
            "two",
            "f(y) >= f(x) + dot(grad(f, x), y - x) + norm2(grad(f, x) - grad(f, y))/(2*L)",
            "assumption",
            of=["smooth(f, L)", "convex(f)"],
            schema="smooth convex",
            at={"x": "y", "y": "x"},
        ),
        combination("all", None, "one", "two"),
    ],
    assuming=("smooth(f, L)", "convex(f)"),
    vectors=("x", "y"),
)
GEOMETRIC = derivation(
    "vectors/geometric",
    "sum_k(q**k) == (1 - q**K)/(1 - q)",
    [
        line(
            "times",
            "(1 - q)*sum_k(q**k) == 1 - q**K",
            "induction",
            on="K",
            **{"from": 1},
            base=[combination("first", None)],
            step=[combination("next", None, "IH")],
        ),
        combination("all", None, ("times", "1/(1 - q)")),
    ],
    relations=("q < 1",),
)

# --- parallel SGD -----------------------------------------------------------------------------------------------------

SGD = program(
    {"x": "x0"},
    ["eta"],
    [
        step("sample", "_1", "sample", [], ["1"], replace=True),
        step("gradient", "_2", "client", ["_0", "_1"], []),
        step("mean", "_3", "server", ["_2"], []),
        step("linear", "_4", "server", ["_0", "_3"], ["1", "(-eta)"]),
    ],
    ["_4"],
)
SGD_ASSUMING = ("smooth(f_ni, L)", "convex(f_ni)", "strongly_convex(f, mu)")
SGD_WHERE = {"sigma2": "mean_n(mean_i(norm2(grad(f_ni, xstar) - grad(f_n, xstar))))"}
GRADIENTS = "mean_n(mean_i(norm2(grad(f_ni, x[k]) - grad(f_ni, xstar))))"
ONE_STEP_LINES = [
    line(
        "unfolded",
        "E(norm2(x[k+1] - xstar)) == E(norm2(x[k] - xstar)) - 2*eta*E(dot(grad(f, x[k]), x[k] - xstar))"
        " + eta**2*E(norm2(grad(f, x[k])))"
        " + eta**2/N*E(mean_n(mean_i(norm2(grad(f_ni, x[k])))) - mean_n(norm2(grad(f_n, x[k]))))",
        "step",
    ),
    line(
        "strong",
        "f(xstar) >= f(x[k]) + dot(grad(f, x[k]), xstar - x[k]) + mu/2*norm2(xstar - x[k])",
        "assumption",
        of=["strongly_convex(f, mu)"],
        schema="strongly_convex",
        at={"x": "x[k]", "y": "xstar"},
    ),
    line(
        "own",
        "f_ni(x[k]) >= f_ni(xstar) + dot(grad(f_ni, xstar), x[k] - xstar)"
        " + norm2(grad(f_ni, x[k]) - grad(f_ni, xstar))/(2*L)",
        "assumption",
        of=["smooth(f_ni, L)", "convex(f_ni)"],
        schema="smooth convex",
        at={"x": "x[k]", "y": "xstar"},
    ),
    line(
        "zero", "dot(grad(f, xstar), x[k] - xstar) == 0", "assumption", of=[], schema="zero", at={"v": "x[k] - xstar"}
    ),
    line("zero self", "norm2(grad(f, xstar)) == 0", "assumption", of=[], schema="zero", at={"v": "grad(f, xstar)"}),
    line(
        "zero now",
        "dot(grad(f, xstar), grad(f, x[k])) == 0",
        "assumption",
        of=[],
        schema="zero",
        at={"v": "grad(f, x[k])"},
    ),
    line("clients", "N >= 1", "domain"),
    combination("small", "1 - 2*eta*L >= 0", ("eta <= 1/(2*L)", "2*L")),
]
OWN = "grad(f_ni, x[k]) - grad(f_ni, xstar)"
MEAN = "grad(f_n, x[k]) - grad(f_n, xstar)"
ALL = "grad(f, x[k]) - grad(f, xstar)"
SGD_SQUARES = [
    (f"{OWN} - ({MEAN}) - (grad(f_ni, xstar) - grad(f_n, xstar))", "eta**2/N", ["E", "mean_n", "mean_i"]),
    (OWN, "eta/L*(1 - 2*eta*L)", ["E", "mean_n", "mean_i"]),
    (f"{OWN} - ({MEAN})", "2*eta**2*(N - 1)/N", ["E", "mean_n", "mean_i"]),
    (f"{MEAN} - ({ALL})", "2*eta**2", ["E", "mean_n"]),
    (ALL, "eta**2", ["E"]),
]


def sgd_one_step() -> dict[str, Any]:
    """The one-step inequality of parallel SGD."""
    return derivation(
        "noise-ball/one-step",
        "E(norm2(x[k+1] - xstar)) <= (1 - eta*mu)*E(norm2(x[k] - xstar)) + 2*eta**2*sigma2/N",
        [
            *ONE_STEP_LINES,
            combination(
                "all",
                None,
                "unfolded",
                ("strong", "2*eta", ["E"]),
                ("own", "2*eta", ["E", "mean_n", "mean_i"]),
                ("zero", "-2*eta", ["E"]),
                ("zero now", "2*eta**2", ["E"]),
                ("zero self", "-eta**2", ["E"]),
                squares=SGD_SQUARES,
            ),
        ],
        SGD_ASSUMING,
        ("eta <= 1/(2*L)",),
        SGD_WHERE,
        program=SGD,
    )


def sgd_ball() -> dict[str, Any]:
    """The noise ball of parallel SGD, from its one-step inequality by induction."""
    one = sgd_one_step()
    step_lines = [*one["lines"][:-1], {**one["lines"][-1], "name": "one step", "sentence": one["statement"]}]
    return {
        **one,
        "claim": "noise-ball/noise-ball",
        "statement": "E(norm2(x[k] - xstar)) <= (1 - eta*mu)**k*norm2(x0 - xstar) + 2*eta*sigma2/(mu*N)",
        "lines": [
            *step_lines,
            line("curvature", "mu <= L", "assumption", of=list(SGD_ASSUMING[::2]), schema="curvature", at={}),
            combination("contracts", "1 - eta*mu >= 0", "small", ("curvature", "eta"), squares=[("1", "eta*L")]),
            line(
                "all",
                None,
                "induction",
                on="k",
                base=[
                    combination(
                        "first",
                        None,
                        squares=[("grad(f_ni, xstar) - grad(f_n, xstar)", "2*eta/(mu*N)", ["mean_n", "mean_i"])],
                    )
                ],
                step=[combination("next", None, "one step", ("IH", "1 - eta*mu"))],
            ),
        ],
    }


# --- gradient descent on values ---------------------------------------------------------------------------------------

DESCENT = program(
    {"x": "x0"},
    ["eta"],
    [
        step("full gradient", "_1", "server", ["_0"], []),
        step("linear", "_2", "server", ["_0", "_1"], ["1", "(-eta)"]),
    ],
    ["_2"],
)


def gd_values() -> dict[str, Any]:
    """f(x[k]) - fstar <= (1 - eta*mu)**k*(f(x0) - fstar) for gradient descent."""
    return derivation(
        "gradient/values",
        "f(x[k]) - fstar <= (1 - eta*mu)**k*(f(x0) - fstar)",
        [
            line(
                "above",
                "f(x[k+1]) <= f(x[k]) + dot(grad(f, x[k]), x[k+1] - x[k]) + L/2*norm2(x[k+1] - x[k])",
                "assumption",
                of=["smooth(f, L)"],
                schema="above",
                at={"x": "x[k]", "y": "x[k+1]"},
            ),
            line("moved", "dot(grad(f, x[k]), x[k+1] - x[k]) == -eta*norm2(grad(f, x[k]))", "step"),
            line("far", "norm2(x[k+1] - x[k]) == eta**2*norm2(grad(f, x[k]))", "step"),
            line(
                "pl",
                "norm2(grad(f, x[k])) >= 2*mu*(f(x[k]) - fstar)",
                "assumption",
                of=["pl(f, mu)"],
                schema="pl",
                at={"v": "x[k]"},
            ),
            combination("small", "1 - eta*L/2 >= 1/2", ("eta <= 1/L", "L/2")),
            combination(
                "descent",
                "f(x[k+1]) - fstar <= (1 - eta*mu)*(f(x[k]) - fstar)",
                "above",
                ("moved", "1"),
                ("far", "L/2"),
                ("pl", "eta/2"),
                ("small", "eta*norm2(grad(f, x[k]))"),
            ),
            line(
                "all",
                None,
                "induction",
                on="k",
                base=[combination("first", None)],
                step=[combination("next", None, "descent", ("IH", "1 - eta*mu"))],
            ),
        ],
        ("smooth(f, L)", "pl(f, mu)"),
        ("eta <= 1/L", "eta*mu <= 1"),
        program=DESCENT,
    )


# --- ProxSkip ---------------------------------------------------------------------------------------------------------

PROXSKIP = program(
    {"x": "each x0", "h": "each 0"},
    ["gamma", "p"],
    [
        step("gradient", "_2", "client", ["_0"], []),
        step("linear", "_3", "client", ["_0", "_2", "_1"], ["1", "(-gamma)", "gamma"]),
        step("coin", "_4", "number", [], ["p"]),
        step("linear", "_5", "client", ["_3", "_1"], ["1", "(-(gamma / p))"]),
        step("mean", "_6", "server", ["_5"], []),
        step("each", "_7", "client", ["_6"], []),
        step("where", "_8", "client", ["_7", "_3"], ["_4"]),
        step("linear", "_9", "client", ["_1", "_8", "_3"], ["1", "(p / gamma)", "(-(p / gamma))"]),
    ],
    ["_8", "_9"],
)


SMOOTH_STRONG = ["smooth(f_n, L)", "strongly_convex(f_n, mu)"]


def proxskip() -> dict[str, Any]:
    """The Lyapunov function of ProxSkip: its coin's two outcomes make squares of a gradient step and of h - h*."""
    psi = "mean_n(E(norm2(x[{k}] - xstar))) + gamma**2/p**2*mean_n(E(norm2(h[{k}] - grad(f_n, xstar))))"
    now, following = psi.format(k="k"), psi.format(k="k+1")
    moved = "x[k] - xstar - gamma*(grad(f_n, x[k]) - grad(f_n, xstar))"
    server = "mean_n(x[k] - gamma*(grad(f_n, x[k]) - h[k]) - gamma/p*h[k]) - xstar"
    change, away = "norm2(grad(f_n, x[k]) - grad(f_n, xstar))", "norm2(x[k] - xstar)"
    pair = "dot(grad(f_n, x[k]) - grad(f_n, xstar), x[k] - xstar)"

    def both(name: str, sentence: str, schema: str, of: list[str]) -> list[Line]:
        there = {"x": "x[k]", "y": "xstar"}
        back = {"x": "xstar", "y": "x[k]"}
        swapped = sentence.replace("x[k]", "xs_tar").replace("xstar", "x[k]").replace("xs_tar", "xstar")
        return [
            line(f"{name} there", sentence, "assumption", of=of, schema=schema, at=there),
            line(f"{name} back", swapped, "assumption", of=of, schema=schema, at=back),
        ]

    return derivation(
        "proxskip/lyapunov",
        f"{following} <= (1 - min(gamma*mu, p**2))*({now})",
        [
            line(
                "unfolded",
                f"{following} == mean_n(E(norm2({moved}))) + (1 - p**2)*gamma**2/p**2*mean_n(E(norm2(h[k] -"
                f" grad(f_n, xstar)))) - 2*gamma*E(dot(grad(f, xstar), {server}))",
                "step",
            ),
            line("zero", f"dot(grad(f, xstar), {server}) == 0", "assumption", of=[], schema="zero", at={"v": server}),
            *both(
                "strong",
                "f_n(xstar) >= f_n(x[k]) + dot(grad(f_n, x[k]), xstar - x[k]) + mu/2*norm2(xstar - x[k])",
                "strongly_convex",
                SMOOTH_STRONG[1:],
            ),
            *both(
                "both",
                "2*(L - mu)*(f_n(x[k]) - f_n(xstar) - dot(grad(f_n, xstar), x[k] - xstar)) >= "
                f"{change} + mu*L*{away} - 2*mu*{pair}",
                "smooth strongly_convex",
                SMOOTH_STRONG,
            ),
            line("curvature", "mu <= L", "assumption", of=SMOOTH_STRONG, schema="curvature"),
            combination("gamma L", "gamma*L <= 1", ("gamma <= 1/L", "L")),
            combination("gamma mu", "gamma*mu <= 1", "gamma L", ("curvature", "gamma")),
            combination("two", "2 - gamma*(L + mu) >= 0", "gamma L", "gamma mu"),
            combination(
                "contracts",
                f"norm2({moved}) <= (1 - gamma*mu)*{away}",
                ("both there", "gamma**2/2"),
                ("both back", "gamma**2/2"),
                ("strong there", "gamma*(2 - gamma*(L + mu))"),
                ("strong back", "gamma*(2 - gamma*(L + mu))"),
                ("gamma mu", f"gamma*mu*{away}"),
            ),
            line("one", "min(gamma*mu, p**2) <= gamma*mu", "axiom", schema="min", of=["gamma*mu", "p**2"]),
            line("other", "min(gamma*mu, p**2) <= p**2", "axiom", schema="min", of=["gamma*mu", "p**2"]),
            combination(
                "all",
                None,
                "unfolded",
                ("zero", "-2*gamma", ["E"]),
                ("contracts", "1", ["mean_n", "E"]),
                ("one", f"mean_n(E({away}))"),
                ("other", "gamma**2/p**2*mean_n(E(norm2(h[k] - grad(f_n, xstar))))"),
            ),
        ],
        ("smooth(f_n, L)", "strongly_convex(f_n, mu)"),
        ("gamma <= 1/L", "p <= 1"),
        program=PROXSKIP,
    )


# --- SCAFFOLD ---------------------------------------------------------------------------------------------------------

SCAFFOLD = program(
    {"x": "x0", "c": "each grad(f_n, x0)"},
    ["eta", "eta_g", "H", "S"],
    [
        step("choose", "_2", "numbers", [], ["S"], replace=False),
        step("mean", "_3", "server", ["_1"], []),
        step("each", "_4", "client", ["_0"], []),
        {
            "do": "repeat",
            "index": "h",
            "count": "H",
            "carry": [{"name": "_5", "kind": "client", "first": "_4", "next": "_7"}],
            "body": [
                step("tap", "", "client", ["_5"], [], label="y"),
                step("gradient", "_6", "client", ["_5"], []),
                step("linear", "_7", "client", ["_5", "_6", "_1", "_3"], ["1", "(-eta)", "eta", "(-eta)"]),
            ],
        },
        step(
            "linear", "_8", "client", ["_1", "_3", "_0", "_7"], ["1", "(-1)", "(1 / (H * eta))", "(-(1 / (H * eta)))"]
        ),
        step("linear", "_9", "client", ["_7", "_0"], ["1", "(-1)"]),
        step("average", "_10", "server", ["_9"], ["_2"]),
        step("linear", "_11", "server", ["_0", "_10"], ["1", "eta_g"]),
        step("where", "_12", "client", ["_8", "_1"], ["_2"]),
    ],
    ["_11", "_12"],
)


def scaffold_stays() -> dict[str, Any]:
    """Started at the minimiser, SCAFFOLD stays there: x, its local steps, and c_n = grad f_n(xstar)."""
    at_x, at_c = "norm2(x[{k}] - xstar) <= 0", "E(norm2(c[{k}] - grad(f_n, xstar))) <= 0"
    y = "norm2(y[k, {h}] - xstar) <= 0"
    return derivation(
        "scaffold/stays",
        "E(norm2(x[k] - xstar)) <= 0",
        [
            line("zero", "norm2(grad(f, xstar)) == 0", "assumption", of=[], schema="zero", at={"v": "grad(f, xstar)"}),
            line(
                "stays",
                at_x.format(k="k"),
                "induction",
                on="k",
                sentences=[at_x.format(k="k"), at_c.format(k="k")],
                base=[
                    combination("x first", at_x.format(k="0"), "norm2(x0 - xstar) <= 0"),
                    line(
                        "same", "norm2(grad(f_n, x0) - grad(f_n, xstar)) == 0", "replace", line="norm2(x0 - xstar) <= 0"
                    ),
                    combination("c first", None, "same"),
                ],
                step=[
                    line("c now", at_c.format(k="k"), "at", line="IH 2"),
                    line(
                        "local",
                        y.format(h="h"),
                        "induction",
                        on="h",
                        base=[
                            line("y first", "norm2(y[k, 0] - xstar) == norm2(x[k] - xstar)", "step"),
                            combination("y begins", None, "y first", "IH 1"),
                        ],
                        step=[
                            line(
                                "turn",
                                "norm2(y[k, h+1] - xstar) == eta**2*norm2(grad(f, xstar))",
                                "step",
                                using=["IH", "c now"],
                            ),
                            combination("y next", None, "turn", ("zero", "eta**2")),
                        ],
                    ),
                    line("after", y.format(h="H"), "at", line="local", put={"h": "H"}),
                    line("x next", at_x.format(k="k+1"), "step", using=["after", "IH 1"]),
                    line(
                        "c moved",
                        "E(norm2(c[k+1] - grad(f_n, xstar))) == S/N*norm2(grad(f, xstar))",
                        "step",
                        using=["after", "IH 1", "c now"],
                    ),
                    combination("c next", None, "c moved", ("zero", "S/N")),
                ],
            ),
            line("all", None, "mean", line="stays", over=["E"]),
        ],
        ("smooth(f_n, L)", "strongly_convex(f_n, mu)"),
        ("eta <= 1/L", "norm2(x0 - xstar) <= 0"),
        program=SCAFFOLD,
    )
