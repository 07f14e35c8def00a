"""A row that was deleted, put away or changed while somebody edited it.

Of one that is gone a page says so, which keeps what he typed; what others did to the columns that no form
shows, such as publishing or revoking, stays done.
"""

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib.admin import ModelAdmin
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.db import DatabaseError
from django.db.models import Model
from django.db.models.fields.files import FieldFile
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _

ONE_LINE = 80  # characters, about as many as the field is wide
TEMPLATE = "admin/copilot_admin/gone.html"
# What is typed into these is no text to copy, or nothing that a page may show.
_NO_TEXTS = (
    forms.CheckboxInput,
    forms.FileInput,
    forms.HiddenInput,
    forms.PasswordInput,
    forms.Select,
)

if TYPE_CHECKING:
    _Admin = ModelAdmin[Any]
else:
    _Admin = object  # a mixin: the class below it is one


@dataclass(frozen=True, slots=True)
class TypedText:
    """What somebody typed into a field."""

    label: str
    text: str

    @property
    def rows(self) -> int:
        """Lines of a field that shows it; a long text scrolls."""
        return 4 if "\n" in self.text or len(self.text) > ONE_LINE else 1


class GoneRows(_Admin):
    """Pages that say to who saves a form that there is nothing any more to be saved.

    Django leads to the start page, where all that was typed is lost; and where the row went while the
    form was being saved, it breaks, or makes the row anew without what belonged to it.
    """

    def changeform_view(
        self, request: HttpRequest, object_id: str | None = None, *args: Any, **kwargs: Any
    ) -> Any:
        try:
            return super().changeform_view(request, object_id, *args, **kwargs)
        except self.model.DoesNotExist:
            return self._gone_page(request, HTTPStatus.NOT_FOUND)
        except PermissionDenied:
            if object_id is None or request.method != "POST":
                raise
            row = super().get_object(request, unquote(object_id))
            if row is None or not self.is_put_away(row):
                raise
            return self._gone_page(request, HTTPStatus.FORBIDDEN)

    def is_put_away(self, row: Any) -> bool:
        return False

    def get_object(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        row = super().get_object(request, *args, **kwargs)
        if row is not None and request.method == "POST":
            _as_read(request)[_key(row)] = _columns(row)
        return row

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Saves what the form shows and what differs from what was read; a row that is gone is not made anew.

        Raises:
            ObjectDoesNotExist: It is gone.
        """
        read = _as_read(request).get(_key(obj))
        try:
            if change and read is not None:
                obj.save(update_fields=frozenset(_to_be_written(obj, form, read)))
            else:
                obj.save(force_update=change)
        except DatabaseError as error:
            if type(error) is DatabaseError:  # Django's own: nothing was updated
                raise self.model.DoesNotExist from error
            raise

    def _get_obj_does_not_exist_redirect(
        self, request: HttpRequest, opts: Any, object_id: str
    ) -> HttpResponse:
        if request.method == "POST":
            return self._gone_page(request, HTTPStatus.NOT_FOUND)
        return super()._get_obj_does_not_exist_redirect(request, opts, object_id)  # type: ignore[misc,no-any-return]  # there is no public way

    def _gone_page(self, request: HttpRequest, status: HTTPStatus) -> TemplateResponse:
        context = {
            **self.admin_site.each_context(request),
            "title": _("This is not there any more"),
            "opts": self.opts,
            "typed": self._typed(request) if self.has_change_permission(request) else [],
        }
        return TemplateResponse(request, TEMPLATE, context, status=status)

    def _typed(self, request: HttpRequest) -> list[TypedText]:
        found = []
        for name, field in self.get_form(request, None, change=True).base_fields.items():
            if isinstance(field.widget, _NO_TEXTS):
                continue
            value = field.widget.value_from_datadict(request.POST, request.FILES, name)
            if text := _text_of(value):
                found.append(TypedText(str(field.label or name), text))
        return found


def _as_read(request: HttpRequest) -> dict[tuple[str, object], dict[str, object]]:
    kept: dict[tuple[str, object], dict[str, object]] = vars(request).setdefault("as_read", {})
    return kept


def _key(row: Model) -> tuple[str, object]:
    return row._meta.label, row.pk


def _columns(row: Model) -> dict[str, object]:
    attributes = vars(row)
    names = (field.attname for field in row._meta.concrete_fields)
    return {name: _value(attributes[name]) for name in names if name in attributes}


def _value(value: object) -> object:
    return str(value) if isinstance(value, FieldFile) else deepcopy(value)


def _to_be_written(row: Model, form: Any, read: dict[str, object]) -> Iterator[str]:
    now = _columns(row)
    typed = {name for name, one in form.fields.items() if not one.disabled}
    for field in row._meta.concrete_fields:
        differs = now.get(field.attname) != read.get(field.attname)
        is_moment_of_saving = getattr(field, "auto_now", False)
        if field.name in typed or differs or is_moment_of_saving:
            yield field.name


def _text_of(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return "\n".join(filter(None, value))
    return ""
