"""Single sign-on of the admin: OpenID Connect, or the headers of a trusted proxy."""

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field, PlainValidator, SecretStr

from copilot_admin.config.roles import Role
from copilot_admin.config.variables import (
    Group,
    HttpUrl,
    IdentityHeader,
    NetworkList,
    SecretText,
    StringList,
    find_missing,
    split_list,
)


class PasswordSignIn(StrEnum):
    """Users who sign in with a password: all, or superusers on the emergency page."""

    ON = "on"
    EMERGENCY = "emergency"


def parse_group_roles(value: Any) -> Mapping[str, frozenset[Role]]:
    """Parse items such as `analysts:Builders` as roles by group."""
    if isinstance(value, Mapping):
        return value
    roles: dict[str, frozenset[Role]] = {}
    for item in split_list(value):
        group, _, role = (part.strip() for part in item.rpartition(":"))
        if not group or role not in set(Role):
            raise ValueError(f"use group:Role; the roles are {', '.join(Role)}")
        roles[group] = roles.get(group, frozenset()) | {Role(role)}
    return roles


GroupRoles = Annotated[Mapping[str, frozenset[Role]], PlainValidator(parse_group_roles)]


class SecondFactorRule(StrEnum):
    """Users who need a second factor, in addition to those whose role requires it."""

    ROLES = "roles"
    ADMINISTRATORS = "administrators"
    EVERYONE = "everyone"


class RoleMap(Group):
    """The roles of each group of the identity provider, and the groups of superusers."""

    roles: GroupRoles = {}
    superusers: StringList = ()

    def roles_of(self, groups: Iterable[str]) -> frozenset[Role]:
        return frozenset(role for group in groups for role in self.roles.get(group, ()))

    def makes_superuser(self, groups: Iterable[str]) -> bool:
        return not set(self.superusers).isdisjoint(groups)


class OidcProvider(RoleMap):
    """The OpenID Connect provider; without an issuer there is none."""

    issuer: HttpUrl = Field("", validation_alias="COPILOT_OIDC_ISSUER")
    client_id: str = Field("", validation_alias="COPILOT_OIDC_CLIENT_ID")
    client_secret: SecretText = Field(SecretStr(""), validation_alias="COPILOT_OIDC_CLIENT_SECRET")
    roles: GroupRoles = Field({}, validation_alias="COPILOT_OIDC_ROLES")
    superusers: StringList = Field((), validation_alias="COPILOT_OIDC_SUPERUSERS")
    groups_claim: str = Field("groups", validation_alias="COPILOT_OIDC_GROUPS_CLAIM")
    scopes: str = Field("openid profile email", validation_alias="COPILOT_OIDC_SCOPES")
    label: str = Field("", validation_alias="COPILOT_OIDC_LABEL")
    # Groups are read at each sign-in, so a removed group works for so long at most.
    session_minutes: int = Field(480, validation_alias="COPILOT_OIDC_SESSION_MIN", ge=5, le=10_080)

    @property
    def is_configured(self) -> bool:
        return bool(self.issuer)


class SsoProxy(RoleMap):
    """A proxy that names the user in a header; without a header there is none."""

    user_header: IdentityHeader = Field("", validation_alias="COPILOT_PROXY_USER_HEADER")
    groups_header: IdentityHeader = Field("", validation_alias="COPILOT_PROXY_GROUPS_HEADER")
    networks: NetworkList = Field((), validation_alias="COPILOT_PROXY_ALLOW")
    roles: GroupRoles = Field({}, validation_alias="COPILOT_PROXY_ROLES")
    superusers: StringList = Field((), validation_alias="COPILOT_PROXY_SUPERUSERS")

    @property
    def is_configured(self) -> bool:
        return bool(self.user_header)

    @property
    def headers(self) -> tuple[str, ...]:
        return tuple(filter(None, (self.user_header, self.groups_header)))


class SsoSettings(Group):
    oidc: OidcProvider = OidcProvider()
    proxy: SsoProxy = SsoProxy()
    passwords: PasswordSignIn = Field(PasswordSignIn.ON, validation_alias="COPILOT_PASSWORDS")
    # The provider or proxy asks for a second factor itself.
    has_second_factor: bool = Field(False, validation_alias="COPILOT_SSO_MFA")

    @property
    def is_emergency_only(self) -> bool:
        """Return whether passwords are for superusers on the emergency page alone."""
        return self.passwords is PasswordSignIn.EMERGENCY

    def find_problems(self) -> Iterator[str]:
        oidc, proxy = self.oidc, self.proxy
        yield from find_missing(
            COPILOT_OIDC_ISSUER=oidc.issuer,
            COPILOT_OIDC_CLIENT_ID=oidc.client_id,
            COPILOT_OIDC_CLIENT_SECRET=oidc.client_secret,
            COPILOT_OIDC_ROLES=oidc.roles or oidc.superusers,
        )
        yield from find_missing(
            COPILOT_PROXY_USER_HEADER=proxy.user_header,
            COPILOT_PROXY_GROUPS_HEADER=proxy.groups_header,
            COPILOT_PROXY_ALLOW=proxy.networks,
            COPILOT_PROXY_ROLES=proxy.roles or proxy.superusers,
        )
        if oidc.is_configured and "openid" not in oidc.scopes.split():
            yield "COPILOT_OIDC_SCOPES lacks openid. Add it."
        if oidc.is_configured and proxy.is_configured:
            yield "COPILOT_OIDC_ISSUER and COPILOT_PROXY_USER_HEADER are both set. Keep one."
        if self.is_emergency_only and not (oidc.is_configured or proxy.is_configured):
            yield "COPILOT_PASSWORDS is emergency, but there is no single sign-on. Use on."
