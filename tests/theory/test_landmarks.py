"""The landmark theorems: each file is a paper of its own, and says of each result how its text is known."""

import importlib
import pkgutil

import pytest

import theory.landmarks
from theory import catalog
from theory.claim import SURENESS, Paper

FILES = [one.name for one in pkgutil.iter_modules(theory.landmarks.__path__)]


@pytest.mark.parametrize("file", FILES)
def test_a_file_is_a_paper_that_says_how_its_text_is_known(file: str) -> None:
    paper = importlib.import_module(f"theory.landmarks.{file}").PAPER
    assert isinstance(paper, Paper)
    assert paper.name == file.replace("_", "-")
    assert paper.name not in catalog.BUILT_IN
    assert all(one.sure in SURENESS[1:] and one.source and one.title for one in paper.claims)


@pytest.mark.parametrize("file", FILES)
def test_nothing_is_fed_and_every_sentence_is_read(file: str) -> None:
    for one in importlib.import_module(f"theory.landmarks.{file}").PAPER.claims:
        assert not one.given
        if one.has_sentence:
            assert one.symbols or one.vocabulary.free_vectors or one.program is not None
            assert all(side is not None for side in one.sentence.sides)


def test_a_sureness_is_one_of_four() -> None:
    from theory import claim
    from theory.sentence import SentenceError

    with pytest.raises(SentenceError, match=r"sure='guessed' is none of read, transcribed, secondary, memory"):
        claim("one", "norm2(x) >= 0", vectors=("x",), sure="guessed")


def test_show_tells_how_a_text_is_known() -> None:
    from theory.landmarks.saga import PAPER
    from validate.commands.written import as_json_of, as_text

    assert "as transcribed by a third party" in as_text(PAPER.claims[0])
    assert as_json_of(PAPER.claims[0])["sure"] == "transcribed"
