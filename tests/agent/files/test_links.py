"""Links that say nothing of the file behind them."""

import asyncio
from contextlib import asynccontextmanager
import json

import pytest

from copilot_admin.agent.fetching.egress import FetchFailed
from copilot_admin.agent.files.contents import TEXT_FORM, FileItem, UnreadItem
from copilot_admin.agent.files.reading import with_files_read
from copilot_admin.agent.files.selection import EVERYTHING, FileRules
from copilot_admin.agent.values.answer_request import FileRead
from protocol.json import JsonObject
from protocol.models import FileReference, ResultMessage, SourceData
from tests.agent.answer_requests import make_query
from tests.agent.files.sample_images import image

URL = "https://files.example/rows?sig=canary"
NAME = "https://files.example/rows"
OBJECT: JsonObject = {"data_type": "object", "parse_as": "table"}
CHART: JsonObject = {"data_type": "object", "parse_as": "chart", "chart_params": {"xKey": "day"}}
ROWS = json.dumps([{"day": "Mon", "price": 1.5}])


def read(*items, behind=None, rules=EVERYTHING):
    """The items as they are read, and what is known of their files."""

    @asynccontextmanager
    async def fetch(url):
        if behind is None:
            raise FetchFailed("The link has expired.")
        yield behind

    result = ResultMessage("get_widget_data", {}, (SourceData(items),))
    query, files = asyncio.run(with_files_read(make_query(result), fetch=fetch, rules=rules))
    return query.messages[0].data[0].items, files


@pytest.mark.parametrize(
    ("form", "told"),
    [
        (OBJECT, OBJECT),
        (CHART, CHART),
        ({}, TEXT_FORM),
    ],
)
def test_data_behind_a_link_is_fetched_and_read(form, told):
    [found], [file] = read(FileReference(url=URL, data_format=form), behind=ROWS.encode())
    assert isinstance(found, FileItem)
    assert (found.content, found.data_format) == (ROWS, told)
    assert file == FileRead(name=NAME, kind="json", size=len(ROWS), pages=1)


def test_a_picture_behind_a_link_is_shown_only_to_models_that_see():
    link = FileReference(url=URL, data_format=OBJECT)
    [seen], _ = read(link, behind=image("PNG"), rules=FileRules(sees_images=True))
    assert seen.picture.name == NAME
    [unseen], [file] = read(link, behind=image("PNG"))
    assert unseen.content.startswith(f"[the image {NAME!r}, which is linked:")
    assert file.kind == "png"


def test_a_link_to_something_that_cannot_be_read_is_not_followed_and_is_told():
    link = FileReference(url=URL, data_format={"data_type": "MP3"})
    [found], [file] = read(link, behind=b"ID3\x00\x01")
    sentence = file.fault
    assert "no document of a known kind" in sentence
    assert found == UnreadItem(content=f"[{sentence}]", data_format=TEXT_FORM, citable=False)
    assert file == FileRead(name="without a name (mp3)", kind="mp3", fault=sentence)
