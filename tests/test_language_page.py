"""The page on the language: its file is a paper, and gets the verdicts that the page names."""

import re
from pathlib import Path

import validate
from validate import files

PAGE = Path(__file__).parent.parent / "docs" / "language.md"


def test_the_file_of_the_page_gets_its_verdicts(tmp_path):
    code = re.search(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert code is not None
    path = tmp_path / "my_sgd.py"
    path.write_text(code[1], encoding="utf-8")
    with files.forgetting():
        results = {r.id: r for r in validate.check(str(path), quick=True, out=tmp_path / "out")}
    assert {id: r.verdict for id, r in results.items()} == {
        "my-sgd/one-step": "proved",
        "my-sgd/lost-factor": "refuted",
    }
    certificate = results["my-sgd/lost-factor"].certificate
    assert certificate is not None
    assert Path(certificate).name == "my-sgd.lost-factor.quick.json"
