"""Errors of copilot files: the path of the key, a code, and a message."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import islice

from django.utils.translation import gettext as _
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from copilot_admin.errors import ConfigurationError

MAX_ERRORS = 1000
_SECRETS = frozenset({"api_key", "key", "secret", "token", "password"})


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
            more = FileError("", _("There are more errors. Fix these first."), "too_many")
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
        FileError(path_of(key for key in one["loc"] if key != "[key]"), _describe(one), one["type"])
        for one in error.errors(include_url=False)
    ]


def _describe(error: ErrorDetails) -> str:
    if error["type"] == "model_type":
        return _("use keys with values, such as “slug: news”.")
    if error["type"] != "extra_forbidden":
        return error["msg"]
    if error["loc"][-1] in _SECRETS:
        return _("a file never holds a secret. Name a variable with api_key_env.")
    return _("there is no such key.")
