"""Reads which user a trusted proxy names in the headers of a request."""

from functools import partial

from copilot_admin.config.asking_users import ProxyRules
from copilot_admin.copilots.users import ProxyWords
from copilot_admin.http.asgi_types import App, Headers, Scope
from copilot_admin.http.proxy_headers import ProxyHeaders, values_of

WORDS_KEY = "copilot_admin.proxy_words"  # in the scope: what a trusted proxy says


class ProxyUsers(ProxyHeaders):
    """ASGI middleware; where no header is set up, nothing is done.

    Args:
        app: Gets the requests, with what a proxy says under `WORDS_KEY`.
        rules: Which headers, and which proxies.
    """

    def __init__(self, app: App, rules: ProxyRules) -> None:
        super().__init__(
            app,
            headers=rules.headers,
            proxies=rules.networks,
            key=WORDS_KEY,
            read=partial(_words, rules),
        )


def _words(rules: ProxyRules, rows: Headers) -> ProxyWords:
    return ProxyWords(
        ids=values_of(rules.id_header, rows),
        emails=values_of(rules.email_header, rows),
        names=values_of(rules.name_header, rows),
    )


def words_in(scope: Scope) -> ProxyWords | None:
    """What a trusted proxy says of the user; None: nothing, or it is none."""
    words: ProxyWords | None = scope.get(WORDS_KEY)
    return words
