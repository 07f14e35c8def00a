"""A version's document is read as the types of the spec say."""

from typing import Any

import pytest

from copilot_admin.agent.values.spec import ProviderSpec, spec_from_document
from copilot_admin.errors import ConfigurationError


@pytest.mark.parametrize(
    "document",
    [
        {"widget_data": "sometimes"},
        {"citations": None},
        {"custom_features": [{"key": "tone", "label": "Tone", "type": "slider"}]},
        {"components": [{"name": "calculator", "pinned": True}]},
        {"steps": [{"message": "Hi"}]},
        {"features": ["streaming"]},
    ],
)
def test_what_this_release_does_not_know_is_refused(document: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError) as refused:
        spec_from_document("news", document, ProviderSpec(name="P", kind="demo"))
    assert "Copilot 'news' cannot be read by this release: " in refused.value.public
