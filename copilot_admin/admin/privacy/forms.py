"""Forms of retention, redaction, legal holds and erasure."""

from datetime import datetime, time, timedelta
from typing import Any

from django import forms
from django.core.validators import MaxValueValidator
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from copilot_admin.models import Copilot
from copilot_admin.models.access import MAX_END_USER_LENGTH
from copilot_admin.models.copilots import MAX_RETENTION_DAYS
from copilot_admin.models.fields import MAX_ID
from copilot_admin.models.privacy import MAX_PRINCIPAL_LENGTH, MAX_REASON_LENGTH
from copilot_admin.privacy.scopes import LAST_DAY, PrivacyScope
from copilot_admin.redaction.kinds import LABELS, DataKind
from copilot_admin.redaction.redactor import redact_values
from copilot_admin.redaction.rules import (
    MAX_EXPRESSION_LENGTH,
    MAX_EXPRESSIONS,
    expression_fault,
    rules_for,
)
from copilot_admin.transcripts.end_users import ID_PREFIX, find_user

MAX_SAMPLE_LENGTH = 20_000  # characters


def _day(label: Any, help_text: Any) -> forms.DateField:
    return forms.DateField(
        label=label,
        help_text=help_text,
        required=False,
        validators=[MaxValueValidator(LAST_DAY)],
        widget=forms.DateInput(attrs={"type": "date"}),
    )


class ScopeForm(forms.Form):
    conversation = forms.IntegerField(
        label=gettext_lazy("Conversation"),
        help_text=gettext_lazy("The number in the URL of the conversation."),
        required=False,
        min_value=1,
        max_value=MAX_ID,
    )
    user = forms.CharField(
        label=gettext_lazy("User"),
        help_text=gettext_lazy(
            "ID, email address or name of an identified user. Write id: before an ID to match only IDs."
        ),
        required=False,
        max_length=len(ID_PREFIX) + MAX_END_USER_LENGTH,
    )
    principal = forms.CharField(
        label=gettext_lazy("Caller"),
        help_text=gettext_lazy("For example key:7, or anonymous for callers without a key."),
        required=False,
        max_length=MAX_PRINCIPAL_LENGTH,
    )
    copilot = forms.ModelChoiceField(
        label=gettext_lazy("Copilot"),
        help_text=gettext_lazy("URL name of the copilot."),
        queryset=Copilot.objects.all(),
        to_field_name="slug",
        required=False,
        widget=forms.TextInput,
        error_messages={"invalid_choice": gettext_lazy("No copilot has this URL name.")},
    )
    since = _day(gettext_lazy("From"), gettext_lazy("Active on this day or later."))
    until = _day(gettext_lazy("To"), gettext_lazy("Active on this day or earlier."))
    reason = forms.CharField(
        label=gettext_lazy("Reason"),
        help_text=gettext_lazy("A case or ticket number. No personal data."),
        max_length=MAX_REASON_LENGTH,
    )

    def clean_user(self) -> int | None:
        text = self.cleaned_data["user"]
        try:
            return find_user(text).pk if text else None
        except ValueError as error:
            raise forms.ValidationError(str(error), code="user") from error

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if not self.errors and not self.scope:
            raise forms.ValidationError(
                _("Enter at least one criterion: conversation, user, caller, copilot or dates."),
                code="everything",
            )
        since, until = data.get("since"), data.get("until")
        if since and until and since > until:
            self.add_error("until", _("This date is before the start date."))
        return data

    @property
    def scope(self) -> PrivacyScope:
        data = self.cleaned_data
        copilot, until = data.get("copilot"), data.get("until")
        return PrivacyScope(
            conversation=data.get("conversation"),
            user=data.get("user"),
            principal=data.get("principal", ""),
            copilot=copilot.pk if copilot else None,
            since=_midnight(data.get("since")),
            until=_midnight(until + timedelta(days=1)) if until else None,
        )


class EraseForm(ScopeForm):
    with_questions = forms.BooleanField(
        label=gettext_lazy("Also erase tests made from these conversations"),
        required=False,
        initial=True,
    )


class RetentionForm(forms.ModelForm[Copilot]):
    redaction = forms.MultipleChoiceField(
        label=gettext_lazy("Redact"),
        choices=[(kind.value, LABELS[kind]) for kind in DataKind],
        widget=forms.CheckboxSelectMultiple,
        required=False,
    )
    redacted_expressions = forms.CharField(
        label=gettext_lazy("Custom patterns"),
        help_text=gettext_lazy(
            "Regular expressions, one per line, for example CUST-[0-9]{6}. If a pattern times out, the "
            "text is replaced by a notice."
        ),
        widget=forms.Textarea(attrs={"rows": 4, "dir": "ltr", "spellcheck": "false"}),
        max_length=MAX_EXPRESSIONS * (MAX_EXPRESSION_LENGTH + 2),
        required=False,
    )
    trial = forms.CharField(
        label=gettext_lazy("Sample text"),
        help_text=gettext_lazy("Preview what would be stored. The sample isn't saved."),
        widget=forms.Textarea(attrs={"rows": 4}),
        max_length=MAX_SAMPLE_LENGTH,
        required=False,
    )

    class Meta:
        model = Copilot
        fields = ("retention_days", "redaction", "redacted_expressions")
        labels = {"retention_days": gettext_lazy("Retention (days)")}
        help_texts = {
            "retention_days": gettext_lazy(
                "Conversations without activity for longer are deleted every night. Leave blank for "
                "unlimited retention."
            )
        }

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.initial["redacted_expressions"] = "\n".join(self.instance.redacted_expressions)
        self.fields["retention_days"].widget.attrs["max"] = MAX_RETENTION_DAYS

    def clean_redacted_expressions(self) -> list[str]:
        lines = [line.strip() for line in self.cleaned_data["redacted_expressions"].splitlines()]
        found = list(dict.fromkeys(filter(None, lines)))
        if len(found) > MAX_EXPRESSIONS:
            raise forms.ValidationError(
                _("Enter at most %(max)d patterns.") % {"max": MAX_EXPRESSIONS}, code="too-many"
            )
        for expression in found:
            wrong = expression_fault(expression)
            if wrong:
                raise forms.ValidationError(
                    _("%(expression)s: %(wrong)s") % {"expression": expression, "wrong": wrong},
                    code="pattern",
                )
        return found

    def redact_sample(self) -> str:
        data = self.cleaned_data
        rules = rules_for(data["redaction"], data["redacted_expressions"])
        return redact_values([str(data["trial"])], rules)[0]


def _midnight(day: Any) -> datetime | None:
    if day is None:
        return None
    return datetime.combine(day, time.min, timezone.get_current_timezone())
