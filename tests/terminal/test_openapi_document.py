"""The command that writes the OpenAPI document finds our API by itself."""

from io import StringIO
import json

from django.core.management import call_command


def test_our_api_is_written_unless_another_is_named():
    written = StringIO()
    call_command("export_openapi_schema", stdout=written)
    assert "/v1/copilots/{slug}/query" in json.loads(written.getvalue())["paths"]
