"""Copilot files as YAML that people can read, and that either version of YAML reads alike."""

from io import StringIO
import re
import sys
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.nodes import ScalarNode
from ruamel.yaml.representer import SafeRepresenter
from ruamel.yaml.resolver import implicit_resolvers

from copilot_admin.import_export.yaml_reading import CONVERSIONS

_TEXT = "tag:yaml.org,2002:str"
_OF_BOTH_VERSIONS: Any = implicit_resolvers
_TAKEN_FOR_MORE: tuple[re.Pattern[str], ...] = (
    *(pattern for pattern, _ in CONVERSIONS),
    *(pattern for _, _, pattern, _ in _OF_BOTH_VERSIONS),
)
# Controls, line breaks of version 1.1 that are none in 1.2, and a space at the end of a line.
_ESCAPED = re.compile(
    "[^\n -~\u00a0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]| \n"
)
# ruamel.yaml leaves a space at the end of every line that it breaks.
_NEVER_BROKEN = sys.maxsize


def write_yaml(value: Any) -> str:
    """Writes plain values as YAML; texts of several lines stay readable."""
    yaml: Any = YAML(typ="safe", pure=True)
    yaml.Representer = _Representer
    yaml.default_flow_style = False
    yaml.sort_base_mapping_type_on_output = False
    yaml.width = _NEVER_BROKEN
    stream = StringIO()
    yaml.dump(value, stream)
    return stream.getvalue()


class _Representer(SafeRepresenter):
    """Writes every value out, and quotes what somebody would not read as text."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def represent_float(self, data: float) -> ScalarNode:
        """Older YAML takes 1e-05 for text, and 1.0e-05 for a number."""
        node = super().represent_float(data)
        if "." not in node.value:
            node.value = node.value.replace("e", ".0e")
        return node

    def represent_str(self, data: str) -> ScalarNode:
        return self.represent_scalar(_TEXT, data, style=_style(data))


_Representer.add_representer(float, _Representer.represent_float)
_Representer.add_representer(str, _Representer.represent_str)


def _style(text: str) -> str | None:
    if _ESCAPED.search(text):
        return '"'
    if "\n" in text:
        return "|"
    taken_for_more = any(pattern.fullmatch(text) for pattern in _TAKEN_FOR_MORE)
    return "'" if taken_for_more else None
