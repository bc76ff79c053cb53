"""A quick check and `falsify` leave the verdict and the certificate of a full check where they are."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.validate.command_line import EQ7, call, printed
from theory import claim, claims
from theory.claim import Claim
from validate import check, checking, examine, kept
from validate.certificate import verify
from validate.verdict import Evidence, Result

EQ_A25 = "fedavg-svrg/eq-a25"


def halved(one: Claim) -> Claim:
    """It with half of its right side."""
    left, right = one.statement.split(" <= ")
    return replace(one, statement=f"{left} <= ({right})/2")


def result(verdict: Any, quick: bool = False) -> Result:
    return Result(EQ7, verdict, None, (Evidence("exact", "holds", "It holds."),), quick=quick)


def entries(folder: Path) -> list[dict[str, Any]]:
    found = json.loads((folder / "verdicts.json").read_text(encoding="utf-8"))
    assert isinstance(found, list)
    return found


def said(folder: Path, *results: Result, of: Claim) -> list[str]:
    """What one check says while it keeps verdicts on a claim."""
    lines: list[str] = []
    hear = checking.listener(lines.append)
    for found in results:
        hear((kept.entry(found, of), folder))
    return lines


def test_a_quick_verdict_does_not_take_the_place_of_a_full_one(tmp_path: Path) -> None:
    full, quick = result("refuted"), result("supported", quick=True)
    assert said(tmp_path, quick, of=claim(EQ7)) == []
    assert [(e["verdict"], e["quick"]) for e in entries(tmp_path)] == [("supported", True)]
    assert said(tmp_path, full, of=claim(EQ7)) == []
    (line,) = said(tmp_path, quick, quick, of=claim(EQ7))  # told once
    assert line.startswith(f"{EQ7}: supported by this quick check; ")
    assert line.endswith("verdicts.json keeps refuted, by a full one")
    assert [(e["verdict"], e["quick"]) for e in entries(tmp_path)] == [("refuted", False)]


def test_a_quick_verdict_takes_the_place_of_that_on_another_sentence(tmp_path: Path) -> None:
    other = halved(claim(EQ7))
    assert said(tmp_path, result("proved"), of=other) == []
    assert not kept.current(kept.known(tmp_path)[EQ7], claim(EQ7))
    assert said(tmp_path, result("supported", quick=True), of=claim(EQ7)) == []
    assert kept.current(kept.known(tmp_path)[EQ7], claim(EQ7))
    assert entries(tmp_path)[0]["verdict"] == "supported"


def test_the_digest_is_of_what_is_said_not_of_what_is_told() -> None:
    one = claim(EQ7)
    assert len({kept.digest(c) for c in claims()}) == len(claims())
    same = (replace(one, title="another"), replace(one, remarks=("a remark",)), replace(one, given=(), source="here"))
    assert {kept.digest(c) for c in same} == {kept.digest(one)}
    others = (
        halved(one),
        replace(one, statement=one.statement.replace("<=", "<")),
        replace(one, assuming=()),
        replace(one, standing=("delta <= 1/L",)),
        replace(one, assuming=(*one.assuming, "delta <= 1/L")),
        replace(one, where={**one.where, "f0_gap": "2*(f(x0) - fstar)"}),
        replace(one, parameters={}),
    )
    assert len({kept.digest(c) for c in (one, *others)}) == 1 + len(others)


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder after a full and a quick check, and `falsify`, of one false claim."""
    folder = tmp_path_factory.mktemp("kept")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(examine, "EVALUATIONS", {False: 200, True: 200})
        for words in (["check", EQ_A25], ["check", EQ_A25, "--quick"], ["falsify", EQ_A25, "--seconds", 20]):
            ended = call(*words, "--out", folder)
            assert ended.exit_code == 1, ended.output
            (folder / f"{len(list(folder.glob('*.txt')))}.txt").write_text(ended.output, encoding="utf-8")
    return folder


def test_each_command_has_a_certificate_of_its_own(checked: Path) -> None:
    names = {path.name for path in (checked / "certificates").glob("*.json")}
    stem = "fedavg-svrg.eq-a25"
    assert {f"{stem}.json", f"{stem}.quick.json", f"{stem}.falsify.json"} <= names
    for name in names:
        assert verify(checked / "certificates" / name).valid
    assert (checked / "certificates" / "verify.py").is_file()
    for at, name in enumerate((f"{stem}.json", f"{stem}.quick.json", f"{stem}.falsify.json")):
        assert f"certificate: {checked / 'certificates' / name}" in (checked / f"{at}.txt").read_text(encoding="utf-8")
    assert not list(checked.rglob("*.tmp"))


def test_the_full_verdict_stays_and_the_quick_check_says_so(checked: Path) -> None:
    (entry,) = entries(checked)
    assert (entry["verdict"], entry["quick"]) == ("refuted", False)
    assert entry["certificate"] == str(checked / "certificates" / "fedavg-svrg.eq-a25.json")
    assert "keeps refuted, by a full one" in (checked / "1.txt").read_text(encoding="utf-8")
    row = next(row for row in printed("claims", "--out", checked) if row["id"] == EQ_A25)
    assert (row["verdict"], row["quick"]) == ("refuted", False)


def test_a_changed_claim_s_certificate_does_not_take_the_place_of_the_catalogue_s(tmp_path: Path) -> None:
    half = halved(claim(EQ_A25))
    found = {}
    for one in (claim(EQ_A25), half):
        made = check(one, quick=True, out=tmp_path)
        assert isinstance(made, Result)
        assert made.certificate is not None
        found[one.statement] = Path(made.certificate)
    assert {path.name for path in found.values()} == {
        "fedavg-svrg.eq-a25.quick.json",
        f"fedavg-svrg.eq-a25.{kept.digest(half)[:8]}.quick.json",
    }
    for statement, path in found.items():
        assert json.loads(path.read_text(encoding="utf-8"))["statement"] == statement
    assert not (tmp_path / "verdicts.json").exists(), "a claim that is handed over is nobody's verdict by id"


def test_certificates_and_derivations_go_where_they_are_found(tmp_path: Path) -> None:
    folder = tmp_path / "made"
    for kind in ("certificates", "derivations"):
        (folder / kind).mkdir(parents=True)
        (folder / kind / "one.json").write_text(kind, encoding="utf-8")
    for by, name in (("", "one.json"), ("quick", "one.quick.json")):
        moved = kept.keep(claim(EQ7), folder, tmp_path, by)
        assert moved == {
            str(folder / kind / "one.json"): str(tmp_path / kind / name) for kind in ("certificates", "derivations")
        }
        assert all(Path(now).read_text(encoding="utf-8") == Path(now).parent.name for now in moved.values())
        assert all((Path(now).parent / "verify.py").is_file() for now in moved.values())
    assert kept.keep(claim(EQ7), tmp_path / "nothing", tmp_path / "none") == {}
    assert not (tmp_path / "none").exists()


def test_the_derivation_of_what_is_proved_is_where_the_check_says(tmp_path: Path) -> None:
    made = check("textbook/young", quick=True, out=tmp_path)
    assert isinstance(made, Result)
    assert made.proof == str(tmp_path / "derivations" / "textbook.young.quick.json")
    assert verify(made.proof).valid
