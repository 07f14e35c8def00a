"""Says in the audit trail what is held, released, erased and pruned; whom it is about as a mark."""

from dataclasses import asdict

from copilot_admin.audit.parties import Actor, Subject
from copilot_admin.audit.recording import fingerprint, record
from copilot_admin.models import Action, LegalHold, Removal
from copilot_admin.privacy.scopes import PrivacyScope, scope_of

# Whom an erasure is about is forgotten when it is done; these are numbers and days.
TOLD = frozenset({"conversation", "copilot", "since", "until", "idle_before"})


def record_hold(hold: LegalHold, *, by: Actor) -> None:
    """Notes in the audit trail that a legal hold was placed."""
    facts = {**facts_of(scope_of(hold)), "reason": hold.reason}
    record(Action.HELD, by=by, on=_subject(hold), after=facts)


def record_release(hold_id: int, *, by: Actor) -> None:
    """A legal hold was released."""
    record(Action.RELEASED, by=by, on=Subject("legalhold", str(hold_id)))


def record_removal(removal: Removal, *, by: Actor) -> None:
    """Something begins to be removed; its row says what went."""
    facts = {
        **facts_of(scope_of(removal)),
        "cause": removal.cause,
        "conversations": removal.total,
        "with_questions": removal.with_questions,
    }
    record(Action.ERASED, by=by, on=_subject(removal), after=facts)


def facts_of(scope: PrivacyScope) -> dict[str, object]:
    """What is meant, without whom it is about."""
    said = {name: value for name, value in asdict(scope).items() if value not in (None, "")}
    return {
        name: value if name in TOLD else {"mark": fingerprint(str(value))}
        for name, value in said.items()
    }


def _subject(row: LegalHold | Removal) -> Subject:
    return Subject(row._meta.model_name or "", str(row.pk))
