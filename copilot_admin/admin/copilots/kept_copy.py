"""Tells a browser which copy of somebody's typing it need not keep any longer."""

from string import hexdigits

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

COOKIE = "ca_saved"  # read by `kept-copy.js`, so not `HttpOnly`; it names nothing outside a browser
_ID_LENGTH = 32
_DIGITS = frozenset(hexdigits.lower())
_DAY_SECONDS = 24 * 3600


def forget_copy(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """Names the copy whose content was saved, in a cookie of the admin."""
    copy = request.POST.get("copy", "")
    if len(copy) == _ID_LENGTH and _DIGITS.issuperset(copy):
        response.set_cookie(
            COOKIE,
            copy,
            max_age=_DAY_SECONDS,
            path=reverse("admin:index"),
            secure=request.is_secure(),
            samesite="Strict",
        )
    return response
