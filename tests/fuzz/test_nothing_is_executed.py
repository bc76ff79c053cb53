"""Nothing that is read from outside is executed: by the source, and by what the interpreter says it does."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzz.seeds import certificates, toml
from tests.fuzz.stores import valid_store, with_changes

ROOT = Path(__file__).resolve().parents[2]
READERS = [
    *sorted((ROOT / "validate/verifier").glob("*.py")),
    *sorted((ROOT / "validate/certificate").glob("*.py")),
    *sorted((ROOT / "validate/sweep").glob("*.py")),
    *(ROOT / "theory" / name for name in ("formula.py", "expression.py", "values.py", "arithmetic.py", "programs.py")),
    ROOT / "validate" / "scenario.py",
    *sorted((ROOT / "validate/commands").glob("*.py")),
]
CALLS = {"eval", "exec", "compile", "__import__", "sympify", "parse_expr"}
ATTRIBUTES = {("os", "system"), ("os", "popen"), ("yaml", "load"), ("marshal", "loads"), ("runpy", "run_path")}
MODULES = {"pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib", "yaml", "runpy", "code", "jsonpickle"}


def executing(tree: ast.AST) -> list[str]:
    """What in a piece of code could run data, or load objects from it."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if alias.name.split(".")[0] in MODULES]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in MODULES:
            found.append(str(node.module))
        elif isinstance(node, ast.Call):
            function = node.func
            if isinstance(function, ast.Name) and function.id in CALLS:
                found.append(function.id)
            if isinstance(function, ast.Attribute):
                owner = function.value.id if isinstance(function.value, ast.Name) else ""
                if (owner, function.attr) in ATTRIBUTES or function.attr in (
                    "sympify",
                    "parse_expr",
                    "enable_load_extension",
                ):
                    found.append(f"{owner}.{function.attr}")
                if (owner, function.attr) == ("np", "load"):
                    allowed = [k.value for k in node.keywords if k.arg == "allow_pickle"]
                    if not (len(allowed) == 1 and isinstance(allowed[0], ast.Constant) and allowed[0].value is False):
                        found.append("np.load with pickles")
                if function.attr == "load" and owner == "torch":
                    found.append("torch.load")
    return found


@pytest.mark.parametrize("path", READERS, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_reader_could_execute_data(path: Path) -> None:
    assert executing(ast.parse(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    "text",
    ["eval(x)", "import pickle", "from yaml import load", "np.load(f)", "np.load(f, allow_pickle=True)", "os.system(x)",
     "sympy.sympify(x)", "connection.enable_load_extension(True)"],
)  # fmt: skip
def test_the_reader_of_sources_sees_it(text: str) -> None:
    assert executing(ast.parse(text))


WATCHED = """
import sys, json
from pathlib import Path
from validate import verifier
from validate.certificate import differences, read
from validate.scenario import read_scenario
from validate.sweep.specification import read_specification
from validate.sweep.store import Store
from validate.sweep import export
from validate.commands.output import read_object
from theory import catalog, formula, arithmetic

folder, seen, ours = Path(sys.argv[1]), [], False

def read_everything():
    for path in sorted(folder.glob("*.json")):
        try:
            found = read(path)
            verifier.verify(found)
            differences(found, catalog.claim(found["claim"]))
        except (ValueError, KeyError, TypeError):
            pass
        try:
            read_scenario(read_object(str(path)), exact=True)
        except ValueError:
            pass
    for path in sorted(folder.glob("*.toml")):
        try:
            list(read_specification(path.read_text()).documents())
        except ValueError:
            pass
    for path in sorted(folder.glob("*.sqlite")):
        try:
            with Store.read(path) as store:
                export.status(store), list(store.rows()), list(store.pending())
        except (ValueError, OSError):
            pass
    for text in json.loads((folder / "formulas.txt").read_text()):
        try:
            formula.parse(text)
        except ValueError:
            pass

read_everything()  # what is imported late is imported now

ALLOWED = ("open", "object.__getattr__", "sqlite3.connect", "sqlite3.connect/handle", "os.listdir", "os.scandir",
           "glob.glob", "glob.glob/2", "pathlib.Path.glob", "sys._getframe", "marshal.loads", "import", "compile",
           "time.sleep", "os.putenv", "array.__new__", "builtins.id")

def watch(event, arguments):
    if not ours:
        return
    if event == "open":
        mode = arguments[1]
        if isinstance(mode, str) and any(letter in mode for letter in "wax+"):
            seen.append(f"{event} {arguments[:2]}")
    elif event == "compile":
        source = arguments[0]
        if source is not None and not (len(str(source)) < 10_000):
            seen.append(event)
    elif event == "import":
        seen.append(f"import {arguments[0]}")
    elif event not in ALLOWED:
        seen.append(f"{event} {arguments!r:.200}")

sys.addaudithook(watch)
ours = True
read_everything()
ours = False
print(json.dumps(seen))
eval("ours")
ours = True
eval("1")
ours = False
assert any(event.startswith("exec") for event in seen), "the watch does not see what is executed"
"""
HOSTILE = (
    "__import__('os').system('touch harmed')",
    "().__class__.__bases__[0].__subclasses__()",
    "(lambda: 0)()",
    "[open('harmed', 'w') for x in (1,)]",
    "exec('1')",
    "f'{open(1)}'",
)


def test_reading_executes_nothing(tmp_path: Path) -> None:
    """An audit hook of the interpreter sees no code run, no import, no object unpickled and no file written."""
    for number, name in enumerate(("lost-factor", "wrong-way", "unit-steps")):
        made = certificates()[name]
        (tmp_path / f"valid-{number}.json").write_text(json.dumps(made), encoding="utf-8")
        for other, text in enumerate(HOSTILE):
            for field in ("statement", "program", "note", "left", "definitions", "kind"):
                hostile = {**made, field: {"x": text} if field == "definitions" else text}
                (tmp_path / f"{number}-{other}-{field}.json").write_text(json.dumps(hostile), encoding="utf-8")
    for other, text in enumerate(HOSTILE):
        (tmp_path / f"{other}.toml").write_text(toml({"claims": [text], "rounds": text, "problem": [{"kind": text}]}))
    (tmp_path / "formulas.txt").write_text(json.dumps(HOSTILE), encoding="utf-8")
    (tmp_path / "valid.sqlite").write_bytes(valid_store())
    pickled = b"cos\nsystem\n(S'touch harmed'\ntR."
    for number, change in enumerate(
        [
            ("results.result", (0, pickled)),
            ("cells.document", (0, pickled)),
            ("work.worker", (0, pickled)),
            ("script", ("CREATE TRIGGER t AFTER UPDATE ON meta BEGIN SELECT load_extension('x'); END",)),
            ("script", ("DROP TABLE work; CREATE VIEW work AS SELECT load_extension('x') AS key",)),
        ]
    ):
        (tmp_path / f"hostile-{number}.sqlite").write_bytes(with_changes(valid_store(), [change]))
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == []
    assert not (ROOT / "harmed").exists()
    assert not (tmp_path / "harmed").exists()
