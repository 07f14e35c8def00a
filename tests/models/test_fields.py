"""JSON that keeps the order of its keys."""

import pytest

from copilot_admin.models import CopilotVersion
from tests.factories import make_version


@pytest.mark.django_db
@pytest.mark.database
def test_a_document_keeps_the_order_of_its_keys():
    version = make_version()
    document = {"zone": "Rome €", "b": {"y": 1, "x": [0, -1, 2.5, 12345678901234567890]}, "a": None}
    CopilotVersion.objects.filter(pk=version.pk).update(document=document)
    stored = CopilotVersion.objects.get(pk=version.pk).document
    assert (stored, list(stored), list(stored["b"])) == (document, ["zone", "b", "a"], ["y", "x"])
