"""A reviewer's way through the transcripts in a real browser."""

from collections.abc import Iterator

from playwright.sync_api import Browser, Dialog, expect
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.models import Conversation, Turn
from tests.admin.transcripts.test_pages import hostile_conversation
from tests.admin.transcripts.transcript_rows import long_conversation, rich_conversation
from tests.browser.visits import LOOKS, PHONE, Visit, visit, visiting
from tests.factories import make_user
from tests.rendering.hostile_texts import PAYLOADS
from tests.transcripts.store.journaling import Client as Asking
from tests.transcripts.store.journaling import ai

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
LIST = "/admin/copilot_admin/conversation/"


def page_of(conversation: Conversation, query: str = "") -> str:
    return f"{LIST}{conversation.pk}/change/{query}"


@pytest.fixture
def server(base_url: str) -> str:
    make_user(Role.REVIEWERS, username="eve")
    return base_url


@pytest.fixture
def eve(browser: Browser, server: str) -> Iterator[Visit]:
    """A reviewer who has logged in; nothing untoward may happen to her."""
    with visiting(
        browser, server, "eve", permissions=["clipboard-read", "clipboard-write"]
    ) as person:
        yield person


@pytest.mark.nightly
def test_a_conversation_is_found_opened_and_read(eve: Visit):
    rich_conversation()
    page = eve.page
    eve.go("/admin/")
    page.get_by_role("navigation").get_by_role("link", name="Transcripts").click()
    page.get_by_role("link", name="How did **Apple** do").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("How did **Apple** do")
    call = page.locator(".ca-call").first
    expect(call.get_by_text("The widget is gone.")).to_be_hidden()
    call.locator("summary").first.click()
    expect(call.get_by_text("The widget is gone.")).to_be_visible()
    expect(page.get_by_role("img", name="Chart line")).to_be_visible()
    expect(page.locator(".ca-artifact").get_by_role("table", name="Prices")).to_be_visible()
    page.get_by_role("link", name="Earlier version").click()
    expect(page.get_by_text("Microsoft stayed flat, on second thought.")).to_be_visible()
    expect(page.get_by_text("Answer 1, since replaced")).to_be_visible()


@pytest.mark.nightly
def test_words_are_found_opened_at_their_turn_filtered_and_kept(eve: Visit):
    client = Asking(trace_id="chat-1")
    client.ask("Курс?").answer("42\n\n" * 80)
    client.ask("Курс?", ai("42"), "Почему <img src=x>?").answer("Потому что **так**")
    Conversation.objects.update(n_down=1)
    page = eve.page
    eve.go(LIST)
    page.get_by_role("searchbox").fill("почему")
    page.keyboard.press("Enter")
    expect(page.locator("mark.ca-hit")).to_have_text(["Почему"])
    assert "copilot=" not in page.url  # what is empty is not in the address
    page.get_by_text("Filters", exact=True).click()
    page.get_by_label("Thumbs").select_option(label="Down")
    page.get_by_role("button", name="Show", exact=True).click()
    page.get_by_text("Save this view").click()
    page.get_by_label("Name").fill("Почему нет")
    page.get_by_label("For all reviewers").check()
    page.get_by_role("button", name="Save", exact=True).click()
    view = page.get_by_role("navigation", name="Saved views").get_by_role("link")
    expect(view).to_have_attribute("aria-current", "true")
    page.locator(".ca-filters > summary").click()
    assert eve.grave_findings() == []
    page.set_viewport_size(PHONE)
    assert eve.overflow() <= 0
    page.get_by_role("link", name="Курс?").click()
    expect(page.locator("article:target mark.ca-hit")).to_have_text("Почему")
    expect(page.locator("article:target mark.ca-hit")).to_be_in_viewport()


@pytest.mark.nightly
def test_a_table_shows_all_its_rows_when_asked(eve: Visit):
    eve.go(page_of(rich_conversation()))
    figure = eve.page.locator(".ca-artifact").filter(has=eve.page.get_by_text("Prices", exact=True))
    rows = figure.last.locator("tbody tr")
    expect(rows).to_have_count(15)
    figure.last.get_by_role("link", name="Show all 30 rows").click()
    expect(rows).to_have_count(30)
    assert eve.page.evaluate("document.activeElement.className") == "ca-table-scroll"


@pytest.mark.nightly
def test_ids_are_copied_with_a_button(eve: Visit):
    conversation = rich_conversation()
    eve.go(page_of(conversation))
    eve.page.get_by_role("button", name="Copy the trace id").first.click()
    expect(eve.page.get_by_role("status")).to_have_text("Copied")
    assert eve.page.evaluate("navigator.clipboard.readText()") == conversation.trace_id


def test_the_keyboard_goes_from_question_to_question_and_unfolds(eve: Visit):
    conversation = long_conversation(4)
    turns = [turn.pk for turn in Turn.objects.filter(conversation=conversation).order_by("id")]
    eve.go(page_of(conversation))
    page = eve.page
    focused = "document.activeElement.id"
    for expected in (*turns, turns[-1]):
        page.keyboard.press("j")
        assert page.evaluate(focused) == f"turn-{expected}"
    page.keyboard.press("k")
    assert page.evaluate(focused) == f"turn-{turns[-2]}"
    assert page.url.endswith(f"#turn-{turns[-2]}")
    card = page.locator(f"#turn-{turns[-2]} details.ca-tool")
    page.keyboard.press("o")
    expect(card).to_have_attribute("open", "")
    page.keyboard.press("o")
    expect(card).not_to_have_attribute("open", "")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard")).to_be_visible()
    page.keyboard.press("j")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Keyboard")).to_be_hidden()
    assert page.url.endswith(f"#turn-{turns[-2]}")


@pytest.mark.nightly
def test_a_link_leads_to_a_turn_on_another_branch(eve: Visit):
    conversation = rich_conversation()
    microsoft = Turn.objects.get(human_node__text="And Microsoft?")
    eve.go(page_of(conversation, f"#turn-{microsoft.pk}"))
    expect(eve.page.locator(f"#turn-{microsoft.pk}")).to_be_visible()
    assert eve.page.url.endswith(f"?turn={microsoft.pk}#turn-{microsoft.pk}")


@pytest.mark.nightly  # by day tests/admin/transcripts/test_pages.py reads what the server sends
def test_everything_can_be_read_without_javascript(browser: Browser, server: str):
    conversation = rich_conversation()
    eve = visit(browser, server, java_script_enabled=False)
    eve.log_in("eve")
    page = eve.page
    eve.go(page_of(conversation))
    page.get_by_role("link", name="Earlier version").click()
    expect(page.get_by_text("Microsoft stayed flat, on second thought.")).to_be_visible()
    page.get_by_role("link", name="Show all branches").click()
    expect(page.locator(".ca-turn h2")).to_have_count(4)
    page.get_by_text("Answer 1, since replaced").click()
    expect(page.get_by_text("HTML, shown as its text.")).to_be_visible()
    page.get_by_role("link", name="Show all 30 rows").locator("visible=true").first.click()
    expect(page.locator("tbody tr")).to_have_count(30)
    page.go_back()
    page.locator(".ca-run > summary").first.click()
    page.get_by_text("Raw request and events").locator("visible=true").first.click()
    page.get_by_role("link", name="Open as a page").first.click()
    expect(page.get_by_text("copilotFunctionCall")).to_be_visible()
    page.context.close()


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize(
    "pages",
    [
        pytest.param(("", "{}/change/", "{}/runs/{run}/"), id="each kind"),
        pytest.param(
            ("?q=nothing+like+it", "{}/change/?branches=all"),
            id="with more or less on them",
            marks=pytest.mark.nightly,
        ),
    ],
)
def test_every_page_is_accessible_and_fits(browser: Browser, server: str, look, pages):
    conversation = rich_conversation()
    eve = visit(browser, server, **look)
    eve.log_in("eve")
    run = Turn.objects.filter(conversation=conversation).earliest("id").runs.earliest("started_at")
    findings = []
    for page in pages:
        path = LIST + page.format(conversation.pk, run=run.pk)
        eve.go(path)
        assert eve.runs_as_its_look(look)
        eve.unfold()
        findings += [(path, *one) for one in eve.grave_findings()]
        assert eve.overflow_on_tour() <= 0, path
    eve.page.context.close()
    assert findings == []
    assert eve.mishaps == []


@pytest.mark.nightly  # by day the next one shows them, and tests/admin/transcripts/test_pages.py
@pytest.mark.parametrize(
    "texts",
    [
        pytest.param((*PAYLOADS[::9], "\n\n".join(PAYLOADS)), id="some, and all together"),
        pytest.param(PAYLOADS, id="each", marks=pytest.mark.nightly),
    ],
)
def test_no_text_does_anything_even_without_the_policy(browser: Browser, server: str, texts):
    eve = visit(browser, server, bypass_csp=True)
    eve.log_in("eve")
    dialogs: list[str] = []
    requests: list[str] = []

    def dismiss(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    eve.page.on("dialog", dismiss)
    eve.page.on("request", lambda request: requests.append(request.url))
    for conversation in (hostile_conversation(payload) for payload in texts):
        eve.go(page_of(conversation))
        eve.unfold()
        eve.next_frames()
    eve.page.wait_for_load_state("networkidle")
    eve.go(LIST)
    eve.page.context.close()
    assert dialogs == []
    assert [url for url in requests if not url.startswith(server)] == []
    assert eve.mishaps == []


def test_no_text_violates_the_policy(eve: Visit):
    everything = "\n\n".join(PAYLOADS)
    eve.go(page_of(hostile_conversation(everything)))
    eve.unfold()
    eve.next_frames()
    expect(eve.page.locator(".ca-raw-body")).to_be_visible()
