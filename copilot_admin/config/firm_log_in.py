"""How people log in with the firm's accounts: OpenID Connect, or a header of a trusted proxy."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
import re
from types import MappingProxyType

from copilot_admin.config.addresses import parts_of
from copilot_admin.config.env import BadSetting, Environment
from copilot_admin.config.networks import Network, networks
from copilot_admin.config.roles import Role

_TOKEN = re.compile(r"[!#$%&'*+.^`|~0-9A-Za-z-]{1,100}")  # of RFC 9110, without "_": proxies differ


class Passwords(StrEnum):
    """Who logs in with a password."""

    ON = "on"
    EMERGENCY = "emergency"


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleMap:
    """What the firm's groups are allowed here.

    Attributes:
        roles: Roles by the name of a group.
        superusers: Groups whose members may do everything.
    """

    roles: Mapping[str, frozenset[Role]] = field(default_factory=lambda: MappingProxyType({}))
    superusers: frozenset[str] = frozenset()

    @property
    def is_there(self) -> bool:
        """Whether any group is allowed anything."""
        return bool(self.roles or self.superusers)

    def roles_of(self, groups: Sequence[str]) -> frozenset[Role]:
        """The roles that somebody in these groups has."""
        return frozenset(role for group in groups for role in self.roles.get(group, ()))

    def makes_superuser(self, groups: Sequence[str]) -> bool:
        """Whether somebody in these groups may do everything."""
        return not self.superusers.isdisjoint(groups)


@dataclass(frozen=True, slots=True, kw_only=True)
class OidcProvider:
    """The provider of OpenID Connect; without an issuer there is none.

    Attributes:
        minutes: So long after a log-in at most counts what it said of groups.
    """

    issuer: str = ""
    client_id: str = ""
    client_secret: str = field(default="", repr=False)
    scopes: str = "openid profile email"
    groups_claim: str = "groups"
    label: str = ""
    minutes: float = 15.0
    map: RoleMap = RoleMap()

    @property
    def is_there(self) -> bool:
        """Whether people log in with it."""
        return bool(self.issuer)


@dataclass(frozen=True, slots=True, kw_only=True)
class UserProxy:
    """The proxy that says who somebody is; without a header there is none."""

    user_header: str = ""
    groups_header: str = ""
    networks: tuple[Network, ...] = ()
    map: RoleMap = RoleMap()

    @property
    def is_there(self) -> bool:
        """Whether a proxy is believed at all."""
        return bool(self.user_header)

    @property
    def headers(self) -> tuple[str, ...]:
        """The names of its headers, in lower case."""
        return tuple(filter(None, (self.user_header, self.groups_header)))


@dataclass(frozen=True, slots=True, kw_only=True)
class FirmLogIn:
    """How people log in: by the firm's provider, by its proxy, by passwords."""

    oidc: OidcProvider = OidcProvider()
    proxy: UserProxy = UserProxy()
    passwords: Passwords = Passwords.ON

    @property
    def is_emergency_only(self) -> bool:
        """Whether passwords are for superusers alone, at an address of their own."""
        return self.passwords is Passwords.EMERGENCY


def firm_log_in(env: Environment, *, production: bool) -> FirmLogIn:
    """How people log in with the firm's accounts, if they do.

    Raises:
        BadSetting: Half of it is missing, or it contradicts itself.
    """
    found = FirmLogIn(
        oidc=_oidc(env, production=production),
        proxy=_proxy(env, production=production),
        passwords=env.choice("COPILOT_PASSWORDS", Passwords, default=Passwords.ON),
    )
    if found.oidc.is_there and found.proxy.is_there:
        raise BadSetting(
            "COPILOT_OIDC_ISSUER and COPILOT_PROXY_USER_HEADER are both set. Keep one of them."
        )
    if found.is_emergency_only and not (found.oidc.is_there or found.proxy.is_there):
        raise BadSetting(
            "COPILOT_PASSWORDS is emergency, and there is no other log-in. "
            "Set COPILOT_OIDC_ISSUER or COPILOT_PROXY_USER_HEADER, or use on."
        )
    return found


def _oidc(env: Environment, *, production: bool) -> OidcProvider:
    provider = OidcProvider(
        issuer=env.text("COPILOT_OIDC_ISSUER").rstrip("/"),
        client_id=env.text("COPILOT_OIDC_CLIENT_ID"),
        client_secret=env.secret("COPILOT_OIDC_CLIENT_SECRET"),
        scopes=" ".join(env.text("COPILOT_OIDC_SCOPES", "openid profile email").split()),
        groups_claim=env.text("COPILOT_OIDC_GROUPS_CLAIM", "groups"),
        label=env.text("COPILOT_OIDC_LABEL"),
        minutes=env.number("COPILOT_OIDC_RENEW_MIN", default=15, minimum=1, maximum=1440),
        map=RoleMap(
            roles=roles_in(env.items("COPILOT_OIDC_ROLES"), setting="COPILOT_OIDC_ROLES"),
            superusers=frozenset(env.items("COPILOT_OIDC_SUPERUSERS")),
        ),
    )
    named = {
        "COPILOT_OIDC_CLIENT_ID": provider.client_id,
        "COPILOT_OIDC_CLIENT_SECRET": provider.client_secret,
        _named_map("COPILOT_OIDC", provider.map): provider.map.is_there,
    }
    _check_whole("COPILOT_OIDC_ISSUER", provider.issuer, named)
    if not provider.is_there:
        return provider
    _check_issuer(provider.issuer, production=production)
    if "openid" not in provider.scopes.split():
        raise BadSetting("COPILOT_OIDC_SCOPES lacks openid. Add it.")
    return provider


def _proxy(env: Environment, *, production: bool) -> UserProxy:
    user = env.text("COPILOT_PROXY_USER_HEADER").lower()
    proxies = env.items("COPILOT_PROXY_ALLOW")
    groups = env.text("COPILOT_PROXY_GROUPS_HEADER").lower()
    mapped = RoleMap(
        roles=roles_in(env.items("COPILOT_PROXY_ROLES"), setting="COPILOT_PROXY_ROLES"),
        superusers=frozenset(env.items("COPILOT_PROXY_SUPERUSERS")),
    )
    named = {
        "COPILOT_PROXY_GROUPS_HEADER": groups,
        "COPILOT_PROXY_ALLOW": proxies,
        _named_map("COPILOT_PROXY", mapped): mapped.is_there,
    }
    _check_whole("COPILOT_PROXY_USER_HEADER", user, named)
    for name, header in (
        ("COPILOT_PROXY_USER_HEADER", user),
        ("COPILOT_PROXY_GROUPS_HEADER", groups),
    ):
        if header and not _TOKEN.fullmatch(header):
            raise BadSetting(f"{name} is {header!r}. Use the name of a header: X-Forwarded-User.")
    return UserProxy(
        user_header=user,
        groups_header=groups,
        networks=networks(proxies, setting="COPILOT_PROXY_ALLOW", production=production),
        map=mapped,
    )


def _named_map(prefix: str, mapped: RoleMap) -> str:
    """The variable that says what groups may do: the one that is set, where only one is."""
    only_superusers = mapped.superusers and not mapped.roles
    return f"{prefix}_{'SUPERUSERS' if only_superusers else 'ROLES'}"


def _check_whole(first: str, value: str, others: Mapping[str, object]) -> None:
    """Refuses a part of a configuration without the rest."""
    missing = [name for name, other in others.items() if not other]
    if value and missing:
        raise BadSetting(f"{first} is set without {missing[0]}. Set both, or neither.")
    there = [name for name, other in others.items() if other]
    if there and not value:
        raise BadSetting(f"{there[0]} is set without {first}. Set both, or neither.")


def _check_issuer(issuer: str, *, production: bool) -> None:
    parts = parts_of(issuer)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query:
        raise BadSetting(
            f"COPILOT_OIDC_ISSUER is {issuer!r}. Use an address such as https://login.example.com."
        )
    if production and parts.scheme != "https":
        raise BadSetting(f"COPILOT_OIDC_ISSUER is {issuer!r}. Production needs https.")


def roles_in(items: Sequence[str], *, setting: str) -> Mapping[str, frozenset[Role]]:
    """Roles by group, of items such as `analysts:Builders`; a group may stand more than once.

    Raises:
        BadSetting: An item is none, or names a role that there is not.
    """
    found: dict[str, frozenset[Role]] = {}
    for item in items:
        group, colon, name = (part.strip() for part in item.rpartition(":"))
        if not colon or not group:
            raise BadSetting(
                f"{setting} holds {item!r}. Use group:Role, such as analysts:Builders."
            )
        if name not in set(Role):
            known = ", ".join(Role)
            raise BadSetting(f"{setting} names the role {name!r}. Use one of {known}.")
        found[group] = found.get(group, frozenset()) | {Role(name)}
    return MappingProxyType(found)
