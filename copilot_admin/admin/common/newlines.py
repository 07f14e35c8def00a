"""Lines of what was typed, ended as files end them."""

from django.http import QueryDict


def with_plain_newlines(data: QueryDict) -> QueryDict:
    """What a browser sent, with the lines of every text as they were typed.

    HTML sends each end of a line as two characters. Kept so, a text that came of a file would differ
    in all its lines once somebody has saved it.
    """
    plain = data.copy()
    for name, values in data.lists():
        plain.setlist(name, [_plain(value) for value in values])
    return plain


def _plain(value: str) -> str:
    return value.replace("\r\n", "\n")
