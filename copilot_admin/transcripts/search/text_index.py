"""The searched texts of turns, and the trigram indexes over them; see the migration `search`."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
import json
import re
import unicodedata
from uuid import UUID

from django.db import connection
from django.db.models import BooleanField, QuerySet, TextField, Value
from django.db.models.expressions import RawSQL
from django.db.models.functions import Left, StrIndex

from copilot_admin.models import NodeKind, NodeRole, Run, TurnText
from copilot_admin.models.fields import MAX_ID, parse_integer
from copilot_admin.storage.errors import TooSlowError, time_limit
from copilot_admin.storage.search_text import normalize
from copilot_admin.storage.sql import execute, fetch_row

SQLITE_INDEX = "copilot_admin_turntext_trigrams"
MAX_TRIGRAMS = 40  # of a phrase; more hardly narrow the result
# A phrase's trigrams may be in every text: limits of the texts that are read, and of the time.
MAX_READ = 20_000
MAX_SECONDS = 0.075
MAX_FOUND = 10_000  # turns
# Of a turn that is searched; the index needs about as much space as the text.
MAX_CHARACTERS = 16_000
_APPEND = f"""
UPDATE copilot_admin_turntext SET text = SUBSTR(text || %(text)s, 1, {MAX_CHARACTERS})
WHERE turn_id = %(turn_id)s
"""  # noqa: S608  # a number
_INSERT = """
INSERT INTO copilot_admin_turntext (turn_id, conversation_id, text)
VALUES (%(turn_id)s, %(conversation_id)s, %(text)s) ON CONFLICT DO NOTHING
"""
_QUESTION = """
SELECT question.text FROM copilot_admin_turn turn
JOIN copilot_admin_node question ON question.id = turn.human_node_id WHERE turn.id = %(turn_id)s
"""
MAX_TYPED = 500  # characters; the rest is cut
MAX_PHRASES = 20
# Text in quotation marks of any kind, or without blanks.
_PART = re.compile(r'["“”„«»]([^"“”„«»]*)["“”„«»]|([^\s"“”„«»]+)')


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

    Returns the newest ids and whether they are all. None if PostgreSQL would read too many texts, as
    without the extension, or for letters other than ASCII in a database of the locale C.
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
    rows = TurnText.objects.all()
    for phrase in indexed:
        rows = rows.filter(text__contains=phrase)
    others = [phrase for phrase in phrases if phrase not in indexed]
    return having(rows, others).order_by("-pk").values_list("conversation_id", flat=True)


def _texts_on_sqlite(phrases: Sequence[str], indexed: Sequence[str]) -> "QuerySet[TurnText, int]":
    trigrams = RawSQL(  # noqa: S611  # the name is ours; the typed text is a parameter
        f"SELECT rowid FROM {SQLITE_INDEX} WHERE {SQLITE_INDEX} MATCH %s "  # noqa: S608
        "ORDER BY rowid DESC LIMIT %s",
        [_match_expression(indexed), MAX_READ],
    )
    rows = having(TurnText.objects.filter(pk__in=trigrams), phrases).order_by("-pk")
    return rows.values_list("conversation_id", flat=True)


def _is_sqlite_cut(indexed: Sequence[str]) -> bool:
    sql = f"SELECT 1 FROM {SQLITE_INDEX} WHERE {SQLITE_INDEX} MATCH %s LIMIT 1 OFFSET %s"  # noqa: S608
    with connection.cursor() as cursor:
        cursor.execute(sql, [_match_expression(indexed), MAX_READ])
        return cursor.fetchone() is not None


def _match_expression(phrases: Sequence[str]) -> str:
    trigrams = (
        phrase[start : start + 3]
        for phrase in phrases
        for start in range(min(len(phrase) - 2, MAX_TRIGRAMS))
    )
    return " ".join('"{}"'.format(one.replace('"', '""')) for one in dict.fromkeys(trigrams))


def index_answer(turn_id: int, conversation_id: int, answer: str, *, is_first: bool) -> None:
    """Add an answer to the text of its turn, which begins with the question.

    Phrases don't match across the ends of texts. With `is_first` the turn has no answer yet.
    """
    added = _fold(answer)
    if added and not is_first and execute(_APPEND, turn_id=turn_id, text=f"\n{added}"):
        return
    row = fetch_row(_QUESTION, turn_id=turn_id)
    question = _fold(row["text"]) if row else ""
    text = "\n".join(filter(None, (question, added)))[:MAX_CHARACTERS]
    if not text or execute(_INSERT, turn_id=turn_id, conversation_id=conversation_id, text=text):
        return
    if added:  # otherwise the row existed, or another process was faster
        execute(_APPEND, turn_id=turn_id, text=f"\n{added}")


def _fold(text: str) -> str:
    return normalize(text[:MAX_CHARACTERS])[:MAX_CHARACTERS]


def answers_of(turn_ids: Collection[int]) -> Mapping[int, list[str]]:
    """Return the searched beginnings of the answers of turns, in the order of their runs."""
    runs = Run.objects.filter(turn__in=turn_ids).order_by("started_at", "id")
    rows = runs.values_list(
        "turn_id",
        "input_leaf_id",
        "output_node__kind",
        "output_node__parent_id",
        "output_node__parent__role",
        "output_node__parent__kind",
        beginning_of("answer_text"),
        beginning_of("output_node__text"),
        beginning_of("output_node__parent__text"),
    )
    answers: dict[int, list[str]] = defaultdict(list)
    for turn, leaf, kind, above, role, kind_above, own, text, text_above in rows:
        said = text if kind == NodeKind.TEXT else ""
        # Text may precede a call; the message above that is the question.
        if kind == NodeKind.CALL and (role, kind_above) == (NodeRole.AI, NodeKind.TEXT):
            said = text_above if above != leaf else ""
        answers[turn].append(own or said or "")
    return answers


def beginning_of(column: str) -> Left:
    """Return an expression for the searched beginning of a text column."""
    return Left(column, MAX_CHARACTERS, output_field=TextField())


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchQuery:
    """Normalized phrases, all of which a turn must have; or ids."""

    phrases: tuple[str, ...] = ()
    trace_id: str = ""
    run_id: UUID | None = None
    number: int | None = None

    def __bool__(self) -> bool:
        return bool(self.phrases or self.trace_id)


def clean_search(text: str) -> str:
    """Return the searched part of a typed text."""
    return text.replace("\0", "").strip()[:MAX_TYPED]


def parse_search(text: str) -> SearchQuery:
    """Parse terms and "phrases in quotation marks", or an id."""
    whole = clean_search(text)
    parts = (normalize(match.group(1) or match.group(2) or "") for match in _PART.finditer(whole))
    phrases = tuple(dict.fromkeys(filter(None, parts)))
    return SearchQuery(
        phrases=phrases[:MAX_PHRASES],
        trace_id=whole,
        run_id=_parse_uuid(whole),
        number=parse_integer(whole.removeprefix("#"), MAX_ID),
    )


def has_trigram(phrase: str) -> bool:
    """Return True for three letters or digits in a row, which the indexes of both databases find."""
    letters = (
        "x" if one.isalnum() or unicodedata.category(one)[0] == "M" else " " for one in phrase
    )
    return "xxx" in "".join(letters)


def _parse_uuid(text: str) -> UUID | None:
    try:
        return UUID(text) if len(text) >= 32 else None
    except ValueError:
        return None
