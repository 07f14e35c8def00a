"""What the environment says of where traces go."""

import pytest

from copilot_admin.config.collector import Collector, check_collector, headers_in
from copilot_admin.config.env import BadSetting


def checked(address: str, protocol: str = "http/protobuf") -> Collector:
    return check_collector(
        Collector(address=address, headers={}, service="desk"), protocol=protocol
    )


def test_without_an_address_there_is_none_and_nothing_is_checked():
    assert not checked("", "grpc").is_there
    assert checked("http://collector:4318").is_there


@pytest.mark.parametrize("address", ["collector:4318", "ftp://collector", "http://", "http://[x"])
def test_an_address_that_is_none_is_refused(address):
    with pytest.raises(BadSetting) as caught:
        checked(address)
    assert caught.value.sentence == (
        "OTEL_EXPORTER_OTLP_ENDPOINT is no URL. Use one such as http://collector:4318."
    )


def test_another_protocol_is_refused():
    with pytest.raises(BadSetting) as caught:
        checked("http://collector:4317", "grpc")
    assert caught.value.sentence == (
        "OTEL_EXPORTER_OTLP_PROTOCOL is 'grpc'. Only http/protobuf is spoken here."
    )


@pytest.mark.parametrize(
    ("text", "headers"),
    [
        ("", {}),
        ("X-Key=abc", {"x-key": "abc"}),
        ("a=1, b = x%20y%2Cz ,", {"a": "1", "b": "x y,z"}),
        ("authorization=Basic dTpw==", {"authorization": "Basic dTpw=="}),
    ],
)
def test_headers_are_a_list(text, headers):
    assert headers_in(text) == headers


@pytest.mark.parametrize("text", ["key", "=value", "a=1,secret"])
def test_what_is_no_list_of_headers_is_refused_without_being_said(text):
    with pytest.raises(BadSetting) as caught:
        headers_in(text)
    assert caught.value.sentence == (
        "OTEL_EXPORTER_OTLP_HEADERS is no list of headers. Use name=value,other=value."
    )
