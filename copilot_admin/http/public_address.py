"""Under which address this server is reached."""

from django.conf import settings
from django.http import HttpRequest


def base_url(request: HttpRequest) -> str:
    """PUBLIC_URL where it is set, else scheme and host of the request; without a slash at the end.

    The host was checked against ALLOWED_HOSTS by Django when it was read.
    """
    public: str = settings.PUBLIC_URL
    return public.rstrip("/") or f"{request.scheme}://{request.get_host()}"
