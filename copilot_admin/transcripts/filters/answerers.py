"""Filters by what answered: a copilot, its version, a model and its provider."""

from django.db.models import Exists, F, OuterRef, Q
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from copilot_admin.copilots.tags import known_tags, tagged
from copilot_admin.models import Copilot, Provider, Run, SeenKind
from copilot_admin.transcripts.filters.choices import MOST_CHOICES, seen, whole_number
from copilot_admin.transcripts.filters.entries import (
    newest_of,
    newest_of_version,
    of_model,
    of_provider,
    of_version,
)
from copilot_admin.transcripts.filters.filter import (
    Choices,
    FilterControl,
    Index,
    NoSuchValue,
    TranscriptFilter,
)


def _copilot(text: str) -> Q:
    found = _called(text)
    if not found and "," in text:
        slugs = text.split(",")[:MOST_CHOICES]
        found = list(Copilot.objects.filter(slug__in=slugs).values_list("pk", flat=True))
    if not found and text.isascii() and text.isdecimal() and len(text) <= 10:
        found = list(Copilot.objects.filter(pk=int(text)).values_list("pk", flat=True))
    if not found:
        raise NoSuchValue(text)
    return Q(copilot_id=found[0]) if len(found) == 1 else Q(copilot_id__in=found)


def _called(text: str) -> list[int]:
    name = text.casefold()
    rows = Copilot.objects.order_by("pk").values_list("pk", "slug", "name")
    return [pk for pk, slug, known in rows if slug == text or known.casefold() == name]


def _tag(text: str) -> Q:
    return Q(copilot__in=[one.pk for one in tagged(Copilot.objects.all(), text).only("pk")])


def _tags() -> Choices:
    return [(one.tag, one.tag) for one in known_tags(Copilot.objects.all())[:MOST_CHOICES]]


def _copilots() -> Choices:
    rows = Copilot.objects.order_by(F("archived_at").asc(nulls_first=True), "name")
    archived = gettext("%(name)s (archived)")
    return [
        (slug, archived % {"name": name} if archived_at else name)
        for slug, name, archived_at in rows.values_list("slug", "name", "archived_at")[
            :MOST_CHOICES
        ]
    ]


def _run(**of_run: object) -> Q:
    return Q(Exists(Run.objects.filter(conversation=OuterRef("pk"), **of_run)))


def _providers() -> Choices:
    names = Provider.objects.order_by("name").values_list("name", flat=True)[:MOST_CHOICES]
    return [(name, name) for name in names]


ANSWERERS: tuple[TranscriptFilter, ...] = (
    TranscriptFilter(
        name="copilot",
        label=_("Copilot"),
        widget=FilterControl.TYPED,
        condition=_copilot,
        choices=_copilots,
        hint=_("Any; type a name"),
        index=Index.ORDER,
        is_cheap=True,
    ),
    TranscriptFilter(
        name="tag",
        label=_("Tag"),
        widget=FilterControl.TYPED,
        condition=_tag,
        choices=_tags,
        hint=_("Any"),
        index=Index.ORDER,
    ),
    TranscriptFilter(
        name="version",
        label=_("Version"),
        widget=FilterControl.NUMBER,
        condition=lambda text: _run(copilot_version__number=whole_number(text)),
        hint=_("Any"),
        index=Index.IDS,
        entries=of_version,
        newest=newest_of_version,
    ),
    TranscriptFilter(
        name="model",
        label=_("Model"),
        widget=FilterControl.TYPED,
        condition=lambda text: _run(model=text),
        choices=seen(SeenKind.MODEL),
        hint=_("Any"),
        index=Index.IDS,
        entries=of_model,
        newest=newest_of(of_model),
    ),
    TranscriptFilter(
        name="provider",
        label=_("Provider"),
        widget=FilterControl.TYPED,
        condition=lambda text: _run(provider=text),
        choices=_providers,
        hint=_("Any"),
        index=Index.IDS,
        entries=of_provider,
        newest=newest_of(of_provider),
    ),
)
