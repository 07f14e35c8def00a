"""What was said in many conversations at once, named by one parameter.

Django writes a parameter for each id: of eight thousand it took forty milliseconds to write them, more
than the database took to read the texts.
"""

from collections.abc import Sequence
import json

from django.db import connection
from django.db.models import BooleanField, F, Func, IntegerField, QuerySet, Value
from django.db.models.expressions import RawSQL
from django.db.models.functions import StrIndex

from copilot_admin.models import TurnText

COLUMN = f'"{TurnText._meta.db_table}"."conversation_id"'
DENSE = 1.25  # times as many ids as are asked for: to read on is faster than to look for each
SHORT = 3  # bytes: of what is longer PostgreSQL skips as many signs of a text as it has


def texts_near(conversation_ids: Sequence[int]) -> QuerySet[TurnText]:
    """The searched texts of these conversations, and where their ids lie close maybe of others."""
    if not conversation_ids:
        return TurnText.objects.none()
    first, last = min(conversation_ids), max(conversation_ids)
    if last - first < DENSE * len(conversation_ids):
        return TurnText.objects.filter(conversation__gte=first, conversation__lte=last)
    ids: object = list(conversation_ids)
    if connection.vendor == "postgresql":
        among = f"{COLUMN} = ANY(%s)"
    else:
        among, ids = f"{COLUMN} IN (SELECT value FROM json_each(%s))", json.dumps(ids)  # noqa: S608  # ours
    return TurnText.objects.filter(RawSQL(among, [ids], output_field=BooleanField()))  # noqa: S611  # a parameter


def having(texts: QuerySet[TurnText], phrases: Sequence[str]) -> QuerySet[TurnText]:
    """The texts that have all the phrases; reads each of them."""
    for number, phrase in enumerate(phrases):
        name = f"at_{number}"
        texts = texts.alias(**{name: _place_of(phrase)}).filter(**{f"{name}__gt": 0})
    return texts


def _place_of(phrase: str) -> Func:
    """Where a phrase is in a text; 0: nowhere.

    PostgreSQL finds one or two signs in half the time among bytes, in which UTF-8 has them nowhere else.
    """
    if connection.vendor != "postgresql" or len(phrase.encode()) > SHORT:
        return StrIndex("text", Value(phrase))
    return Func(
        _bytes_of(Value(phrase)),
        _bytes_of(F("text")),
        function="POSITION",
        arg_joiner=" IN ",
        output_field=IntegerField(),
    )


def _bytes_of(text: Value | F) -> Func:
    return Func(text, Value("UTF8"), function="CONVERT_TO")
