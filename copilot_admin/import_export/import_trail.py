"""Says in the audit trail what an import did to each row."""

from collections.abc import Iterable

from copilot_admin.audit.parties import Actor, Subject
from copilot_admin.audit.recording import record
from copilot_admin.import_export.import_changes import Effect, ImportedChange
from copilot_admin.models import Action, Copilot, Provider

QUESTIONS = "questions"  # their words may be those of somebody in a transcript


def record_import(changes: Iterable[ImportedChange], *, by: Actor) -> None:
    """Adds an entry for each row that is another one now; call it in the transaction of the import."""
    for change in changes:
        if change.effect is Effect.UNCHANGED and not change.published:
            continue
        before = {one.key: _told(one.key, one.before) for one in change.differences}
        after = {one.key: _told(one.key, one.after) for one in change.differences}
        facts = {"effect": change.effect.value, "published": change.published}
        record(Action.IMPORTED, by=by, on=_subject(change), before=before, after=after | facts)


def _subject(change: ImportedChange) -> Subject:
    kind, _, name = change.name.partition(" ")
    rows = (
        Copilot.objects.filter(slug=name)
        if kind == "copilot"
        else Provider.objects.filter(name=name)
    )
    pk = rows.values_list("pk", flat=True).first()
    return Subject(kind, str(pk or ""), name)


def _told(key: str, value: object) -> object:
    return len(value) if key == QUESTIONS and isinstance(value, list) else value
