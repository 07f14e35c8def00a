"""The stored part of a request without its messages: widgets, context, tools, and everything else.

Large fields that successive requests repeat are separate values, so each is stored only one time
however much the rest changes: the catalogue of widgets, the data of the chat, the tools. Small
fields are stored with the rest. A run refers to each value by a column with the name of the field.
"""

from collections.abc import Mapping

from copilot_admin.storage import blobs
from copilot_admin.storage.blobs import BlobValue
from protocol.json import Json, JsonObject

REST = "env"
SEPARATE_FIELDS = ("widgets", "context", "tools")
FIELDS = (REST, *SEPARATE_FIELDS)  # of a run
COLUMNS = tuple(f"{name}_id" for name in FIELDS)


def split_request(env: JsonObject) -> Mapping[str, BlobValue]:
    """Return the values of a request by the fields of the run that refer to them."""
    separate = {
        name: blob
        for name in SEPARATE_FIELDS
        if name in env and (blob := blobs.to_big_blob(env[name])) is not None
    }
    rest = {name: value for name, value in env.items() if name not in separate}
    return {REST: blobs.to_blob(rest), **separate}


def load_request(env: str | None, *separate: str | None) -> JsonObject | None:
    """Read a request.

    Args:
        env: Key of the rest; None if requests aren't stored.
        separate: Keys of the separate fields, in the order of `COLUMNS`.
    """
    if env is None:
        return None
    found = blobs.load(sha for sha in (env, *separate) if sha)
    rest: Json = found.get(env)
    fields = {
        name: found.get(sha) for name, sha in zip(SEPARATE_FIELDS, separate, strict=True) if sha
    }
    return {**(rest if isinstance(rest, Mapping) else {}), **fields}
