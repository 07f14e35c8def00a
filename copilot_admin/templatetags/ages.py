"""How long ago something was, in words."""

from datetime import datetime, timedelta

from django import template
from django.utils import timezone
from django.utils.timesince import timesince
from django.utils.translation import gettext as _

register = template.Library()
JUST_NOW = timedelta(minutes=1)  # the smallest age that Django has words for


@register.filter
def ago(when: datetime) -> str:
    """An age, as behind "published"."""
    now = timezone.now()
    if now - when < JUST_NOW:
        return _("just now")
    return _("%(age)s ago") % {"age": timesince(when, now)}
