"""Re-checks certificates: python -I -S verify.py CERTIFICATE.json ...

The program is the package in the folder `verifier` beside this file; it needs nothing but Python's standard library.
Exit status 0: all valid, 1: one is not valid, 2: one is unreadable or malformed.
"""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType


def load_verifier(folder: Path) -> ModuleType:
    """The package in this folder, loaded by its path: no other file, here or elsewhere, can take a module's place."""
    spec = spec_from_file_location("verifier", folder / "__init__.py", submodule_search_locations=[str(folder)])
    if spec is None or spec.loader is None:
        raise ImportError(f"{folder} is not a package")
    package = sys.modules["verifier"] = module_from_spec(spec)
    spec.loader.exec_module(package)
    return package


if __name__ == "__main__":
    sys.dont_write_bytecode = True  # leave nothing beside the certificates
    program = Path(__file__).resolve().parent / "verifier"
    if not (program / "__init__.py").is_file():  # where a reader has downloaded this file alone
        print(f"error: {program} is missing; the folder 'verifier' belongs beside verify.py", file=sys.stderr)
        sys.exit(2)
    verifier = load_verifier(program)
    sys.exit(verifier.main(sys.argv[1:]))
