"""The report's section of a claim."""

import html
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.validate.report.playing import LANGUAGE, in_file
from theory import Paper, claim
from theory.program import pseudo_code
from validate import files, verifier
from validate.certificate import play_certificate
from validate.report import render
from validate.report.formula import Typesetter
from validate.report.played import in_words, values
from validate.report.problem_drawing import drawing
from validate.report.refutations import refutation
from validate.verdict import MEANING, Evidence, Result

NOISE = in_file(LANGUAGE / "noise_ball.py")
ONE_STEP, BALL, LOST = NOISE.claims
PROXSKIP, LSVRG = (in_file(LANGUAGE / f"{name}.py") for name in ("proxskip", "lsvrg"))
REPAIR = replace(
    BALL, label="lost-factor/corrected", amends="lost-factor", remarks=("the mean of <b>K</b> steps",), paper="",
    standing=("eta <= 1/L",), title="with the factor", equation="(7)",
)  # fmt: skip
MIXED = Paper("noise-ball", "Both kinds", "me", (ONE_STEP, LOST, REPAIR))
PROOF = {"proof": {"multipliers": {"smooth(f, L)": "1/L<2"}, "squares": ["c"]}}
INSTANCE = {
    "parameters": {"eta": "1/2"},
    "problem": {
        "clients": [
            [{"H": [["0"]], "b": ["-2"]}, {"H": [["0"]], "b": ["0"]}],
            [{"H": [["4/9"]], "b": ["4/9"]}, {"H": [["4/9"]], "b": ["4/9"]}],
        ]
    },
    "start": ["-1"],
    "rounds": 3,
}
CERTIFICATE = play_certificate(
    LOST, INSTANCE, {"k": 3}, "1545265/8503056", "985/5832", origin="search", quick=True,
    constants={"L": "4/9", "mu": "2/9"},
)  # fmt: skip


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report on a paper of both kinds, and on two of long sentences."""
    folder = tmp_path_factory.mktemp("report")
    (folder / "certificates").mkdir()
    path = folder / "certificates" / "lost.json"
    path.write_text(json.dumps(CERTIFICATE), encoding="utf-8")
    holds = (Evidence("exact", "holds", "never broken", 0.5, origin="pool"),)
    results = [
        Result(ONE_STEP.id, "supported", 0.5, holds, None, "40 instances", True),
        Result(
            LOST.id, "refuted", 1.07, (Evidence("certificate", "refuted", "it breaks", origin="search"),), str(path)
        ),
        Result(
            REPAIR.id,
            "proved",
            None,
            (Evidence("algebra", "proved", "line by line", data=PROOF),),
            proof="proofs/a.json",
        ),
        *(Result(c.id, "undecided", None, ()) for c in (*PROXSKIP, *LSVRG)),
    ]
    with files.forgetting():
        render(results, (), folder, papers=[MIXED, PROXSKIP, LSVRG], quick=True)
    return folder


def section(out: Path, file: str, anchor: str) -> str:
    """A claim's section as it is written."""
    found = re.search(
        rf'<details class="claim [a-z]+" id="{anchor}".*?(?=<details class="claim|</section>)',
        (out / file).read_text("utf-8"),
        re.DOTALL,
    )
    assert found is not None
    return found.group()


def test_the_certificate_is_a_true_one() -> None:
    assert verifier.verify(CERTIFICATE).valid


def test_a_refuted_claim_shows_all_that_it_has(out: Path) -> None:
    text = section(out, "noise-ball.html", "noise-ball-lost-factor")
    plain = html.unescape(re.sub(r"<[^>]+>", "", text)).replace("\N{NO-BREAK SPACE}", " ")
    for part in (
        LOST.statement,
        "for every k",
        "the gradient of f_ni is L-Lipschitz, convex or not",
        "2 clients: f₁ = the mean of 2x and 0; f₂ = (2/9)x² − (4/9)x (2 equal samples)",
        "3 rounds from x⁰ = −1; η = 1/2, L = 4/9, μ = 2/9.",
        "k = 3",
        "1545265/8503056 ≈ 0.1817",
        "found by an unguided search",
        "(1 - eta*mu)**k*norm2_x0_xstar + 2*eta**2*sigma2/N",
        pseudo_code(LOST.program),
        "(7) ∎ proved",
    ):
        assert part in plain, part
    assert 'href="certificates/lost.json"' in text
    spoken = re.findall(r'aria-label="([^"]+)"', text)
    assert f"sigma2 = {html.escape(LOST.where['sigma2'])}" in spoken
    assert html.escape("eta <= 1/(2*L)") in spoken
    assert 'class="formula ascii"' not in text


def test_a_repair_beside_it(out: Path) -> None:
    repair = section(out, "noise-ball.html", "noise-ball-lost-factor-corrected")
    assert 'Repairs <a href="#noise-ball-lost-factor">lost-factor</a>, which is refuted;' in repair
    assert 'Assuming too, from elsewhere in the paper <span class="unprinted">1 not printed with it</span>' in repair
    assert "the mean of &lt;<i>b</i>&gt;<i>K</i>&lt;/<i>b</i>&gt; steps" in repair
    assert "<code>fedproof verify proofs/a.json</code>" in repair
    assert '<span class="formula" role="img" aria-label="1/L&lt;2">' in repair
    assert "<small>smooth(f, L): multipliers</small>" in repair
    assert 'a square of sums of its vectors, times <span class="formula" role="img" aria-label="c">' in repair
    assert "<code>fedproof replay noise-ball/lost-factor/corrected</code>" in repair
    page = (out / "noise-ball.html").read_text("utf-8")
    assert "of 2 claims as printed" in page
    assert 'data-version="repair" data-origin="" data-id="noise-ball/lost-factor/corrected"' in page


@pytest.fixture(scope="module")
def phone(browser: Any) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": 360, "height": 800})
    yield context.new_page()
    context.close()


@pytest.mark.parametrize("file", ["index.html", "noise-ball.html", "proxskip.html", "lsvrg.html"])
def test_a_phone_shows_it_without_scrolling_sideways(phone: Any, out: Path, file: str) -> None:
    said: list[str] = []
    phone.on("console", lambda message: said.append(message.text))
    phone.on("pageerror", lambda error: said.append(str(error)))
    phone.goto((out / file).as_uri())
    phone.eval_on_selector_all("details", "all => all.forEach((details) => { details.open = true; })")
    phone.wait_for_timeout(50)
    assert phone.evaluate("document.documentElement.scrollWidth") == 360
    assert said == []


def test_the_sliders_compute_the_bound(phone: Any, out: Path) -> None:
    phone.goto((out / "noise-ball.html").as_uri())
    phone.eval_on_selector_all("details", "all => all.forEach((details) => { details.open = true; })")
    panel = phone.locator("#noise-ball-lost-factor .play")
    command = panel.locator("code, pre", has_text="fedproof bound").last.inner_text().split()
    given = dict(word.split("=", 1) for before, word in pairwise(command) if before == "--set")
    shown = float(panel.locator("output").first.inner_text())
    assert shown == pytest.approx(LOST.bound(**given), rel=1e-2)
    assert LOST.violated(**given) == ()


def test_functions_given_by_points_in_words_and_drawn() -> None:
    points = [{"x": [str(x)], "g": [str(x)], "f": f"{x * x}/2"} for x in range(-2, 3)]
    line = {"points": points, "L": "1", "mu": "1/2"}
    plane = {"points": [{"x": ["1", "0"], "g": ["0", "-1"], "f": "2"}], "L": "1", "mu": "0", "G": "1"}
    rest = {"program": {"name": "gd"}, "rounds": 2, "parameters": {}}
    words = in_words({"problem": {"clients": [[plane]]}, "start": ["1", "0"], **rest}).replace(
        "\N{NO-BREAK SPACE}", " "
    )
    assert words == (
        "One client, f(x) = [any function with curvature between 0 and 1, gradients of norm at most 1 and f(1, 0) = 2, "
        "∇f(1, 0) = (0, −1)]; 2 rounds from x⁰ = (1, 0)."
    )
    words = in_words({"problem": {"clients": [[line]]}, "start": ["2"], **rest})
    assert "f(1) = 1/2, f′(1) = 1; … (5 points)]" in words.replace("\N{NO-BREAK SPACE}", " ")
    assert drawing({"problem": {"clients": [[plane]]}, "start": ["1", "0"]}) == ""
    assert drawing({"problem": {"clients": [[{"H": [["1"]], "b": ["0"]}]]}, "start": ["1"]}) == ""
    drawn = drawing({"problem": {"clients": [[line], [line]]}, "start": ["2"]})
    for picture in drawn.split("<svg")[1:]:
        assert [name in picture for name in ("f of client 1", "f of client 2", ">f<")] == [True, True, False]
        assert ">x</text>" in picture
        assert ">value at x</text>" in picture
        assert picture.count("stroke-width:1.8") == 2 * 5  # a tangent at each point of each client
        assert [picture.count(f"fill:var(--series-{n}") for n in (0, 1)] == [6, 6]  # its points, and the legend
    many = drawing({"problem": {"clients": [[line]] * 5}, "start": ["2"]})
    assert ">f<" in many
    assert "client" not in many.split("</svg>")[0].split("aria-label")[1].split(">", 1)[1]


def test_piecewise_quadratics_are_drawn() -> None:
    """f' = 0 up to 1, then x - 1, then 1 from 2 on; drawn on [0.7, 3.3]."""
    piece = {"knots": ["1", "2"], "slopes": ["0", "1", "0"], "b": "0"}
    drawn = drawing({"problem": {"clients": [[piece]]}, "start": ["3"]})
    curve = max(re.findall(r'<path d="M([^"]*)"', drawn), key=len)
    steps = [float(number) for number in re.findall(r"-?[\d.]+", curve)][2:]
    moves = [(dx, dy) for dx, dy in zip(steps[::2], steps[1::2], strict=True) if dx or dy]
    assert all(dx > 0 >= dy for dx, dy in moves)  # pixels go downwards
    (flat, level), (last, _) = moves[0], moves[-1]
    assert (flat > 30, abs(level) <= 0.2) == (True, True)  # what is straight is one step
    assert last > sum(dx for dx, _ in moves) / 3
    assert "with the start marked" in drawn


def test_a_page_has_the_picture(tmp_path: Path) -> None:
    certificate = {**CERTIFICATE, "problem": {"clients": [[{"knots": ["0"], "slopes": ["1", "2"], "b": "1"}]]}}
    (tmp_path / "certificates").mkdir()
    path = tmp_path / "certificates" / "lost.json"
    path.write_text(json.dumps(certificate), encoding="utf-8")
    found = refutation(Result(LOST.id, "refuted", None, (), str(path)), tmp_path, LOST, Typesetter())
    assert found is not None
    assert found.drawing == drawing(certificate)
    assert "<svg" in found.drawing
    (tmp_path / "certificates" / "lost.json").write_text(json.dumps(CERTIFICATE), encoding="utf-8")
    plain = refutation(Result(LOST.id, "refuted", None, (), str(path)), tmp_path, LOST, Typesetter())
    assert plain is not None
    assert plain.drawing == ""


def test_a_headline_says_of_what_its_numbers_are(out: Path) -> None:
    index = (out / "index.html").read_text(encoding="utf-8")
    (line,) = re.findall(r"<li>\s*<b><a [^>]*>[^<]*</a> is false.*?</li>", index, re.DOTALL)
    named = re.sub(r'<span class="formula" role="img" aria-label="([^"]*)">.*?</span>', r"\1", line)
    told = html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", named)))
    assert (
        told.split(" is false: ")[1]
        .replace("\N{NO-BREAK SPACE}", " ")
        .startswith("E(norm2(x[k] - xstar)) ≈ 0.1817 > 0.1689, its bound, at k = 3, with 2 clients; ")
    )
    assert "; what stands instead: with the factor (proved)" in told
    # a word and what it means stand on the same screen
    for word, meaning in MEANING.items():
        assert f"<b>{word}</b>: {meaning}</span>" in index or f">{word}</" not in index.split("<nav")[1]


def test_instances_in_words() -> None:
    words = in_words(
        {
            "problem": {
                "clients": [
                    [{"knots": ["1"], "slopes": ["1/2", "3"], "b": ["2"]}],
                    [{"H": [["1", "0"], ["0", "2"]], "b": ["1", "-1"], "c": "3"}],
                    [{"H": [["2"]], "b": ["0"]}, {"H": [["1"]], "b": ["-1"], "c": "-1/3"}],
                    *([[{"h": "1/2", "b": "0"}]] * 3),
                ]
            },
            "program": {"name": "sgd"},
            "start": ["1", "2"],
            "rounds": 1,
            "parameters": {"eta": {"k": ["1", "1/2"]}, "p": ["1/2", "1"], "W": [["1", "0"], ["0", "1"]]},
            "vectors": {"a": ["1"]},
        }
    ).replace("\N{NO-BREAK SPACE}", " ")
    assert words == (
        "6 clients: f₁ = [f″ = 1/2 up to 1, 3 beyond; f′(0) = −2]; f₂ = ½xᵀHx − bᵀx + 3 with H = [1 0; 0 2], "
        "b = (1, −1); f₃ = the mean of x² and ½x² + x − 1/3; 3 times ¼x²; 1 round from x⁰ = (1, 2); a = 1; "
        "η = (1, 1/2) round by round, p = (1/2, 1), W = [1 0; 0 1]."
    )


def test_sides_of_a_certificate() -> None:
    certificate = {"at": {}, "left": {"lower": "1.41421356", "upper": "1.41421357"}, "right": "1"}
    assert values(certificate) == ("≈ 1.414", "1")


def test_a_result_in_words_alone_has_no_bound_to_show(tmp_path: Path) -> None:
    paper = Paper(
        "in-words", "In words", "me", (claim("remark", title="B weighs little", kind="remark", remarks=("In words.",)),)
    )
    with files.forgetting():
        render([Result("in-words/remark", "undecided", None, ())], (), tmp_path, papers=[paper], quick=True)
    shown = section(tmp_path, "in-words.html", "in-words-remark")
    assert "<code>None</code>" not in shown
    assert "Its bound" not in shown
