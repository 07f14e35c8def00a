"""Makes a new draft that is like another copilot's."""

from itertools import count

from django.db import transaction

from copilot_admin.copilots.questions.order import copy_questions
from copilot_admin.copilots.slugs import LONGEST, free_slug
from copilot_admin.models import Copilot

SUFFIX = " (copy)"
LONGEST_ORIGINAL = LONGEST - len("-copy")


def duplicate(copilot: Copilot) -> Copilot:
    """A draft with the same content and questions, a name and slug of its own, never published."""
    copy = Copilot.objects.get(pk=copilot.pk)
    copy.pk = None
    copy._state.adding = True
    copy.live = None
    copy.archived_at = copy.deletion_requested_at = copy.deletion_moved_at = None
    copy.name = _free_name(copilot.name)
    copy.slug = free_slug(copilot.slug[:LONGEST_ORIGINAL].rstrip("-") + "-copy")
    with transaction.atomic():
        copy.save()
        copy_questions(copilot, to=copy)
    return copy


def _free_name(name: str) -> str:
    longest = Copilot._meta.get_field("name").max_length or 0
    suffixes = (SUFFIX if number == 1 else f" (copy {number})" for number in count(1))
    names = (name[: longest - len(suffix)] + suffix for suffix in suffixes)
    return next(name for name in names if not Copilot.objects.filter(name__iexact=name).exists())
