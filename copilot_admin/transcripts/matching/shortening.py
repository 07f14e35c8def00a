"""Big results by their hash, so that a history full of them costs little to recognise.

A client repeats every result in every later request. To normalise one takes ten milliseconds for
every 100 kB; its plain hash, by which the normalised one is found again, a hundredth of that.
"""

from dataclasses import replace
from hashlib import blake2b

from protocol.canonical import canonical
from protocol.messages import (
    DataItem,
    FileReference,
    HumanMessage,
    ResultMessage,
    SourceData,
    SourceResult,
)

BIG = 2048  # characters
REMEMBERED = 10_000  # hashes of 64 bytes: a megabyte

_normalised: dict[bytes, str] = {}


def shortened(message: ResultMessage) -> ResultMessage:
    """The result with the hashes of big contents in their place."""
    return replace(message, data=tuple(_short(one) for one in message.data))


def _short(result: SourceResult) -> SourceResult:
    if not isinstance(result, SourceData):
        return result
    return replace(result, items=tuple(_short_item(item) for item in result.items))


def _short_item(item: DataItem | FileReference) -> DataItem | FileReference:
    if isinstance(item, FileReference) or len(item.content) <= BIG:
        return item
    return replace(item, content=_hash_of(item.content))


def _hash_of(content: str) -> str:
    plain = blake2b(content.encode(errors="surrogatepass")).digest()
    found = _normalised.get(plain)
    if found is None:
        if len(_normalised) >= REMEMBERED:
            _normalised.clear()
        found = blake2b(canonical(HumanMessage(content))).hexdigest()
        _normalised[plain] = found
    return found
