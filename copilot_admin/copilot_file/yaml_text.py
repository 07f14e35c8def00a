"""YAML as copilot files use it: the JSON-like core of version 1.2, read without surprises.

PyYAML follows version 1.1, in which `off` is false, `12:30` is 750 and a date is an object. Here
only true, false, null and decimal numbers are not text. Source: https://yaml.org/spec/1.2.2/,
chapter 10.3, without octal and hexadecimal numbers.
"""

from collections.abc import Hashable
import re
from typing import Any

import yaml

from copilot_admin.copilot_file.faults import BadCopilotFile, FileFault

MOST_DEPTH = 40  # levels; a copilot file needs about eight
_TAGS = (
    ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", "tTfF"),
    ("null", r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
    ("int", r"^[-+]?[0-9]+$", "-+0123456789"),
    ("float", r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$", "-+.0123456789"),
)


def read_yaml(text: str) -> Any:
    """Reads one YAML document of plain values.

    Raises:
        BadCopilotFile: It is no YAML, or has aliases, tags, keys given twice or too many levels.
    """
    try:
        return _Loader(text).get_single_data()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise BadCopilotFile([FileFault(place, f"{error.problem}.")]) from error
    except (yaml.YAMLError, ValueError) as error:
        raise BadCopilotFile([FileFault("", f"The file is no YAML: {error}.")]) from error


def write_yaml(value: Any) -> str:
    """Writes plain values as YAML; texts of several lines stay readable."""
    return yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)


class _Loader(yaml.SafeLoader):
    """Composes nodes without aliases and within a depth, so that no short text grows large."""

    yaml_implicit_resolvers: Any = {}

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._depth = 0
        self._in_plain_text = False

    def scan_plain(self) -> yaml.ScalarToken:
        """Reads unquoted text, in which a question mark is only a character: `[What moved?]`."""
        self._in_plain_text = True
        try:
            return super().scan_plain()
        finally:
            self._in_plain_text = False

    def peek(self, index: int = 0) -> str:
        """The character ahead. Version 1.1 ends unquoted text in `[...]` at a question mark."""
        character: str = super().peek(index)
        return "x" if self._in_plain_text and character == "?" else character

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise self._refused_here("aliases are not accepted: write the value out")
        if self._depth >= MOST_DEPTH:
            raise self._refused_here(f"there are more than {MOST_DEPTH} levels")
        self._depth += 1
        try:
            return super().compose_node(parent, index)
        finally:
            self._depth -= 1

    def _refused_here(self, problem: str) -> yaml.MarkedYAMLError:
        return _refusal(problem, self.get_mark())

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[object] = set()
        for key_node, _ in node.value:
            key = key_node.value
            if key_node.tag != "tag:yaml.org,2002:str":
                raise _refusal("a key must be text: put it in quotes", key_node.start_mark)
            if key in seen:
                raise _refusal(f"the key {key!r} is given twice", key_node.start_mark)
            seen.add(key)
        return super().construct_mapping(node, deep=deep)


class _Dumper(yaml.SafeDumper):
    """Quotes what either version of YAML would not read as text."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _write_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _refusal(problem: str, mark: yaml.Mark) -> yaml.MarkedYAMLError:
    return yaml.constructor.ConstructorError(problem=problem, problem_mark=mark)


def _register() -> None:
    for name, pattern, first in _TAGS:
        tag, compiled = f"tag:yaml.org,2002:{name}", re.compile(pattern)
        _Loader.add_implicit_resolver(tag, compiled, list(first))
        _Dumper.add_implicit_resolver(tag, compiled, list(first))
    _Loader.add_constructor("tag:yaml.org,2002:int", lambda _, node: int(node.value))
    _Loader.add_constructor("tag:yaml.org,2002:float", lambda _, node: float(node.value))
    _Dumper.add_representer(str, _write_text)


_register()
