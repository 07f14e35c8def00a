"""Copilot files as JSON, and as YAML that both versions of YAML read alike."""

import json
import re
import sys
from typing import Any

import yaml

from copilot_admin.import_export.reading import CONVERSIONS

_TEXT = "tag:yaml.org,2002:str"
# Texts that a reader of version 1.2 (ours) or 1.1 (PyYAML) would take for another type.
_NOT_TEXT: tuple[re.Pattern[str], ...] = (
    *(pattern for pattern, _ in CONVERSIONS),
    *(pattern for rows in yaml.SafeDumper.yaml_implicit_resolvers.values() for _, pattern in rows),
)
# Controls, line breaks of version 1.1 that are none in 1.2, and a space at the end of a line.
_ESCAPED = re.compile(
    "[^\n -~\u00a0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]| \n"
)


class _Dumper(yaml.SafeDumper):
    """Writes every value out, and quotes texts that look like another type."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def represent_number(self, data: float) -> yaml.ScalarNode:
        """Write 1.0e-05: version 1.1 takes 1e-05 for a text."""
        node: yaml.ScalarNode = super().represent_float(data)
        if "." not in node.value:
            node.value = node.value.replace("e", ".0e")
        return node

    def represent_text(self, data: str) -> yaml.ScalarNode:
        return self.represent_scalar(_TEXT, data, style=_style(data))


_Dumper.add_representer(float, _Dumper.represent_number)
_Dumper.add_representer(str, _Dumper.represent_text)


def as_json(value: Any) -> str:
    """Return plain values as indented JSON."""
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


def write_yaml(value: Any) -> str:
    """Return plain values as YAML; texts of several lines stay readable."""
    text: str = yaml.dump(
        value,
        Dumper=_Dumper,
        default_flow_style=False,
        sort_keys=False,
        allow_unicode=True,
        width=sys.maxsize,
    )
    return text


def _style(text: str) -> str | None:
    if _ESCAPED.search(text):
        return '"'
    if "\n" in text:
        return "|"
    return "'" if any(pattern.fullmatch(text) for pattern in _NOT_TEXT) else None
