"""The searched texts of turns, and the trigram indexes over them; see the migration `search`."""

from collections.abc import Sequence
import json

from django.db import connection
from django.db.models import BooleanField, Q, QuerySet, Value
from django.db.models.expressions import RawSQL
from django.db.models.functions import StrIndex

from copilot_admin.models import TurnText
from copilot_admin.storage.time_limit import TooSlowError, time_limit
from copilot_admin.transcripts.search.phrases import has_trigram

SQLITE_INDEX = "copilot_admin_turntext_trigrams"
MAX_TRIGRAMS = 40  # of a phrase; more hardly narrow the result
# A phrase's trigrams may be in every text: limits of the texts that are read, and of the time.
MAX_READ = 20_000
MAX_SECONDS = 0.075
MAX_FOUND = 10_000  # turns


def indexed_phrases(phrases: Sequence[str]) -> list[str]:
    """Return the phrases that the index can find."""
    return [phrase for phrase in phrases if has_trigram(phrase)]


def texts_of(conversation_ids: Sequence[int]) -> QuerySet[TurnText]:
    """Return the texts of conversations; the ids are one parameter: writing 8,000 costs 40 ms."""
    column = f'"{TurnText._meta.db_table}"."conversation_id"'
    ids: object = list(conversation_ids)
    if connection.vendor == "postgresql":
        among = f"{column} = ANY(%s)"
    else:
        among, ids = f"{column} IN (SELECT value FROM json_each(%s))", json.dumps(ids)  # noqa: S608  # ours
    return TurnText.objects.filter(RawSQL(among, [ids], output_field=BooleanField()))  # noqa: S611  # a parameter


def having(texts: QuerySet[TurnText], phrases: Sequence[str]) -> QuerySet[TurnText]:
    """Return the texts that have all the phrases; reads each of them."""
    for number, phrase in enumerate(phrases):
        name = f"at_{number}"
        texts = texts.alias(**{name: StrIndex("text", Value(phrase))}).filter(**{f"{name}__gt": 0})
    return texts


def find_conversations(
    phrases: Sequence[str], indexed: Sequence[str]
) -> tuple[list[int], bool] | None:
    """Find the conversations with a turn that has all the phrases, by those that are indexed.

    Returns:
        Ids, of very many those of the newest turns, and whether they are all. None if PostgreSQL
        would have to read too many texts, as without the extension, or for letters other than ASCII
        in a database of the locale C.
    """
    if connection.vendor == "sqlite":
        ids = list(_texts_on_sqlite(phrases, indexed)[: MAX_FOUND + 1])
        return ids[:MAX_FOUND], len(ids) <= MAX_FOUND and not _is_sqlite_cut(indexed)
    try:
        with time_limit(MAX_SECONDS), connection.cursor() as cursor:
            # It assumes that texts are short, and that scanning keys in order is fast.
            for method in ("seqscan", "indexscan"):
                cursor.execute(f"SET LOCAL enable_{method} = off")
            ids = list(_texts_on_postgresql(phrases, indexed)[: MAX_FOUND + 1])
            for method in ("seqscan", "indexscan"):
                cursor.execute(f"SET LOCAL enable_{method} TO DEFAULT")
    except TooSlowError:
        return None
    return ids[:MAX_FOUND], len(ids) <= MAX_FOUND


def _texts_on_postgresql(
    phrases: Sequence[str], indexed: Sequence[str]
) -> "QuerySet[TurnText, int]":
    alike = Q()
    for phrase in indexed:
        alike &= Q(text__contains=phrase)
    others = [phrase for phrase in phrases if phrase not in indexed]
    rows = having(TurnText.objects.filter(alike), others).order_by("-pk")
    return rows.values_list("conversation_id", flat=True)


def _texts_on_sqlite(phrases: Sequence[str], indexed: Sequence[str]) -> "QuerySet[TurnText, int]":
    trigrams = RawSQL(  # noqa: S611  # the name is ours; the typed text is a parameter
        f"SELECT rowid FROM {SQLITE_INDEX} WHERE {SQLITE_INDEX} MATCH %s "  # noqa: S608
        "ORDER BY rowid DESC LIMIT %s",
        [_match_expression(indexed), MAX_READ],
    )
    rows = having(TurnText.objects.filter(pk__in=trigrams), phrases).order_by("-pk")
    return rows.values_list("conversation_id", flat=True)


def _is_sqlite_cut(indexed: Sequence[str]) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT 1 FROM {SQLITE_INDEX} WHERE {SQLITE_INDEX} MATCH %s LIMIT 1 OFFSET %s",  # noqa: S608
            [_match_expression(indexed), MAX_READ],
        )
        return cursor.fetchone() is not None


def _match_expression(phrases: Sequence[str]) -> str:
    trigrams = (
        phrase[start : start + 3]
        for phrase in phrases
        for start in range(min(len(phrase) - 2, MAX_TRIGRAMS))
    )
    return " ".join('"{}"'.format(one.replace('"', '""')) for one in dict.fromkeys(trigrams))
