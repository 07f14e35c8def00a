"""One change of one file, and which lines run it."""

from dataclasses import dataclass

from tests.mutants.source import Edit


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutation:
    """A change of the product.

    Attributes:
        file: Its path below the root, with slashes.
        line: Where the change is.
        lines: Those that run when the changed one does; a statement may have several.
        operator: What kind of change it is.
    """

    file: str
    line: int
    lines: range
    operator: str
    edit: Edit

    def shown(self, text: bytes) -> str:
        """The change as a diff, without the lines that stay."""
        before, after = text.decode().splitlines(), self.edit.applied(text).decode().splitlines()
        index = self.line - 1
        more = len(before) - len(after)  # lines of a statement that is left out
        old = before[index].strip() + (" ..." if more else "")
        return f"- {old}\n+ {after[index].strip()}"
