"""JSON that keeps the order of its keys."""

from types import MappingProxyType

import pytest

from copilot_admin.models import CopilotVersion
from copilot_admin.models.fields import OrderedJsonField
from tests.factories import make_version


@pytest.mark.django_db
@pytest.mark.database
def test_a_document_keeps_the_order_of_its_keys():
    version = make_version()
    document = {"zone": "Rome €", "b": {"y": 1, "x": [0, -1, 2.5, 12345678901234567890]}, "a": None}
    CopilotVersion.objects.filter(pk=version.pk).update(document=document)
    stored = CopilotVersion.objects.get(pk=version.pk).document
    assert (stored, list(stored), list(stored["b"])) == (document, ["zone", "b", "a"], ["y", "x"])


def test_read_only_mappings_are_stored_and_other_objects_are_not():
    field = OrderedJsonField(null=True)
    assert field.get_prep_value({"a": MappingProxyType({"b": 1})}) == '{"a": {"b": 1}}'
    assert (field.get_prep_value(None), field.from_db_value(None)) == (None, None)
    with pytest.raises(TypeError, match="object is not JSON"):
        field.get_prep_value({"a": object()})
