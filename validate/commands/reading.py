"""A display of a paper's LaTeX as claims: `fedproof read`."""

from __future__ import annotations

import re
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from validate.commands.options import AsJson
from validate.commands.output import print_json, progress, read_text

if TYPE_CHECKING:
    from theory.claim import Claim
    from theory.latex import Display, Read
    from theory.program import Algorithm

OPEN = 1
_TARGET = re.compile(r"(?P<path>.+?\.tex)(?::(?P<label>.*))?\Z")


def read(
    target: Annotated[str, typer.Argument(metavar="PAPER.tex:LABEL", help="A label of the paper.")],
    against: Annotated[
        str | None,
        typer.Option(
            "--against",
            metavar="FILE.py:NAME|ID",
            help="The algorithm of which the display speaks, or a claim, whose names are then what they say.",
        ),
    ] = None,
    questions: Annotated[
        Path | None,
        typer.Option(
            "--questions", metavar="FILE", help="Where questions and answers are, if not PAPER.questions.toml."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Read a theorem's LaTeX as a sentence of the language.

    The display with the label, or that of the theorem with it, is read with the macros of the paper, and printed as
    claims to be pasted. What has more than one reading is never guessed: it stands in PAPER.questions.toml with its
    readings; answer there, and read again. Exit status 1 while a question is open. It gives no verdict: check the
    claim.

    Example: fedproof read paper.tex:thm:main --against my_paper.py:local_sgd
    """
    from theory.latex import LatexError, answers_in, claim_text, displays, file_of, labels_in, macros_in, put_together
    from theory.latex.questions import HEAD

    match = _TARGET.match(target)
    if match is None:
        raise ValueError(f"{target} is not PAPER.tex:LABEL")
    path = Path(match["path"])
    text = put_together(read_text(path), lambda name: _inside(path.parent, name))
    label = (match["label"] or "").strip()
    if not label:
        raise ValueError(f"{path}: say which label: {', '.join(labels_in(text)) or 'there is none'}")
    file = questions or path.with_name(f"{path.stem}.questions.toml")
    before = read_text(file) if file.is_file() else ""  # a pipe never begins
    answers = answers_in(before)
    foreign = before.strip() and not answers and not before.startswith(HEAD.partition("\n")[0])
    if foreign or (file.exists() and not file.is_file()):
        raise ValueError(f"{file} is not a file of questions, and would be replaced; give another --questions")
    known = None if against is None else _known(against)
    try:
        found = _read(text, displays(text, label), label, known, answers, macros_in(text))
    except LatexError as error:
        progress(error.picture)
        raise ValueError(f"{path}, {error.place}: {error.why}") from None
    if found.questions:
        file.write_text(file_of(found.questions, answers), encoding="utf-8")
    of = None if known is None else _name(known)
    paste = claim_text(label, found, of, getattr(known, "where", None))
    if as_json:
        print_json(_document(label, found, paste, answers, file if found.questions else None))
    elif not found.unanswered:
        typer.echo(paste)
    if found.unanswered:
        progress(f"{len(found.unanswered)} open: {', '.join(found.unanswered)}")
        progress(f"answer in {file}, and read again")
        raise typer.Exit(OPEN)


def _read(
    text: str,
    choice: tuple[Display, ...],
    label: str,
    known: Algorithm | Claim | None,
    answers: dict[str, str],
    macros: Any,
) -> Read:
    """What the display says; where a theorem has several, which one is asked first."""
    from theory.latex import Question, Read, read

    chosen = choice[0]
    asked: tuple[Question, ...] = ()
    if len(choice) > 1:
        about = f"display of {label}"
        keys = [str(number + 1) for number in range(len(choice))]
        shown = [" ".join(text[one.first : one.last].split())[:90] for one in choice]
        asked = (Question(about, "which display is meant?", tuple(zip(keys, shown, strict=True)), chosen.first),)
        if about not in answers:
            return Read(questions=asked, unanswered=(about,))
        if answers[about] not in keys:
            raise ValueError(f"the answer {answers[about]!r} about {about} is none of: {', '.join(keys)}")
        chosen = choice[int(answers[about]) - 1]
    found = read(text, known, answers, macros, chosen.first, chosen.last)
    return Read(
        found.sentences, (*asked, *found.questions), found.unanswered, found.parameters, found.vectors, found.expression
    )


def _document(label: str, found: Read, paste: str, answers: dict[str, str], file: Path | None) -> dict[str, Any]:
    return {
        "label": label,
        "sentences": [str(sentence) for sentence in found.sentences],
        "claim": paste,
        "parameters": {name: str(domain) for name, domain in found.parameters.items()},
        "vectors": list(found.vectors),
        "questions": [
            {"about": q.about, "asks": q.asks, "readings": dict(q.readings), "answer": answers.get(q.about)}
            for q in found.questions
        ],
        "file": None if file is None else str(file),
    }


def _inside(folder: Path, name: str) -> str | None:
    """The text of a file that the paper takes in, of its own folder or below."""
    for path in (folder / name, folder / f"{name}.tex"):
        if path.is_file() and path.resolve().is_relative_to(folder.resolve()):
            return read_text(path)
    return None


def _known(against: str) -> Algorithm | Claim:
    """An algorithm of this name, or a claim."""
    from validate import files
    from validate.instances.named import algorithm_named

    with redirect_stdout(sys.stderr):
        try:
            return algorithm_named(against)
        except ValueError as error:
            try:
                return files.find(against)
            except ValueError:
                raise ValueError(f"--against: {error}, and no such claim") from None


def _name(known: Algorithm | Claim) -> str | None:
    from theory.program import Algorithm

    of = known if isinstance(known, Algorithm) else known.of
    return None if of is None else of.name
