"""What PostgreSQL calls some of its errors; in a module that loads no driver.

Source: https://www.postgresql.org/docs/current/errcodes-appendix.html
"""

from typing import Final

NOT_PERMITTED: Final = "42501"
NO_TABLE: Final = "42P01"
NO_SCHEMA: Final = "3F000"
NO_SUCH_ROW: Final = "23503"  # that a foreign key names
ROW_IS_THERE: Final = "23505"  # with what only one may have
LOCK_NOT_AVAILABLE: Final = "55P03"  # within `lock_timeout`
DEADLOCK: Final = "40P01"  # two waited for each other, and this one was taken back
# A table is not there for whoever asks.
SHUT: Final = frozenset({NOT_PERMITTED, NO_TABLE, NO_SCHEMA})
