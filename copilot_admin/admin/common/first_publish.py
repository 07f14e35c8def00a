"""First publish of a copilot in this session: the Connect page then starts its test by itself.

The session holds it, not the URL: a foreign link can't start a test, and a reload doesn't repeat it.
"""

from django.http import HttpRequest

_KEY = "published_copilot"
_TESTED = "tested_copilot"


def remember_first_publish(request: HttpRequest, copilot_id: int) -> None:
    """Remember that this copilot was just published."""
    request.session[_KEY] = copilot_id


def is_first_published(request: HttpRequest, copilot_id: int) -> bool:
    return request.session.get(_KEY) == copilot_id


def start_first_test(request: HttpRequest) -> None:
    """Mark the test as started, so that it doesn't start by itself again."""
    request.session[_TESTED] = request.session.pop(_KEY, None)


def restart_first_test(request: HttpRequest, copilot_id: int) -> None:
    """Let the test start again: the page of the new key replaced the running test."""
    if request.session.pop(_TESTED, None) == copilot_id:
        remember_first_publish(request, copilot_id)
