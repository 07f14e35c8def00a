"""A module's bytes with its tree: where each node stands, and what an edit makes of the bytes."""

import ast
from dataclasses import dataclass
from itertools import accumulate
import re

_COMMENT = re.compile(rb"#.*")


@dataclass(frozen=True, slots=True)
class Edit:
    """Bytes of a file that become others."""

    start: int
    end: int
    text: str

    def applied(self, text: bytes) -> bytes:
        """The file as it is then."""
        return text[: self.start] + self.text.encode() + text[self.end :]


class Source:
    """A module as it is written."""

    def __init__(self, text: bytes) -> None:
        self.text = text
        self.tree = ast.parse(text)
        self._line_starts = (0, *accumulate(map(len, text.splitlines(keepends=True))))

    def start(self, node: ast.expr | ast.stmt) -> int:
        """Where a node begins."""
        return self._line_starts[node.lineno - 1] + node.col_offset

    def end(self, node: ast.expr | ast.stmt) -> int:
        """Where a node ends."""
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self._line_starts[node.end_lineno - 1] + node.end_col_offset

    def words(self, node: ast.expr | ast.stmt) -> str:
        """A node as it is written."""
        return self.text[self.start(node) : self.end(node)].decode()

    def replaced(self, node: ast.expr | ast.stmt, text: str) -> Edit:
        """Something else in the place of a node."""
        return Edit(self.start(node), self.end(node), text)

    def operator_replaced(self, left: ast.expr, right: ast.expr, old: str, new: str) -> Edit:
        """Another operator between two operands."""
        offset = self.end(left)
        between = self.text[offset : self.start(right)]
        bare = _COMMENT.sub(lambda comment: b" " * len(comment[0]), between)
        found = re.search(rb"\s+".join(map(re.escape, old.encode().split())), bare)
        assert found is not None, f"no {old} between two operands"
        return Edit(offset + found.start(), offset + found.end(), new)
