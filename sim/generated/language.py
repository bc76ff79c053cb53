"""How the language of generated text writes its statements: in C++ here, in Triton in `sim.gpu.language`.

What a program's instructions are called (`plus_scaled`, `choice`, `into_ball`) is the same in both.
"""

from __future__ import annotations


class Language:
    """Statements and expressions of C++.

    Attributes:
        nothing, none: a vector of zeros, and a number in every lane that is 0.
        end: of a loop or a scope.
        groups: the lines with which the loop over all groups of runs begins.
    """

    nothing = "Point{}"
    none = "Doubles{}"
    end = "}"
    groups: tuple[str, ...] = ("for (int64_t g = 0; g < groups; g++) {", "const Whole at{g, run[g]}; (void)at;")

    def let(self, name: str, text: str) -> str:
        """A name for a value."""
        return f"const auto {name} = {text};"

    def number(self, name: str, text: str) -> str:
        """A name for a number that is the same in all lanes."""
        return f"const double {name} = {text};"

    def point(self, name: str, text: str, fixed: bool = False) -> str:
        """A name for a vector, which is given others later unless it is fixed."""
        return f"{'const ' * fixed}Point {name} = {text};"

    def declared(self, name: str, lanes: bool) -> str:
        """A name for what is made in a loop and read after it: a number in every lane, or a vector."""
        return f"{'Doubles' if lanes else 'Point'} {name};"

    def set(self, name: str, text: str) -> str:
        """Another value under a name."""
        return f"{name} = {text};"

    def turns(self, turn: str, first: int, count: str) -> str:
        """The head of a loop."""
        return f"for (int64_t {turn} = {first}; {turn} < {count}; {turn}++) {{ (void){turn};"

    def first_turn(self, turn: str) -> str:
        """The head of a loop's first turn, which stands before the loop."""
        return f"{{ const int64_t {turn} = 0; (void){turn};"

    def functions(self, what: str, arguments: str) -> str:
        """A call of the problem's functions."""
        return f"functions.{what}({arguments})"

    def everywhere(self, text: str) -> str:
        """A number in all lanes."""
        return f"Doubles{{}} + {text}"

    def real(self, text: str) -> str:
        """An integer as a floating-point number."""
        return f"(double){text}"

    def whole(self, text: str) -> str:
        """A floating-point number that is an integer as one."""
        return f"(int64_t){text}"

    def here(self, name: str) -> str:
        """The server's value under this name, in the loop over groups."""
        return f"{name}[g]"

    def entries(self, place: int) -> str:
        """A list of numbers."""
        return f"list<double>({place})"

    def entry(self, place: int, index: str) -> str:
        """One of a list of numbers."""
        return f"list<double>({place})[{index}]"


CPP = Language()
