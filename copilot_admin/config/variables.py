"""Building blocks of the settings model: variable types, groups of variables, secrets in files."""

from collections.abc import Iterable, Iterator
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
import os
from pathlib import Path
import re
from typing import Annotated, Any, TypeAlias
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    AnyHttpUrl,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    PlainValidator,
    SecretStr,
    TypeAdapter,
)
from pydantic.fields import FieldInfo
from pydantic_settings import PydanticBaseSettingsSource, SettingsError

from copilot_admin.config import logs

Network: TypeAlias = IPv4Network | IPv6Network
ALL_NETWORKS: tuple[Network, ...] = (IPv4Network("0.0.0.0/0"), IPv6Network("::/0"))
# Web, preview, desktop, Excel, local and self-hosted OpenBB Workspace.
WORKSPACE_ORIGINS = (
    *("https://pro.openbb.co", "https://pro.openbb.dev", "https://excel.openbb.co"),
    *("http://localhost:1420", "http://localhost"),
    *(f"http://localhost:{port}" for port in (3000, 5050, 8080)),
)
# Other scripts arrive as Punycode, and the port isn't compared.
_HOST = re.compile(r"\*|(\*?\.)?[A-Za-z0-9_][A-Za-z0-9_.-]*|\[[0-9A-Fa-f:.]+\]")
# Names of variables that may hold a provider's key. Of any other variable a builder or operator could
# have the value sent to their own server.
KEY_PREFIX = "COPILOT_KEY_"
FILE_SUFFIX = "_FILE"  # `<NAME>_FILE` names a file with the value of the secret <NAME>
LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")
_HEADER_NAME = re.compile(r"[!#$%&'*+.^`|~0-9A-Za-z-]+")  # RFC 9110, without "_": proxies differ
_RESERVED_HEADERS = ("authorization", "cookie", "host", "x-api-key")


def parse_networks(listed: str | Iterable[str | Network]) -> tuple[Network, ...]:
    """Parse a comma-separated text or a list; an address is a network of one."""
    items = listed.split(",") if isinstance(listed, str) else map(str, listed)
    try:
        return tuple(ip_network(item.strip(), strict=False) for item in items if item.strip())
    except ValueError:
        raise ValueError("use IP addresses or networks, such as 10.0.0.0/8") from None


def covers_everyone(networks: Iterable[Network]) -> bool:
    """Return whether one of the networks holds every IPv4 or every IPv6 address."""
    return any(network.prefixlen == 0 for network in networks)


def is_in(address: str, networks: Iterable[Network]) -> bool:
    """Return whether an address is in one of the networks; IPv4 may be written as IPv6."""
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:  # a Unix socket has no address
        return False
    plain = getattr(parsed, "ipv4_mapped", None) or parsed
    return any(plain in network for network in networks)


def check_host(host: str) -> str:
    """Return a host name for `ALLOWED_HOSTS`; raise ValueError if it is more or less than that."""
    if not _HOST.fullmatch(host):
        raise ValueError("use host names without scheme, port and path: a.com,b.com")
    return host


def check_origin(origin: str) -> str:
    """Return an origin as browsers write it; raise ValueError if it is anything else."""
    parts = urlsplit(origin)
    is_exact = origin == f"{parts.scheme}://{parts.netloc}".lower() and parts.port != 0
    is_plain = origin.isascii() and origin.isprintable() and not set(origin) & set(" @*")
    if parts.scheme in ("http", "https") and parts.hostname and is_exact and is_plain:
        return origin
    raise ValueError(
        "use scheme://host or scheme://host:port in lower case, without path and wildcards"
    )


IS_SECRET = object()  # marks the types of variables that have a `_FILE` variant
_HTTP_URL = TypeAdapter(AnyHttpUrl)


class Group(BaseModel):
    """Variables that belong together; `validation_alias` of a field names its variable."""

    model_config = ConfigDict(validate_by_name=True, extra="forbid", arbitrary_types_allowed=True)


def is_group(field: FieldInfo) -> bool:
    return isinstance(field.annotation, type) and issubclass(field.annotation, Group)


def is_secret(field: FieldInfo) -> bool:
    return IS_SECRET in field.metadata


def get_variable_name(model: type[BaseModel], field_name: str) -> str:
    alias = model.model_fields[field_name].validation_alias
    return str(alias or ("" if issubclass(model, Group) else field_name.upper()))


def iter_variables(model: type[BaseModel]) -> Iterator[tuple[str, FieldInfo]]:
    """Yield the name and the field of each variable of a model and of its groups."""
    for field_name, field in model.model_fields.items():
        if is_group(field):
            yield from iter_variables(field.annotation)  # type: ignore[arg-type]  # a group
        elif name := get_variable_name(model, field_name):
            yield name, field


def read_secret(name: str) -> str:
    """Return a secret from its variable, or from the file that `<name>_FILE` names; "" if unset."""
    value = os.environ.get(name, "").strip()
    file = os.environ.get(name + FILE_SUFFIX, "").strip()
    if not file:
        return value
    if value:
        raise ValueError(f"{name} and {name}_FILE are both set. Remove one of them.")
    try:
        secret = Path(file).read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a UTF-8 text file"
        raise ValueError(f"{name}_FILE: {file} cannot be read: {reason}.") from None
    if not secret:
        raise ValueError(f"{name}_FILE: {file} is empty. Fill it, or remove the variable.")
    return secret


class VariableSource(PydanticBaseSettingsSource):
    """Reads the process environment: empty variables count as unset, logs never show a secret."""

    def __call__(self) -> dict[str, Any]:
        return self._read_model(self.settings_cls)

    def _read_model(self, model: type[BaseModel]) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for field_name, field in model.model_fields.items():
            if is_group(field):
                values[field_name] = self._read_model(field.annotation)  # type: ignore[arg-type]
            elif text := self._read_text(get_variable_name(model, field_name), field):
                values[str(field.validation_alias or field_name)] = text
        return values

    def _read_text(self, name: str, field: FieldInfo) -> str:
        if not is_secret(field):
            return os.environ.get(name, "").strip()
        try:
            secret = read_secret(name)
        except ValueError as error:
            raise SettingsError(str(error)) from None
        logs.hide(secret, *split_list(secret))
        return secret

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        """Part of the interface of sources; `__call__` reads all fields."""
        raise NotImplementedError


def split_list(value: Any) -> Any:
    """Split a text at its commas; return anything else as it is."""
    if not isinstance(value, str):
        return value
    return tuple(filter(None, map(str.strip, value.split(","))))


def check_http_url(url: str) -> str:
    _HTTP_URL.validate_python(url)
    return url.rstrip("/")


def check_header_name(name: str) -> str:
    if not _HEADER_NAME.fullmatch(name):
        raise ValueError("use the name of a request header, such as X-Forwarded-User")
    return name.lower()


def check_identity_header(name: str) -> str:
    if name.lower() in _RESERVED_HEADERS:
        raise ValueError("this header has another meaning, use one such as X-Forwarded-User")
    return check_header_name(name)


def is_insecure(url: str) -> bool:
    """Return whether data sent to this URL crosses a network unencrypted."""
    parts = urlsplit(url)
    return parts.scheme == "http" and parts.hostname not in LOCAL_HOSTS


def find_missing(**variables: object) -> Iterator[str]:
    """Yield a sentence if only some of the variables that need each other are set."""
    missing = [name for name, value in variables.items() if not value]
    given = [name for name in variables if name not in missing]
    if given and missing:
        yield f"{given[0]} needs {' and '.join(missing)} as well."


StringList = Annotated[tuple[str, ...], BeforeValidator(split_list)]
SecretText = Annotated[SecretStr, IS_SECRET]
SecretList = Annotated[tuple[SecretStr, ...], BeforeValidator(split_list), IS_SECRET]
NetworkList = Annotated[tuple[Network, ...], PlainValidator(parse_networks)]
HttpUrl = Annotated[str, AfterValidator(check_http_url)]
HeaderNames = Annotated[
    tuple[Annotated[str, AfterValidator(check_header_name)], ...], BeforeValidator(split_list)
]
IdentityHeader = Annotated[str, AfterValidator(check_identity_header)]
