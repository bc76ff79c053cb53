"""What a certificate of kind "play" says of its claim: read, held together, and printed for the reader."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .assumed import Assumption, read_assumption
from .checks import Checks
from .every import check_words
from .listing import listing
from .problems import described
from .programs import named, read_program
from .quadratics import Problem
from .reading import FormatError, fields, list_of, number, shown, text_of
from .sentences import INDICES, Node, Sentence, index_of, names_in, read_formula, read_sentence
from .steps import Program, Step
from .vocabulary import Vocabulary

ORIGINS = ("search", "pool", "worst case", "given")
MOST_TEXTS = 200
RHO = "rho"
BY_MOMENTS = "expectations are found by moments: from means and covariances, which are computed here round by round"
NOISE_BY_MOMENTS = (
    "noise stands for every law with its mean and second moment; here its covariance is a multiple of the identity"
)
NOISE = (
    "noise stands for every law with its mean and second moment; this program plays one of them: a coordinate "
    "uniformly at random, and along it one of two values of opposite signs with mean 0"
)


@dataclass(frozen=True)
class Claimed:
    """What the certificate says of the claim."""

    sentence: Sentence
    assumptions: tuple[Assumption, ...]
    relations: tuple[Sentence, ...]
    words: Vocabulary
    domains: Mapping[str, Mapping[str, Any]]
    program: Program | None


def read_claim(data: Mapping[str, Any]) -> Claimed:
    """Everything that is said of the claim, read and held together."""
    for key in ("claim", "statement"):
        text_of(data[key], key)
    program = None if data["program"] is None else read_program(data["program"])
    definitions: dict[str, Node] = {}
    given = data["definitions"]
    if not isinstance(given, dict) or len(given) > MOST_TEXTS:
        raise FormatError("definitions is not an object of formulas")
    depth: dict[str, int] = {}
    for name, text in given.items():
        named(name, "a definition")
        tree = read_formula(text, f"the definition of {shown(name)}")
        used = names_in(tree) & given.keys()
        if used - definitions.keys():
            raise FormatError(
                f"the definition of {name} speaks of {shown(sorted(used - definitions.keys()))}, not yet defined"
            )
        depth[name] = tree.depth + max((depth[other] for other in used), default=0)
        if depth[name] > 300:
            raise FormatError("the definitions are nested too deeply")
        definitions[name] = tree
    states = {} if program is None else {s.name: s.kind for s in program.state}
    taps = {} if program is None else {label: (kind, len(loops)) for label, (kind, loops) in program.taps.items()}
    vectors = data.get("vectors", {})
    if not isinstance(vectors, dict) or len(vectors) > MOST_TEXTS:
        raise FormatError("vectors is not an object of vectors")
    free = frozenset(named(name, "a free vector") for name in vectors)
    meant = [*states, *taps, *definitions, *free]
    if len(set(meant)) < len(meant) or set(meant) & set(() if program is None else program.parameters):
        raise FormatError("a name means two things")
    words = Vocabulary(states, taps, free, definitions)
    sentence = read_sentence(data["statement"], "the statement")
    assumptions = tuple(read_assumption(item) for item in _texts(data["assumptions"], "assumptions"))
    relations = tuple(read_sentence(text, "a relation") for text in _texts(data["relations"], "relations"))
    for side in (sentence, *relations):
        for tree in (side.left, side.right):
            if words.read(tree).vector:
                raise FormatError(f"a side of {shown(side.text)} is a vector")
    for assumption in assumptions:
        if assumption.sentence is not None:
            check_words(assumption.points, assumption.sentence, words)
        if any(words.read(c).vector or words.read(c).random for c in assumption.constants):
            raise FormatError(f"a constant of {shown(assumption.text)} is no number")
    for tree in definitions.values():
        words.read(tree)
    _one_eigenvalue(assumptions, [*relations, sentence], definitions, meant)
    texts = {a.text for a in assumptions} | {r.text for r in relations}
    standing = [text_of(text, "standing").strip() for text in _texts(data.get("standing", []), "standing")]
    if set(standing) - texts:
        raise FormatError("a standing condition is none of the assumptions and relations")
    if "quick" in data and not isinstance(data["quick"], bool):
        raise FormatError("quick is neither true nor false")
    if "origin" in data and data["origin"] not in ORIGINS:
        raise FormatError(f"origin={shown(data['origin'])} is none of {list(ORIGINS)}")
    for key in ("over", "note"):
        text_of(data.get(key, ""), key)
    if not isinstance(data["at"], dict) or not data["at"].keys() <= set(INDICES):
        raise FormatError("at is not an object of indices")
    return Claimed(sentence, assumptions, relations, words, _domains(data.get("domains", {})), program)


def _one_eigenvalue(
    assumptions: Sequence[Assumption],
    sentences: Sequence[Sentence],
    definitions: Mapping[str, Node],
    meant: Sequence[str],
) -> None:
    """rho is the second eigenvalue of one matrix that is connected, and no other number has its name."""
    networks = [one for one in assumptions if one.matrix]
    if not networks:
        return
    said = [tree for one in sentences for tree in (one.left, one.right)]
    constants = [tree for one in assumptions for tree in one.constants]
    names = {name for tree in (*said, *definitions.values()) for name in names_in(tree)}
    others = {name for tree in constants for name in names_in(tree)} | set(meant) | (names - {RHO})
    if any(index_of(name)[0] == RHO for name in others):
        raise FormatError("rho is the second eigenvalue of the matrix, and something else")
    if RHO in names and len(networks) > 1:
        raise FormatError("rho is the second eigenvalue of one matrix, and several are connected")


def _texts(data: Any, name: str) -> list[Any]:
    if len(list_of(data, name)) > MOST_TEXTS:
        raise FormatError(f"{name} has more than {MOST_TEXTS} entries")
    return data


def _domains(data: Any) -> dict[str, Mapping[str, Any]]:
    if not isinstance(data, dict) or len(data) > MOST_TEXTS:
        raise FormatError("domains is not an object of domains")
    found: dict[str, Mapping[str, Any]] = {}
    for name, domain in data.items():
        fields(domain, f"the domain of {shown(name)}", "lower upper lower_open upper_open integer")
        ends = {key: None if domain[key] is None else number(domain[key], key) for key in ("lower", "upper")}
        flags = {key: domain[key] for key in ("lower_open", "upper_open", "integer")}
        if not all(isinstance(flag, bool) for flag in flags.values()):
            raise FormatError(f"the domain of {shown(name)} cannot be read")
        low, high = ends["lower"], ends["upper"]
        if low is not None and high is not None and (low, domain["lower_open"] or domain["upper_open"]) >= (high, True):
            raise FormatError(f"no number lies in the domain of {shown(name)}")
        found[named(name, "a parameter")] = {**ends, **flags}
    return found


def introduce_claim(checks: Checks, data: Mapping[str, Any], claimed: Claimed) -> None:
    """Prints the sentence, its definitions, and what it assumes."""
    note, standing = checks.note, [text.strip() for text in data.get("standing", [])]
    note(f"claim {shown(data['claim'])}: {shown(claimed.sentence.text, 4000)}")
    for name, text in data["definitions"].items():
        note(f"where {name} is {shown(text, 4000)}")
    if not claimed.assumptions and not claimed.relations:
        note("assuming nothing")
    for text in [a.text for a in claimed.assumptions] + [r.text for r in claimed.relations]:
        more = " (fixed elsewhere in the paper for this result)" if text in standing else ""
        note(f"assuming {shown(text, 4000)}{more}")


def introduce(checks: Checks, data: Mapping[str, Any], claimed: Claimed, problem: Problem | None, rounds: int) -> None:
    """Prints what the reader has to compare with the paper, and the instance."""
    note = checks.note
    introduce_claim(checks, data, claimed)
    if data.get("over"):
        note(f"assumed for {shown(data['over'])} only; here checked everywhere")
    for name, domain in claimed.domains.items():
        note(f"{name} is from {interval(domain)}")
    if claimed.program is not None:
        for line in listing(claimed.program):
            note(shown(line, 2000))
        if any(isinstance(step, Step) and step.op == "noise" for step in steps_of(claimed.program.body)):
            note(NOISE_BY_MOMENTS if data.get("by") == "moments" else NOISE)
        if data.get("by") == "moments":
            note(BY_MOMENTS)
    for name, value in data["parameters"].items():
        note(f"{shown(name)} = {shown(_words(value))}")
    if problem is not None:
        sizes = shown(", ".join(str(len(own)) for own in problem.samples))
        note(f"{problem.N} client(s) with {sizes} sample(s) in {problem.d} coordinate(s), from {_words(data['start'])}")
        for line in described(problem):
            note(line)
    note(f"{rounds} round(s)" + "".join(f", {shown(key)} = {shown(value)}" for key, value in data["at"].items()))
    made = [f"the instance is from: {data['origin']}"] if "origin" in data else []
    made += [f"a {'quick' if data['quick'] else 'full'} check"] if "quick" in data else []
    if made:
        note(f"{', '.join(made)} (as the file says)")
    if data.get("note"):
        note(shown(data["note"]))


def steps_of(steps: Any) -> Iterator[Any]:
    for step in steps:
        yield step
        if not isinstance(step, Step):
            yield from steps_of(step.body)


def _words(value: Any) -> str:
    if isinstance(value, list):
        return f"({', '.join(map(_words, value[:20]))}{', ...' if len(value) > 20 else ''})"
    return f"by rounds {_words(value['k'])}" if isinstance(value, dict) and "k" in value else str(value)


def interval(domain: Mapping[str, Any]) -> str:
    """A domain in words."""
    low, high = domain["lower"], domain["upper"]
    left = "(-inf" if low is None else f"{'(' if domain['lower_open'] else '['}{shown(low)}"
    right = "inf)" if high is None else f"{shown(high)}{')' if domain['upper_open'] else ']'}"
    return f"{'the integers in ' if domain['integer'] else ''}{left}, {right}"
