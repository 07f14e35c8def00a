"""Ask the databases' indexes of trigrams; see the migration `search`."""

from collections.abc import Sequence
from enum import Enum

from django.db import OperationalError, connection, connections, transaction
from django.db.models import Q, QuerySet
from django.db.models.expressions import RawSQL

from copilot_admin.models import TurnText
from copilot_admin.storage.errors import is_statement_timeout
from copilot_admin.transcripts.search.phrases import has_trigram
from copilot_admin.transcripts.search.texts import having

SQLITE_INDEX = "copilot_admin_turntext_trigrams"
POSTGRESQL_INDEX = "turn_text_trigrams"
MOST_TRIGRAMS = 40  # of a phrase; more find hardly less
# Texts with all the trigrams that are read for their phrases, and how long PostgreSQL may read them:
# each of a phrase's trigrams may be in every text.
MOST_READ = 20_000
MOST_MS = 75
MOST_FOUND = 10_000  # turns; what is found more often is found among the newest conversations
_KNOWN: dict[str, "Reach"] = {}


class Reach(Enum):
    """What the index can find here."""

    NOTHING = "nothing"  # PostgreSQL without the extension
    ASCII = "ascii"  # a PostgreSQL database of the locale C knows no other letters
    ALL = "all"


def reach() -> Reach:
    """What the index can find; asked again only while there is none."""
    if connection.vendor == "sqlite":
        return Reach.ALL
    name = str(connection.settings_dict["NAME"])
    if name not in _KNOWN:
        found = _reach_of_postgresql()
        if found is Reach.NOTHING:
            return found
        _KNOWN[name] = found
    return _KNOWN[name]


def _reach_of_postgresql() -> Reach:
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass(%s) IS NOT NULL", [POSTGRESQL_INDEX])
        if not cursor.fetchone()[0]:
            return Reach.NOTHING
        cursor.execute("SELECT cardinality(show_trgm(%s)) > 0", ["日本語"])
        return Reach.ALL if cursor.fetchone()[0] else Reach.ASCII


def known_texts() -> int:
    """How many texts PostgreSQL has, as it last counted them; 0 where it does not know, and of SQLite."""
    if connection.vendor != "postgresql":
        return 0
    with connection.cursor() as cursor:
        table = TurnText._meta.db_table
        cursor.execute("SELECT reltuples FROM pg_class WHERE oid = %s::regclass", [table])
        return max(0, int(cursor.fetchone()[0]))


def served_by(phrases: Sequence[str], index: Reach) -> list[str]:
    """The phrases that the index can find."""
    if index is Reach.NOTHING:
        return []
    beyond = index is Reach.ALL
    return [phrase for phrase in phrases if has_trigram(phrase, beyond_ascii=beyond)]


def found_by_index(phrases: Sequence[str], served: Sequence[str]) -> QuerySet[TurnText]:
    """The texts that have all the phrases, found by those that the index serves."""
    if connection.vendor == "sqlite":
        trigrams = RawSQL(  # noqa: S611  # a name of ours; what was typed is a parameter
            f"SELECT rowid FROM {SQLITE_INDEX} WHERE {SQLITE_INDEX} MATCH %s "  # noqa: S608
            "ORDER BY rowid DESC LIMIT %s",
            [_match(served), MOST_READ],
        )
        return having(TurnText.objects.filter(pk__in=trigrams), phrases)
    alike = Q()
    for phrase in served:
        alike &= Q(text__contains=phrase)
    others = [phrase for phrase in phrases if phrase not in served]
    return having(TurnText.objects.filter(alike), others)


def conversations_found(
    phrases: Sequence[str], served: Sequence[str]
) -> tuple[list[int], bool] | None:
    """The conversations with a turn that has all the phrases; of very many the newest turns'.

    Returns:
        Their ids, and whether those are all. None: PostgreSQL would have had to read too many texts.
    """
    rows = found_by_index(phrases, served).order_by("-pk")
    try:
        with transaction.atomic(using=rows.db):
            if connection.vendor == "postgresql":
                _bound_postgresql(rows.db)
            ids = list(rows.values_list("conversation_id", flat=True)[: MOST_FOUND + 1])
            return ids[:MOST_FOUND], len(ids) <= MOST_FOUND and not _sqlite_left_out(served)
    except OperationalError as error:
        if is_statement_timeout(error):
            return None
        raise


def _sqlite_left_out(served: Sequence[str]) -> bool:
    if connection.vendor != "sqlite":
        return False
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT 1 FROM {SQLITE_INDEX} WHERE {SQLITE_INDEX} MATCH %s LIMIT 1 OFFSET %s",  # noqa: S608
            [_match(served), MOST_READ],
        )
        return cursor.fetchone() is not None


def _bound_postgresql(database: str) -> None:
    with connections[database].cursor() as cursor:
        # It takes texts for short, and a walk along the order of the keys for fast.
        for way in ("seqscan", "indexscan"):
            cursor.execute(f"SET LOCAL enable_{way} = off")
        cursor.execute(f"SET LOCAL statement_timeout = {MOST_MS}")


def _match(phrases: Sequence[str]) -> str:
    trigrams = (
        phrase[start : start + 3]
        for phrase in phrases
        for start in range(min(len(phrase) - 2, MOST_TRIGRAMS))
    )
    return " ".join('"{}"'.format(one.replace('"', '""')) for one in dict.fromkeys(trigrams))
