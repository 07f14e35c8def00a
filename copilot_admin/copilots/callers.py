"""Who is asking: the one function that authenticates every form of credential."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from django.utils import timezone

from copilot_admin.copilots.trial_passes import TrialPass, is_trial_pass, trial_pass_in
from copilot_admin.errors import Forbidden, Unauthorized, WrongKey
from copilot_admin.models import Access, EndpointKey
from copilot_admin.models.access import digest_of
from copilot_admin.models.transcripts import PLAYGROUND

ANONYMOUS = "anonymous"


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who sends a request.

    Attributes:
        principal: Name of the caller in transcripts: `key:<id>`, `anonymous`, or of a builder who
            tries a copilot `playground:<id>`.
        key_id: Of the key that was used, if one was.
        copilot_ids: What a scoped key or a trial pass may ask; None: every copilot, with a key.
    """

    principal: str = ANONYMOUS
    key_id: int | None = None
    copilot_ids: frozenset[int] | None = None

    @property
    def is_trying(self) -> bool:
        """Whether this is a trial, which is no use of a copilot."""
        return self.principal.startswith(PLAYGROUND)

    def may_ask(self, copilot_id: int, *, access: str) -> bool:
        """Whether this caller may ask a copilot that has this access."""
        if access == Access.OPEN:
            return True
        if self.copilot_ids is None:
            return self.key_id is not None
        return copilot_id in self.copilot_ids

    def check_may_ask(self, copilot_id: int, *, access: str) -> None:
        """Lets a caller through.

        Raises:
            Unauthorized: The copilot wants a key and none came.
            Forbidden: The key is good, but not for this copilot.
        """
        if self.may_ask(copilot_id, access=access):
            return
        if self.key_id is None:
            raise Unauthorized(
                "This copilot needs an endpoint key. Send it as 'Authorization: Bearer KEY' or "
                "'X-API-Key: KEY'."
            )
        raise Forbidden(
            "This key may not ask this copilot. Use another key, or ask an operator to add the "
            "copilot to it."
        )


def key_in(headers: Mapping[str, str]) -> str | None:
    """The endpoint key that a request carries, in either of its two forms.

    Args:
        headers: Request headers; looked up without regard to case.
    """
    scheme, _, token = headers.get("Authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return token.strip()
    return headers.get("X-API-Key")


def identify(key: str | None) -> Caller:
    """Finds out who a key belongs to; reads the database, so a revoked key ends at once.

    Raises:
        WrongKey: The key is unknown, expired or revoked.
    """
    if key is None:
        return Caller()
    if is_trial_pass(key):
        return _trial(trial_pass_in(key))
    found = EndpointKey.objects.valid(at=timezone.now()).filter(digest=digest_of(key)).first()
    if found is None:
        raise WrongKey("This endpoint key is unknown, expired or revoked. Ask for a new one.")
    scope = frozenset(found.copilots.values_list("pk", flat=True)) if found.is_scoped else None
    return Caller(principal=f"key:{found.pk}", key_id=found.pk, copilot_ids=scope)


def _trial(found: TrialPass | None) -> Caller:
    """Who tries what is live, as if he tried a draft: he is in no list and in no figure."""
    if found is None:
        raise WrongKey("This pass for a trial has expired. Begin the trial anew.")
    return Caller(
        principal=f"{PLAYGROUND}{found.user_id}", copilot_ids=frozenset((found.copilot_id,))
    )


def valid_keys(ids: Collection[int]) -> frozenset[int]:
    """Which of these keys still open something; reads the database."""
    valid = EndpointKey.objects.valid(at=timezone.now()).filter(pk__in=ids)
    return frozenset(valid.values_list("pk", flat=True))
