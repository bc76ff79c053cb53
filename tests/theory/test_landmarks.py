"""The landmark theorems: each file is a paper of its own, and says of each result how its text is known."""

import importlib
import json
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import theory.landmarks
from tests.validate.command_line import call
from theory import catalog, claim
from theory.claim import SURENESS, Paper
from validate.checking import check_one, resolve

# The labels under which the results are known, by paper: the ids that a reader types.
LABELS = {
    "adam": "lemma-10-3 lemma-10-4 theorem-4-1",
    "amsgrad": "theorem-4 corollary-1",
    "bubeck-svrg": "epoch theorem-6-5",
    "choco": "theorem-2",
    "diging": "theorem-3",
    "ef21": "theorem-1",
    "extra": "theorem-3-5 eq-3-30",
    "fednova": "lemma-1 theorem-2",
    "fedprox": "theorem-4 remark-5-necessary remark-5-sufficient theorem-6 corollary-7 "
    "a-3-condition a-3-line-16 a-3-line-17 a-3-iterations corollary-9 corollary-10",
    "fedrr": "theorem-4",
    "field-guide": "lemma-2 theorem-1 theorem-1-tuned",
    "ghadimi-lan-ag": "eq-3-10 eq-summed eq-3-11 theorem-3b",
    "ghadimi-lan-rsg": "theorem-2-1a",
    "gower2019": "theorem-3-1",
    "katyusha": "theorem-2-1 theorem-4-1 eq-c4",
    "khaled2019": "lemma-1 lemma-2 theorem-1 corollary-1",
    "krum": "proposition-1 eta-order",
    "lessard2016": "heavy-ball-cycle lemma-6 eq-3-18 lemma-10",
    "li2020": "theorem-1 theorem-2 theorem-3 theorem-4",
    "marina": "theorem-2-1",
    "needell2014": "theorem-2-1",
    "polyak-juditsky": "theorem-2",
    "proxrr": "theorem-1 theorem-2 theorem-3",
    "proxskip-vr": "theorem-6 theorem-8",
    "push-diging": "theorem-18",
    "qrr": "theorem-2-1",
    "qsgd": "lemma-3-1",
    "sag": "theorem-1 b-8-2 b-8-2-identity",
    "saga": "theorem-1 corollary-1 lemma-3 theorem-2",
    "scaffold": "theorem-1 theorem-2 theorem-3 theorem-4 eq-9 lemma-5 lemma-15-finite lemma-19-finite",
    "sinkhorn-dro": "lemma-ec7",
    "stich2019": "theorem-2-2",
}

FILES = [one.name for one in pkgutil.iter_modules(theory.landmarks.__path__)]


@pytest.mark.parametrize("file", FILES)
def test_a_file_is_a_paper_that_says_how_its_text_is_known(file: str) -> None:
    paper = importlib.import_module(f"theory.landmarks.{file}").PAPER
    assert isinstance(paper, Paper)
    assert paper.name == file.replace("_", "-")
    assert paper.name not in catalog.BUILT_IN
    assert catalog.LANDMARKS[paper.name] == f"theory.landmarks.{file}"
    assert paper.family in catalog.FAMILIES
    assert all(one.sure in SURENESS[1:] and one.source and one.title for one in paper.claims)


@pytest.mark.parametrize("file", FILES)
def test_nothing_is_fed_and_every_sentence_is_read(file: str) -> None:
    for one in importlib.import_module(f"theory.landmarks.{file}").PAPER.claims:
        assert not one.given
        if one.has_sentence:
            assert one.symbols or one.vocabulary.free_vectors or one.program is not None
            assert all(side is not None for side in one.sentence.sides)


def test_the_ids_are_those_under_which_the_results_are_known() -> None:
    assert set(LABELS) == set(catalog.LANDMARKS)
    for paper, labels in LABELS.items():
        known = [one.label for one in catalog.paper(paper)]
        assert [label for label in known if "/" not in label] == sorted(labels.split(), key=known.index)
        assert all(label.split("/")[0] in labels.split() for label in known)  # parts, readings and repairs of these


def test_a_landmark_is_known_by_its_id_and_listed_when_it_is_asked_for() -> None:
    from theory.landmarks.saga import PAPER

    assert catalog.claim("saga/lemma-3") is next(one for one in catalog.claims("saga") if one.label == "lemma-3")
    assert [one.label for one in catalog.paper("saga")] == [one.label for one in PAPER]
    assert not {one.paper for one in catalog.claims()} & set(LABELS)
    listed = catalog.papers("landmarks")
    assert {one.name for one in listed} == set(LABELS)
    assert [one.family for one in listed] == sorted((one.family for one in listed), key=catalog.FAMILIES.index)
    assert [c for one in listed for c in one] == list(catalog.claims("landmarks")) == resolve(["landmarks"])
    with pytest.raises(ValueError, match="unknown claim 'saga/lemma-4'; did you mean 'saga/lemma-3'"):
        catalog.claim("saga/lemma-4")
    with pytest.raises(ValueError, match="'landmarks' is a paper, not a claim"):
        catalog.claim("landmarks")


def test_to_list_the_claims_imports_no_landmark() -> None:
    code = "import sys; from theory import catalog; catalog.claims(); catalog.names(); catalog.paper('sag'); "
    code += "print(*(name for name in sys.modules if name.startswith('theory.landmarks.')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["theory.landmarks.sag"]


def test_a_paper_of_one_s_own_takes_the_place_of_a_landmark() -> None:
    own = Paper("saga", "My SAGA", "", (claim("lemma-3", "norm2(x) >= 0", vectors=("x",)),))
    with catalog.forgetting():
        catalog.add(own)
        assert catalog.paper("saga") is own
        assert catalog.claim("saga/lemma-3") is own.claims[0]
        assert catalog.names().count("saga") == 1
    assert catalog.paper("saga") is not own


def test_what_is_from_memory_is_refuted_as_transcribed(tmp_path: Path) -> None:
    false = "norm2(x) <= 0"
    for sure, said in (("memory", "refuted as transcribed"), ("transcribed", "refuted"), ("", "refuted")):
        one = claim("one", false, vectors=("x",), sure=sure)
        result = check_one(one, quick=True, out=tmp_path)
        assert (result.verdict, result.said, result.to_json()["sure"]) == ("refuted", said, sure or None)


def test_a_sureness_is_one_of_four() -> None:
    from theory.sentence import SentenceError

    with pytest.raises(SentenceError, match=r"sure='guessed' is none of read, transcribed, secondary, memory"):
        claim("one", "norm2(x) >= 0", vectors=("x",), sure="guessed")


def test_show_tells_how_a_text_is_known() -> None:
    from theory.landmarks.saga import PAPER
    from validate.commands.written import as_json_of, as_text

    assert "as transcribed by a third party" in as_text(PAPER.claims[0])
    assert as_json_of(PAPER.claims[0])["sure"] == "transcribed"


def test_claims_lists_a_collection_by_family() -> None:
    listed = json.loads(call("claims", "landmarks", "--json").stdout)
    assert listed == json.loads(call("claims", "--paper", "landmarks", "--json").stdout)
    assert [row["id"] for row in listed] == [one.id for one in catalog.claims("landmarks")]
    assert {row["id"]: (row["family"], row["sure"]) for row in listed}["saga/lemma-3"] == (
        "variance reduction",
        "transcribed",
    )
    assert {row["family"] for row in json.loads(call("claims", "perm", "--json").stdout)} == {None}
    assert call("claims", "perm", "--paper", "perm").exit_code == 2


def test_the_page_is_made_from_the_check_that_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    docs = Path(__file__).parents[2] / "docs"
    monkeypatch.syspath_prepend(str(docs))
    errata = importlib.import_module("errata")
    said = json.loads(errata.KEPT.read_text(encoding="utf-8"))
    assert [one["id"] for one in said] == [one.id for one in catalog.claims("landmarks")]
    assert (docs / "landmarks.md").read_text(encoding="utf-8") == errata.page(said)
    assert {one["id"] for one in said if one["break"]} == {one["id"] for one in said if one["verdict"] == "refuted"}
    proved = {one["id"] for one in said if one["verdict"] == "proved"}
    assert proved >= {one.id for one in catalog.claims("landmarks") if one.proof is not None}


def test_what_a_result_rests_on_is_there() -> None:
    known = {one.id for one in catalog.claims("landmarks")}
    bases = [base for one in catalog.claims("landmarks") for base in one.bases]
    assert len(bases) > 20
    assert set(bases) <= known
