"""Tokens of users, signed by a key of ours, and the environment of a server that takes them."""

import json
from pathlib import Path
import time

from cryptography.hazmat.primitives.asymmetric import rsa
import jwt

ISSUER, AUDIENCE = "https://login.example.com", "copilots"
_KEY_ID = "one"


def new_key() -> rsa.RSAPrivateKey:
    """A key to sign with."""
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def token(key: rsa.RSAPrivateKey, user: str, *, email: str, name: str) -> str:
    """A token of a user, good for two hours."""
    claims = {
        "iss": ISSUER,
        "aud": AUDIENCE,
        "exp": int(time.time()) + 7200,
        "sub": user,
        "email": email,
        "name": name,
    }
    return jwt.encode(claims, key, algorithm="RS256", headers={"kid": _KEY_ID})


def variables(key: rsa.RSAPrivateKey, folder: Path) -> dict[str, str]:
    """The environment of a server that takes such tokens."""
    public = jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key(), as_dict=True)
    file = folder / "jwks.json"
    file.write_text(json.dumps({"keys": [{**public, "kid": _KEY_ID}]}))
    return {
        "COPILOT_USER_JWKS_FILE": str(file),
        "COPILOT_USER_ISSUER": ISSUER,
        "COPILOT_USER_AUDIENCE": AUDIENCE,
        "COPILOT_USER_REQUIRED": "true",
    }
