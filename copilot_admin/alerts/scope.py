"""Which copilots a rule or a digest is about."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from django.db.models import Q
from django.utils.translation import gettext as _

from copilot_admin.copilots.tags import tagged
from copilot_admin.models import AlertDigest, AlertRule, Copilot


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertScope:
    """The copilots that an alert rule or a digest is about.

    Attributes:
        ids: None: all.
        words: Which they are.
        filters: How the list of transcripts is narrowed to them.
    """

    ids: tuple[int, ...] | None = None
    words: str = ""
    filters: Mapping[str, str] = field(default_factory=dict)

    @property
    def condition(self) -> Q:
        """What a row of the rollups, a run or a conversation has to be."""
        return Q() if self.ids is None else Q(copilot__in=self.ids)

    @property
    def of_feedback(self) -> Q:
        """The condition that a judgement has to meet."""
        return Q() if self.ids is None else Q(turn__conversation__copilot__in=self.ids)


def scope_of(told: AlertRule | AlertDigest) -> AlertScope:
    """The copilots of a rule or a digest, as they are now; one that is on its way out is none."""
    if told.copilot is not None:
        is_there = told.copilot.deletion_requested_at is None
        return AlertScope(
            ids=(told.copilot.pk,) if is_there else (),
            words=_("the copilot %(name)s") % {"name": told.copilot.name},
            filters={"copilot": told.copilot.slug},
        )
    if told.tag:
        found = tagged(Copilot.objects.filter(deletion_requested_at=None), told.tag)
        return AlertScope(
            ids=tuple(found.values_list("pk", flat=True)),
            words=_("copilots tagged %(tag)s") % {"tag": told.tag},
            filters={"tag": told.tag},
        )
    return AlertScope(words=_("all copilots"))
