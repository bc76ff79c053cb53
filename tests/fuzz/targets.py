"""What reads input from outside: certificates, problem files, formulas, sweeps, and the targets of other modules."""

import json
from fractions import Fraction
from itertools import islice

from hypothesis import strategies as st

from tests.fuzz import confirmed, derivations, recomputed, seeds, statements
from tests.fuzz.command_lines import command_lines, run_command
from tests.fuzz.mutation import NUMBERS, TEXTS, damaged, documents, edited, mostly
from tests.fuzz.stores import read_store, store_files
from tests.fuzz.target import ACCEPTED, NOT_VALID, RECOMPUTED, REFUSED, Target, clear, folder

# --- certificates ----------------------------------------------------------------------------------------------------


def verify(content: bytes) -> str:
    """A played certificate through the verifier."""
    certificate, report = confirmed.reported(content)
    if report is None:
        return REFUSED
    if not report.valid:
        repaired = statements.with_computed_values(certificate, report.lines)
        if repaired is None:
            return NOT_VALID
        certificate, report = confirmed.reported(json.dumps(repaired).encode())
        if report is None or not report.valid:
            return NOT_VALID
    confirmed.confirmed(certificate)
    return RECOMPUTED


def certificate_files() -> st.SearchStrategy[bytes]:
    """Certificates, one as often as any other."""
    return documents(list(seeds.certificates().values()))


# --- problem files ---------------------------------------------------------------------------------------------------


def read_spec(content: bytes) -> str:
    """A SPEC through the reader and, where it is small, the exact oracle."""
    from validate.commands.output import read_object
    from validate.scenario import read_scenario

    path = folder() / "spec.json"
    path.write_bytes(content)
    try:
        spec = read_object(str(path))
        exact, rounded = read_scenario(spec, exact=True), read_scenario(spec, exact=False)
    except (ValueError, OSError) as error:
        return clear(error, 25_000)
    assert (exact.problem.clients, exact.rounds) == (rounded.problem.clients, rounded.rounds)
    return RECOMPUTED if recomputed.moments_agree(spec, exact) else ACCEPTED


# --- formulas --------------------------------------------------------------------------------------------------------

VALUES = {"L": Fraction(2), "mu": Fraction(1, 3), "K": Fraction(7), "x": Fraction(-3, 2), "o": Fraction(0)}
_leaf = st.sampled_from([*VALUES, "1", "2", "10", "3", "0"])
formulas = st.recursive(
    _leaf,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "/", " + ", "**"]), inner).map("".join),
        inner.map("({})".format),
        inner.map("-{}".format),
        st.tuples(st.sampled_from(["sqrt", "exp", "log", "abs", "sum"]), inner).map(lambda t: f"{t[0]}({t[1]})"),
        st.tuples(st.sampled_from(["min", "max"]), inner, inner).map(lambda t: f"{t[0]}({t[1]}, {t[2]})"),
        st.tuples(inner, st.sampled_from([" < ", " <= ", " == ", " > "]), inner).map("".join),
    ),
    max_leaves=12,
)
texts = mostly(
    formulas | formulas.flatmap(edited),
    st.text(max_size=30)
    | st.sampled_from([t for t in (*TEXTS, *NUMBERS) if isinstance(t, str)])
    | st.text("()+-*/.,<=>eE01xLK_ \n", max_size=25),
    3,
)


def read_formula(text: str) -> str:
    """A formula through both parsers, which share no code; where both give a rational, it is the same."""
    from theory import formula

    try:
        tree = formula.parse(text)
    except ValueError as error:
        clear(error, 1500)
        try:
            formula.parse_relation(text)
        except ValueError as other:
            return clear(other, 1500)
        return ACCEPTED
    return RECOMPUTED if recomputed.formulas_agree(text, tree, VALUES) else ACCEPTED


# --- sweeps ----------------------------------------------------------------------------------------------------------

_TOML = (
    b"[[",
    b"]]",
    b"[",
    b"]",
    b"=",
    b'"',
    b"'",
    b"\n",
    b"#",
    b"nan",
    b"inf",
    b"1979-05-27",
    b"0x10",
    b"{",
    b"}",
    b".",
)
_TOML_BOMBS = (b"a" + b".a" * 5000 + b"=1\n", b"x=" + b"[" * 10_000, b"9" * 5000, b"\xff", b"\\U00110000")


def sweep_files() -> st.SearchStrategy[bytes]:
    """Specifications of sweeps."""
    pieces = st.sampled_from([seeds.toml(sweep).encode() for sweep in seeds.SWEEPS])
    damage = pieces.flatmap(lambda text: damaged(text, _TOML + _TOML_BOMBS))
    return mostly(documents(seeds.SWEEPS, seeds.toml), damage)


def read_sweep(content: bytes) -> str:
    """A specification through its reader; what is accepted is a grid of cells that can be read again."""
    from validate.sweep.cell import Cell, canonical
    from validate.sweep.specification import read_specification

    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return REFUSED  # the command says so before
    try:
        sweep = read_specification(text)
    except ValueError as error:
        return clear(error)
    assert 0 < len(sweep) <= 1_000_000
    found = list(islice(sweep.documents(), 200))
    assert len(found) == min(len(sweep), 200)
    assert len({canonical(document) for document in found}) == len(found), "a cell twice"
    for document in found[:5]:
        assert canonical(json.loads(canonical(document))) == canonical(document)
        Cell.from_document(json.loads(canonical(document)))
    again = read_specification(text)
    assert list(islice(again.documents(), 5)) == found[:5]
    return ACCEPTED


def targets() -> tuple[Target, ...]:
    """All of them; certificates, which take long to make, are made when they are first drawn from."""
    return (
        Target("certificate", st.deferred(certificate_files), verify, 0.25, 20),
        Target("derivation", st.deferred(derivations.derivation_files), derivations.judged, 0.25, 60),
        Target("problem file", documents(seeds.SPECS), read_spec, 0.15, 10),
        Target("formula", texts, read_formula, 0.15, 5),
        Target("sweep", sweep_files(), read_sweep, 0.1, 15),
        Target("store", store_files(), read_store, 0.05, 10),
        Target("command line", command_lines(), run_command, 0.05, 60),
    )
