"""Which hosts this service answers for, and which web pages of other origins may call it."""

import re

from copilot_admin.config.addresses import parts_of
from copilot_admin.config.env import BadSetting

# Source: the origins of OpenBB Workspace: web, its preview, desktop, Excel, local and self-hosted.
WORKSPACE_ORIGINS = (
    "https://pro.openbb.co",
    "https://pro.openbb.dev",
    "https://excel.openbb.co",
    "http://localhost:1420",
    "http://localhost",
    "http://localhost:3000",
    "http://localhost:5050",
    "http://localhost:8080",
)
LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "[::1]")
_WEB = frozenset({"http", "https"})
# What the header of a request can match: other scripts come as Punycode, the port is not compared.
_HOST = re.compile(r"\*|(\*?\.)?[A-Za-z0-9_][A-Za-z0-9_.-]*|\[[0-9A-Fa-f:.]+\]")
_WILDCARDS = ("*", ".")
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # a token of RFC 9110


def allowed_hosts(
    listed: tuple[str, ...], *, public_url: str, serving_host: str, production: bool
) -> list[str]:
    """The value of Django's `ALLOWED_HOSTS`.

    Args:
        listed: What the operator named.
        public_url: Address of the service, whose host always counts.
        serving_host: The interface that a development server listens on.
        production: Whether every host has to be named.

    Raises:
        BadSetting: One is more or less than a host; production without any, or with a wildcard.
    """
    for host in listed:
        if not _HOST.fullmatch(host):
            raise BadSetting(
                f"ALLOWED_HOSTS holds {host!r}. Name hosts alone, without scheme, port and path: "
                "a.com,b.com"
            )
    hosts = list(listed)
    public_host = parts_of(public_url).hostname
    if public_host:
        hosts.append(public_host)
    if not production:
        return list(dict.fromkeys([*(hosts or [serving_host]), *LOOPBACK_HOSTS]))
    if not hosts:
        raise BadSetting("ALLOWED_HOSTS is missing. Name the hosts of this service: a.com,b.com")
    if any(host.startswith(_WILDCARDS) for host in hosts):
        raise BadSetting("ALLOWED_HOSTS may not hold a wildcard in production. Name each host.")
    return list(dict.fromkeys(hosts))


def exact_origins(origins: tuple[str, ...]) -> tuple[str, ...]:
    """Origins as browsers write them.

    Raises:
        BadSetting: One is a wildcard, or more or less than scheme, host and port.
    """
    for origin in origins:
        parts = parts_of(origin)
        if parts.scheme not in _WEB or not _is_host(parts.netloc) or origin != _origin(origin):
            raise BadSetting(
                f"CORS_ORIGINS holds {origin!r}. Write each origin as scheme://host or "
                "scheme://host:port in lower case, without a path and without wildcards."
            )
    return origins


def header_names(setting: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """Names of request headers, as an answer to a browser repeats them.

    Raises:
        BadSetting: One is none.
    """
    for name in names:
        if not _HEADER.fullmatch(name):
            raise BadSetting(f"{setting} holds {name!r}. Use names of headers: X-Desk,X-Region")
    return names


def web_address(name: str, url: str, *, production: bool = False) -> str:
    """An address, without a slash at the end; empty stays empty.

    Args:
        name: The variable that has it.
        url: The address.
        production: Whether what is sent there has to travel by https.

    Raises:
        BadSetting: It is no web address, or production would send cookies in the clear.
    """
    parts = parts_of(url)
    if url and (parts.scheme not in _WEB or not parts.hostname):
        raise BadSetting(f"{name} is {url!r}. Use an address like https://copilots.example.com")
    if production and parts.scheme == "http" and parts.hostname not in {"localhost", "127.0.0.1"}:
        raise BadSetting(f"{name} is {url!r}. Production needs https.")
    return url.rstrip("/")


def _is_host(netloc: str) -> bool:
    """Whether browsers would write it so: other scripts as Punycode, and never a user."""
    return (
        bool(netloc) and netloc.isascii() and netloc.isprintable() and not set(netloc) & set(" @")
    )


def _origin(text: str) -> str:
    parts = parts_of(text)
    return f"{parts.scheme}://{parts.netloc}".lower().replace("*", "")
