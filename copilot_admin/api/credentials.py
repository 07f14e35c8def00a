"""Credentials, end user and ids of an API request."""

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from django.http import HttpRequest

from copilot_admin.copilots.end_users import AskingUser, Credentials, credentials_in, user_of
from copilot_admin.http.auth_throttle import look_up_key
from copilot_admin.http.proxy_identity import get_end_user
from copilot_admin.http.scope import IDS_KEY
from copilot_admin.ids import Ids, new_ids
from copilot_admin.storage.writer import READER, Deadline

T = TypeVar("T")


def credentials_of(request: HttpRequest) -> Credentials:
    """Return the unchecked credentials; Django's test client has no ASGI scope."""
    return credentials_in(request.headers, get_end_user(getattr(request, "scope", {})))


async def read_as_caller(
    request: HttpRequest,
    read: Callable[[str | None, AskingUser | None], T],
    deadline: Deadline | None = None,
) -> T:
    """Call `read` with the unchecked API key and the end user, on the reader's thread."""
    credentials = credentials_of(request)
    user = await user_of(credentials)
    found = partial(read, credentials.key, user)
    address = request.META.get("REMOTE_ADDR", "")
    return await READER.run(partial(look_up_key, found, address), deadline)


def ids_of(request: HttpRequest) -> Ids:
    """Return the ids that the middleware assigned; Django's test client has none."""
    ids = getattr(request, "scope", {}).get(IDS_KEY)
    if isinstance(ids, Ids):
        return ids
    given = (request.headers.get(name, "").encode() for name in ("X-Trace-Id", "traceparent"))
    return new_ids(*given)
