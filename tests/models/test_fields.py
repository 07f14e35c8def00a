"""JSON that keeps its order, what is no JSON any more, and rows that lack what they have."""

from django.db import OperationalError
import pytest

from copilot_admin.models import Conversation, Copilot, CopilotVersion
from copilot_admin.models.fields import JsonField, OrderedJsonField
from tests.factories import make_version


def test_json_that_the_database_garbled_is_an_outage():
    """It was a fault of the server's (500)."""
    field = OrderedJsonField()
    assert field.from_db_value('{"b": 1, "a": [2]}', None, None) == {"b": 1, "a": [2]}
    assert field.from_db_value(None, None, None) is None
    with pytest.raises(OperationalError, match="something else"):
        field.from_db_value('["b": 1]', None, None)


@pytest.mark.parametrize("stored", ["null", "7", '{"a": 1}', '"text"', "["])
@pytest.mark.parametrize("name", ["tools", "redaction"])
def test_what_was_written_as_a_list_and_is_none_any_more_is_an_outage(name, stored):
    """It was a fault of the server's: of a list the pages take each element."""
    field = Copilot._meta.get_field(name)
    column = field.get_col("copilot")
    assert field.from_db_value('["a"]', column, None) == ["a"]
    assert field.from_db_value(None, column, None) is None
    with pytest.raises(OperationalError, match="something else"):
        field.from_db_value(stored, column, None)


def test_a_version_whose_document_is_none_is_an_outage():
    field = CopilotVersion._meta.get_field("document")
    with pytest.raises(OperationalError, match="something else"):
        field.from_db_value("null", field.get_col("version"), None)


def test_a_part_of_json_has_any_shape():
    assert JsonField(default=dict).from_db_value("[1]", None, None) == [1]


def test_to_migrations_it_is_djangos():
    assert JsonField(default=list).deconstruct()[1] == "django.db.models.JSONField"


class TestRows:
    NAMES = ("id", "copilot_id", "user_id", "trace_id")

    def test_a_row_may_be_empty_where_its_table_may(self):
        assert Conversation.from_db("default", self.NAMES, (1, 2, None, "")).trace_id == ""

    @pytest.mark.parametrize("place", [0, 1, 3])
    def test_one_that_is_empty_where_its_table_never_is_is_an_outage(self, place):
        values = [1, 2, 3, ""]
        values[place] = None
        with pytest.raises(OperationalError, match="lacks"):
            Conversation.from_db("default", self.NAMES, values)

    @pytest.mark.django_db
    def test_what_a_row_does_not_refer_to_is_no_row(self):
        version = make_version()
        Copilot.objects.update(live=None)
        found = Copilot.objects.select_related("live").get(pk=version.copilot_id)
        assert found.live is None
