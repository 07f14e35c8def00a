"""Headers that only named proxies may set: taken out of every request, and kept for who knows the proxies.

Who a proxy is says the connection itself, never `X-Forwarded-For`, which anybody may write. Inside,
nobody can read such a header of a stranger, as it is not there any more. Several readers may want
the same header, each of proxies of its own.
"""

from collections.abc import Collection, Sequence

from copilot_admin.config.networks import Network, is_in
from copilot_admin.edge.asgi_types import Headers, Scope

PEER_KEY = "copilot_admin.peer"  # in the scope: the address at the other end of the connection
APART_KEY = "copilot_admin.proxy_headers"  # in the scope: headers that were taken out, of anybody


def names_of(headers: Collection[str]) -> frozenset[bytes]:
    """Names of headers, as they are looked for."""
    return frozenset(_dashed(name.encode()) for name in headers)


def set_apart(scope: Scope, names: Collection[bytes]) -> tuple[Scope, Headers]:
    """The request without the headers of some names, and those headers.

    Args:
        scope: Of a request; somebody may have set headers of it apart before.
        names: As `names_of` makes them.
    """
    rows: Headers = scope["headers"]
    before: Headers = scope.get(APART_KEY, [])
    found = [row for row in rows if _dashed(row[0]) in names]
    if found:
        others = [row for row in rows if _dashed(row[0]) not in names]
        before = [*before, *found]
        scope = {**scope, "headers": others, APART_KEY: before}
    return scope, [row for row in before if _dashed(row[0]) in names]


def values_of(header: str, rows: Headers) -> tuple[bytes, ...]:
    """The values of a header; one whose name is only like it is a client's, not a proxy's."""
    return tuple(value for name, value in rows if header and bytes(name).lower() == header.encode())


def is_from(scope: Scope, proxies: Sequence[Network]) -> bool:
    """Whether a named proxy is connected; nobody is, where the server does not say who is."""
    return is_in(str(scope.get(PEER_KEY, "")), proxies)


def _dashed(name: bytes) -> bytes:
    """A header's name as Django reads it, which takes `X_User` for `X-User`."""
    return bytes(name).lower().replace(b"_", b"-")
