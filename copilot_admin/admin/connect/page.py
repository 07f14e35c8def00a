"""Values of the Connect page, and its permissions."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from copilot_admin.accounts.members import reachable
from copilot_admin.admin.site.site import site
from copilot_admin.config.networks import check_origin
from copilot_admin.connection_test.steps import TITLES, StepName
from copilot_admin.connection_test.values import StepResult, StepVerdict, problem_of
from copilot_admin.copilots.live_settings import keys_of
from copilot_admin.http.origins import ALLOWED_ORIGINS, get_base_url
from copilot_admin.models import Access, Copilot

VIEW = "copilot_admin.view_copilot"
CHANGE = "copilot_admin.change_copilot"
ALLOW_ORIGIN = "copilot_admin.add_allowedorigin"
FORBID_ORIGIN = "copilot_admin.delete_allowedorigin"
MAKE_KEY = "copilot_admin.add_endpointkey"
FOLDER = "admin/copilot_admin/connect"
EXAMPLE_ORIGIN = "https://workspace.example.com"
LABELS: Mapping[StepVerdict, str | Promise] = {
    StepVerdict.GOOD: gettext_lazy("Passed"),
    StepVerdict.WARN: gettext_lazy("Warning"),
    StepVerdict.BAD: gettext_lazy("Failed"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionStepRow:
    """A step on the page; without a result before the test."""

    name: StepName
    result: StepResult | None = None

    @property
    def title(self) -> str | Promise:
        """Return the heading of the step."""
        return TITLES[self.name]

    @property
    def label(self) -> str | Promise:
        """Return the verdict in words."""
        return LABELS[self.result.verdict] if self.result else ""


@dataclass(frozen=True, slots=True)
class AskedOrigin:
    """A typed origin, and its error."""

    text: str = ""
    fault: str = ""


def copilot_for(request: HttpRequest, pk: int, *, permission: str) -> Copilot:
    """Return the copilot; users who can create keys see every copilot, as in the form of keys.

    Raises:
        PermissionDenied: The user lacks the permission.
    """
    if not request.user.has_perm(permission) and not (
        permission == VIEW and request.user.has_perm(MAKE_KEY)
    ):
        raise PermissionDenied
    rows = Copilot.objects.in_use().select_related("provider", "live__provider")
    if not request.user.has_perm(MAKE_KEY):
        rows = reachable(request.user, rows)
    return get_object_or_404(rows, pk=pk, deletion_requested_at=None)


def asked_origin(text: str) -> AskedOrigin:
    """Parse a typed origin."""
    wanted = text.strip().rstrip("/")
    if not wanted:
        return AskedOrigin()
    try:
        check_origin(wanted)
    except ValueError:
        fault = _("Enter scheme, host and optional port, for example %(example)s")
        return AskedOrigin(wanted, fault % {"example": EXAMPLE_ORIGIN})
    return AskedOrigin(wanted)


def page_context(
    request: HttpRequest,
    copilot: Copilot,
    *,
    origin: AskedOrigin = AskedOrigin(),
    wanted: AskedOrigin = AskedOrigin(),
    results: Mapping[StepName, StepResult] | None = None,
) -> dict[str, Any]:
    """Return the context of the page.

    Args:
        request: The request.
        copilot: The copilot.
        origin: A further origin to test.
        wanted: An origin that was to be allowed.
        results: Results of the test, if it was run.
    """
    user = request.user
    origins = ALLOWED_ORIGINS.given
    added = ALLOWED_ORIGINS.load_added()
    found = results or {}
    return {
        **site.each_context(request),
        "title": _("Connect to Workspace"),
        "copilot": copilot,
        "base": get_base_url(request),
        "problem": problem_of(copilot),
        "needs_key": copilot.access == Access.KEY,
        "keys": keys_of(copilot),
        "may_make_key": user.has_perm(MAKE_KEY),
        "may_view": user.has_perm(VIEW),
        "may_test": user.has_perm(CHANGE),
        "origins": origins,
        "added": added,
        "is_pinned": ALLOWED_ORIGINS.is_pinned,
        "may_allow": user.has_perm(ALLOW_ORIGIN),
        "may_forbid": user.has_perm(FORBID_ORIGIN),
        "wanted": wanted,
        "cors_line": cors_line(origins, wanted if wanted.text else origin),
        "origin": origin,
        "rows": [ConnectionStepRow(name=name, result=found.get(name)) for name in StepName],
        "counts": _counts(found.values()) if found else None,
    }


def cors_line(origins: tuple[str, ...], origin: AskedOrigin) -> str:
    """Return the environment variable that allows one more origin."""
    wanted = EXAMPLE_ORIGIN if origin.fault or not origin.text else origin.text
    return f"CORS_ORIGINS={','.join(dict.fromkeys((*origins, wanted)))}"


def _counts(results: Iterable[StepResult]) -> dict[str, int]:
    verdicts = [result.verdict for result in results]
    return {verdict.value: verdicts.count(verdict) for verdict in StepVerdict}
