"""Proxies that the environment names for outgoing requests."""

from ipaddress import ip_address, ip_network
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass


def find_proxy(url: str) -> str | None:
    """Return the proxy that HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY name for a URL.

    This machine itself is never reached through one. NO_PROXY may hold networks: 10.0.0.0/8.
    """
    parts = urlsplit(url)
    proxies = getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    host = parts.hostname or ""
    if not proxy or _is_excluded(host, proxies.get("no", "")):
        return None
    if proxy_bypass(f"{host}:{parts.port}" if parts.port else host):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


def _is_excluded(host: str, exclusions: str) -> bool:
    try:
        address = ip_address(host)
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
    if address.is_loopback:
        return True
    for exclusion in exclusions.split(","):
        try:
            if address in ip_network(exclusion.strip(), strict=False):
                return True
        except ValueError:
            continue  # it is a name
    return False
