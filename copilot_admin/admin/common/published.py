"""What somebody has just published: the page of connecting tests it without being told to.

It stands in the session and not in the address, so that no link of a stranger starts a test, and a
page that is loaded again does not test again.
"""

from django.http import HttpRequest

_KEY = "published_copilot"
_BEGUN = "tested_copilot"


def tell_published(request: HttpRequest, copilot_id: int) -> None:
    """Keeps that this copilot was published, until somebody looks how to connect it."""
    request.session[_KEY] = copilot_id


def is_just_published(request: HttpRequest, copilot_id: int) -> bool:
    return request.session.get(_KEY) == copilot_id


def forget_published(request: HttpRequest) -> None:
    """The test begins: it is not begun by itself a second time, unless a key is made meanwhile."""
    request.session[_BEGUN] = request.session.pop(_KEY, None)


def tell_key_made(request: HttpRequest, copilot_id: int) -> None:
    """The page with the key takes the place of the one that tests: its test begins anew."""
    if request.session.pop(_BEGUN, None) == copilot_id:
        tell_published(request, copilot_id)
