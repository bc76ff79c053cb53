"""What the shell offers at the tab key."""

import os
import subprocess
import sys

import pytest

from theory import catalog
from validate.commands import completion


def offered(words: str) -> list[str]:
    """What bash is told to offer after these words, by the command itself."""
    environment = {**os.environ, "_FEDPROOF_COMPLETE": "complete_bash", "COMP_WORDS": words}
    environment["COMP_CWORD"] = str(len(words.split()) - 1)
    program = "import sys; sys.argv = ['fedproof']; from validate.cli import app; app(prog_name='fedproof')"
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_the_shell_is_offered_claims_and_papers():
    assert offered("fedproof show open-fl/theorem-2") == [
        claim.id for claim in catalog.claims() if claim.id.startswith("open-fl/theorem-2")
    ]
    assert offered("fedproof reproduce fed") == ["fedavg-svrg", "fedmim"]


@pytest.mark.parametrize(
    ("typed", "some"), [("", "all"), ("", "perm"), ("pe", "perm"), ("perm/lemma-1", "perm/lemma-10"), ("al", "all")]
)
def test_targets_are_papers_and_then_their_claims(typed, some):
    found = completion.targets(typed)
    assert some in found
    assert all(name.startswith(typed) for name in found)


def test_nothing_is_offered_for_what_is_not_known():
    assert completion.targets("nothing/here") == completion.papers("zz") == completion.claim_ids("zz") == []
