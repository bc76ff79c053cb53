"""`fedproof prove` and a check say one word of a claim: a derivation alone makes none proved."""

from pathlib import Path

import pytest

from tests.validate.command_line import call, printed
from theory import claim
from theory.claim import Claim
from theory.derivation import combined
from validate.checking import check_all
from validate.commands.prove import spoken
from validate.derived import derived
from validate.examine import examine

TIED = claim("tied", "2**k >= k**2", assuming=("k >= 3",))
BY_THE_TIE = (
    {
        "name": "all", "by": "induction", "on": "k",
        "base": [{"name": "b", "by": "combination", "squares": [{"of": "1"}]}],
        "step": [{
            "name": "s", "by": "combination", "squares": [{"of": "1", "times": "2"}],
            "parts": [{"line": "IH", "times": "2"}, {"line": "k >= 3", "times": "k+1"}],
        }],
    },
)  # fmt: skip
CLAIMS = {
    "tied": (TIED, "vacuous"),
    "tied, with a derivation": (claim("tied", TIED.statement, assuming=("k >= 3",), proof=BY_THE_TIE), "vacuous"),
    "contradictory": (claim("c", "a <= 5", assuming=("a <= 1", "a >= 2")), "vacuous"),
    "without a value": (claim("v", "log(-a**2 - 1) <= log(-a**2 - 1)"), "undecided"),
    "without a value, with a derivation": (
        claim("v", "log(-a**2 - 1) <= log(-a**2 - 1)", proof=(combined("all"),)),
        "undecided",
    ),
    "false": (claim("f", "norm2(a) <= 1", vectors=("a",)), "undecided"),
    "true": (claim("t", "2*dot(a, b) <= norm2(a) + norm2(b)", vectors=("a", "b")), "proved"),
}


@pytest.mark.parametrize("name", CLAIMS)
def test_prove_says_what_a_check_says(name: str, tmp_path: Path) -> None:
    one, word = CLAIMS[name]
    found = derived(one, tmp_path, 300)
    assert found.verdict == word, found.detail
    assert (found.path is not None) is (word == "proved")
    assert examine(one, quick=True, out=tmp_path).verdict == ("refuted" if name == "false" else word)


@pytest.mark.parametrize("k", ["K", "N", "d"])
def test_a_domain_of_a_size_is_a_relation(k: str) -> None:
    from theory.domain import COUNT, Domain

    def with_domain(domain: Domain) -> Claim:
        vectors = ("a_n",) if k == "N" else ("a",) if k == "d" else ()
        return claim("any", f"2**{k} >= {k}**2", parameters={k: domain}, vectors=vectors)

    assert with_domain(Domain(3, 7, integer=True)).assuming == (f"{k} >= 3", f"{k} <= 7")
    assert with_domain(Domain(2.5, None, lower_open=True)).assuming == (f"{k} > 5/2",)
    assert with_domain(COUNT).assuming == ()
    assert not with_domain(Domain(3)).parameters


def test_a_claim_broken_where_k_has_a_domain_has_a_certificate(tmp_path: Path) -> None:
    from theory.domain import Domain
    from validate import certificate, verifier

    late = claim("late", "2**K >= K**2", parameters={"K": Domain(3, None, integer=True)})
    result = examine(late, quick=True, out=tmp_path)
    assert result.verdict == "refuted"  # 8 >= 9
    written = certificate.read(result.certificate)
    assert written["rounds"] == 3
    assert verifier.verify(written).valid
    assert examine(claim("l", late.statement, parameters={"K": Domain(4, 9)}), quick=True, out=tmp_path).verdict != (
        "refuted"
    )


@pytest.mark.parametrize(
    ("statement", "vectors", "words"),
    [
        ("norm2(a) <= 1", ("a",), ("refuted",)),
        ("rho <= 1/2", (), ("refuted",)),
        pytest.param("rho <= 1", (), ("supported", "proved"), marks=pytest.mark.slow),
        ("norm2(mean_n(a_n)) <= rho*mean_n(norm2(a_n))", ("a_n",), ("refuted",)),
    ],
)
def test_a_network_without_an_algorithm(
    statement: str, vectors: tuple[str, ...], words: tuple[str, ...], tmp_path: Path
) -> None:
    one = claim("network", statement, vectors=vectors, assuming=("connected(W)",))
    assert examine(one, quick=True, out=tmp_path).verdict in words


def test_the_command_says_vacuous(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.py").write_text(
        """from theory import Paper, claim
PAPER = Paper("mine", "t", "a", (claim("tied", "2**k >= k**2", assuming=("k >= 3",)),))
""",
        encoding="utf-8",
    )
    monkeypatch.chdir(tmp_path)
    assert call("prove", "mine.py:tied").stdout.startswith("mine/tied: vacuous")
    assert printed("prove", "mine.py:tied", status=1)["outcome"] == "vacuous"
    assert printed("check", "mine.py:tied", "--quick", status=1)[0]["verdict"] == "vacuous"


def test_a_multiplier_that_is_a_sum_stands_in_parentheses() -> None:
    parts = combined("one", "a <= b", "before times 1 - q; after times 2*q", "1 times q - 1")
    assert spoken([parts]) == ["one: a <= b   [(1 - q) * (before) + 2*q * (after) + q - 1]"]


PAPER_OF_TWO = """
from theory import Paper, claim

PAPER = Paper("pair", "Two claims", "a reader", (claim("one", "a <= a + g"), claim("two", "a <= a + 2*g")))
"""


def test_of_a_file_all_claims_are_printed(tmp_path: Path):
    file = tmp_path / "pair.py"
    file.write_text(PAPER_OF_TWO, encoding="utf-8")
    found = printed("prove", file, "--out", tmp_path / "out")
    assert [one["id"] for one in found] == ["pair/one", "pair/two"]
    assert {one["outcome"] for one in found} == {"proved"}
    assert printed("prove", f"{file}:two", "--out", tmp_path / "out")["id"] == "pair/two"


def test_a_defect_in_one_claim_leaves_the_others_of_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    import validate.examine

    examined = validate.examine.examine

    def broken(one: Claim, **options: object) -> object:
        if one.label == "one":
            raise KeyError("a slip")
        return examined(one, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(validate.examine, "examine", broken)
    file = tmp_path / "pair.py"
    file.write_text(PAPER_OF_TWO, encoding="utf-8")
    first, second = check_all([str(file)], quick=True, out=tmp_path / "out")
    assert (first.verdict, second.verdict) == ("undecided", "proved")
    assert "defect of fedproof: KeyError" in first.evidence[0].detail
