"""What was said in many conversations at once, named by one parameter.

Django writes a parameter for each id: of eight thousand it took forty milliseconds to write them, more
than the database took to read the texts.
"""

from collections.abc import Sequence
import json

from django.db import connection
from django.db.models import BooleanField, QuerySet
from django.db.models.expressions import RawSQL

from copilot_admin.models import TurnText

COLUMN = f'"{TurnText._meta.db_table}"."conversation_id"'


def texts_of(conversation_ids: Sequence[int]) -> QuerySet[TurnText]:
    """The searched texts of these conversations."""
    ids: object = list(conversation_ids)
    if connection.vendor == "postgresql":
        among = f"{COLUMN} = ANY(%s)"
    else:
        among, ids = f"{COLUMN} IN (SELECT value FROM json_each(%s))", json.dumps(ids)  # noqa: S608  # ours
    return TurnText.objects.filter(RawSQL(among, [ids], output_field=BooleanField()))  # noqa: S611  # a parameter
