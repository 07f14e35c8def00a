"""What the environment says of those who may read the figures."""

import pytest

from copilot_admin.config.env import BadSetting
from copilot_admin.config.figure_readers import figure_readers


def test_nobody_reads_them_unless_somebody_is_named():
    assert not figure_readers("", ()).are_there
    assert figure_readers("sixteen letters!", ()).are_there
    assert figure_readers("", ("10.0.0.1",)).are_there


def test_a_token_that_is_easily_guessed_is_refused():
    with pytest.raises(BadSetting) as caught:
        figure_readers("fifteen letters", ())
    assert caught.value.sentence == (
        "COPILOT_METRICS_TOKEN is shorter than 16 characters. Use a longer one."
    )


@pytest.mark.parametrize("network", ["prometheus", "10.0.0.0/40", "*"])
def test_what_is_no_network_is_refused(network):
    with pytest.raises(BadSetting) as caught:
        figure_readers("", ("10.0.0.1", network))
    assert caught.value.sentence == (
        f"COPILOT_METRICS_ALLOW names {network!r}. Use addresses or networks such as 10.0.0.0/8."
    )
