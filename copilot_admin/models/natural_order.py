"""The order in which people look for names: numbers by their size, letters without capitals and marks.

Databases sort texts by the numbers of their letters, or as their locale has it: “apple” behind “Zoo”,
“Desk 10” before “Desk 9”, each database in another way.
"""

import re
from typing import Any
import unicodedata

from django.db.backends.signals import connection_created
from django.db.models import CharField, Func

_DIGITS = re.compile(r"\d+")
_WIDTH = 20  # digits of a number that count; a name with a longer one is still somewhere


def natural(text: str) -> str:
    """What stands at the place of a text when it is sorted."""
    # Letter by letter: of all together, marks that go anyway are put in order, which is their number squared.
    apart = (part for letter in text.lower() for part in unicodedata.normalize("NFKD", letter))
    plain = "".join(part for part in apart if not unicodedata.combining(part))
    return _DIGITS.sub(lambda found: f"{int(found[0][-_WIDTH:]):0{_WIDTH}}", plain)


class NaturalOrder(Func):
    """`natural` of a column of names, in either database."""

    function = "copilot_admin_natural"
    arity = 1
    output_field = CharField()

    def as_postgresql(self, compiler: Any, connection: Any, **options: Any) -> Any:
        """Noughts before each number, then the last digits of it: functions that are built in."""
        plain = (
            r"regexp_replace(normalize(lower(%(expressions)s), NFKD), '[\u0300-\u036f]', '', 'g')"
        )
        padded = rf"regexp_replace({plain}, '(\d+)', '{'0' * _WIDTH}\1', 'g')"
        template = rf"""regexp_replace({padded}, '\d*(\d{{{_WIDTH}}})', '\1', 'g') COLLATE "C" """
        return self.as_sql(compiler, connection, template=template, **options)


def _add_function(*, connection: Any, **_: Any) -> None:
    if connection.vendor == "sqlite":
        function = NaturalOrder.function
        connection.connection.create_function(function, 1, natural, deterministic=True)


def add_to_connections() -> None:
    """Lets each new connection to SQLite sort this way."""
    connection_created.connect(_add_function, dispatch_uid="natural order")
