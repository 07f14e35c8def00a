"""Indexes: each serves something that no other one does."""

from collections.abc import Iterator

from django.apps import apps
from django.db import connection, models
import pytest

from tests.databases import IS_POSTGRESQL

MODELS = list(apps.get_app_config("copilot_admin").get_models())


def columns_of_indexes(model) -> Iterator[tuple[str, ...]]:
    """The columns of all indexes of the whole table, as they follow each other."""
    for field in model._meta.local_concrete_fields:
        if field.unique or field.db_index:
            yield (field.column,)
    listed = [
        *(one.fields for one in model._meta.indexes if not one.condition and not one.opclasses),
        *(
            one.fields
            for one in model._meta.constraints
            if isinstance(one, models.UniqueConstraint) and not one.condition
        ),
    ]
    for fields in filter(None, listed):
        yield tuple(_column(model, name) for name in fields)


def _column(model, name):
    descends = "-" if name.startswith("-") else ""
    return descends + str(model._meta.get_field(name.lstrip("-")).column)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_no_index_is_the_beginning_of_another(model):
    indexes = list(columns_of_indexes(model))
    beginnings = [
        (narrow, wide)
        for narrow in indexes
        for wide in indexes
        if narrow is not wide and narrow == wide[: len(narrow)]
    ]
    assert beginnings == []


@pytest.mark.postgres
@pytest.mark.database
@pytest.mark.django_db
@pytest.mark.skipif(not IS_POSTGRESQL, reason="SQLite has nothing of the kind")
def test_no_index_serves_searches_by_prefix():
    """Django makes one for each unique text; drop it in the migration, as 0002 does."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT indexname FROM pg_indexes"
            " WHERE tablename LIKE 'copilot\\_admin\\_%%' AND indexdef LIKE '%%\\_pattern\\_ops%%'",
            [],
        )
        assert cursor.fetchall() == []
