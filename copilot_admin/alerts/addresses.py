"""Mail addresses as people type them, and addresses of webhooks."""

from urllib.parse import urlsplit

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.utils.translation import gettext as _

from copilot_admin.alerts.plain import one_line
from copilot_admin.errors import ConfigurationError
from copilot_admin.models.alerts import LONGEST_ADDRESS, LONGEST_URL

MOST_ADDRESSES = 20
LONGEST_TEXT = (MOST_ADDRESSES + 1) * (LONGEST_ADDRESS + 2)


def mail_addresses(text: str) -> list[str]:
    """The addresses that somebody typed with commas or lines between them, each once.

    Raises:
        ConfigurationError: One is no address, or there are too many.
    """
    if len(text) > LONGEST_TEXT:
        raise _too_many()
    found = typed_addresses(text)
    for address in found:
        check_address(address)
    if len(found) > MOST_ADDRESSES:
        raise _too_many()
    return found


def typed_addresses(text: str) -> list[str]:
    """What stands between commas or line ends, each once, whether it is an address or not."""
    parts = text.replace(",", "\n").replace(";", "\n").splitlines()
    found: dict[str, str] = {}
    for address in filter(None, map(str.strip, parts)):
        found.setdefault(address.casefold(), address)
    return list(found.values())


def webhook_url(text: str) -> str:
    """The address of a webhook.

    Raises:
        ConfigurationError: It is none.
    """
    url = text.strip()
    try:
        parts = urlsplit(url)
        is_url = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_url = False
    if not is_url or not url.isprintable() or " " in url or len(url) > LONGEST_URL:
        raise ConfigurationError(_("Enter an address such as https://hooks.example.com/alerts."))
    if parts.username is not None or parts.password is not None:
        raise ConfigurationError(
            _("Leave name and password out: whoever listens knows us by the signature.")
        )
    return url


def check_address(address: str) -> None:
    """Looks whether mail can be sent to an address.

    Raises:
        ConfigurationError: It is none.
    """
    try:
        validate_email(address)
    except ValidationError:
        address_ = one_line(address, most=80)
        raise ConfigurationError(_("“%(text)s” is no mail address.") % {"text": address_}) from None
    if len(address) > LONGEST_ADDRESS:
        raise ConfigurationError(_("A mail address has at most 254 characters."))


def _too_many() -> ConfigurationError:
    sentence = _("At most %(most)d addresses are told. Use a mailing list for more.")
    return ConfigurationError(sentence % {"most": MOST_ADDRESSES})
