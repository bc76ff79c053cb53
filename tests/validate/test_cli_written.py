"""The command line on claims that say what they mean: `claims`, `show`, `bound` and `feasible`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.validate.command_line import call, complaint, printed
from theory import Paper, catalog
from validate import files

LANGUAGE = Path(__file__).parent.parent / "language"
BALL = f"{LANGUAGE / 'noise_ball.py'}:noise-ball"
COMPRESSED = f"{LANGUAGE / 'compression.py'}:ball"
GEOMETRIC = f"{LANGUAGE / 'vectors.py'}:geometric"
VALUES = ("mu=1", "eta=1/10", "k=3", "N=2", "sigma2=1")


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> object:
    """In an empty folder, with nothing left in the catalogue."""
    monkeypatch.chdir(tmp_path)
    with files.forgetting():
        yield


def sets(*assignments: str) -> list[str]:
    return [word for text in assignments for word in ("--set", text)]


def test_the_bound() -> None:
    found = printed("bound", BALL, *sets(*VALUES, "norm2(x0-xstar)=4"))
    assert found["id"] == "noise-ball/noise-ball"
    assert found["value"] == pytest.approx(3.016)
    assert (found["lower"], found["upper"], found["terms"]) == (None, None, {})
    assert found["parameters"] == {
        "mu": "1", "eta": "1/10", "k": "3", "N": "2", "sigma2": "1", "norm2_x0_xstar": "4",
    }  # fmt: skip
    names = ["smooth(f_ni, L)", "convex(f_ni)", "strongly_convex(f, mu)", "eta <= 1/(2*L)"]
    assert found["hypotheses"] == [{"name": name, "holds": None} for name in names]
    same = printed("bound", BALL, *sets(*VALUES, "norm2_x0_xstar=4"))
    assert same == found


def test_the_bound_enclosed_with_its_terms() -> None:
    values = ("eta=1/9", "mu=sqrt(2)", "m=2", "d=6", "N=1", "spread=3", "E(norm2(x[k] - xstar))=0")
    found = printed("bound", COMPRESSED, *sets(*values), "--rigorous")
    assert found["terms"] == {"omega": 2.0}
    assert float(found["lower"]) <= 12 / 81 <= float(found["upper"])
    exact = printed("bound", BALL, *sets(*VALUES, "norm2_x0_xstar=4"), "--rigorous")
    assert (exact["lower"], exact["value"], exact["upper"]) == ("3.016", 3.016, "3.016")


def test_a_violated_hypothesis_is_status_3_and_the_value_is_printed() -> None:
    result = call("bound", BALL, *sets(*VALUES, "norm2_x0_xstar=4", "L=8"), "--json")
    assert result.exit_code == 3
    found = json.loads(result.stdout)
    assert found["value"] == pytest.approx(3.016)
    assert {"name": "eta <= 1/(2*L)", "holds": False} in found["hypotheses"]
    assert {"name": "mu <= L", "holds": True} in found["hypotheses"]
    assert "the values violate: eta <= 1/(2*L)" in result.stderr


def test_both_sides_of_a_claim_about_numbers() -> None:
    found = printed("bound", GEOMETRIC, *sets("q=1/2", "K=5"), "--rigorous")
    assert found["parameters"] == {"q": "1/2", "K": "5"}
    assert found["value"] == found["left"]["value"] == 1.9375
    assert found["left"]["lower"] == found["left"]["upper"] == "1.9375"
    result = call("bound", GEOMETRIC, *sets("q=1", "K=5"))  # 0/0 on the right
    assert result.exit_code == 3
    assert "geometric = no real value\nits left side = 5.0" in result.stdout


@pytest.mark.parametrize(
    ("target", "values", "said"),
    [
        (
            BALL,
            ("mu=1",),
            "needs values for eta in (0, inf); k in the integers in [0, inf); norm2_x0_xstar in [0, inf)",
        ),
        (BALL, ("etta=1",), "has no parameter 'etta'; did you mean 'eta'?"),
        (BALL, ("norm2(x1)=1",), "has no parameter 'norm2(x1)'"),
        (BALL, (*VALUES, "norm2(x0-xstar)=-1"), "norm2_x0_xstar=-1 is outside [0, inf)"),
        (BALL, (*VALUES, "norm2(x0 - xstar)=1", "norm2_x0_xstar=2"), "norm2_x0_xstar is given twice: 1 and 2"),
        (BALL, ("mu",), "'mu' is not of the form name=value"),
        (GEOMETRIC, ("q=1/2", "K=10000000"), "K=10000000 is not a number of rounds from 1 to 1000000"),
    ],
)
def test_a_bad_value_is_one_line(target: str, values: tuple[str, ...], said: str) -> None:
    assert said in complaint(call("bound", target, *sets(*values)))


def test_the_claim_in_words() -> None:
    text = call("show", COMPRESSED).stdout
    for part in (
        "compression/ball\ntheorem",
        "for every k",
        "  omega = d/m - 1\n",
        "  smooth(f_n, L): the gradient of f_n is L-Lipschitz, convex or not",
        "  E_norm2_x_k_xstar in [0, inf): E(norm2(x[k] - xstar))",
        "next x = x - eta*mean_n(v_n)",
    ):
        assert part in text, text


def test_the_claim_in_latex() -> None:
    lines = call("show", COMPRESSED, "--latex").stdout.splitlines()
    assert lines[0].startswith(r"\mathbb{E}[\|x^{k+1}-x^{\star}\|^{2}] \leq")
    assert lines[1] == r"\omega = \frac{d}{m}-1"
    assert lines[-1] == r"\eta \leq \frac{1}{L \left(1+\frac{2 \omega}{N}\right)}"


def test_the_claim_as_data() -> None:
    found = printed("show", COMPRESSED)
    assert found["relation"] == "<="
    assert found["right"] == "(1 - eta*mu)*E(norm2(x[k] - xstar)) + 2*eta**2*omega*spread/N"
    assert found["bound"]["right"] == "(1 - eta*mu)*E_norm2_x_k_xstar + 2*eta**2*omega*spread/N"
    assert found["definitions"]["omega"] == "d/m - 1"
    assert {p["name"]: p["meaning"] for p in found["parameters"]}["spread"] == "mean_n(norm2(grad(f_n, xstar)))"
    assert found["hypotheses"][0]["assumption"] == "Smooth"
    assert found["algorithm"]["name"] == "compressed"


def test_the_list_of_claims() -> None:
    found = printed("claims", "--paper", LANGUAGE / "noise_ball.py")
    assert [(row["id"], row["kind"], row["has_bound"], row["amends"]) for row in found] == [
        ("noise-ball/one-step", "lemma", True, None),
        ("noise-ball/noise-ball", "theorem", True, None),
        ("noise-ball/lost-factor", "theorem", True, None),
    ]
    assert found[1]["quantity"] == "E(norm2(x[k] - xstar))"
    table = call("claims", "--paper", LANGUAGE / "proxskip.py").stdout
    assert "mean_n(E(norm2(x[k + 1] - xstar))) + gamma**2...  yes" in table


def test_a_repair_names_the_claim_that_it_amends() -> None:
    Path("mine.py").write_text(
        'from theory import Paper, claim\nA = claim("a", "c <= 2*c")\nB = claim("b", "c <= 3*c", amends="a")\n'
        'PAPER = Paper("mine", "t", "me", (A, B))\n',
        encoding="utf-8",
    )
    assert [row["amends"] for row in printed("claims", "--paper", "mine.py")] == [None, "mine/a"]
    assert "amends mine/a" in call("show", "mine.py:b").stdout


def test_papers_of_both_kinds_are_listed_together() -> None:
    from tests.validate.test_report import claim as listed
    from theory import claim

    catalog.add(Paper("toy", "Both", "me", (listed("one"), claim("two", "c <= 2*c"))))
    rows = printed("claims", "--paper", "toy")
    assert [(row["id"], row["quantity"]) for row in rows][1] == ("toy/two", "c")
    assert printed("bound", "toy/two", "--set", "c=3")["value"] == 6.0


def test_whether_the_hypotheses_can_hold_together() -> None:
    assert printed("feasible", COMPRESSED)["outcome"] == "feasible"
    result = call("feasible", COMPRESSED, *sets("L=2", "mu=3"))
    assert result.exit_code == 1
    assert "mu <= L cannot hold together" in result.stdout
    assert set(printed("feasible", GEOMETRIC)["witness"]) == {"q", "K"}
    stays = f"{LANGUAGE / 'scaffold.py'}:stays"
    assert call("feasible", stays, *sets("norm2(x0 - xstar)=1")).exit_code == 1
    assert call("feasible", stays, *sets("norm2(x0 - xstar)=0")).exit_code == 0
