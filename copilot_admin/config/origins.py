"""Which hosts this service answers for, and which web pages of other origins may call it."""

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
        BadSetting: Production without a host, or with a wildcard.
    """
    hosts = list(listed)
    public_host = parts_of(public_url).hostname
    if public_host:
        hosts.append(public_host)
    if not production:
        return list(dict.fromkeys([*(hosts or [serving_host]), *LOOPBACK_HOSTS]))
    if not hosts:
        raise BadSetting("ALLOWED_HOSTS is missing. Name the hosts of this service: a.com,b.com")
    if any(host.startswith("*") for host in hosts):
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


def web_address(name: str, url: str, *, production: bool) -> str:
    """An address of this service, without a slash at the end; empty stays empty.

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
