"""What is found about image, description, starters, and about who could ask at all."""

import pytest

from copilot_admin.copilots.checklist.subject import DraftFacts
from copilot_admin.models import Access
from tests.copilots.checklist.subjects import found

NO_COPY = DraftFacts(has_image=False)
PRIVATE = (
    "The image has a private URL, which users outside its network can't load. Upload the image."
)
DEAD = (
    "This server has no copy of the image, so Workspace loads it "
    "from its URL. Save the draft again, or upload the image."
)


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1:8000",
        "10.1.2.3",
        "0x7f000001",
        "[::1]",
        "[fd00::1]",
        "[::ffff:10.0.0.1]",
        "localhost",
        "images",
        "images.corp",
        "nas.local.",
        "a.b.internal",
    ],
)
def test_an_image_at_a_private_address_is_told(host):
    image = f"https://{host}/a.png"
    assert found(image=image, facts=NO_COPY) == [("warning", "image_url", PRIVATE)]


@pytest.mark.parametrize(
    "host", ["example.com", "8.8.8.8", "local.example.com", "10.0.0.1.example.com", "["]
)
def test_an_image_that_could_not_be_fetched_is_told(host):
    image = f"https://{host}/a.png"
    assert found(image=image, facts=NO_COPY) == [("warning", "image_url", DEAD)]


def test_an_uploaded_image_whose_file_is_gone_is_told():
    sentence = "The uploaded image is missing. Upload it again."
    assert found(image="copilots/a.png", facts=NO_COPY) == [("warning", "image_url", sentence)]


@pytest.mark.parametrize("image", ["", "copilots/a.png", "http://10.0.0.1/a.png"])
def test_an_image_that_this_server_has_is_right(image):
    assert found(image=image) == []


def test_no_image_is_right():
    assert found(image="", facts=NO_COPY) == []


def test_no_description_is_told():
    sentence = "The description is empty. Add one so that users see what the copilot does."
    assert found(description=" ") == [("warning", "description", sentence)]


def test_a_description_too_long_for_a_card_is_told():
    sentence = "The description has 251 characters. Workspace shows about 250."
    assert found(description="x" * 251) == [("warning", "description", sentence)]
    assert found(description="x" * 250) == []


def test_a_starter_that_stands_there_twice_is_told():
    sentence = "The starter question “What moved?” occurs more than once."
    assert found(starters=("What moved?", "Why?", "what  moved? ")) == [
        ("warning", "starters", sentence)
    ]


def test_a_starter_too_long_for_a_card_is_told_with_its_first_words():
    sentence = f"The starter question “{'x' * 39}…” has 121 characters. Workspace shows about 120."
    assert found(starters=("x" * 121, "y" * 120)) == [("warning", "starters", sentence)]


def test_a_copilot_that_is_off_is_told():
    sentence = "The copilot is disabled. Enable it so that users can see it."
    assert found(facts=DraftFacts(enabled=False)) == [("warning", "enabled", sentence)]


def test_a_copilot_that_no_key_opens_is_told():
    sentence = (
        "An API key is required, and no valid key exists. Create a "
        "key, or change who can use the copilot."
    )
    assert found(facts=DraftFacts(access=Access.KEY)) == [("warning", "access", sentence)]


@pytest.mark.parametrize(
    "facts", [DraftFacts(access=Access.KEY, keys=1), DraftFacts(access=Access.OPEN)]
)
def test_a_copilot_that_somebody_can_ask_is_right(facts):
    assert found(facts=facts) == []
