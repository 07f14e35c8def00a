"""Authentication of callers: API keys, trial passes and tokens of users."""

from collections.abc import Collection
from dataclasses import dataclass

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core import signing
from django.utils import timezone

from copilot_admin.copilots.end_users import AskingUser, UserSource, user_of_admin
from copilot_admin.errors import Forbidden, InvalidKey, Unauthorized, UnknownUser
from copilot_admin.models import Access, EndpointKey
from copilot_admin.models.access import hash_key
from copilot_admin.models.conversations import PLAYGROUND

ANONYMOUS = "anonymous"
TRIAL_PASS_SECONDS = 60  # from the press of a button to the request; the answer may take longer
_TRIAL_START = "trial_"  # no API key begins like this
_TRIAL_SALT = "copilot_admin.trial_pass"


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    # Name in transcripts: `key:<id>`, `anonymous`, or `playground:<id>` for a builder who tests.
    principal: str = ANONYMOUS
    key_id: int | None = None
    copilot_ids: frozenset[int] | None = None  # scope; None: every copilot, with a key
    user: AskingUser | None = None  # if a trusted source names one
    has_token: bool = False  # the user's token counts as a key for every copilot

    @property
    def is_trying(self) -> bool:
        return self.principal.startswith(PLAYGROUND)

    @property
    def user_id(self) -> str:
        """The id of the user; "" if anonymous."""
        return self.user.id if self.user else ""

    def may_ask(self, copilot_id: int, *, access: str) -> bool:
        if access == Access.OPEN:
            return True
        if self.copilot_ids is None:
            return self.key_id is not None or self.has_token
        return copilot_id in self.copilot_ids

    def check_may_ask(self, copilot_id: int, *, access: str) -> None:
        """Raise `Unauthorized` without a key, or `Forbidden` with one for other copilots."""
        if self.may_ask(copilot_id, access=access):
            return
        if self.key_id is None:
            raise Unauthorized(
                "This copilot needs an API key. Send it as 'Authorization: Bearer KEY' or "
                "'X-API-Key: KEY'."
            )
        raise Forbidden(
            "This key may not ask this copilot. Use another key, or ask an operator to add the "
            "copilot to it."
        )


def identify(key: str | None, user: AskingUser | None = None) -> Caller:
    """Return the caller with a key, which is read from the database; `user` is verified."""
    if key is None:
        rules = settings.USER_TOKENS
        has_token = user is not None and user.source is UserSource.TOKEN
        return Caller(user=user, has_token=bool(has_token and rules and rules.opens))
    if key.startswith(_TRIAL_START):
        return _trial(key)
    found = EndpointKey.objects.valid(at=timezone.now()).filter(digest=hash_key(key)).first()
    if found is None:
        raise InvalidKey("This API key is unknown, expired or revoked. Ask for a new one.")
    scope = frozenset(found.copilots.values_list("pk", flat=True)) if found.is_scoped else None
    return Caller(principal=f"key:{found.pk}", key_id=found.pk, copilot_ids=scope, user=user)


def check_user(caller: Caller) -> None:
    """Raise `UnknownUser` for an anonymous caller if the server requires a user."""
    if settings.USER_REQUIRED and caller.user is None and not caller.is_trying:
        raise UnknownUser(
            "This server wants to know who asks. Sign in, so that your token or your firm's proxy "
            "says who you are.",
            code="user-required",
        )


def new_trial_pass(*, user_id: int, copilot_id: int) -> str:
    """Return a signed pass with which a test of the connection asks one published copilot."""
    return _TRIAL_START + signing.dumps([user_id, copilot_id], salt=_TRIAL_SALT)


def _trial(key: str) -> Caller:
    try:
        user_id, copilot_id = signing.loads(
            key.removeprefix(_TRIAL_START), salt=_TRIAL_SALT, max_age=TRIAL_PASS_SECONDS
        )
    except signing.BadSignature:
        raise InvalidKey("This test session has expired. Start again.") from None
    builder = get_user_model().objects.filter(pk=user_id).first()
    return Caller(
        principal=f"{PLAYGROUND}{user_id}",
        copilot_ids=frozenset((copilot_id,)),
        user=user_of_admin(builder) if builder else None,
    )


def valid_keys(ids: Collection[int]) -> frozenset[int]:
    """Return the keys that are still valid; reads the database."""
    valid = EndpointKey.objects.valid(at=timezone.now()).filter(pk__in=ids)
    return frozenset(valid.values_list("pk", flat=True))


def switched_off(principals: Collection[str]) -> frozenset[str]:
    """Return the builders whose account was disabled since; reads the database.

    A command that tries has no account.
    """
    names = (one.removeprefix(PLAYGROUND) for one in principals)
    ids = {int(name) for name in names if name.isdecimal()}
    gone = get_user_model().objects.filter(pk__in=ids, is_active=False)
    return frozenset(f"{PLAYGROUND}{pk}" for pk in gone.values_list("pk", flat=True))
