"""What others are told of a user: providers of models, the log, traces."""

import hashlib
import hmac

from django.conf import settings

from copilot_admin.copilots.token_rules import UserIdDisclosure
from copilot_admin.copilots.users import AskingUser

HASH_DIGITS = 32


def named(user: AskingUser | None, naming: UserIdDisclosure) -> str:
    """A user as he is told of; "" if he is not."""
    if user is None or naming is UserIdDisclosure.NONE:
        return ""
    return user.id if naming is UserIdDisclosure.PLAIN else hashed(user.id)


def hashed(user_id: str) -> str:
    """A keyed hash of a user's id, by which who has the database finds him again."""
    key = hashlib.sha256(b"end-user:" + settings.SECRET_KEY.encode()).digest()
    return hmac.new(key, user_id.encode(), hashlib.sha256).hexdigest()[:HASH_DIGITS]
