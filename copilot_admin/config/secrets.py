"""The secrets of the server itself: given in production, made once in development."""

from pathlib import Path
import secrets

from copilot_admin.config.encryption import EncryptionKey, new_key, read_key
from copilot_admin.config.env import BadSetting, Environment
from copilot_admin.config.kept_secrets import kept_secret
from copilot_admin.errors import ConfigurationError

SHORTEST_SECRET_KEY = 50  # characters, with at least five different ones: Django's own measure
FEWEST_DIFFERENT = 5
SHORTEST_AUDIT_KEY = 32  # characters: 16 bytes as hexadecimal digits


def secret_key(env: Environment, *, keys_dir: Path, production: bool) -> str:
    """Django's `SECRET_KEY`.

    Raises:
        BadSetting: Production has none, or one that can be guessed.
    """
    key = env.secret("SECRET_KEY")
    if not production:
        return key or kept_secret(keys_dir / "secret-key", lambda: secrets.token_urlsafe(64))
    if not key:
        raise BadSetting("SECRET_KEY is missing. Set 50 random characters or more.")
    if _is_weak(key):
        raise BadSetting("SECRET_KEY is weak. Set 50 random characters or more.")
    return key


def older_secret_keys(env: Environment) -> list[str]:
    """What signed before `SECRET_KEY` did, newest first: it is accepted and signs nothing new.

    Raises:
        BadSetting: One of them can be guessed, so anybody could sign with it.
    """
    keys = env.secret_items("SECRET_KEY_FALLBACKS")
    if any(map(_is_weak, keys)):
        raise BadSetting(
            "SECRET_KEY_FALLBACKS holds a weak key. Keep those that were SECRET_KEY, separated by "
            "commas, or none."
        )
    return list(keys)


def audit_keys(env: Environment) -> tuple[str, ...]:
    """The keys of the audit trail: the first hashes, the others check what was hashed with them before.

    Raises:
        BadSetting: The first can be guessed, so whoever holds the database could forge the trail.
    """
    keys = env.secret_items("COPILOT_AUDIT_KEYS")
    if keys and not _is_long(keys[0], SHORTEST_AUDIT_KEY):
        raise BadSetting(
            f"COPILOT_AUDIT_KEYS begins with a weak key. Put one of {SHORTEST_AUDIT_KEY} random characters "
            "or more before it; those behind the first are only for entries of before."
        )
    return keys


def _is_weak(key: str) -> bool:
    return not _is_long(key, SHORTEST_SECRET_KEY) or "insecure" in key


def _is_long(key: str, shortest: int) -> bool:
    return len(key) >= shortest and len(set(key)) >= FEWEST_DIFFERENT


def encryption_keys(
    env: Environment, *, keys_dir: Path, production: bool
) -> tuple[EncryptionKey, ...]:
    """The keys that seal the secrets of providers, newest first.

    Raises:
        BadSetting: Production has none, or one of them is no key.
    """
    texts = env.secret_items("COPILOT_ENCRYPTION_KEYS")
    if not texts and production:
        raise BadSetting(
            "COPILOT_ENCRYPTION_KEYS is missing. Set 32 random bytes in URL-safe base64."
        )
    texts = texts or (kept_secret(keys_dir / "encryption-key", new_key),)
    try:
        return tuple(read_key(text) for text in texts)
    except ConfigurationError as error:
        raise BadSetting(f"COPILOT_ENCRYPTION_KEYS is wrong: {error.public}.") from None
