"""What the page of connecting shows of a copilot, and who may do what on it."""

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
    StepVerdict.GOOD: gettext_lazy("Good"),
    StepVerdict.WARN: gettext_lazy("To know"),
    StepVerdict.BAD: gettext_lazy("To mend"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionStepRow:
    """A step on the page; without a result before it was done."""

    name: StepName
    result: StepResult | None = None

    @property
    def title(self) -> str | Promise:
        """The name of the step, for its heading."""
        return TITLES[self.name]

    @property
    def label(self) -> str | Promise:
        """How it ended, as its badge says it."""
        return LABELS[self.result.verdict] if self.result else ""


@dataclass(frozen=True, slots=True)
class AskedOrigin:
    """The origin that somebody typed in, and what is wrong with it."""

    text: str = ""
    fault: str = ""


def copilot_for(request: HttpRequest, pk: int, *, permission: str) -> Copilot:
    """The copilot of a page; who makes keys may see every copilot's, as the form of keys shows them.

    Raises:
        PermissionDenied: The person may not do this.
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
    """Reads an origin as somebody types it: an address of a page will do."""
    wanted = text.strip().rstrip("/")
    if not wanted:
        return AskedOrigin()
    try:
        check_origin(wanted)
    except ValueError:
        fault = _("Write scheme and host, and the port if there is one: %(example)s")
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
    """What the template of the page needs.

    Args:
        request: Of the page.
        copilot: Whose page it is.
        origin: The page that the test was asked to look at besides.
        wanted: The page that somebody wanted to allow.
        results: Of the test, where it was done.
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
    """The line of the environment that allows one more origin; the variable replaces the default."""
    wanted = EXAMPLE_ORIGIN if origin.fault or not origin.text else origin.text
    return f"CORS_ORIGINS={','.join(dict.fromkeys((*origins, wanted)))}"


def _counts(results: Iterable[StepResult]) -> dict[str, int]:
    verdicts = [result.verdict for result in results]
    return {verdict.value: verdicts.count(verdict) for verdict in StepVerdict}
