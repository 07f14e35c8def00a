"""Several rows chosen in a form, each by an id that a row can have.

Django asks the database for whatever number a form names. SQLite takes 64 bits, and of a greater
number its driver makes an `OverflowError`, for which neither Django nor a form has words.
"""

from typing import TYPE_CHECKING, Any

from django.core.exceptions import ValidationError
from django.forms import ModelMultipleChoiceField

if TYPE_CHECKING:
    _Field = ModelMultipleChoiceField[Any]
else:
    _Field = ModelMultipleChoiceField


class ChosenRows(_Field):
    """Refuses an id that is none, in the words for one of a row that is not there."""

    def clean(self, value: Any) -> Any:
        """The rows.

        Raises:
            ValidationError: An id is none, or of no row that is offered.
        """
        if self.queryset is not None and isinstance(value, list | tuple):
            key = self.queryset.model._meta.pk
            for chosen in value:
                try:
                    key.clean(chosen, None)
                except ValidationError as error:
                    raise self._refusal(chosen) from error
        return super().clean(value)

    def _refusal(self, chosen: Any) -> ValidationError:
        told = {"pk": str(chosen)}
        return ValidationError(
            self.error_messages["invalid_pk_value"], code="invalid_pk_value", params=told
        )
