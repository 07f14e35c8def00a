"""Remove secrets from requests before anything is hashed, stored or displayed.

Source: `tools[].auth_token`, `api_keys.*`, authorization headers and the signatures of signed URLs
(Amazon, Google, Azure, CloudFront and plain token parameters).
"""

from collections.abc import Mapping
from functools import lru_cache
import re
from typing import TypeVar, cast
from urllib.parse import unquote_plus

from protocol.json import Json

_WORD_BORDER = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+")
_SECRET_NAMES = re.compile(
    r"(?:.+_)?(?:auth|authorization|authentication|bearer|cookies?|credentials?"
    r"|pass(?:word|wd|phrase)|(?:api|access|private|secret|signing|encryption)_?keys?|secrets?"
    r"|(?:auth|access|refresh|session)?token|jwt)"
)
_MAX_NAME_CHARACTERS = 100  # longer keys are data, not names
_SIGNATURE_NAMES = re.compile(
    r"x_(?:amz|goog)_.+|sig|signature|sign|hmac|policy|key_pair_id|aws_?access_?key_?id"
    r"|google_?access_?id|expires|expiry|expiration|key|apikey|sas_?token"
)
_AZURE_NAMES = re.compile(r"s[a-z]{1,2}|sk[a-z]{1,3}")  # se, sp, sv, skoid: they accompany `sig`
_URL = re.compile(r"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{0,20}://[^\s\"<>\\]+")
# In JSON or HTML inside a text, an ampersand or a slash may be written as an escape.
_ESCAPED = re.compile(r"\\u0026|&amp;|:\\/\\/")
_ESCAPED_PARAMETER = re.compile(
    r"(?P<before>[?&]|\\u0026|&amp;)(?P<name>[A-Za-z][\w.%-]{0,60})=[^&#\s\"<>\\]*"
)
_USER = re.compile(r"(?<=://)[^/?#@]*@")
# Keys below these keys of a JSON schema name descriptions, not secrets.
_SCHEMA_KEYS = frozenset({"properties", "$defs", "definitions"})

Value = TypeVar("Value", bound=Json)


def redact(value: Value) -> Value:
    """Return a copy of a JSON value without secret members and with unsigned URLs."""
    return cast(Value, _redact(value, parent=""))


def redact_text(text: str) -> str:
    """Return the text with every URL in it unsigned."""
    if "://" in text:
        text = _URL.sub(lambda match: redact_url(match[0]), text)
    if "=" in text and _ESCAPED.search(text):
        text = _ESCAPED_PARAMETER.sub(_unsigned_parameter, text)
    return text


def redact_url(url: str) -> str:
    """Return the URL without user name, signature, expiry and token parameters."""
    address, _, fragment = url.partition("#")
    path, _, query = address.partition("?")
    query = _unsigned(query)
    fragment = _unsigned(fragment) if "=" in fragment else fragment
    ends = (f"?{query}" if query else "") + (f"#{fragment}" if fragment else "")
    return _USER.sub("", path) + ends


def is_secret_name(name: str) -> bool:
    """Return whether a key names a secret, in any spelling (`X-Api-Key`, `authToken`)."""
    return len(name) <= _MAX_NAME_CHARACTERS and _is_secret(name)


@lru_cache(maxsize=4096)
def _is_secret(name: str) -> bool:
    return _SECRET_NAMES.fullmatch(_snake(name)) is not None


def _redact(value: Json, *, parent: str) -> Json:
    match value:
        case str():
            return redact_text(value)
        case Mapping():
            is_schema = parent in _SCHEMA_KEYS
            return {
                name: _redact(member, parent=name)
                for name, member in value.items()
                if (is_schema and isinstance(member, Mapping)) or not is_secret_name(name)
            }
        case list() | tuple():
            return [_redact(member, parent=parent) for member in value]
    return value


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
