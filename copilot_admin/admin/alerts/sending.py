"""Base of the pages of alerts: views behind their buttons, and the notes after they sent something."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Generic, TypeVar

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Model
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from copilot_admin.admin.common.base import BaseAdmin
from copilot_admin.models import AlertDigest, AlertRule

Row = TypeVar("Row", bound=Model)


class ButtonAdmin(BaseAdmin[Row], Generic[Row]):
    """ModelAdmin whose change page has buttons.

    Attributes:
        buttons: Method by the last part of the URL. It gets the request and the row in a transaction,
            and returns a response, or None for the change page.
    """

    buttons: ClassVar[Mapping[str, str]] = {}

    def get_urls(self) -> list[URLPattern]:
        own = [
            path(
                f"<slug:pk>/{part}/",
                self.admin_site.admin_view(self._build_view(getattr(self, method))),
                name=f"copilot_admin_{self.opts.model_name}_{part}",
            )
            for part, method in self.buttons.items()
        ]
        return own + super().get_urls()

    def may_press(self, request: HttpRequest, row: Row) -> bool:
        return bool(self.has_change_permission(request, row))

    def note_sending(self, request: HttpRequest, number: int) -> None:
        text = ngettext(
            "%(n)d message is being sent. See Deliveries for the result.",
            "%(n)d messages are being sent. See Deliveries for the results.",
            number,
        )
        messages.success(request, text % {"n": number})

    def _build_view(
        self, method: Callable[[HttpRequest, Row], HttpResponse | None]
    ) -> Callable[..., HttpResponse]:
        @require_POST
        @transaction.atomic
        def view(request: HttpRequest, pk: str) -> HttpResponse:
            row: Any = self.get_object(request, pk)
            if row is None:
                raise Http404
            if not self.may_press(request, row):
                raise PermissionDenied
            url = reverse(f"admin:copilot_admin_{self.opts.model_name}_change", args=[row.pk])
            return method(request, row) or HttpResponseRedirect(url)

        return view


def describe_scope(owner: AlertRule | AlertDigest) -> str:
    """Return the copilots of a rule or digest, for lists."""
    if owner.copilot is not None:
        return owner.copilot.name
    return _("Tag: %(tag)s") % {"tag": owner.tag} if owner.tag else _("All copilots")
