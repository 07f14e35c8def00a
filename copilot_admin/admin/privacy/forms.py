"""What people type who keep, hold and erase data."""

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
from copilot_admin.models.privacy import MAX_PRINCIPAL_LENGTH, MAX_REASON_LENGTH
from copilot_admin.privacy.scopes import LAST_DAY, PrivacyScope
from copilot_admin.redaction.expressions import expression_fault
from copilot_admin.redaction.kinds import LABELS, DataKind
from copilot_admin.redaction.redactor import redact_values
from copilot_admin.redaction.rules import (
    MAX_EXPRESSION_LENGTH,
    MAX_EXPRESSIONS,
    rules_for,
)
from copilot_admin.transcripts.search.users import ID_PREFIX, find_user

LONGEST_TRIAL = 20_000  # characters
MOST_ID = 2**63 - 1


def _day(label: Any, help_text: Any) -> forms.DateField:
    return forms.DateField(
        label=label,
        help_text=help_text,
        required=False,
        validators=[MaxValueValidator(LAST_DAY)],
        widget=forms.DateInput(attrs={"type": "date"}),
    )


class ScopeForm(forms.Form):
    """Which conversations are meant; all that is said must hold."""

    conversation = forms.IntegerField(
        label=gettext_lazy("Conversation"),
        help_text=gettext_lazy("The number in the address of its transcript."),
        required=False,
        min_value=1,
        max_value=MOST_ID,
    )
    user = forms.CharField(
        label=gettext_lazy("User"),
        help_text=gettext_lazy(
            "An id, an e-mail address or a name, where a token or a proxy says who asks. id: before "
            "it means the id alone."
        ),
        required=False,
        max_length=len(ID_PREFIX) + MAX_END_USER_LENGTH,
    )
    principal = forms.CharField(
        label=gettext_lazy("Caller"),
        help_text=gettext_lazy("As key:7, or anonymous for all who had no key."),
        required=False,
        max_length=MAX_PRINCIPAL_LENGTH,
    )
    copilot = forms.SlugField(
        label=gettext_lazy("Copilot"), help_text=gettext_lazy("Its slug."), required=False
    )
    since = _day(gettext_lazy("From"), gettext_lazy("Anything was said on this day or later."))
    until = _day(gettext_lazy("To"), gettext_lazy("Anything was said on this day or before."))
    reason = forms.CharField(
        label=gettext_lazy("Reason"),
        help_text=gettext_lazy("For whoever comes upon it: a case, a ticket. No personal data."),
        max_length=MAX_REASON_LENGTH,
    )

    def clean_user(self) -> int | None:
        """The id of the user's row.

        Raises:
            ValidationError: Nobody is called that, or several are.
        """
        text = self.cleaned_data["user"]
        try:
            return find_user(text).pk if text else None
        except ValueError as error:
            raise forms.ValidationError(str(error)) from error

    def clean_copilot(self) -> int | None:
        """The id of the copilot.

        Raises:
            ValidationError: There is none with this slug.
        """
        slug = self.cleaned_data["copilot"]
        if not slug:
            return None
        found = Copilot.objects.filter(slug=slug).values_list("pk", flat=True).first()
        if found is None:
            raise forms.ValidationError(_("There is no copilot with this slug."))
        return found

    def clean(self) -> dict[str, Any]:
        """Refuses a form that means everything, and days the wrong way round.

        Raises:
            ValidationError: Nothing is said, or there is no such time.
        """
        data = super().clean() or {}
        if not self.errors and not self.scope:
            raise forms.ValidationError(
                _("Say what is meant: a conversation, a user, a caller, a copilot or days.")
            )
        since, until = data.get("since"), data.get("until")
        if since and until and since > until:
            self.add_error("until", _("This day is before the first one."))
        return data

    @property
    def scope(self) -> PrivacyScope:
        """The scope that the form describes."""
        data = self.cleaned_data
        until = data.get("until")
        return PrivacyScope(
            conversation=data.get("conversation"),
            user=data.get("user"),
            principal=data.get("principal", ""),
            copilot=data.get("copilot"),
            since=_midnight(data.get("since")),
            until=_midnight(until + timedelta(days=1)) if until else None,
        )


class EraseForm(ScopeForm):
    """Asks what is to be erased, and whether what was learnt from it goes too."""

    with_questions = forms.BooleanField(
        label=gettext_lazy("Also saved questions that were made from it"),
        required=False,
        initial=True,
    )


class KeepingForm(forms.ModelForm):  # type: ignore[type-arg]  # not generic at run time
    """For how long a copilot's transcripts are kept, and what of them is not stored."""

    redaction = forms.MultipleChoiceField(
        label=gettext_lazy("Not stored"),
        choices=[(kind.value, LABELS[kind]) for kind in DataKind],
        widget=forms.CheckboxSelectMultiple,
        required=False,
    )
    redacted_expressions = forms.CharField(
        label=gettext_lazy("Own expressions"),
        help_text=gettext_lazy(
            "Regular expressions, one on each line, such as CUST-[0-9]{6}. One that takes too long "
            "costs the text: a sentence is stored in its place."
        ),
        widget=forms.Textarea(attrs={"rows": 4, "dir": "ltr", "spellcheck": "false"}),
        max_length=MAX_EXPRESSIONS * (MAX_EXPRESSION_LENGTH + 2),
        required=False,
    )
    trial = forms.CharField(
        label=gettext_lazy("Try it"),
        help_text=gettext_lazy("A text; it is not stored. You see what would be."),
        widget=forms.Textarea(attrs={"rows": 4}),
        max_length=LONGEST_TRIAL,
        required=False,
    )

    class Meta:
        model = Copilot
        fields = ("retention_days", "redaction", "redacted_expressions")
        labels = {"retention_days": gettext_lazy("Kept for days")}  # as Django wants it
        help_texts = {
            "retention_days": gettext_lazy(
                "Conversations in which nothing was said for longer are deleted at night. Empty: "
                "they are kept."
            )
        }

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.initial["redacted_expressions"] = "\n".join(self.instance.redacted_expressions)
        self.fields["retention_days"].widget.attrs["max"] = MAX_RETENTION_DAYS

    def clean_redacted_expressions(self) -> list[str]:
        """The expressions.

        Raises:
            ValidationError: There are too many, or one is none.
        """
        lines = [line.strip() for line in self.cleaned_data["redacted_expressions"].splitlines()]
        found = list(dict.fromkeys(filter(None, lines)))
        if len(found) > MAX_EXPRESSIONS:
            raise forms.ValidationError(
                _("%(most)d expressions at most.") % {"most": MAX_EXPRESSIONS}
            )
        for expression in found:
            wrong = expression_fault(expression)
            if wrong:
                raise forms.ValidationError(
                    _("%(expression)s: %(wrong)s") % {"expression": expression, "wrong": wrong}
                )
        return found

    @property
    def tried(self) -> str:
        """What would be stored of the text that is tried, with what stands in the form."""
        data = self.cleaned_data
        rules = rules_for(data["redaction"], data["redacted_expressions"])
        return redact_values([str(data["trial"])], rules)[0]


def _midnight(day: Any) -> datetime | None:
    if day is None:
        return None
    return datetime.combine(day, time.min, timezone.get_current_timezone())
