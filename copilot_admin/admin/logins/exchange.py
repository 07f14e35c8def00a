"""A code of the provider made into a person: token, signature, claims and what they say."""

from hmac import compare_digest
from typing import Any

from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
import jwt
from mozilla_django_oidc.auth import OIDCAuthenticationBackend
import requests

from copilot_admin.accounts.external_accounts import (
    MAX_EMAIL_LENGTH,
    Identity,
    parse_groups,
    sanitize_name,
)
from copilot_admin.admin.logins.discovery import Endpoints
from copilot_admin.admin.logins.oidc_http import json_of
from copilot_admin.admin.logins.unreached import SILENT, why_unreached
from copilot_admin.config.sso import OidcProvider
from copilot_admin.errors import Unauthorized, Unavailable

ALGORITHM = "RS256"
LEEWAY_SECONDS = 60
NEEDED = ["iss", "sub", "aud", "exp", "iat"]
_NOT_BELIEVED = gettext_noop("What your firm's log-in sent cannot be believed. Log in again.")
_NOT_DONE = gettext_noop("The log-in was not completed. Log in again.")


class CodeExchange(OIDCAuthenticationBackend):  # type: ignore[misc]  # it has no types
    """The client of mozilla-django-oidc, set up by our settings, which checks every claim."""

    def __init__(self, provider: OidcProvider, endpoints: Endpoints) -> None:
        self._provider = provider
        self._endpoints = endpoints
        self._values = {
            "OIDC_OP_TOKEN_ENDPOINT": endpoints.token,
            "OIDC_OP_USER_ENDPOINT": endpoints.userinfo,
            "OIDC_OP_JWKS_ENDPOINT": endpoints.keys,
            "OIDC_RP_CLIENT_ID": provider.client_id,
            "OIDC_RP_CLIENT_SECRET": provider.client_secret.get_secret_value(),
            "OIDC_RP_SIGN_ALGO": ALGORITHM,
        }
        super().__init__()

    def get_settings(self, attr: str, *args: Any) -> Any:
        """What the library asks Django's settings for."""
        return self._values.get(attr, args[0] if args else None)

    def get_token(self, payload: dict[str, str]) -> dict[str, Any]:
        """What the provider gives for a code.

        Raises:
            requests.RequestException: Nothing.
            ValueError: What it says is no such thing.
        """
        said = json_of("POST", self._endpoints.token, data=payload)
        if not isinstance(said, dict):
            raise ValueError("no object")
        return said

    def authenticate(self, request: HttpRequest | None, **kwargs: Any) -> None:
        """Nobody: this is no backend of Django's here."""

    def person(
        self, code: str, *, redirect_uri: str, verifier: str, nonce: str
    ) -> tuple[Identity, str]:
        """Who logged in, and the token that says so.

        Raises:
            Unauthorized: The provider takes no such code, or its answer is not believed.
            Unavailable: It does not answer.
        """
        try:
            tokens = self.get_token(self._asked(code, redirect_uri, verifier))
            token = tokens.get("id_token") or ""
            claims = self.verify_token(token, nonce=nonce)
            said = claims | self._more(tokens.get("access_token") or "", claims)
        except requests.HTTPError as error:
            if error.response is not None and error.response.status_code < 500:
                raise Unauthorized(_(_NOT_DONE)) from error
            raise Unavailable(str(SILENT)) from error
        except OSError as error:  # requests' own, and that there is no file of issuers
            raise Unavailable(str(why_unreached(error))) from error
        except (jwt.PyJWTError, ValueError, TypeError, AttributeError, RecursionError) as error:
            raise Unauthorized(_(_NOT_BELIEVED)) from error
        return self._vouched(said), str(token)

    def verify_token(self, token: str, **kwargs: Any) -> dict[str, Any]:
        """The claims of a token: signed by a key of the provider, for us, in time, asked for by us.

        Raises:
            Unauthorized: It is none of that.
        """
        key = self.retrieve_matching_jwk(token)
        claims: dict[str, Any] = jwt.decode(
            token,
            key,
            algorithms=[ALGORITHM],
            audience=self._provider.client_id,
            issuer=self._endpoints.issuer,
            leeway=LEEWAY_SECONDS,
            options={"require": NEEDED},
        )
        several = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
        if several and claims.get("azp") != self._provider.client_id:
            raise Unauthorized(_(_NOT_BELIEVED))
        nonce = str(kwargs.get("nonce") or "")
        if not nonce or not compare_digest(str(claims.get("nonce")).encode(), nonce.encode()):
            raise Unauthorized(_(_NOT_BELIEVED))
        return claims

    def retrieve_matching_jwk(self, token: str) -> Any:
        """The key that a token names; where it names none, the only one there is.

        Raises:
            Unauthorized: There is none.
        """
        header = jwt.get_unverified_header(token)
        if header.get("alg") != ALGORITHM:
            raise Unauthorized(_(_NOT_BELIEVED))
        said = json_of("GET", self._endpoints.keys)
        keys = [one for one in jwt.PyJWKSet.from_dict(said).keys if one.key_type == "RSA"]
        named = [one for one in keys if one.key_id == header.get("kid")]
        found = named or (keys if "kid" not in header else [])
        if len(found) != 1:
            raise Unauthorized(_(_NOT_BELIEVED))
        return found[0].key

    def _asked(self, code: str, redirect_uri: str, verifier: str) -> dict[str, str]:
        return {
            "client_id": self._provider.client_id,
            "client_secret": self._provider.client_secret.get_secret_value(),
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect_uri,
            "code_verifier": verifier,
        }

    def _more(self, access_token: str, claims: dict[str, Any]) -> dict[str, Any]:
        """What the provider says besides, if it is of the same person.

        Source: https://openid.net/specs/openid-connect-core-1_0.html#UserInfoResponse
        """
        if not (self._endpoints.userinfo and access_token):
            return {}
        said = json_of(
            "GET",
            self._endpoints.userinfo,
            headers={"Authorization": f"Bearer {access_token}"},
        )
        if not isinstance(said, dict) or said.get("sub") != claims["sub"]:
            raise Unauthorized(_(_NOT_BELIEVED))
        return {name: value for name, value in said.items() if name not in NEEDED}

    def _vouched(self, said: dict[str, Any]) -> Identity:
        is_verified = said.get("email_verified") is True
        return Identity(
            issuer=self._endpoints.issuer,
            subject=str(said["sub"]),
            username=sanitize_name(said.get("preferred_username")),
            full_name=sanitize_name(said.get("name")),
            email=sanitize_name(said.get("email"), max_length=MAX_EMAIL_LENGTH)
            if is_verified
            else "",
            groups=parse_groups(said.get(self._provider.groups_claim)),
        )
