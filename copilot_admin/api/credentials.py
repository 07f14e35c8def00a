"""What a request of the API brings with it, and which user asks, before a view does anything."""

from django.http import HttpRequest

from copilot_admin.copilots.door import Credentials, credentials_in, user_of
from copilot_admin.copilots.users import AskingUser
from copilot_admin.http.proxy_identity import get_end_user


def credentials_of(request: HttpRequest) -> Credentials:
    """What a request brings, unchecked; Django's test client comes without an edge."""
    return credentials_in(request.headers, get_end_user(getattr(request, "scope", {})))


async def key_and_user(request: HttpRequest) -> tuple[str | None, AskingUser | None]:
    """The endpoint key as it came, and the user who asks.

    Raises:
        UnknownUser: What says who asks is not to be believed.
        Unavailable: It cannot be checked at the moment.
    """
    credentials = credentials_of(request)
    return credentials.key, await user_of(credentials)
