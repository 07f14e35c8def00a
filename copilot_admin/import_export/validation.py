"""Checks the values of a copilot file, and says of every fault where it is and what is right."""

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
import json
from typing import Any, get_args

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from pydantic import ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from copilot_admin.copilots.config_types import Shape
from copilot_admin.import_export.faults import (
    MISSING,
    BadCopilotFile,
    FileFault,
    path_of,
)
from copilot_admin.import_export.schema import FORMAT, CopilotFile

KEY_WORDS = frozenset({"api_key", "key", "secret", "token", "password"})
_TYPES: Mapping[str, str | Promise] = {
    "string_type": gettext_lazy("must be text. Put it in quotes."),
    "bool_type": gettext_lazy("must be true or false."),
    "int_type": gettext_lazy("must be a whole number."),
    "float_type": gettext_lazy("must be a number."),
    "list_type": gettext_lazy("must be a list."),
    "dict_type": gettext_lazy("must be a group of keys and values."),
    "model_type": gettext_lazy("must be a group of keys and values."),
    "missing": MISSING,
    "invalid_key": gettext_lazy("must be text. Put it in quotes."),
    "finite_number": gettext_lazy("must be a number with an end."),
}
_OTHER_FILE = gettext_lazy(
    "this is no copilot file. One begins with 'format: 1' and has 'copilots'; an export shows what it "
    "looks like."
)
_BOUNDS: Mapping[str, Promise] = {
    "greater_than": gettext_lazy("%(value)s is too little: more than %(gt)s is needed."),
    "greater_than_equal": gettext_lazy("%(value)s is too little: %(ge)s is the least."),
    "less_than_equal": gettext_lazy("%(value)s is too much: %(le)s is the most."),
}
_SHOWN = 60  # characters of a wrong value
_NEAR = 0.7  # from here on a key is like another; `temperature` and `features` are at 0.63


def validate(value: Any) -> CopilotFile:
    """Checks the plain values of a file.

    Raises:
        BadCopilotFile: With its faults, in the order of the file's keys.
    """
    try:
        return CopilotFile.model_validate(value)
    except ValidationError as error:
        raise BadCopilotFile(faults_of(error, CopilotFile)) from error


def faults_of(error: ValidationError, whole: type[Shape]) -> Iterator[FileFault]:
    """What is wrong, in words; each is put into words when it is asked for.

    Args:
        error: Of pydantic.
        whole: The record that was to be read.
    """
    return (_fault(one, whole) for one in error.errors(include_url=False))


def _fault(error: ErrorDetails, whole: type[Shape]) -> FileFault:
    path = tuple(key for key in error["loc"] if key != "[key]")
    is_other_file = not path and error["type"] == "model_type"
    sentence = str(_OTHER_FILE) if is_other_file else _sentence(error, path, whole)
    return FileFault(path_of(path), sentence, error["type"])


def _sentence(error: ErrorDetails, path: tuple[int | str, ...], whole: type[Shape]) -> str:
    shown = {"value": _shown(error["input"])}
    context = error.get("ctx", {})
    match error["type"]:
        case _ if "sentence" in context:  # raised by a validator of ours
            return error["msg"]
        case "extra_forbidden":
            return _unknown_key(path, whole)
        case kind if path == ("format",) and kind != "missing":
            return _other_format(error["input"])
        case "literal_error":
            return _("%(value)s is not possible. Use %(expected)s.") % {**shown, **context}
        case "string_pattern_mismatch":
            return _("%(value)s does not fit. %(hint)s") % {**shown, "hint": _pattern_words(path)}
        case "string_too_short":
            return _("must not be empty.")
        case "string_too_long" | "too_long" as kind:
            return _too_long(context["max_length"], of_entries=kind == "too_long")
        case kind if kind in _BOUNDS:
            bounds = {name: f"{bound:,.15g}" for name, bound in context.items()}
            return str(_BOUNDS[kind]) % {**shown, **bounds}
        case kind if kind in _TYPES:
            return str(_TYPES[kind])
        case _other:
            return _("%(value)s does not fit. %(why)s.") % {**shown, "why": error["msg"]}


def _too_long(most: int, *, of_entries: bool) -> str:
    entries = ngettext(
        "has too many entries: %(most)d is the most.",
        "has too many entries: %(most)d are the most.",
        most,
    )
    text = ngettext(
        "is too long: %(most)d character is the most.",
        "is too long: %(most)d characters are the most.",
        most,
    )
    return (entries if of_entries else text) % {"most": most}


def _other_format(found: object) -> str:
    if isinstance(found, int) and found > FORMAT:
        sentence = _(
            "the file is of format %(found)d, which a newer release wrote; this one reads format "
            "%(known)d. Upgrade this server, or export the copilots from one as old as it."
        )
        return sentence % {"found": found, "known": FORMAT}
    sentence = _("%(value)s is not possible. Write format: %(known)d.")
    return sentence % {"value": _shown(found), "known": FORMAT}


def _unknown_key(path: tuple[int | str, ...], whole: type[Shape]) -> str:
    key = str(path[-1])
    if key in KEY_WORDS:
        return _("a file never holds a secret. Name a variable with api_key_env.")
    known = list(_fields(_shape_at(path[:-1], whole)))
    if close := _like(key, known):
        return _("there is no such key. Did you mean '%(key)s'?") % {"key": close}
    return _("there is no such key. The keys are: %(keys)s.") % {"keys": ", ".join(known)}


def _like(key: str, known: Sequence[str]) -> str:
    words = {word: name for name in reversed(known) for word in name.split("_")}
    found = get_close_matches(key, known, n=1, cutoff=_NEAR)
    part = get_close_matches(key, words, n=1, cutoff=_NEAR)
    return found[0] if found else words[part[0]] if part else ""


def _shape_at(path: Sequence[int | str], whole: type[Shape]) -> type[Shape]:
    shape = whole
    for key in path:
        if isinstance(key, str) and key in _fields(shape):
            shape = _shape_in(_fields(shape)[key].annotation) or shape
    return shape


def _fields(shape: type[Shape]) -> Mapping[str, FieldInfo]:
    return {field.alias or name: field for name, field in shape.model_fields.items()}


def _shape_in(annotation: Any) -> type[Shape] | None:
    if isinstance(annotation, type) and issubclass(annotation, Shape):
        return annotation
    found = (_shape_in(argument) for argument in get_args(annotation))
    return next((shape for shape in found if shape), None)


def _pattern_words(path: tuple[int | str, ...]) -> str:
    match path[-1]:
        case "kind":
            return _("Begin with a letter, then letters, digits, '.', '-' and '_': house-rules.")
        case "instance":
            return _("Write it on one line.")
        case "slug":
            return _("Use lower-case letters and digits, with single hyphens between: news-reader.")
        case "key":
            return _(
                "Use lower-case letters and digits, with single hyphens between: deep-research."
            )
        case "api_key_env":
            return _("Use the name of an environment variable: COPILOT_KEY_LOCAL.")
        case _name if "parameters" in path:
            return _("Use letters, digits and underscores: max_tokens.")
        case "id" if "files" in path:
            return _("Begin with file-: file-report.")
        case _other:
            return _("It must not be blank.")


def _shown(value: object) -> str:
    text = json.dumps(value) if isinstance(value, bool | None) else repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
