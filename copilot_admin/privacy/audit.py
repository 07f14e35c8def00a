"""Audit entries of legal holds and removals; people are named by fingerprints."""

from dataclasses import asdict

from copilot_admin.audit.parties import Actor, Subject
from copilot_admin.audit.recording import fingerprint, record
from copilot_admin.models import Action, LegalHold, Removal
from copilot_admin.privacy.scopes import PrivacyScope, scope_of

# Numbers and dates. The other values name people, who are forgotten when an erasure is done.
PLAIN_FIELDS = frozenset({"conversation", "copilot", "since", "until", "idle_before"})


def record_hold(hold: LegalHold, *, by: Actor) -> None:
    facts = {**describe_scope(scope_of(hold)), "reason": hold.reason}
    record(Action.HELD, by=by, on=_get_subject(hold), after=facts)


def record_release(hold_id: int, *, by: Actor) -> None:
    record(Action.RELEASED, by=by, on=Subject("legalhold", str(hold_id)))


def record_removal(removal: Removal, *, by: Actor) -> None:
    """Record the beginning of a removal; its row has the numbers of deleted rows."""
    facts = {
        **describe_scope(scope_of(removal)),
        "cause": removal.cause,
        "conversations": removal.total,
        "with_questions": removal.with_questions,
    }
    record(Action.ERASED, by=by, on=_get_subject(removal), after=facts)


def describe_scope(scope: PrivacyScope) -> dict[str, object]:
    """Return the non-empty fields of a scope, with fingerprints instead of people."""
    return {
        name: value if name in PLAIN_FIELDS else {"mark": fingerprint(str(value))}
        for name, value in asdict(scope).items()
        if value not in (None, "")
    }


def _get_subject(row: LegalHold | Removal) -> Subject:
    return Subject(row._meta.model_name or "", str(row.pk))
