"""Web addresses that variables name, taken apart."""

from urllib.parse import SplitResult, urlsplit

_NOTHING = urlsplit("")


def parts_of(text: str) -> SplitResult:
    """The parts of an address; none of them where it is none: half an IPv6 address, a wrong port."""
    try:
        parts = urlsplit(text)
        return parts if parts.port != 0 else _NOTHING
    except ValueError:
        return _NOTHING
