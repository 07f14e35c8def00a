"""Finds the regular expressions in scripts: those that stand between slashes, and those made of texts."""

from collections.abc import Iterator
import re

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_TEXT = re.compile(r""""(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""")
_PIECE_OF_TEMPLATE = re.compile(r"(?:\\.|\$(?!\{)|[^`\\$])*(`|\$\{)", re.DOTALL)
_EXPRESSION = re.compile(r"/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\[\n])+/[dgimsuvy]*")
_MADE = re.compile(r"new RegExp\((.+)\)")
# Behind a value a slash divides: a name, a number, a bracket that closes; but not behind these words.
_VALUE = re.compile(r"[\w$)\]}]\s*$")
_WORD = re.compile(r"\b(?:return|typeof|case|of|in)\s*$")


def expressions_in(script: str) -> Iterator[str]:
    """Each expression as it is written: `/a+/g`, `new RegExp("a+", "g")`."""
    yield from (found[0] for found in _MADE.finditer(script))
    brackets = [0]  # that are open, in the script and in each `${}` within which it stands
    at = since = 0
    before = ""
    while at < len(script):
        sign, seen, end = script[at], before + script[since:at], 0
        if found := _COMMENT.match(script, at):
            before, end = seen, found.end()
        elif found := _TEXT.match(script, at):
            before, end = "x", found.end()
        elif sign == "/" and not _divides(seen) and (found := _EXPRESSION.match(script, at)):
            yield found[0]
            before, end = "x", found.end()
        elif sign == "`" or (sign == "}" and len(brackets) > 1 and not brackets[-1]):
            found = _PIECE_OF_TEMPLATE.match(script, at + 1)
            assert found, "a template has an end"
            brackets += [0] if found[1] == "${" and sign == "`" else []
            brackets[-1:] = [] if found[1] == "`" and sign == "}" else brackets[-1:]
            before, end = "" if found[1] == "${" else "x", found.end()
        elif sign in "{}":
            brackets[-1] += 1 if sign == "{" else -1
        if end:
            at = since = end
        else:
            at += 1
            since = max(since, at - 20)


def _divides(before: str) -> bool:
    """Whether a slash divides, by what stands before it."""
    return bool(_VALUE.search(before)) and not _WORD.search(before)
