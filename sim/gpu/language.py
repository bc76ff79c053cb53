"""How Triton writes statements: Python, in which a line that ends with a colon begins a block and ``}`` ends it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sim.generated.language import Language


class Triton(Language):
    """Statements and expressions of Triton; values never change, so that a name is all there is to declare."""

    nothing = "nothing"
    none = "none"
    groups = ("{",)

    def let(self, name: str, text: str) -> str:
        """As `Language`.

        A name for another name's value gets a value of its own: Triton (3.6, 3.9) takes for unchanged in a loop what is
        given, in its body, the value that another name had before it, where both names began with the same.
        """
        return f"{name} = {f'same({text})' if text.isidentifier() else text}"

    def number(self, name: str, text: str) -> str:
        """As `Language`."""
        return f"{name} = {text}"

    def point(self, name: str, text: str, fixed: bool = False) -> str:
        """As `Language`."""
        return self.let(name, text)

    def declared(self, name: str, lanes: bool) -> str:
        """As `Language`: what is read after a loop has to be there before it."""
        return self.let(name, self.none if lanes else self.nothing)

    def set(self, name: str, text: str) -> str:
        """As `Language`."""
        return self.let(name, text)

    def turns(self, turn: str, first: int, count: str) -> str:
        """As `Language`."""
        return f"for {turn} in range({first}, {count}):"

    def first_turn(self, turn: str) -> str:
        """As `Language`."""
        return "{\n" + f"{turn} = 0"

    def functions(self, what: str, arguments: str) -> str:
        """As `Language`."""
        return f"{what}(functions, {arguments})"

    def everywhere(self, text: str) -> str:
        """As `Language`."""
        return f"none + {text}"

    def real(self, text: str) -> str:
        """As `Language`."""
        return f"tl.cast({text}, tl.float64)"

    def whole(self, text: str) -> str:
        """As `Language`."""
        return f"tl.cast({text}, tl.int64)"

    def here(self, name: str) -> str:
        """As `Language`: a value of the server is in registers, under its name."""
        return name

    def entries(self, place: int) -> str:
        """As `Language`."""
        return f"list_{place}"

    def entry(self, place: int, index: str) -> str:
        """As `Language`."""
        return f"tl.load(list_{place} + {index})"


TRITON = Triton()


def indented(lines: Iterable[str], depth: int) -> Iterator[str]:
    """Lines of Python; ``{`` and ``}`` around lines that are no block of it say nothing."""
    deeper: list[int] = []
    for line in (one for several in lines for one in several.split("\n")):
        if line == "}":
            deeper.pop()
            continue
        if line == "{":
            deeper.append(0)
            continue
        yield "    " * (depth + sum(deeper)) + line.rstrip(";")
        if line.endswith(":"):
            deeper.append(1)


__all__ = ["TRITON", "Triton", "indented"]
