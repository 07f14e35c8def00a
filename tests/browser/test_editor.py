"""The page in which a copilot is edited: its tabs, its drawer, and the panel that acts at once."""

from collections.abc import Iterator

from django.contrib.auth.models import Group, User
from django.contrib.sessions.models import Session
from playwright.sync_api import Browser, Page, expect
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.copilots.model_lists import keep_models
from copilot_admin.copilots.slugs import slug_of
from copilot_admin.models import Copilot, EndpointKey
from tests.admin.copilots.test_images import picture
from tests.browser.visits import DESK, PHONE, Visit, visit, visiting
from tests.factories import make_copilot, make_provider, make_published, make_saved, make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
FORM = "/admin/copilot_admin/copilot/{}/change/"
NAMES = (
    *("News Reader", "  Éclair -- Øresund & Straße 2 ", "İstanbul Işık", "x" * 59 + " y"),
    *("Новости рынка 24", "Щоденник Їжака", "Αγορά ΕΙΔΉΣΕΙΣ", "أخبار السوق ٢٤", "אֶחָד"),
    *("बाज़ार समाचार", "시장 뉴스", "ბაზარი Շուկա", "市场 Brief", "ＦＵＬＬ ½"),
)


@pytest.fixture
def ada(browser: Browser, base_url: str) -> Iterator[Visit]:
    make_user(Role.BUILDERS, username="ada")
    with visiting(browser, base_url, "ada") as person:
        yield person


@pytest.mark.nightly
def test_the_tabs_are_walked_with_the_keyboard_and_kept_while_saving(ada: Visit) -> None:
    copilot = make_copilot()
    page = ada.page
    ada.go(FORM.format(copilot.pk))
    page.get_by_role("tab", name="Basics").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="Features")).to_be_focused()
    expect(page.get_by_label("Selected widgets")).to_be_visible()
    expect(page.get_by_label("System prompt")).to_be_hidden()
    page.keyboard.press("End")
    expect(page.get_by_role("button", name="Add a question")).to_be_visible()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_label("System prompt")).to_be_visible()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Control+s")
    expect(page.get_by_text("Draft saved.")).to_be_visible()
    expect(page.get_by_role("tab", name="Steps and starters", selected=True)).to_be_visible()
    assert page.url.endswith("/change/#conversation")


def test_what_is_wrong_is_counted_on_its_tab_and_has_the_focus(ada: Visit) -> None:
    page = ada.page
    ada.go(FORM.format(make_copilot().pk))
    ada.tab("Basics")
    page.get_by_label("Temperature").fill("9")
    ada.tab("Steps and starters")
    page.get_by_role("button", name="Save draft").click()
    expect(page.get_by_role("tab", name="Basics 1 to mend", selected=True)).to_be_visible()
    expect(page.get_by_label("Temperature")).to_be_focused()
    row = page.locator(".ca-sticky-row").bounding_box()
    field = page.get_by_label("Temperature").bounding_box()
    assert row
    assert field
    assert field["y"] + field["height"] <= row["y"]


@pytest.mark.nightly
def test_an_address_leads_to_a_field_wherever_it_stands(ada: Visit) -> None:
    copilot = make_copilot()
    ada.go(FORM.format(copilot.pk) + "#id_max_client_calls")
    expect(ada.page.get_by_label("Most calls of Workspace")).to_be_focused()
    ada.page.evaluate("location.hash = 'id_top_p'")
    expect(ada.page.get_by_label("Top p")).to_be_focused()


@pytest.mark.nightly
def test_what_acts_at_once_leaves_what_is_typed(ada: Visit) -> None:
    copilot = make_published()
    page = ada.page
    ada.go(FORM.format(copilot.pk))
    page.get_by_label("Description").first.fill("Half a thought")
    page.get_by_text("Switch, access and logging").click()
    page.get_by_label("Switched on").uncheck()
    page.get_by_role("button", name="Apply now").click()
    expect(page.get_by_role("heading", name="People will notice this.")).to_be_focused()
    assert ada.grave_findings() == []
    page.get_by_role("link", name="Leave it as it was").click()
    expect(page.get_by_text("Live, exactly as its draft is.")).to_be_visible()

    page.get_by_text("Switch, access and logging").click()
    page.get_by_label("Switched on").uncheck()
    page.get_by_role("button", name="Apply now").click()
    page.get_by_role("button", name="Yes, do it now").click()
    expect(page.get_by_text("Done. It acts from now on.")).to_be_visible()
    assert not Copilot.objects.published().exists()
    expect(page.get_by_label("Description").first).to_have_value("Half a thought")
    page.get_by_role("button", name="Save draft").click()
    expect(page.get_by_text("Draft saved.")).to_be_visible()
    assert Copilot.objects.get().description == "Half a thought"


@pytest.mark.nightly
def test_where_it_is_narrow_the_preview_is_a_drawer(ada: Visit) -> None:
    page = ada.page
    page.set_viewport_size(PHONE)
    ada.go(FORM.format(make_copilot(name="Prices").pk))
    preview = page.locator("#preview")
    expect(preview).to_be_hidden()
    page.get_by_role("button", name="Preview and try").click()
    expect(preview).to_be_visible()
    assert ada.grave_findings(page.locator("[data-ca-drawer-room]")) == []
    assert ada.overflow() <= 0
    page.get_by_role("button", name="Close", exact=True).click()
    expect(preview).to_be_hidden()
    page.set_viewport_size(DESK)
    expect(preview).to_be_visible()
    expect(page.get_by_role("button", name="Preview and try")).to_be_hidden()
    # Part of it is below the window there, and it has its height at once: not frame by frame.
    page.evaluate("scrollTo(0, 0)")
    ada.next_frames()
    height = "document.getElementById('beside').offsetHeight"
    at_once = page.evaluate(height)
    ada.next_frames()
    assert page.evaluate(height) == at_once


def test_an_expired_log_in_loses_nothing(ada: Visit) -> None:
    copilot = make_copilot()
    page = ada.page
    ada.go(FORM.format(copilot.pk))
    page.get_by_label("Description").first.fill("Half a thought")
    Session.objects.all().delete()
    page.get_by_role("button", name="Save draft").click()
    dialog = page.get_by_role("dialog", name="You were logged out")
    expect(dialog.get_by_label("Username")).to_have_value("ada")
    assert ada.grave_findings(dialog) == []
    dialog.get_by_label("Password").fill("wrong")
    page.keyboard.press("Enter")
    expect(dialog.get_by_role("alert")).to_contain_text("Please enter the correct username")
    dialog.get_by_label("Password").fill("secret")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Draft saved.")).to_be_visible()
    copilot.refresh_from_db()
    assert copilot.description == "Half a thought"


def log_in_on_the_spot(page: Page) -> None:
    dialog = page.get_by_role("dialog", name="You were logged out")
    dialog.get_by_label("Password").fill("secret")
    page.keyboard.press("Enter")


def test_who_lost_his_role_is_told_so_and_has_his_words(ada: Visit) -> None:
    page = ada.page
    ada.go(FORM.format(make_copilot().pk))
    person = User.objects.get(username="ada")
    person.groups.set(Group.objects.filter(name=Role.REVIEWERS))
    page.locator("#playground-question").fill("What can you do?")
    page.keyboard.press("Enter")
    expect(page.get_by_role("log")).to_contain_text("You may not change copilots.")

    page.get_by_label("Description").first.fill("Half a <b>thought")
    Session.objects.all().delete()
    page.get_by_role("button", name="Save draft").click()
    log_in_on_the_spot(page)
    expect(page.get_by_role("heading", name="You may not do this")).to_be_visible()
    expect(page.get_by_role("textbox")).to_have_count(1)  # what was typed, and nothing else
    expect(page.get_by_label("Description")).to_have_value("Half a <b>thought")
    expect(page.get_by_text("Go back one page")).to_be_hidden()
    ada.go("/admin/")
    assert page.evaluate("sessionStorage.length") == 0
    ada.mishaps.clear()  # he was refused


@pytest.mark.nightly
def test_an_expired_log_in_loses_no_question_and_no_file(ada: Visit) -> None:
    page = ada.page
    saved = make_saved(make_copilot())
    ada.go(f"/admin/copilot_admin/copilot/{saved.copilot_id}/questions/{saved.pk}/")
    page.get_by_label("Question", exact=True).fill("Half a thought?")
    Session.objects.all().delete()
    page.keyboard.press("Tab")
    page.locator("#question-form [type=submit]").first.click()
    log_in_on_the_spot(page)
    expect(page.get_by_text("Half a thought?").first).to_be_visible()
    saved.refresh_from_db()
    assert saved.question == "Half a thought?"

    ada.go("/admin/copilot_admin/copilot/import/")
    file = {"name": "a.yaml", "mimeType": "text/yaml", "buffer": b"format: 1\nhope: 1\n"}
    page.locator("#import-form [type=file]").set_input_files(file)
    Session.objects.all().delete()
    page.locator("#import-form [type=submit]").click()
    log_in_on_the_spot(page)
    expect(page.get_by_text("hope").first).to_be_visible()


@pytest.mark.nightly
def test_an_expired_log_in_stops_neither_a_question_nor_what_acts_at_once(ada: Visit) -> None:
    page = ada.page
    ada.go(FORM.format(make_published().pk))
    page.get_by_label("Description").first.fill("Half a thought")
    Session.objects.all().delete()
    page.get_by_label("Question", exact=True).fill("Are you there?")
    page.keyboard.press("Enter")
    log_in_on_the_spot(page)
    expect(page.get_by_role("log")).to_contain_text("You asked: Are you there?")
    page.get_by_text("Switch, access and logging").click()
    page.get_by_label("Switched on").uncheck()
    Session.objects.all().delete()
    page.get_by_role("button", name="Apply now").click()
    log_in_on_the_spot(page)
    expect(page.get_by_role("button", name="Yes, do it now")).to_be_visible()
    expect(page.get_by_label("Description").first).to_have_value("Half a thought")
    ada.mishaps.clear()  # the console says that requests were refused


@pytest.mark.nightly
def test_an_expired_log_in_stops_neither_saved_questions_nor_a_connection_test(ada: Visit) -> None:
    page = ada.page
    copilot = make_published()
    make_saved(copilot)
    ada.go(f"/admin/copilot_admin/copilot/{copilot.pk}/questions/")
    Session.objects.all().delete()
    page.get_by_role("button", name="Ask the draft", exact=True).first.click()
    log_in_on_the_spot(page)
    expect(page.get_by_text("This is a rehearsal").first).to_be_visible()

    ada.go(f"/admin/connect/{copilot.pk}/")
    Session.objects.all().delete()
    page.get_by_role("button", name="Test the connection").click()
    log_in_on_the_spot(page)
    expect(page.get_by_role("status").get_by_text("Done.")).to_be_visible()
    ada.mishaps.clear()  # the console says that requests were refused


@pytest.mark.nightly
def test_what_was_taken_back_is_not_offered_again(ada: Visit) -> None:
    page = ada.page
    copilot = make_copilot(description="As it was")
    ada.go(FORM.format(copilot.pk))
    text = page.get_by_label("Description").first
    text.fill("Half a thought")
    expect(page.locator("form[data-ca-kept]")).to_have_count(1)
    text.fill("As it was")
    expect(page.locator("form[data-ca-kept]")).to_have_count(0)
    page.reload()
    expect(page.locator("[data-ca-copy]")).to_be_hidden()


@pytest.mark.nightly
def test_a_server_that_hangs_is_given_up_after_a_log_in_too(ada: Visit) -> None:
    """The clock of the page is ours: a request is given up when the test says so."""
    page = ada.page
    page.add_init_script(
        """
        window.waits = [];
        AbortSignal.timeout = () => {
          const wait = new AbortController();
          window.waits.push(wait);
          return wait.signal;
        };
        """
    )
    copilot = make_copilot()
    make_saved(copilot)
    ada.go(f"/admin/copilot_admin/copilot/{copilot.pk}/questions/")
    Session.objects.all().delete()
    page.get_by_role("button", name="Ask the draft", exact=True).first.click()
    expect(page.get_by_role("dialog")).to_be_visible()
    page.route("**/ask/?*part=rows*", lambda _: None)
    with page.expect_request("**/ask/?*part=rows*"):
        log_in_on_the_spot(page)
    page.evaluate("waits.at(-1).abort()")  # that of what is sent at last
    expect(page.get_by_text("This is a rehearsal").first).to_be_visible()
    assert not page.evaluate("Boolean(waits[0]?.signal.aborted)")
    ada.mishaps.clear()  # the console says that requests were refused


@pytest.mark.nightly
def test_what_was_said_of_answers_does_not_outlive_them(ada: Visit) -> None:
    page = ada.page
    copilot = make_copilot()
    saved = make_saved(copilot)
    ada.go(f"/admin/copilot_admin/copilot/{copilot.pk}/questions/")
    html = (
        page.request.get(f"{page.url}rows/?page=1").text().replace('finished="0"', 'finished="1"')
    )
    said = {"X-Said": "1%20answer%20is%20awaited."}
    page.route("**/ask/?*", lambda route: route.fulfill(body=html, headers=said))
    page.route("**/rows/?*", lambda route: route.fulfill(body=html))
    status = page.locator("[data-ca-said]")
    page.locator(f"#ask-{saved.pk}").click()
    expect(status).to_have_text("1 answer is awaited.")
    expect(status).to_have_text("")
    page.unroute("**/rows/?*")
    expect(status).to_have_text("Nothing more is being asked.")


def test_a_slug_is_written_while_a_name_is_typed_in_any_script(ada: Visit) -> None:
    page = ada.page
    make_provider()
    ada.go("/admin/copilot_admin/copilot/add/")
    name, slug = page.get_by_label("Name", exact=True), page.get_by_label("Slug")
    for typed in NAMES:
        name.fill(typed)
        assert typed and slug.input_value() == slug_of(typed)
    name.fill("市场简报")
    expect(slug).to_have_value("")  # made when it is saved
    slug.fill("news")
    name.fill("Other")
    expect(slug).to_have_value("news")


@pytest.mark.nightly
def test_a_server_that_is_away_loses_nothing(ada: Visit) -> None:
    copilot = make_copilot()
    page = ada.page
    ada.go(FORM.format(copilot.pk))
    page.get_by_label("Description").first.fill("Half a thought")
    page.route("**/jsi18n/", lambda route: route.abort())
    page.get_by_role("button", name="Save draft").click()
    dialog = page.get_by_role("dialog", name="The server does not answer")
    expect(dialog.get_by_label("Password")).to_be_hidden()
    dialog.get_by_role("button", name="Try again").click()
    expect(dialog).to_be_visible()
    page.unroute("**/jsi18n/")
    dialog.get_by_role("button", name="Try again").click()
    expect(page.get_by_text("Draft saved.")).to_be_visible()
    copilot.refresh_from_db()
    assert copilot.description == "Half a thought"
    ada.mishaps.clear()  # the console says that the request failed


def kept(page: Page) -> None:
    """Waits until the browser has a copy of what was typed."""
    expect(page.locator("form[data-ca-kept]")).to_have_count(1)


def copies(page: Page) -> list[str]:
    found: list[str] = page.evaluate("Object.keys(localStorage)")
    return [name for name in found if name.startswith("copilot-admin-copy:")]


def test_what_a_closed_tab_held_is_offered_again(ada: Visit) -> None:
    copilot = make_copilot(starters=["One?"])
    page = ada.page
    ada.go(FORM.format(copilot.pk))
    expect(page.get_by_text("Edits that you never saved")).to_be_hidden()
    page.get_by_label("Description").first.fill("Half a thought")
    ada.tab("Steps and starters")
    page.get_by_role("button", name="Add a question").press("Enter")  # however the page moves
    expect(page.locator("input:focus, textarea:focus")).to_have_value("")  # the new row's
    page.keyboard.type("Two?")
    kept(page)
    page.on("dialog", lambda dialog: dialog.accept())
    ada.go("/admin/")
    ada.go(FORM.format(copilot.pk))
    expect(page.get_by_text("Edits that you never saved")).to_be_visible()
    assert ada.grave_findings(page.locator("[data-ca-copy]")) == []
    page.get_by_role("button", name="Bring them back").click()
    expect(page.get_by_label("Description").first).to_have_value("Half a thought")
    expect(page.get_by_text("Unsaved edits")).to_be_visible()
    assert Copilot.objects.get().description == ""
    page.get_by_role("button", name="Save draft").click()
    expect(page.get_by_text("Draft saved.")).to_be_visible()
    assert Copilot.objects.get().starters == ["One?", "Two?"]
    ada.go(FORM.format(copilot.pk))
    expect(page.get_by_label("Description").first).to_have_value("Half a thought")
    expect(page.get_by_text("Edits that you never saved")).to_be_hidden()
    assert copies(page) == []


@pytest.mark.nightly
def test_a_long_text_that_a_closed_tab_held_is_brought_back_too(ada: Visit) -> None:
    """Percent-encoded it would be longer than what is read of such a form."""
    copilot, text = make_copilot(), "市" * 400_000
    page = ada.page
    ada.go(FORM.format(copilot.pk))
    put(page, text)
    kept(page)
    page.on("dialog", lambda dialog: dialog.accept())
    ada.go("/admin/")
    ada.go(FORM.format(copilot.pk))
    page.get_by_role("button", name="Bring them back").click()
    expect(page.get_by_label("System prompt")).to_have_value(text)


def put(page: Page, text: str) -> None:
    """Has a script put a text into the prompt."""
    page.get_by_label("System prompt").evaluate(
        "(field, text) => { field.value = text; field.dispatchEvent(new Event('input', { bubbles: true })); }",
        text,
    )


@pytest.mark.nightly
def test_a_form_that_the_server_would_not_read_is_not_sent_and_stays_as_it_is(ada: Visit) -> None:
    page = ada.page
    ada.go(FORM.format(make_copilot().pk))
    text = '"' * 600_000 + "🧀"  # a page that shows it again would have 14 MB of it
    put(page, text)
    page.get_by_role("button", name="Save draft").click()
    expect(page.locator(".ca-too-long")).to_have_text(
        "Not sent: the texts of this form are longer together than the 12,288 KB that are taken at "
        "once; of texts with emoji and very many quotes it is a part of that. Shorten this one."
    )
    expect(page.get_by_label("System prompt")).to_have_value(text)
    put(page, '"' * 400_000 + "🧀")
    expect(page.locator(".ca-too-long")).to_have_count(0)
    ada.mishaps.clear()  # the preview has asked with all that is typed, and was refused
    page.get_by_role("button", name="Save draft").click()
    expect(page.get_by_text("Draft saved.")).to_be_visible()


@pytest.mark.nightly
def test_a_plain_form_is_not_sent_either_where_it_would_be_too_long(ada: Visit) -> None:
    page = ada.page
    ada.go(FORM.format(make_copilot().pk))
    sent = page.evaluate(
        """() => [100_000, 120_000].map((length) => {
          const form = document.createElement("form");
          form.method = "post";
          form.innerHTML = "<textarea name=t></textarea>";
          form.firstChild.value = "市".repeat(length);
          document.body.append(form);
          return form.dispatchEvent(new SubmitEvent("submit", { bubbles: true, cancelable: true }));
        })"""
    )
    assert sent == [True, False]
    expect(page.locator(".ca-too-long")).to_contain_text("than the 1,024 KB that are taken")


@pytest.mark.nightly
def test_what_the_browser_brings_back_itself_is_not_offered_too(ada: Visit) -> None:
    page = ada.page
    form = FORM.format(make_copilot().pk)
    ada.go(form)
    page.get_by_label("Description").first.fill("Half a thought")
    kept(page)
    page.on("dialog", lambda dialog: dialog.accept())
    ada.go("/admin/")
    page.go_back()
    expect(page.get_by_label("Description").first).to_have_value("Half a thought")
    expect(page.get_by_text("Edits that you never saved")).to_be_hidden()
    ada.go("/admin/")
    ada.go(form)
    expect(page.get_by_text("Edits that you never saved")).to_be_visible()


@pytest.mark.nightly
def test_a_copy_that_is_thrown_away_is_gone(ada: Visit) -> None:
    page = ada.page
    ada.go("/admin/copilot_admin/copilot/add/")
    page.get_by_label("Name").first.fill("Half a name")
    kept(page)
    page.on("dialog", lambda dialog: dialog.accept())
    page.reload()
    page.get_by_role("button", name="Throw them away").click()
    expect(page.get_by_role("tab", name="Basics")).to_be_focused()
    page.reload()
    expect(page.get_by_text("Edits that you never saved")).to_be_hidden()
    assert copies(page) == []


@pytest.mark.nightly
def test_an_image_that_would_be_refused_is_refused_before_it_is_sent(ada: Visit) -> None:
    page = ada.page
    ada.go(FORM.format(make_copilot().pk))
    upload = page.get_by_label("Upload an image")
    large = {"name": "a.png", "mimeType": "image/png", "buffer": b"x" * (1024 * 1024 + 1)}
    upload.set_input_files(large)  # type: ignore[arg-type]  # as Playwright documents it
    expect(page.get_by_role("alert")).to_have_text(
        "This image has more than 1 MB. Choose a smaller one."
    )
    assert upload.input_value() == ""
    upload.set_input_files({"name": "a.gif", "mimeType": "image/gif", "buffer": b"GIF89a"})
    expect(page.get_by_role("alert")).to_have_text(
        "This is no PNG, JPEG or WebP file. Choose another."
    )
    # What it is called says nothing of what it is.
    upload.set_input_files({"name": "b.png", "mimeType": "image/png", "buffer": picture()})
    expect(page.locator('#preview img[src^="data:image/png"]')).to_be_visible()
    for refused, words in (
        (b"no picture", "This is no PNG, JPEG or WebP file. Choose another."),
        (
            picture(size=(2001, 2000)),
            "This image has more than 4 million pixels. Choose a smaller one.",
        ),
    ):
        upload.set_input_files({"name": "a.png", "mimeType": "image/png", "buffer": refused})
        expect(page.get_by_role("alert")).to_have_text(words)
        expect(page.locator("#preview img")).to_have_count(0)
    assert upload.input_value() == ""
    upload.set_input_files({"name": "a.png", "mimeType": "image/png", "buffer": picture()})
    expect(page.get_by_role("alert")).to_have_count(0)
    assert upload.input_value() != ""
    # The words are those of the page, not of the browser, and a file can be taken away again.
    chosen = page.locator(".ca-file", has=upload).get_by_role("status")
    expect(chosen).to_have_text("a.png")
    page.get_by_role("button", name="Take it away").click()
    expect(chosen).to_have_text("No file chosen")
    assert upload.input_value() == ""


@pytest.mark.nightly
def test_a_provider_is_tried_as_its_form_stands(browser: Browser, base_url: str) -> None:
    make_user(Role.OPERATORS, username="olga")
    olga = visit(browser, base_url)
    olga.log_in("olga")
    page = olga.page
    olga.go("/admin/copilot_admin/provider/add/")
    page.get_by_label("Kind").select_option("rehearsal")
    page.get_by_label("API key").fill("sk-typed")
    page.get_by_role("button", name="Test").click()
    expect(page.get_by_role("status").get_by_text("Working:")).to_be_visible()
    page.get_by_role("button", name="Fetch models").click()
    expect(page.locator("#provider-trial .ca-tags")).to_contain_text("rehearsal")
    expect(page.get_by_label("API key")).to_have_value("sk-typed")
    assert olga.grave_findings() == []
    page.context.close()
    assert olga.mishaps == []


@pytest.mark.nightly
def test_models_that_were_fetched_are_offered_when_their_provider_is_chosen(ada: Visit) -> None:
    page = ada.page
    first, second = make_provider(name="First"), make_provider(name="Second")
    keep_models(second.pk, ("m-known",))
    ada.go(FORM.format(make_copilot(provider=first).pk))
    page.get_by_role("tabpanel", name="Basics").get_by_label("Provider").select_option(
        label="Second"
    )
    expect(page.locator("#id_model_list option")).to_have_attribute("value", "m-known")


@pytest.mark.nightly
def test_of_500_copilots_a_key_finds_its_own_by_typing(browser: Browser, base_url: str) -> None:
    make_user(Role.OPERATORS, username="olga")
    provider = make_provider()
    Copilot.objects.bulk_create(
        Copilot(name=f"Desk {number:03}", slug=f"desk-{number:03}", provider=provider, model="m")
        for number in range(500)
    )
    olga = visit(browser, base_url)
    olga.log_in("olga")
    page = olga.page
    olga.go("/admin/copilot_admin/endpointkey/add/")
    page.get_by_label("Name").fill("Desk")
    copilots = page.get_by_role("combobox", name="Copilots")
    copilots.fill("DESK 4")
    expect(page.get_by_role("option")).to_have_count(20)
    expect(page.get_by_text("There are more: go on typing.")).to_be_visible()
    assert olga.grave_findings() == []
    copilots.press_sequentially("12")
    page.keyboard.press("Enter")
    copilots.fill("desk 007")
    page.get_by_role("option", name="Desk 007").click()
    page.get_by_role("button", name="Remove Desk 412").click()
    copilots.fill("nothing like it")
    expect(page.get_by_text("Nothing matches.")).to_be_visible()
    page.keyboard.press("Escape")
    page.set_viewport_size(PHONE)
    assert olga.overflow() <= 0
    page.get_by_role("button", name="Make the key").click()
    expect(page.get_by_label("The new key")).to_be_visible()
    assert [one.name for one in EndpointKey.objects.get().copilots.all()] == ["Desk 007"]

    eve = visit(browser, base_url)
    make_user(Role.REVIEWERS, username="eve")
    eve.log_in("eve")
    eve.go("/admin/copilot_admin/conversation/")
    eve.page.get_by_text("Filters", exact=True).click()
    eve.page.get_by_label("Copilot", exact=True).fill("desk 007")
    eve.page.keyboard.press("Enter")
    expect(eve.page.get_by_text("Copilot: Desk 007")).to_be_visible()
    eve.page.context.close()
    page.context.close()
    assert (olga.mishaps, eve.mishaps) == ([], [])


@pytest.mark.nightly
def test_a_large_prompt_is_put_in_at_once_and_taken_back(ada: Visit) -> None:
    page = ada.page
    ada.go(FORM.format(make_copilot(system_prompt="You read prices.").pk))
    prompt = page.get_by_label("System prompt")
    prompt.focus()
    page.keyboard.press("Control+End")
    # One event for all of it: line by line Chromium takes a minute for this text.
    page.evaluate(
        "addEventListener('input', (event) => { (window.told ??= []).push(event.isTrusted); })"
    )
    text = "\nYou are a careful analyst of {{ nothing }}." * 6000
    page.keyboard.insert_text(text)
    expect(prompt).to_have_value("You read prices." + text)
    assert page.evaluate("window.told") == [False]
    expect(page.locator("[data-ca-unknown]")).to_contain_text("Nothing is called {{ nothing }}")
    page.keyboard.press("Control+z")
    expect(prompt).to_have_value("You read prices.")
    page.keyboard.insert_text("x" * 1_000_001)
    expect(page.locator(".ca-too-long")).to_contain_text("Not put in: the text would have")
    expect(prompt).to_have_value("You read prices.")
    # With `dir="auto"` Chromium needs half a minute where such a text is shown again.
    expect(prompt).not_to_have_attribute("dir", "auto")
    page.keyboard.insert_text("{{ " * 80_000)  # what is never closed is looked through once
    expect(page.locator("[data-ca-unknown]")).to_contain_text("A placeholder is not closed.")
