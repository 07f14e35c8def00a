"""Keeps two people from overwriting each other's draft without knowing it."""

from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar

from django import forms
from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.utils.translation import gettext as _

from copilot_admin.models import Copilot

if TYPE_CHECKING:
    _Form = forms.ModelForm[Copilot]
else:
    _Form = object  # a mixin: the form below it is made of the model


def stamp_of(moment: datetime | None) -> str:
    """The moment of the last change, as the form carries it to notice that another editor saved."""
    return moment.isoformat() if moment else ""


class EditLock(_Form):
    """A form of a copilot that notices when the draft was saved since the page was opened.

    What was typed stays on the page; sending it once more, after
    having been told, replaces what the other one saved.
    """

    editor_id: ClassVar[int | None] = None  # who opened the page; said by the admin, which has him

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["seen"] = forms.CharField(
            widget=forms.HiddenInput, required=False, initial=self._stored_stamp()
        )

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or self.cleaned_data
        seen, stored = values.get("seen", ""), self._stored_stamp(lock=True)
        if self.instance.pk and seen and stored and seen != stored:
            self._show_again(stored)
            raise forms.ValidationError(self._who_was_faster(), code="edited")
        return values

    def _stored_stamp(self, *, lock: bool = False) -> str:
        if not self.instance.pk:
            return ""
        rows = Copilot.objects.filter(pk=self.instance.pk)
        if lock:
            rows = rows.select_for_update(no_key=True)
        return stamp_of(rows.values_list("updated_at", flat=True).first())

    def _show_again(self, stored: str) -> None:
        self.data = self.data.copy()  # type: ignore[attr-defined]  # a QueryDict
        self.data[self.add_prefix("seen")] = stored  # type: ignore[index]  # as above

    def _who_was_faster(self) -> str:
        entry = self._last_entry()
        if entry and entry.user_id == self.editor_id:
            return _(
                "You saved this elsewhere, in another tab perhaps, while you were editing here. What "
                "you typed here is still here, and not saved: save again to replace what you saved."
            )
        who = entry.user.get_username() if entry else _("Somebody")
        return _(
            "%(who)s saved this while you were editing. Your text is still here, and not saved. "
            "Open the page in another tab to see theirs; save again to replace theirs with yours."
        ) % {"who": who}

    def _last_entry(self) -> LogEntry | None:
        return (
            LogEntry.objects.filter(
                content_type=ContentType.objects.get_for_model(self.instance),
                object_id=str(self.instance.pk),
            )
            .select_related("user")
            .order_by("-action_time")
            .first()
        )
