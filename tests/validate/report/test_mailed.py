"""The archive beside a report: every link of its pages leads somewhere in it, and nobody's file is replaced."""

import re
import zipfile
from pathlib import Path

import pytest

from tests.validate.report.test_folder import OTHER, written
from tests.validate.test_report import PAPER, experiment
from validate.report.folder import must_take
from validate.report.mailed import archive_of, mail, may_be_replaced


def test_all_links_are_alive_when_mailed(tmp_path: Path) -> None:
    out = tmp_path / "my report"
    written(out, PAPER, OTHER, experiments=[experiment(tmp_path / "elsewhere")])
    with zipfile.ZipFile(tmp_path / "my report.zip") as found:
        names = set(found.namelist())
        pages = {name: found.read(name).decode() for name in names if name.endswith(".html")}
        assert found.testzip() is None
    assert set(pages) == {
        f"my report/{page}" for page in ("index.html", "toy.html", "other.html", "experiments-toy.html")
    }
    links = {link for text in pages.values() for link in re.findall(r'(?:href|src)="([^"#]+)', text)}
    assert any(link.startswith("figures/") for link in links)
    assert {f"my report/{link}" for link in links} <= names


def test_the_same_report_is_the_same_archive(tmp_path: Path) -> None:
    written(tmp_path / "one", PAPER)
    first = (tmp_path / "one.zip").read_bytes()
    written(tmp_path / "one", PAPER)
    assert (tmp_path / "one.zip").read_bytes() == first


def test_certificates_come_with_the_program_that_checks_them(tmp_path: Path) -> None:
    out = tmp_path / "out"
    for name in ("certificates/a.json", "certificates/verify.py", "certificates/verifier/play.py", "secret.txt"):
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_text(name, encoding="utf-8")
    links = ("certificates/a.json", "missing.json", "../out/secret.txt", str(out / "secret.txt"), "https://a.b/c")
    text = "".join(f'<a href="{link}">' for link in links)
    (out / "index.html").write_text(text, encoding="utf-8")
    with zipfile.ZipFile(mail(out, ["index.html"])) as found:
        held = {name.removeprefix("out/") for name in found.namelist()}
    verifier = {"certificates/verify.py", "certificates/verifier/play.py"}
    assert held == {"index.html", "certificates/a.json"} | verifier


@pytest.mark.parametrize("content", [b"mine", b"PK\x05\x06" + b"\0" * 18])
def test_nobodys_archive_is_replaced(tmp_path: Path, content: bytes) -> None:
    out = tmp_path / "out"
    path = archive_of(out)
    assert may_be_replaced(path)
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"out\.zip is no report's, and this one would replace it"):
        must_take(out, ["toy"], [])
    path.unlink()
    written(out, PAPER)
    must_take(out, ["toy"], [])
