"""A version put into the form of its copilot: to look at, to try and to save, with a way back."""

from copy import copy
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.utils.translation import gettext as _

from copilot_admin.admin.copilots.form import LOOK
from copilot_admin.admin.copilots.views import CopilotViews, number_in
from copilot_admin.copilots.publishing import apply_document, check_known, document_today
from copilot_admin.errors import ConfigurationError
from copilot_admin.evaluation.versions import version_of
from copilot_admin.models import Copilot, CopilotVersion

TAKE = "_version"  # the number of a version, or LIVE; sent with the form as it stands
LIVE = "live"
UNKEPT = ("csrfmiddlewaretoken", "copy", TAKE, LOOK)


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """A version that the form shows.

    Attributes:
        typed: What stood in the form before, as names and values.
        image_differs: Whether saving brings its uploaded image too.
    """

    version: CopilotVersion
    typed: tuple[tuple[str, str], ...]
    image_differs: bool


class VersionInForm(CopilotViews):
    """The page of a copilot whose form says what a version says; nothing is saved by that."""

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: Any = None,
    ) -> Any:
        if object_id is not None and TAKE in request.POST:
            request = self._with_version(request, object_id)
        return super().changeform_view(request, object_id, form_url, extra_context)

    def get_object(
        self, request: HttpRequest, object_id: str, from_field: str | None = None
    ) -> Copilot | None:
        found: Copilot | None = super().get_object(request, object_id, from_field)
        taken = taken_in(request)
        if found is not None and taken is not None:
            version = taken.version
            apply_document(found, document_today(version), provider=version.provider)
        return found

    def _with_version(self, request: HttpRequest, object_id: str) -> HttpRequest:
        copilot = self.get_object(request, object_id)
        if copilot is None:
            return request  # which is told that it is gone
        if not self.has_change_permission(request, copilot):
            raise PermissionDenied
        shown = copy(request)
        try:
            vars(shown)["taken"] = _taken(copilot, request)
            shown.method = "GET"
        except ConfigurationError as error:
            messages.error(request, error.public)
            typed = request.POST.copy()
            typed[LOOK] = "1"
            shown.POST = typed  # type: ignore[assignment]  # a QueryDict as it comes
        return shown


def taken_in(request: HttpRequest) -> Taken | None:
    """The version that the form of a request shall show."""
    found: Taken | None = vars(request).get("taken")
    return found


def _taken(copilot: Copilot, request: HttpRequest) -> Taken:
    live = copilot.live.number if copilot.live else 0
    wanted = request.POST[TAKE]
    number = live if wanted == LIVE else number_in(wanted)
    version = version_of(copilot, number)
    if version is None:
        raise ConfigurationError(
            _("This version is not there any more. What was typed stays here, and is not saved.")
        )
    check_known(version)
    drawn = copy(copilot)
    apply_document(drawn, document_today(version), provider=version.provider)
    return Taken(
        version=version,
        typed=tuple(
            (name, str(value))
            for name, values in request.POST.lists()
            for value in values
            if name not in UNKEPT
        ),
        image_differs=drawn.image != copilot.image,
    )
