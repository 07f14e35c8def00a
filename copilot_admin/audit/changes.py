"""What differs between two states of something, as JSON of bounded length.

Of a long text what changed is kept with a little around it, and the hash of the whole: two prompts
are told apart for ever, and an entry stays small.
"""

from collections.abc import Mapping
import hashlib
import json

from copilot_admin.audit.snapshot import Secret, is_secret, plain
from copilot_admin.config.logs import without_secrets
from protocol.json import Json, JsonObject
from protocol.redaction import redact_text

LONGEST_VALUE = 2000  # characters of one value that is kept whole
AROUND = 100  # characters before and after what changed in a longer one
LONGEST_SIDE = 32_000  # of all values before, or after; fields beyond are kept as hashes
_ABSENT = object()


def changes(before: Mapping[str, object], after: Mapping[str, object]) -> tuple[str, str]:
    """The JSON of what was, and of what is, of the fields that differ."""
    was: dict[str, Json] = {}
    now: dict[str, Json] = {}
    for name in [*before, *(one for one in after if one not in before)]:
        old, new = before.get(name, _ABSENT), after.get(name, _ABSENT)
        if old == new:
            continue
        told_old, told_new = _told(name, old, new)
        if old is not _ABSENT:
            was[name] = told_old
        if new is not _ABSENT:
            now[name] = told_new
    return bounded(was), bounded(now)


def canonical(value: Json) -> str:
    """The one way in which a value is written: ASCII, keys in order, nothing between."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def bounded(values: JsonObject) -> str:
    """The JSON of some fields; those that would make it too long are told by their hashes."""
    text = canonical(values)
    if len(text) <= LONGEST_SIDE:
        return text
    kept: dict[str, Json] = {}
    left = LONGEST_SIDE
    for name, value in values.items():
        written = canonical(value)
        left -= len(written) + len(name)
        kept[name] = value if left > 0 else {"characters": len(written), "sha256": _hash(written)}
    return canonical(kept)


def _told(name: str, old: object, new: object) -> tuple[Json, Json]:
    if is_secret(name):
        old, new = _hidden(old), _hidden(new)
    if isinstance(old, Secret) or isinstance(new, Secret):
        return _secret(old), "changed" if _has(old) and _has(new) else _secret(new)
    told_old = None if old is _ABSENT else _clean(plain(old))
    told_new = None if new is _ABSENT else _clean(plain(new))
    return _shortened(told_old, told_new)


def _hidden(value: object) -> object:
    return value if value is _ABSENT or isinstance(value, Secret) else Secret(value)


def _has(value: object) -> bool:
    return isinstance(value, Secret) and bool(value.value)


def _secret(value: object) -> str:
    return "set" if _has(value) else "not set"


def _clean(value: Json) -> Json:
    """Without what this process knows as a secret, and without signatures in addresses."""
    match value:
        case str():
            return without_secrets(redact_text(value))
        case list():
            return [_clean(one) for one in value]
        case dict():
            return {name: _clean(one) for name, one in value.items()}
        case _:
            return value


def _shortened(old: Json, new: Json) -> tuple[Json, Json]:
    texts = [one if isinstance(one, str) else canonical(one) for one in (old, new)]
    if max(map(len, texts)) <= LONGEST_VALUE:
        return old, new
    begin = _alike(*texts)
    end = min(_alike(*(one[::-1] for one in texts)), min(map(len, texts)) - begin)
    told_old, told_new = (_part(one, begin, len(one) - end) for one in texts)
    return (None if old is None else told_old), (None if new is None else told_new)


def _alike(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _part(text: str, begin: int, end: int) -> Json:
    first = max(begin - AROUND, 0)
    return {
        "characters": len(text),
        "sha256": _hash(text),
        "from": first,
        "part": text[first : min(end + AROUND, first + LONGEST_VALUE)],
    }


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
