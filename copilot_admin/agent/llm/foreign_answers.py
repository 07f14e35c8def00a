"""Names what a provider sent instead of a chat completion."""

from copilot_admin.errors import ProviderBroke, ProviderUnavailable

BOM = b"\xef\xbb\xbf"
_WEB_PAGE = (
    "The provider answered with a web page, not with an answer of a model. Whoever manages this "
    "copilot should check the provider's address: it often ends in /v1."
)
_NOT_UNDERSTOOD = (
    "The model's provider sent something that is no chat completion, so the answer was ended. "
    "Whoever manages this copilot should check the provider's address."
)
_NOTHING = (
    "The model's provider ended its answer before it began: it sent no text, no call of a tool and "
    "no reason. Ask again; if it stays so, whoever manages this copilot should check the "
    "provider's address and model."
)
_BROKE_OFF = (
    "The model's provider broke off before its answer began. Ask again in a moment; if it stays so, "
    "whoever manages this copilot should look whether the model server, or what lies before it, fails."
)
_PACKED = (
    "The model's provider sent its answer packed in a way that nobody asked for and that is not "
    "understood here. Whoever manages this copilot should see to it that what lies before the model "
    "server sends answers as they are."
)
_NO_HTTP = (
    "The model's provider answered with something that cannot be read as HTTP. Whoever manages this "
    "copilot should check the provider's address and port, and what lies before the model server."
)


def is_web_page(data: bytes) -> bool:
    return data[:64].removeprefix(BOM).lstrip().startswith(b"<")


def names_web_page(content_type: str) -> bool:
    """Whether a Content-Type header announces a web page."""
    return content_type.partition(";")[0].strip().lower() in ("text/html", "application/xhtml+xml")


def web_page() -> ProviderBroke:
    """The error of an address behind which there is a web site."""
    return ProviderBroke(_WEB_PAGE)


def strangely_packed() -> ProviderBroke:
    """The error of a body that nobody here can unpack."""
    return ProviderBroke(_PACKED)


def not_understood(data: bytes) -> ProviderBroke:
    """The error of data that is no chunk of a chat completion."""
    return web_page() if is_web_page(data) else ProviderBroke(_NOT_UNDERSTOOD)


def nothing_came() -> ProviderBroke:
    """The error of a stream that ended with neither text nor calls nor a reason."""
    return ProviderBroke(_NOTHING)


def no_http(detail: str) -> ProviderUnavailable:
    """The error of an answer whose head breaks the rules of HTTP, or is none.

    Asking again may help: it can be the rest of an earlier answer of the same connection.
    """
    return ProviderUnavailable(_NO_HTTP, detail=detail)


def broke_off(detail: str = "") -> ProviderUnavailable:
    """The error of a stream that ended behind its head, or amid its first event: the address is right."""
    return ProviderUnavailable(_BROKE_OFF, detail=detail)
