"""Base classes of the ModelAdmins: audit trail, guarded filters, the look of lists and forms.

What Django's own views add, change and delete gets an audit entry. A view of its own calls `audit`
as the last statement of the transaction of its change.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, ClassVar, Generic, TypeVar, cast

from django import forms
from django.contrib.admin import ModelAdmin, ShowFacets
from django.contrib.admin.widgets import RelatedFieldWidgetWrapper
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import DateField, DateTimeField, Model, QuerySet, UUIDField
from django.db.models.constants import LOOKUP_SEP
from django.forms import Field, Media
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path, reverse
from django.utils.decorators import method_decorator
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from copilot_admin.accounts.members import is_reachable
from copilot_admin.admin.common.widgets import reject_bidi_controls
from copilot_admin.audit.recording import Actor, Snapshot, Subject, record, snapshot
from copilot_admin.models import Action
from copilot_admin.models.fields import MAX_ID, parse_integer

Row = TypeVar("Row", bound=Model)
Fieldsets = list[tuple[Any, dict[str, Any]]]

post_only = method_decorator(require_POST)


def row_action(act: Callable[[Any, HttpRequest, Any], HttpResponse | None]) -> Any:
    """Make a view of a method that changes one row: a POST in one transaction.

    It leads back to the page of the row, unless the method returns another page.
    """

    @wraps(act)
    def respond(self: "BaseAdmin[Any]", request: HttpRequest, pk: Any) -> HttpResponse:
        row = self.get_changeable(request, pk)
        return act(self, request, row) or self.redirect_to(row)

    return post_only(transaction.atomic(respond))


# Columns with ciphertexts, digests and hashes. Django lets a URL filter by any of them, which would
# reveal a secret letter by letter.
SECRETS = frozenset(
    {
        "api_key_cipher",
        "chain_hash",
        "client_hash",
        "digest",
        "hash",
        "headers_cipher",
        "password",
        "secret",
        "secret_cipher",
        "session_data",
        "session_key",
        "token_secret",
    }
)
_EXPRESSIONS = frozenset({"regex", "iregex"})  # SQLite evaluates them in Python: (a+)+$ blocks it
_NAMES = frozenset({"name", "username"})


# The browser's own inputs, in the reader's time zone.
DATE_TIME_INPUT = forms.DateTimeInput({"type": "datetime-local"}, format="%Y-%m-%dT%H:%M")
DATE_INPUT = forms.DateInput({"type": "date"}, format="%Y-%m-%d")


def audit(
    request: HttpRequest,
    action: Action,
    row: Model,
    *,
    before: Mapping[str, object] | None = None,
    after: Mapping[str, object] | None = None,
) -> None:
    """Record what a view did to a row."""
    record(action, by=Actor.of(request), on=Subject.of(row), before=before, after=after)


class BaseAdmin(ModelAdmin[Row], Generic[Row]):
    """ModelAdmin with an audit entry for each row that is added, changed or deleted.

    Attributes:
        columns: Looks of the columns of the list, separated by spaces: "num" aligns numbers,
            "grow" takes the free width, "wrap" breaks lines, "medium" and "wide" disappear in
            narrow lists.
        empty_state: Explanation in an empty list.
        empty_icon: Icon of an empty list.
        list_views: Views of several rows: "test" is the method `test_view` at the path `test/`.
        row_views: Views of one row, at `<id>/test/`.
        routes: Paths of other views by their name.
    """

    formfield_overrides: ClassVar[dict[Any, Any]] = {
        DateTimeField: {"form_class": forms.DateTimeField, "widget": DATE_TIME_INPUT},
        DateField: {"widget": DATE_INPUT},
    }
    show_facets = ShowFacets.NEVER  # counting each choice reads the whole table
    list_per_page = 50
    columns: ClassVar[Mapping[str, str]] = {}
    empty_state: str | Promise = ""
    empty_icon = "info"
    list_views: ClassVar[Sequence[str]] = ()
    row_views: ClassVar[Sequence[str]] = ()
    routes: ClassVar[Mapping[str, str]] = {}
    audit = staticmethod(audit)

    def get_urls(self) -> list[URLPattern]:
        row = "<uuid:pk>" if isinstance(self.opts.pk, UUIDField) else "<id:pk>"
        routes = {
            **{name: f"{name}/" for name in self.list_views},
            **{name: f"{row}/{name}/" for name in self.row_views},
            **self.routes,
        }
        own = [
            path(
                route,
                self.admin_site.admin_view(getattr(self, f"{name}_view")),
                name=f"{self.opts.app_label}_{self.opts.model_name}_{name}",
            )
            for name, route in routes.items()
        ]
        return [*own, *super().get_urls()]

    def get_form(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        form: Any = super().get_form(request, *args, **kwargs)
        form.editor = request.user
        return form

    def may_edit(self, request: HttpRequest, obj: Row | None) -> bool:
        """Return whether the form of a row, or of a new one, can be changed."""
        if obj is None:
            return self.has_add_permission(request)
        return self.has_change_permission(request, obj)

    def get_changeable(self, request: HttpRequest, pk: Any) -> Row:
        """Return a row to somebody who may change it."""
        row = get_object_or_404(self.get_queryset(request), pk=pk)
        if not self.has_change_permission(request, row):
            raise PermissionDenied
        return row

    def redirect_to(self, row: Model) -> HttpResponseRedirect:
        name = f"admin:{self.opts.app_label}_{self.opts.model_name}_change"
        return HttpResponseRedirect(reverse(name, args=[row.pk]))

    @property
    def media(self) -> Media:
        """No scripts of Django: `list.js` replaces those of lists, and no popup is offered."""
        return Media()

    def page_context(self, request: HttpRequest, title: str) -> dict[str, Any]:
        return {**self.admin_site.each_context(request), "title": title, "opts": self.opts}

    def row_context(self, request: HttpRequest, row: Row) -> dict[str, Any]:
        """Return more context for the page of a row."""
        return {}

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        if context.get("original") is not None:
            context |= self.row_context(request, context["original"])
        return super().render_change_form(request, context, *args, **kwargs)

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest | None = None) -> bool:
        path = lookup.split(LOOKUP_SEP)
        if not (SECRETS | _EXPRESSIONS).isdisjoint(path):
            return False
        return super().lookup_allowed(lookup, value, request)  # type: ignore[arg-type]  # deprecated

    def formfield_for_dbfield(self, db_field: Any, request: Any, **options: Any) -> Field | None:
        field = super().formfield_for_dbfield(db_field, request, **options)
        if field is not None and db_field.name in _NAMES:
            field.validators.append(reject_bidi_controls)
        widget = getattr(field, "widget", None)
        if field is not None and isinstance(widget, RelatedFieldWidgetWrapper):
            field.widget = widget.widget  # no popups
        return field

    def formfield_for_foreignkey(self, db_field: Any, request: Any, **options: Any) -> Any:
        options.setdefault("empty_label", _("None") if db_field.blank else _("Select…"))
        return super().formfield_for_foreignkey(db_field, request, **options)

    def formfield_for_choice_field(self, db_field: Any, request: Any, **options: Any) -> Any:
        blank = _("None") if db_field.blank else _("Select…")
        is_open = db_field.blank or not db_field.has_default()
        choices = db_field.get_choices(include_blank=is_open, blank_choice=[("", blank)])
        options.setdefault("choices", choices)
        return super().formfield_for_choice_field(db_field, request, **options)

    def get_object(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        row: Any = super().get_object(request, *args, **kwargs)
        if row is not None and request.method == "POST":
            row.before_form = _columns(row), stored(row)
        return row

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Save what the form shows or this request changed.

        Other columns may have changed since the form was loaded: a publish must not be undone.
        """
        if not change or not hasattr(obj, "before_form"):
            super().save_model(request, obj, form, change)
            return
        (columns, _stored), now = obj.before_form, _columns(obj)
        obj.save(
            update_fields={
                field.name
                for field in obj._meta.concrete_fields
                if field.name in form.fields
                or getattr(field, "auto_now", False)
                or now.get(field.attname) != columns.get(field.attname)
            }
        )

    def history_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not self.has_view_or_change_permission(request):
            raise PermissionDenied
        return super().history_view(request, *args, **kwargs)

    def log_addition(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        logged = super().log_addition(request, obj, message)
        self.audit(request, Action.ADDED, obj, after=stored(obj))
        return logged

    def log_change(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        # An empty message is that of a form that changed nothing.
        logged = super().log_change(request, obj, message) if message else None
        if hasattr(obj, "before_form"):
            before, after = obj.before_form[1], stored(obj)
            del obj.before_form
            if before != after:
                action = self.action_of(before, after)
                self.audit(request, action, obj, before=before, after=after)
        return logged

    def log_deletions(self, request: HttpRequest, queryset: Any) -> Any:
        logged = super().log_deletions(request, queryset)
        for row in queryset:
            self.audit(request, Action.DELETED, row, before=stored(row))
        return logged

    def action_of(self, before: Snapshot, after: Snapshot) -> Action:
        """Return the action that the audit trail shows for a change."""
        return Action.CHANGED

    def response_action(self, request: HttpRequest, queryset: QuerySet[Any], *args: Any) -> Any:
        with transaction.atomic():  # the change and its audit entry
            return super().response_action(request, queryset, *args)


class ReadOnlyAdmin(BaseAdmin[Row]):
    """Rows that the server writes: nobody adds, changes or deletes them in the admin."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


def stored(row: Model) -> Snapshot:
    """Return the row as it is in the database, whatever a form has put into the object."""
    return snapshot(type(row)._base_manager.get(pk=row.pk))


def without(fieldsets: Fieldsets, *names: str) -> Fieldsets:
    """Return the fieldsets without some fields, and without those that are empty then."""
    left = [
        (label, {**options, "fields": [one for one in options["fields"] if one not in names]})
        for label, options in fieldsets
    ]
    return [(label, options) for label, options in left if options["fields"]]


def _columns(row: Model) -> dict[str, object]:
    attributes = vars(row)
    names = (field.attname for field in row._meta.concrete_fields)
    return {name: attributes[name] for name in names if name in attributes}


def number_in(text: str | None) -> int:
    """Return the number in a URL or form, else 0, which no row has as its id."""
    return parse_integer(text or "", MAX_ID) or 0


_View = Callable[..., HttpResponseBase]


def require_copilot_access(view: _View) -> _View:
    """Wrap a view; anonymous users pass, because the view sends them to the sign-in page."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        pk = number_in(str(kwargs.get("pk") or kwargs.get("object_id")))
        if pk and request.user.is_authenticated and not is_reachable(request.user, pk):
            raise Http404
        return view(request, *args, **kwargs)

    return guarded


def require_copilot_access_in(patterns: list[URLPattern]) -> list[URLPattern]:
    for pattern in patterns:
        pattern.callback = require_copilot_access(cast(_View, pattern.callback))
    return patterns
