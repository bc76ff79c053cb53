"""An algorithm as one round, seen from a client: traced once into a straight-line program with loops.

`algorithm` decorates a function ``round(w, *state, *, parameters)``. Running it once with symbols for state and
parameters writes down what it does (`Program`); whoever reads a program (exact play, moments, simulation, worst cases,
the page) asks the function no more. The primitives are those of `Tracer`.

A value is a vector of the server, one of every client, or one of every sample of every client (`Kind`); arithmetic is
linear. Scalars are formulas (`theory.formula`) in parameters, the round ``k``, the turns ``h``, ``h2``, ... of the
loops around, and draws, which go by the names of the values that hold them.

This is the only package of `theory` that `sim` imports: it needs the standard library alone.
"""

from theory.formula import Apply, Formula, Name, Number, names_in, text_of
from theory.program.algorithm import Algorithm, algorithm
from theory.program.beginning import Beginning
from theory.program.data import (
    DRAWS,
    LINEAR_GIVEN_DRAWS,
    NAME,
    OPERATIONS,
    STACKS,
    TAKEN,
    VALUE,
    Carried,
    Instruction,
    Kind,
    Loop,
    Program,
    ProgramError,
    State,
    Step,
    flat,
    loops_around,
    opposite,
    uses,
)
from theory.program.limits import limits
from theory.program.pseudo_code import pseudo_code, pseudo_lines
from theory.program.reading import from_json
from theory.program.same import renaming
from theory.program.tracing import with_taps
from theory.program.walking import Machine, walk

__all__ = [
    "DRAWS",
    "LINEAR_GIVEN_DRAWS",
    "NAME",
    "OPERATIONS",
    "STACKS",
    "TAKEN",
    "VALUE",
    "Algorithm",
    "Apply",
    "Beginning",
    "Carried",
    "Formula",
    "Instruction",
    "Kind",
    "Loop",
    "Machine",
    "Name",
    "Number",
    "Program",
    "ProgramError",
    "State",
    "Step",
    "algorithm",
    "flat",
    "from_json",
    "limits",
    "loops_around",
    "names_in",
    "opposite",
    "pseudo_code",
    "pseudo_lines",
    "renaming",
    "text_of",
    "uses",
    "walk",
    "with_taps",
]
