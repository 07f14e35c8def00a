"""Take secrets out of requests before anything is hashed, stored or shown.

Source: `tools[].auth_token`, `api_keys.*`, authorization headers and the signatures of signed URLs
(Amazon, Google, Azure, CloudFront and plain token parameters).
"""

from collections.abc import Mapping
from functools import lru_cache
import re
from typing import TypeVar, cast
from urllib.parse import unquote_plus

from protocol.json import Json
from protocol.pieces import pieces_of
from protocol.walk import Scalar, rebuild

_WORD_BORDER = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+")
_SECRET_NAMES = re.compile(
    r"(?:.+_)?(?:auth|authorization|authentication|bearer|cookies?|credentials?"
    r"|pass(?:word|wd|phrase)|(?:api|access|private|secret|signing|encryption)_?keys?|secrets?"
    r"|(?:auth|access|refresh|session)?token|jwt)"
)
_LONGEST_NAME = 100  # longer keys are data, not names
_SIGNATURE_NAMES = re.compile(
    r"x_(?:amz|goog)_.+|sig|signature|sign|hmac|policy|key_pair_id|aws_?access_?key_?id"
    r"|google_?access_?id|expires|expiry|expiration|key|apikey|sas_?token"
)
_AZURE_NAMES = re.compile(r"s[a-z]{1,2}|sk[a-z]{1,3}")  # se, sp, sv, skoid: they come with `sig`
_URL = re.compile(r"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{0,20}://[^\s\"<>\\]+")
# In JSON or HTML inside a text, an ampersand or a slash may be written as an escape.
_ESCAPED = re.compile(r"\\u0026|&amp;|:\\/\\/")
_ESCAPED_PARAMETER = re.compile(
    r"(?P<before>[?&]|\\u0026|&amp;)(?P<name>[A-Za-z][\w.%-]{0,60})=[^&#\s\"<>\\]*"
)
# What stands in no address and in no parameter.
_NO_ADDRESS = re.compile(r"[\s\"<>]")
_LONGEST_ADDRESS = (
    128 * 1024
)  # characters; servers take a tenth of it, and what is longer is read in pieces
_AUTHORITY = re.compile(r":(?:\\?/){2}")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,20}\Z")
_LONGEST_SCHEME = 21
_USER = re.compile(r"(?<=://)[^/?#@]*@")
# Objects below these keys of a JSON schema are named by what they describe: they hold no secret.
_SCHEMA_KEYS = frozenset({"properties", "$defs", "definitions"})

Value = TypeVar("Value", bound=Json)


def redact(value: Value) -> Value:
    """A copy of a JSON value without secrets: secret members are left out, signed URLs unsigned."""
    return cast(Value, rebuild(value, scalar=_redact_scalar, keep=_may_stay))


def redact_text(text: str) -> str:
    """The text with every URL in it unsigned."""
    if "://" not in text and "=" not in text:
        return text
    parts: list[str] = []
    goes_on = False
    for piece in pieces_of(text, border=_between_addresses):
        parts.append(_redacted(_rest_unsigned(piece) if goes_on else piece))
        goes_on = _ends_in_address(piece, goes_on)
    return "".join(parts)


def _between_addresses(text: str, at: int) -> int:
    """A place near this one that lies in no address: behind a blank, or where another one begins.

    In one that is longer it lies between two parameters.
    """
    end = min(at + _LONGEST_ADDRESS, len(text))
    if found := _NO_ADDRESS.search(text, at, end):
        return found.end()
    for found in _AUTHORITY.finditer(text, at, end):
        scheme = _SCHEME.search(text, max(at, found.start() - _LONGEST_SCHEME), found.start())
        if scheme:
            return scheme.start()
    between = max(text.rfind("&", at, end), text.rfind("\\u0026", at, end))
    return between if between > at else end


def _ends_in_address(piece: str, goes_on: bool) -> bool:
    """Whether an address that begins in a piece, or before it, reaches its end."""
    begins = piece.rfind("://")
    return (goes_on or begins >= 0) and not _NO_ADDRESS.search(piece, max(begins, 0))


def _rest_unsigned(piece: str) -> str:
    """A piece that begins amid the parameters of an address, without those that sign it."""
    found = _NO_ADDRESS.search(piece)
    end = found.start() if found else len(piece)
    return _unsigned(piece[:end]) + piece[end:]


def _redacted(text: str) -> str:
    if "://" in text:
        text = _URL.sub(lambda match: redact_url(match[0]), text)
    if "=" in text and _ESCAPED.search(text):
        text = _ESCAPED_PARAMETER.sub(_unsigned_parameter, text)
    return text


def redact_url(url: str) -> str:
    """The URL without user name, signature, expiry and token parameters."""
    address, hash_sign, fragment = url.partition("#")
    path, question_mark, query = address.partition("?")
    query = _unsigned(query)
    fragment = _unsigned(fragment) if "=" in fragment else fragment
    path = _USER.sub("", path)
    return (
        path + (question_mark + query if query else "") + (hash_sign + fragment if fragment else "")
    )


def is_secret_name(name: str) -> bool:
    """Whether a key is the name of a secret, in any spelling (`X-Api-Key`, `authToken`)."""
    return len(name) <= _LONGEST_NAME and _is_secret(name)


@lru_cache(maxsize=4096)
def _is_secret(name: str) -> bool:
    return _SECRET_NAMES.fullmatch(_snake(name)) is not None


def _redact_scalar(value: Scalar) -> Scalar:
    return redact_text(value) if isinstance(value, str) else value


def _may_stay(name: str, value: Json, parent: str) -> bool:
    if parent in _SCHEMA_KEYS and isinstance(value, Mapping):
        return True
    return not is_secret_name(name)


def _unsigned_parameter(match: re.Match[str]) -> str:
    if not _signs(_snake(unquote_plus(match["name"])), azure=False):
        return match[0]
    return "?" if match["before"] == "?" else ""


def _unsigned(query: str) -> str:
    pairs = query.split("&")
    names = [_snake(unquote_plus(pair.partition("=")[0])) for pair in pairs]
    azure = "sig" in names
    kept = [pair for pair, name in zip(pairs, names, strict=True) if not _signs(name, azure=azure)]
    return "&".join(kept)


def _signs(name: str, *, azure: bool) -> bool:
    if _SIGNATURE_NAMES.fullmatch(name) or _SECRET_NAMES.fullmatch(name):
        return True
    return azure and _AZURE_NAMES.fullmatch(name) is not None


def _snake(name: str) -> str:
    return _WORD_BORDER.sub("_", name).strip("_").lower()
