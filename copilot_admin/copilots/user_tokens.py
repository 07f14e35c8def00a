"""Settings of end users: tokens that name them, and proxies that may name them in headers."""

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Self

from pydantic import Field, SecretStr, model_validator

from copilot_admin.config.variables import (
    Group,
    HttpUrl,
    IdentityHeader,
    NetworkList,
    SecretText,
    StringList,
    find_missing,
)
from copilot_admin.copilots.jwks import (
    PUBLIC_ALGORITHMS,
    SHARED_ALGORITHMS,
    InvalidKeySet,
    KeySet,
    read_key,
    read_key_set,
)

MIN_SHARED_SECRET_BYTES = 32  # for HS256: RFC 7518, 3.2


class UserIdDisclosure(StrEnum):
    """How providers, logs and traces name a user; a hash can't be reversed without SECRET_KEY."""

    NONE = "none"
    HASHED = "hashed"
    PLAIN = "plain"


class TokenRules(Group):
    """Requirements for tokens of users; `keys` is None if the key set is fetched."""

    jwks_url: HttpUrl = Field("", validation_alias="COPILOT_USER_JWKS_URL")
    jwks_file: str = Field("", validation_alias="COPILOT_USER_JWKS_FILE")
    key: SecretText = Field(SecretStr(""), validation_alias="COPILOT_USER_KEY")
    algorithms: StringList = Field((), validation_alias="COPILOT_USER_ALGORITHMS")
    issuer: str = Field("", validation_alias="COPILOT_USER_ISSUER")
    audiences: StringList = Field((), validation_alias="COPILOT_USER_AUDIENCE")
    leeway: float = Field(30, validation_alias="COPILOT_USER_LEEWAY_S", ge=0, le=600)
    header: IdentityHeader = Field("", validation_alias="COPILOT_USER_TOKEN_HEADER")
    id_claims: StringList = Field(("sub",), validation_alias="COPILOT_USER_ID_CLAIM")
    email_claims: StringList = Field(("email",), validation_alias="COPILOT_USER_EMAIL_CLAIM")
    name_claims: StringList = Field(("name",), validation_alias="COPILOT_USER_NAME_CLAIM")
    opens: bool = Field(False, validation_alias="COPILOT_USER_TOKENS_OPEN")
    keys: KeySet | None = Field(None, repr=False)

    @property
    def is_configured(self) -> bool:
        return bool(self.jwks_url or self.jwks_file or self.key)

    @model_validator(mode="after")
    def _load_keys(self) -> Self:
        if self.keys is not None:
            return self
        key = self.key.get_secret_value()
        is_shared = bool(key) and "-----BEGIN" not in key
        self.algorithms = self.algorithms or (("HS256",) if is_shared else ("RS256",))
        # A shared secret and public keys never share an allow-list (RFC 8725, 3.1).
        allowed = SHARED_ALGORITHMS if is_shared else PUBLIC_ALGORITHMS
        if not set(self.algorithms).issubset(allowed):
            raise ValueError(f"COPILOT_USER_ALGORITHMS: use some of {', '.join(allowed)}.")
        if is_shared and len(key.encode()) < MIN_SHARED_SECRET_BYTES:
            raise ValueError(f"COPILOT_USER_KEY: use at least {MIN_SHARED_SECRET_BYTES} bytes.")
        if "PRIVATE KEY" in key:
            raise ValueError("COPILOT_USER_KEY is a private key. Use the public key.")
        try:
            if key:
                self.keys = read_key(key, self.algorithms)
            elif self.jwks_file:
                self.keys = read_key_set(Path(self.jwks_file).read_bytes(), self.algorithms)
        except (OSError, InvalidKeySet) as error:
            variable = "COPILOT_USER_KEY" if key else f"COPILOT_USER_JWKS_FILE={self.jwks_file}"
            raise ValueError(f"{variable}: {getattr(error, 'strerror', None) or error}") from None
        return self

    def find_problems(self) -> Iterator[str]:
        """Yield a sentence for each contradiction."""
        names = "COPILOT_USER_JWKS_URL, COPILOT_USER_JWKS_FILE and COPILOT_USER_KEY"
        if len([one for one in (self.jwks_url, self.jwks_file, self.key) if one]) > 1:
            yield f"Tokens are checked with one key or key set. Keep one of {names}."
        yield from find_missing(
            COPILOT_USER_ISSUER=self.issuer,
            COPILOT_USER_AUDIENCE=self.audiences,
            COPILOT_USER_JWKS_URL=self.is_configured,
        )


class ProxyRules(Group):
    """The proxies that may name the user, and the headers in which they do."""

    networks: NetworkList = Field((), validation_alias="COPILOT_USER_PROXIES")
    id_header: IdentityHeader = Field("", validation_alias="COPILOT_USER_ID_HEADER")
    email_header: IdentityHeader = Field("", validation_alias="COPILOT_USER_EMAIL_HEADER")
    name_header: IdentityHeader = Field("", validation_alias="COPILOT_USER_NAME_HEADER")

    @property
    def headers(self) -> tuple[str, ...]:
        return tuple(filter(None, (self.id_header, self.email_header, self.name_header)))
