"""Credentials and end user of an API request."""

from django.http import HttpRequest

from copilot_admin.copilots.credentials import Credentials, credentials_in, user_of
from copilot_admin.copilots.end_users import AskingUser
from copilot_admin.http.proxy_identity import get_end_user


def credentials_of(request: HttpRequest) -> Credentials:
    """Return the unchecked credentials; Django's test client has no ASGI scope."""
    return credentials_in(request.headers, get_end_user(getattr(request, "scope", {})))


async def key_and_user(request: HttpRequest) -> tuple[str | None, AskingUser | None]:
    """Return the unchecked endpoint key and the end user.

    Raises:
        UnknownUser: The token or header that names the user is not valid.
        Unavailable: It cannot be checked at the moment.
    """
    credentials = credentials_of(request)
    return credentials.key, await user_of(credentials)
