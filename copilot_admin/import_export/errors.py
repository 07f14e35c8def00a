"""Errors of copilot files: the path of the key, a code, and a message."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import islice

from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from copilot_admin.errors import ConfigurationError

MAX_ERRORS = 1000
_SECRETS = frozenset({"api_key", "key", "secret", "token", "password"})
_KEYS = _("use keys with values, such as “slug: news”.")
_EMPTY = _("is empty. Enter some text.")
_NUMBER = _("use a number without quotes, such as 0.5.")
# Sentences of pydantic's types of errors; validators of the file's types word their own.
_SENTENCES: Mapping[str, Promise] = {
    "bool_type": _("use true or false, without quotes."),
    "dict_type": _KEYS,
    "extra_forbidden": _("there is no such key."),
    "finite_number": _NUMBER,
    "float_type": _NUMBER,
    "greater_than": _("use a number above %(gt)d."),
    "greater_than_equal": _("use %(ge)d or more."),
    "int_type": _("use a whole number without quotes, such as 30."),
    "less_than_equal": _("use %(le)d or less."),
    "list_type": _("use a list, such as “[first, second]”."),
    "literal_error": _("use one of: %(expected)s."),
    "missing": _("is missing. Add this key."),
    "model_type": _KEYS,
    "string_pattern_mismatch": _EMPTY,  # of the only pattern, any sign that isn't blank
    "string_too_long": _("has more than %(max_length)d characters. Shorten it."),
    "string_too_short": _EMPTY,  # of 1 character at least
    "string_type": _("use text. Put a number, true, false and an empty text in quotes."),
    "string_unicode": _("has characters that are not valid Unicode. Remove them."),
    "too_long": _("has more than %(max_length)d entries. Remove some."),
}


@dataclass(frozen=True, slots=True)
class FileError:
    """One error; `path` is like `copilots[0].features.feedback`, empty for the whole file."""

    path: str
    sentence: str
    code: str = "invalid"

    def __str__(self) -> str:
        return f"{self.path}: {self.sentence}" if self.path else self.sentence

    def within(self, file: str) -> "FileError":
        path = f"{file}: {self.path}" if file and self.path else file or self.path
        return replace(self, path=path)


class BadCopilotFile(ConfigurationError):
    """A copilot file that is rejected as a whole; the text has a line for each error."""

    def __init__(self, errors: Iterable[FileError]) -> None:
        first = tuple(islice(errors, MAX_ERRORS + 1))
        if len(first) > MAX_ERRORS:
            more = FileError("", gettext("There are more errors. Fix these first."), "too_many")
            first = (*first[:MAX_ERRORS], more)
        self.errors = first
        super().__init__("\n".join(map(str, first)))

    @classmethod
    def of_file(cls, sentence: str) -> "BadCopilotFile":
        return cls([FileError("", sentence)])


def path_of(keys: Iterable[str | int]) -> str:
    text = ""
    for key in keys:
        text += f"[{key}]" if isinstance(key, int) else f".{key}" if text else key
    return text


def read_errors(error: ValidationError) -> list[FileError]:
    return [
        FileError(path_of(key for key in one["loc"] if key != "[key]"), describe(one), one["type"])
        for one in error.errors(include_url=False)
    ]


def describe(error: ErrorDetails) -> str:
    """Return the sentence of an error: what the key takes."""
    if error["type"] == "extra_forbidden" and error["loc"][-1] in _SECRETS:
        return gettext("a file never holds a secret. Name a variable with api_key_env.")
    limits = error.get("ctx", {})
    if "sentence" in limits or error["type"] not in _SENTENCES:
        return error["msg"]
    expected = str(limits.get("expected", "")).replace(" or ", ", ").replace("True", "true")
    return str(_SENTENCES[error["type"]]) % {**limits, "expected": expected}
