"""What theory promises at a reader's numbers, against hand computations, brute force, and what algorithms do."""

import json
from dataclasses import replace
from math import isclose

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rounds import descent
from tests.rounds import sgd as sampled
from tests.validate.command_line import call, complaint, printed
from theory import Paper, algorithm, catalog, claim
from theory.domain import PROBABILITY, Domain
from theory.quantity import bounded
from validate.compare.comparison import compare
from validate.compare.costs import costs
from validate.compare.least import least
from validate.compare.measured import measured
from validate.compare.numbers import Numbers, cases
from validate.compare.promised import LackingError, promise
from validate.compare.tightest import tightest

MU, L, K, R = 0.1, 10.0, 50, 2.0
NUMBERS = Numbers(mu=MU, L=L, N=4, rounds=K, distance=R)
NOISY = replace(NUMBERS, sigma2=0.5, zeta=2.0, n=2)
ARGUMENTS = ["--mu", MU, "--L", L, "--N", 4, "--rounds", K]


@algorithm
def steps(w, x, *, eta, H):
    y = w.each(x)
    for _ in w.repeat(H):
        y = y - eta * w.gradient(y, w.sample())
    return w.mean(y)


SMOOTH = ("smooth(f, L)", "strongly_convex(f, mu)")
DISTANCE = "E(norm2(x[k] - xstar))"
BALL = claim(
    "ball",
    f"{DISTANCE} <= (1 - eta*mu)**k*norm2(x0 - xstar) + 2*eta*sigma2/mu",
    of=sampled,
    assuming=("smooth(f_ni, L)", "strongly_convex(f, mu)", "eta <= 1/(2*L)"),
    where={"sigma2": "mean_n(mean_i(norm2(grad(f_ni, xstar))))"},
)


def of(one, numbers=NUMBERS, **given_):
    (only,) = bounded(one)
    return promise(one, only, numbers, given_)


def test_the_problems_have_the_numbers():
    for case in cases(NOISY.known):
        f = case.problem
        values = np.linalg.eigvalsh(f.hessian)
        assert isclose(values.min(), MU)
        assert isclose(values.max(), L)
        assert isclose(np.linalg.eigvalsh(f.mean_hessian)[0], MU)
        best = f.minimiser
        assert isclose(np.sum((case.start - best) ** 2), R**2)
        own = f.client_hessian @ best - f.client_linear
        assert np.allclose(own.mean(0), 0)
        assert isclose((own**2).sum() / 4, 2.0**2)
        every = np.einsum("nids,s->nid", f.hessian, best) - f.linear
        assert isclose(((every - own[:, None]) ** 2).sum() / 8, 0.5)


def test_gradient_descent_by_hand():
    one = claim(
        "gap",
        "f(x[k]) - fstar <= (1 - eta*mu)**k*(f(x0) - fstar)",
        of=descent,
        assuming=(*SMOOTH, "eta <= 1/L"),
    )
    found = of(one)
    assert found.steps == {"eta": 1 / L}
    assert isclose(found.value, (1 - MU / L) ** K * L / 2 * R**2)
    truth = measured(found, NUMBERS)
    assert truth is not None
    # the flattest direction contracts by 1 - eta*mu, and starts with the gap mu/2 R^2
    assert isclose(truth.values["clients alike, flat"], (1 - MU / L) ** (2 * K) * MU / 2 * R**2)


def test_a_claim_about_one_round_is_unrolled():
    one = claim(
        "step",
        "E(norm2(x[k+1] - xstar)) <= (1 - eta*mu)*E(norm2(x[k] - xstar)) + 2*eta**2*sigma2",
        of=sampled,
        assuming=BALL.assuming,
        where=BALL.where,
    )
    found = of(one, NOISY)
    eta, value = found.steps["eta"], R**2
    for _ in range(K):
        value = (1 - eta * MU) * value + 2 * eta**2 * (0.5 + 4)
    assert isclose(found.value, value, rel_tol=1e-9)


def test_a_step_that_falls_is_carried_round_by_round():
    one = claim(
        "falling",
        "E(norm2(x[k+1] - xstar)) <= (1 - mu/(L*(k + 2)))*E(norm2(x[k] - xstar)) + 1/(k + 2)**2",
        of=descent,
        assuming=SMOOTH,
    )
    value = R**2
    for k in range(K):
        value = (1 - MU / (L * (k + 2))) * value + 1 / (k + 2) ** 2
    assert isclose(of(one).value, value, rel_tol=1e-9)


def test_the_best_step_is_that_of_brute_force():
    long = replace(NUMBERS, rounds=2000, sigma2=0.005, zeta=0.05, n=2)
    found = of(BALL, long)
    grid = np.linspace(1e-6, 1 / (2 * L), 400_001)
    values = (1 - grid * MU) ** 2000 * R**2 + 2 * grid * (0.005 + 0.0025) / MU
    assert 0 < values.argmin() < len(grid) - 1
    assert isclose(found.value, values.min(), rel_tol=2e-6)


def test_two_free_numbers_with_a_condition():
    def value(at):
        x, p = at["x"], at["p"]
        return np.where(x * p <= 0.3, (np.log(x) - 1) ** 2 + (np.log(p) + 0.5) ** 2 + 1, np.inf)

    best, found = least(value, {"x": Domain(0, None, lower_open=True), "p": PROBABILITY})
    # nearest point of the half-plane log x + log p <= log 0.3 to (1, -0.5)
    away = (0.5 - np.log(0.3)) / 2
    assert isclose(found, 1 + 2 * away**2, rel_tol=1e-5)
    assert isclose(np.log(best["x"]), 1 - away, rel_tol=1e-2)
    assert least(lambda at: np.full(np.shape(at["x"]), np.inf), {"x": PROBABILITY}) == ({}, np.inf)


def test_what_is_not_given_is_asked_for_only_where_it_matters():
    for numbers, missing in ((NUMBERS, ("sigma2", "zeta")), (replace(NUMBERS, sigma2=0.5, n=2), ("zeta",))):
        with pytest.raises(LackingError) as told:
            of(BALL, numbers)
        assert (told.value.kind, told.value.what) == ("needs", missing)
    turning = claim("turns", f"{DISTANCE} <= norm2(x0 - xstar)/(H*eta)", of=steps)
    with pytest.raises(LackingError, match="needs H"):
        of(turning)
    fixed = replace(turning, assuming=("H == 2*N", "eta <= 1"))
    assert isclose(of(fixed).value, R**2 / 8)
    assert of(fixed).steps["H"] == 8
    with pytest.raises(LackingError, match="cannot"):
        of(fixed, replace(NUMBERS, H=3))


def test_what_the_numbers_cannot_satisfy():
    for assuming, what in (
        (("bounded_gradients(f, G)",), "bounded_gradients"),
        (("N <= 1",), "N <= 1"),
        (("eta <= 1/L", "smooth(f, L)", "eta >= 2/L"), "together"),
    ):
        with pytest.raises(LackingError, match=what):
            of(claim("one", f"{DISTANCE} <= norm2(x0 - xstar)*eta", of=descent, assuming=assuming))
    with pytest.raises(LackingError, match="mu is 0"):
        of(claim("one", f"{DISTANCE} <= norm2(x0 - xstar)/mu", of=descent, assuming=SMOOTH), replace(NUMBERS, mu=0.0))


def test_a_sentence_for_every_point_binds_its_constants():
    apart = "for every x: norm2(grad(f_n, x) - grad(f, x)) <= G**2"
    found = of(claim("one", f"{DISTANCE} <= 3*G", of=descent, assuming=(apart,)), NOISY)
    assert isclose(found.value, 3 * 2.0, rel_tol=1e-6)
    assert all(name.startswith("clients alike") for name in found.by_case)


def test_a_number_of_the_run_is_asked_for_unless_the_step_is_fixed():
    right = "max_k(E(norm2(x[k] - x0)))"
    one = claim("run", f"{DISTANCE} <= eta*norm2(x0 - xstar) + {right}", of=descent, assuming=("eta <= 1",))
    with pytest.raises(LackingError) as told:
        of(one)
    assert told.value.what == (right,)
    assert of(one, **{right: 3.0}).value < 3.0 + 1e-9
    fixed = replace(one, assuming=("smooth(f, L)", "eta == 1/L"))
    away = 2 * max(np.sum(np.square(R * (1 - (1 - np.array([MU, L]) / L) ** (K - 1)) * np.eye(2)), axis=1)) / 2
    assert isclose(of(fixed).value, R**2 / L + away, rel_tol=1e-9)


def test_the_largest_gradient_is_the_readers():
    one = claim(
        "gradients",
        "mean_k(f(x[k]) - fstar) <= norm2(x0 - xstar)/(2*eta*K) + eta*G2/2",
        of=descent,
        assuming=("convex(f)",),
        where={"G2": "max_k(norm2(grad(f, x[k])))"},
    )
    with pytest.raises(LackingError, match="needs G2"):
        of(one)
    granted = replace(NUMBERS, G2=900.0)
    assert isclose(of(one, granted).value, R * 30 / K**0.5, rel_tol=1e-6)
    truth = measured(of(one, granted), granted)
    assert truth is not None
    assert len(truth.values) == 6
    tight = replace(NUMBERS, G2=1.0)  # the steepest start has a gradient of L*R
    truth = measured(of(one, tight), tight)
    assert truth is not None
    assert not any(name.endswith("steep") for name in truth.values)


def test_bounds_of_other_quantities_say_something_of_this_one():
    one = claim("gap", "f(x[k]) - fstar <= L*norm2(x0 - xstar)/(4*k*L*eta + 2)", of=descent, assuming=SMOOTH)
    one = replace(one, assuming=(*SMOOTH, "eta <= 1/L"))
    direct, through = (compare([one], NUMBERS, m).rows[0] for m in ("gap", "distance"))
    assert isclose(through.value, direct.value * 2 / MU)
    assert through.through == "2/mu"
    assert not compare([one], NUMBERS, "distance", only=True).rows
    assert not compare([replace(one, assuming=("smooth(f, L)",))], replace(NUMBERS, mu=0.0), "distance").rows


def test_refuted_and_amended_claims_are_not_ranked():
    false = replace(BALL, label="false", statement=f"{DISTANCE} <= (1 - eta*mu)**k*norm2(x0 - xstar)/100")
    paper = Paper("p", "p", "p", (false, replace(BALL, amends="false")))

    def labels(**more):
        found = compare(paper.claims, NOISY, "distance", **more)
        return [[row.promise.claim.label for row in rows] for rows in (found.rows, found.struck)]

    assert labels() == [["ball"], ["false"]]
    assert labels(verdicts={"p/false": "supported"}) == [["false", "ball"], []]
    assert labels(verdicts={"p/false": "refuted", "p/ball": "vacuous"}) == [[], ["false", "ball"]]
    # what is broken by the run beside does not count either
    found = compare(paper.claims, NOISY, "distance", verdicts={"p/false": "supported"}, measuring=True)
    assert [row.struck for row in found.struck] == ["broken here"]


def test_costs_by_hand():
    parameters = {"eta": 0.1, "H": 5.0}
    assert vars(costs(steps.program, parameters, 4, 7)) == {"gradients": 5.0, "communications": 1.0}
    assert vars(costs(descent.program, parameters, 4, 7)) == {"gradients": 7.0, "communications": 1.0}

    @algorithm
    def chosen(w, x, *, S):
        part = w.choose(S)
        return x - w.average(w.gradient(x, w.sample(3)), part)

    assert vars(costs(chosen.program, {"S": 2.0}, 4, 7)) == {"gradients": 1.5, "communications": 1.0}

    @algorithm(x="each x0")
    def seldom(w, x, *, p):
        y = x - w.gradient(x)
        return w.where(w.coin(p), w.each(w.mean(y)), y)

    assert vars(costs(seldom.program, {"p": 0.25}, 4, 7)) == {"gradients": 7.0, "communications": 0.25}

    @algorithm
    def visiting(w, x):
        return w.visit(x, lambda x, one: x - one.gradient(x))

    assert vars(costs(visiting.program, {}, 4, 7)) == {"gradients": 7.0, "communications": 4.0}


TRUE = [c for c in catalog.claims("textbook") if bounded(c)]
"""Results that are known to be true, nearly all of them proved."""


@settings(max_examples=12, deadline=None, derandomize=True)
@given(
    kappa=st.floats(1, 1000),
    N=st.integers(1, 4),
    rounds=st.integers(1, 12),
    sigma2=st.floats(0, 10),
    zeta=st.floats(0, 10),
    distance=st.floats(0.1, 10),
    H=st.integers(1, 3),
)
def test_what_is_true_is_not_broken(kappa, N, rounds, sigma2, zeta, distance, H):
    numbers = Numbers(
        mu=1 / kappa, L=1.0, N=N, rounds=rounds, sigma2=sigma2, zeta=None if N == 1 else zeta, distance=distance, H=H,
        n=2, batch=1, G2=1e4,
    )  # fmt: skip
    many = 0
    for one in TRUE:
        for quantity in bounded(one):
            try:
                found = promise(one, quantity, numbers)
            except LackingError:
                continue
            truth = measured(found, numbers)
            assert truth is not None, one.id
            many += 1
            for name, value in truth.sure.items():
                assert value <= found.by_case[name] * (1 + 1e-6) + 1e-9, (one.id, name)
    assert many >= 8


def test_who_is_tightest():
    close = replace(BALL, label="close", statement=f"{DISTANCE} <= (1 - eta*mu)**k*norm2(x0 - xstar) + 3*eta*sigma2/mu")
    (found,) = tightest([close, BALL], [NOISY])
    assert (found.row.promise.claim, found.others) == (BALL, (close.id,))
    assert found.sampled
    assert found.margin is not None
    assert found.margin > 1
    assert found.row.truth is not None
    assert found.row.truth <= found.row.value
    assert found.to_json()["best"]["id"] == BALL.id
    # what its own run breaks is passed over
    false = replace(BALL, label="false", statement=f"{DISTANCE} <= (1 - eta*mu)**k*norm2(x0 - xstar)/100")
    (found,) = tightest([false, BALL], [NOISY])
    assert found.row.promise.claim == BALL


# --- the command -----------------------------------------------------------------------------------------------------

FILE = """
from theory import Paper, algorithm, claim

@algorithm
def {sgd}(w, z, *, {eta}, {H}):
    u = w.each(z)
    for {h} in w.repeat({H}):
        u = u - {eta} * w.gradient(u, w.sample())
    return z + w.mean(u - z)

CLAIMS = (
    claim(
        "{label}",
        "E(norm2(z[k] - xstar)) <= (1 - {eta}*{mu})**(k*{H})*norm2(x0 - xstar) + 2*{eta}*{H}*{noise}/{mu}",
        of={sgd},
        assuming=("smooth(f_ni, {L})", "strongly_convex(f_n, {mu})", "{eta} <= 1/(2*{L})"),
        where={{"{noise}": "mean_n(mean_i(norm2(grad(f_ni, xstar) - grad(f_n, xstar))))"}},
    ),
)
PAPER = Paper("{paper}", "t", "a", CLAIMS)
"""


def test_names_mean_nothing(tmp_path):
    plain = {"sgd": "local", "eta": "eta", "H": "H", "mu": "mu", "L": "L", "noise": "sigma2", "h": "h", "label": "one"}
    other = {"sgd": "saga", "eta": "L", "H": "T", "mu": "eta", "L": "mu", "noise": "zeta", "h": "q", "label": "two"}
    rows = []
    for paper, names in (("plain-names", plain), ("other-names", other)):
        file = tmp_path / f"{paper}.py"
        file.write_text(FILE.format(paper=paper, **names))
        with catalog.forgetting():
            found = printed("compare", *ARGUMENTS, "--H", 3, "--sigma2", 1, "--only", "--measured", "--also", file)
        (row,) = [row for row in found["rows"] if row["id"] == f"{paper}/{names['label']}"]
        rows.append(row)
        assert row["steps"][names["eta"]] == row["parameters"][names["eta"]]
    told = ("value", "measured", "ratio", "gradients", "communications", "class", "measure", "where", "sampled")
    for name in told:
        assert rows[0][name] == rows[1][name], name
    assert list(rows[0]["steps"].values()) == list(rows[1]["steps"].values())


def test_json_alone_is_printed_and_the_landmarks_are_asked(tmp_path):
    figure = tmp_path / "f.svg"
    found = printed("compare", *ARGUMENTS, "--quantity", "gap", "--only", "--out", figure)
    assert found["quantity"] == "gap"
    values = [row["value"] for row in found["rows"]]
    assert values == sorted(values)
    ids = {row["id"] for row in found["rows"]}
    assert "textbook/gradient-descent-linear" in ids
    assert any(id_.split("/")[0] not in [p.name for p in catalog.papers()] for id_ in ids | set(found["cannot"]))
    assert "sigma2" in found["needs"]["textbook/sgd-convex"]
    assert "N <= 1" in found["cannot"]["textbook/proximal-point"]
    assert figure.read_text().lstrip().startswith("<?xml")


def test_a_table_for_readers(tmp_path):
    (tmp_path / "verdicts.json").write_text(json.dumps([]))
    told = call("compare", *ARGUMENTS, "--only", "--verdicts", tmp_path)
    assert told.exit_code == 0, told.stderr
    lines = told.stdout.splitlines()
    assert lines[0].startswith("E norm2(x - xstar)")
    assert lines[1].split()[:3] == ["claim", "algorithm", "promises"]
    assert any(line.startswith("needs --sigma2, --zeta: ") for line in lines)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--mu", 20], "mu=20.0 is above L=10.0"),
        (["--mu", -1], "mu=-1.0 is outside [0, 1e100]"),
        (["--L", 0], "L=0.0 is outside (0, 1e100]"),
        (["--L", "nan"], "L=nan"),
        (["--rounds", 0], "rounds=0 is outside the integers in [1, 100000]"),
        (["--N", 1, "--zeta", 1], "zeta=1.0"),
        (["--n", 1, "--sigma2", 1], "sigma2=1.0"),
        (["--S", 5], "S=5 is outside the integers in [1, 4]"),
        (["--d", 1], "d=1"),
        (["--quantity", "speed"], "--quantity=speed is none of distance, gap, gradient"),
        (["--set", "eta=1"], "--set 'eta=1' is not ID:NAME=VALUE"),
        (["--set", "textbook/sgd-step:bogus=1"], "textbook/sgd-step takes no bogus: its numbers are L, eta, mean_n("),
        (["--set", "textbook/sgd-step:eta=x"], "'x' is no number"),
        (["--also", "paper.txt"], "--also=paper.txt is no Python file"),
        (["--out", "f.gif"], "--out=f.gif does not end in"),
    ],
)
def test_bad_input(options, said):
    assert said in complaint(call("compare", *ARGUMENTS, *options))


def test_a_figure_for_no_folder(tmp_path):
    """The folder is one of the test's: a folder elsewhere may be there on some machine, and then it is written to."""
    said = complaint(call("compare", *ARGUMENTS, "--out", tmp_path / "absent" / "f.svg"))
    assert f"there is no folder {tmp_path / 'absent'}" in said
    assert not (tmp_path / "absent").exists()
