"""The keys of the hash chains."""

from functools import lru_cache
from hashlib import blake2b

from django.conf import settings

from copilot_admin.transcripts.matching.hash_chain import PUBLIC_KEY


def hash_key(*, keep_content: bool) -> bytes:
    """The key for messages that are kept, or for those of which nothing may be found out.

    The first is no secret, so that conversations survive a new SECRET_KEY; the second makes it
    impossible to try out from the hashes what somebody asked.
    """
    return PUBLIC_KEY if keep_content else _secret_key(settings.SECRET_KEY)


@lru_cache(maxsize=4)
def _secret_key(secret: str) -> bytes:
    return blake2b(secret.encode(), person=b"copilot-chain", digest_size=32).digest()
