"""Host names and web origins."""

import re
from urllib.parse import urlsplit

# Web, preview, desktop, Excel, local and self-hosted OpenBB Workspace.
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
# Other scripts arrive as Punycode, and the port isn't compared.
_HOST = re.compile(r"\*|(\*?\.)?[A-Za-z0-9_][A-Za-z0-9_.-]*|\[[0-9A-Fa-f:.]+\]")


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
    if parts.scheme not in ("http", "https") or not parts.hostname or not (is_exact and is_plain):
        raise ValueError(
            "use scheme://host or scheme://host:port in lower case, without path and wildcards"
        )
    return origin
