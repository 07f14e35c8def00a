"""JSON that keeps its order, and what is no JSON any more."""

from django.db import OperationalError
import pytest

from copilot_admin.models.fields import OrderedJsonField


def test_json_that_the_database_garbled_is_an_outage():
    """It was a fault of the server's (500)."""
    field = OrderedJsonField()
    assert field.from_db_value('{"b": 1, "a": [2]}', None, None) == {"b": 1, "a": [2]}
    assert field.from_db_value(None, None, None) is None
    with pytest.raises(OperationalError, match="something else"):
        field.from_db_value('["b": 1]', None, None)
