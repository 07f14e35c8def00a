"""An issuer of tokens: its keys, its key set behind an address, and tokens of any kind."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
import json
import time
from typing import Any

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
import jwt

from copilot_admin.copilots.end_users import AskingUser, UserSource
from copilot_admin.copilots.user_tokens import TokenRules, read_key_set
from tests.http_stub import Request, http_stub

ISSUER, AUDIENCE = "https://login.example.com", "copilots"
ADA = AskingUser(id="ada", email="a@b.example", name="Ada L.", source=UserSource.TOKEN)


@cache
def rsa_key(kid: str) -> rsa.RSAPrivateKey:
    """The private key of that name."""
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


@cache
def ec_key(kid: str) -> ec.EllipticCurvePrivateKey:
    """The private key of that name."""
    return ec.generate_private_key(ec.SECP256R1())


def jwk(kid: str, **changes: Any) -> dict[str, Any]:
    """The public half of an RSA key, as key sets have it."""
    public = jwt.algorithms.RSAAlgorithm.to_jwk(rsa_key(kid).public_key(), as_dict=True)
    return {**public, "kid": kid, "use": "sig", "alg": "RS256", **changes}


def ec_jwk(kid: str, **changes: Any) -> dict[str, Any]:
    """The public half of an EC key, as key sets have it."""
    public = jwt.algorithms.ECAlgorithm.to_jwk(ec_key(kid).public_key(), as_dict=True)
    return {**public, "kid": kid, **changes}


def key_set(*keys: dict[str, Any]) -> bytes:
    """A key set; without keys that of one."""
    return json.dumps({"keys": list(keys or (jwk("one"),))}).encode()


def pem(kid: str) -> str:
    """The public half of an RSA key in PEM."""
    public = rsa_key(kid).public_key()
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    return public.public_bytes(serialization.Encoding.PEM, form).decode()


def token_of(
    *, kid: str | None = "one", key: Any = None, algorithm: str = "RS256", **claims: Any
) -> str:
    """A token of Ada that is good for an hour; a claim that is None is left out."""
    now = int(time.time())
    whole = {
        "iss": ISSUER, "aud": AUDIENCE, "sub": "ada", "iat": now, "exp": now + 3600, **claims,
    }  # fmt: skip
    return jwt.encode(
        {name: value for name, value in whole.items() if value is not None},
        rsa_key(kid or "one") if key is None else key,
        algorithm=algorithm,
        headers={} if kid is None else {"kid": kid},
    )


def rules(**changes: Any) -> TokenRules:
    """What tokens of the issuer have to be, by default with its keys at hand."""
    defaults: dict[str, Any] = {
        "algorithms": ("RS256",),
        "issuer": ISSUER,
        "audiences": (AUDIENCE,),
        "leeway": 30.0,
        "keys": read_key_set(key_set(), ("RS256",)),
    }
    return TokenRules(**{**defaults, **changes})


class KeySetServer:
    """The address of a key set, which may be away."""

    def __init__(self) -> None:
        self.body, self.status, self.asked = key_set(), 200, 0
        self.address = ""

    @contextmanager
    def running(self) -> Iterator["KeySetServer"]:
        """Run it on a free port of this machine."""
        with http_stub(self._answer) as base:
            self.address = f"{base}/jwks.json"
            yield self

    def _answer(self, request: Request) -> None:
        self.asked += 1
        request.answer(self.body, self.status)
