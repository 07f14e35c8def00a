"""Everything that reads text of callers, models, files or builders, with the worst texts for it.

It is one list, so that nothing is forgotten: a module with a regular expression stands in `DOORS`, or
in `BOUNDED` with the reason why no long text reaches it; and so does one of `edge/` that takes apart what
anybody may send.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any

from django.utils.safestring import SafeString

from copilot_admin.admin.blocks import contents
from copilot_admin.agent import artifact_names, citations
from copilot_admin.agent.client_functions import registry as client_functions
from copilot_admin.agent.component_runs import text as component_text
from copilot_admin.agent.components import passages
from copilot_admin.agent.documents import alphabets, guessed_encodings, pdf_claims, text_encodings
from copilot_admin.agent.fetching import addresses
from copilot_admin.agent.fetching.egress import Egress
from copilot_admin.agent.files import bare_pictures
from copilot_admin.agent.files import encoded as base64_files
from copilot_admin.agent.files import wanted as wanted_files
from copilot_admin.agent.llm import (
    data_lines,
    fragments,
    given_blocks,
    http_refusals,
    rehearsal_script,
    suggestions,
    text_tools,
)
from copilot_admin.agent.prompt import code_spans, data_text, item_forms, placeholders, rows
from copilot_admin.agent.providers import rehearsal
from copilot_admin.agent.toolkits import markdown_images, ranking
from copilot_admin.agent.toolkits.returns import date_texts
from copilot_admin.agent.toolkits.table_operations import cells
from copilot_admin.agent.tools import clean_html, inline_styles, tool_arguments
from copilot_admin.component_calls import files as component_files
import copilot_admin.config.logs
from copilot_admin.evaluation import expectations, numbers
from copilot_admin.import_export import fault_places, loading
from copilot_admin.redaction import kinds, redactor, spellings
from copilot_admin.redaction.rules import Rules
from copilot_admin.rendering import markdown, markdown_room, marking, no_formula
from copilot_admin.storage import folding
from copilot_admin.transcripts.exports.formats import markdown as exported_markdown
from copilot_admin.transcripts.search import counted
from protocol import (
    canonical,
    composed,
    json_tokens,
    long_texts,
    markers,
    plain_text,
    redaction,
    schema_keywords,
    sse,
    storable,
    strict_json,
    time_zones,
)
from protocol.components import manifests
from protocol.data import message
from protocol.json_schema import data_faults
from protocol.messages import DataItem, HumanMessage
from tests.agent.door_readers import (
    as_if_new,
    cited,
    citing,
    date_column,
    decoded,
    encoded,
    every_place,
    in_pieces,
    led_from_here,
    listed_tools,
    named,
    numbers_of_a_column,
    of_many_items,
    of_personal_data,
    put_together,
    ranked,
    read_in_pieces,
    sent_items,
    until_refused,
    wide_table,
)


@dataclass(frozen=True)
class Door:
    """What reads text of strangers, and the texts that cost it most.

    A text is a beginning, a piece that is repeated, and an end.
    """

    module: ModuleType
    read: Callable[[Any], object]
    worst: tuple[tuple[str, str, str], ...]


DOORS = (
    *(
        Door(
            kinds,
            partial(of_personal_data, kind),
            (
                ("", "1 ", ""),
                ("", "1", ""),
                ("", "a@", ""),
                ("", "@a.b", ""),
                ("", "DE89 ", ""),
                ("", "+49 ", ""),
                ("", "(212)", ""),
                ("", "account ", ""),
                ("4", " 4", "x"),
            ),
        )
        for kind in kinds.DataKind
    ),
    Door(
        spellings,
        lambda text: spellings.folded(text).origin((0, 1)),
        (("", "\u200b", ""), ("", "１\u200b", ""), ("", "\u2013", ""), ("", "ü", "")),
    ),
    Door(
        redactor,
        lambda text: redactor.redacted([text], Rules(tuple(kinds.DataKind))),
        (("", "4111 1111 1111 1111 ", ""), ("", "a@b.cd ", ""), ("", "QUJD", ""), ("", "A\n", "")),
    ),
    Door(time_zones, time_zones.time_zone, (("", "a/", "a"), ("", "a", ""), ("", "a.", ""))),
    Door(kinds, kinds.names_account, (("", "account ", ""), ("", "a/c n", ""))),
    Door(
        bare_pictures,
        lambda text: bare_pictures.without_notes(text.encode("latin-1")),
        (
            ("\xff\xd8", "\xff", ""),
            ("\xff\xd8", "\xff\xd0", ""),
            ("\xff\xd8", "\xff\xfe\x00\x02", ""),
            ("\xff\xd8\xff\xda\x00\x02", "\xff", "\xd9"),
            ("\xff\xd8", "\xff\xda\x00\x02a\xff\x00", "\xff\xd9"),
            ("\x89PNG\r\n\x1a\n", "\x00\x00\x00\x00tEXtcrcs", ""),
        ),
    ),
    Door(kinds, kinds.is_account_number, (("", "1-", ""), ("", "1", "x"))),
    Door(redactor, every_place, (("", "a@b.cd ", ""),)),
    Door(
        fault_places,
        lambda text: fault_places.place_of(f"widgets[0].{text}"),
        (
            ("", "a", ""),
            ("", "a.", ""),
            ("a", "[1]", ""),
            ("", "a[1].", "!"),
            ("", "[", ""),
            ("", ": ", ""),
        ),
    ),
    Door(
        given_blocks,
        lambda text: list(given_blocks.blocks_in(text)),
        (
            ("", '<data source="a">\n', ""),
            ("", '<data source="', ""),
            ("", '<data source="a" ', ""),
            ('<data source="', "\\a", ""),
            ("", '<data source="a">\nx\n</data>\n', ""),
        ),
    ),
    Door(
        rehearsal_script,
        lambda text: rehearsal_script._words_for("word_count", text),
        (("", "word ", ""), ("word count", " ", ""), ("word count:", " ", "")),
    ),
    Door(
        text_encodings,
        decoded("cp1252"),
        (("", "ü", ""), ("", "x", "ü"), ("", "x\n", "ü"), ("", "xü\n", ""), ("", "ü x", "")),
    ),
    Door(
        guessed_encodings,
        lambda text: guessed_encodings.guess(text.encode("cp1252")),
        (("", "ü", ""), ("", "x", "üüüü"), ("", "xü\n", "")),
    ),
    Door(
        alphabets,
        alphabets.is_of_one_language,
        (("", "ü", ""), ("", "x", "ü"), ("", "Жx", ""), ("", "„", ""), ("", "ก็", "")),
    ),
    Door(text_encodings, decoded("utf-16-le"), (("", "x", ""), ("", "市", "\n"), ("", "\0", ""))),
    Door(
        base64_files,
        base64_files.is_plain_text,
        (("", "YWJj", ""), ("", "YWJj\n", ""), ("", "+/", ""), ("", "a b", ""), ("", "\n", "")),
    ),
    Door(
        rehearsal,
        lambda text: rehearsal._WORD.findall(text),
        (("", " ", ""), ("x", " ", ""), ("", "x ", ""), ("x", "\n", "x")),
    ),
    Door(
        rows,
        partial(rows.first_rows, limit=1000),
        (
            ("[", "1,", "1]"),
            ("[", "[1],", "1]"),
            ("[1", " ", "]"),
            ("[", '"', ""),
            ("[", "[", ""),
            ('["', "a", '"]'),
            ("", "\n", ""),
            ("", "a", ""),
        ),
    ),
    Door(
        inline_styles,
        inline_styles.harmless_style,
        (
            ("color:", "-", ""),
            ("color:", "a(", ""),
            ("color:", "/*", ""),
            ("color:", "/", ""),
            ("", "border-", ""),
            ("", "color:a;", ""),
            ("", " ", ":"),
        ),
    ),
    Door(
        clean_html,
        clean_html.is_too_costly,
        (
            ("", "<b", ""),
            ("", "<b a='\"", ""),
            ("<b", " a", ""),
            ("<b", " a=", ""),
            ("<b a=", " ", ""),
            ("", "<b ", ""),
            ("", "<p", ""),
        ),
    ),
    Door(
        plain_text,
        plain_text.html_text,
        (
            ("", "<br", ""),
            ("<br", " ", ""),
            ("", "</p ", ""),
            ("</td", " ", ""),
            ("", "<!", ""),
            ("", "<script></script>", ""),
            ("\u0130", "<script></script>", ""),
            ("", "<script>", ""),
            ("", "\n", ""),
            ("", "\xa0", "x"),
            ("", "&#", ""),
            ("&#", "1", ";"),
            ("&", "a", ""),
        ),
    ),
    Door(
        plain_text,
        lambda text: plain_text.markdown_table([{"a": text}]),
        (("", "\r\n", ""), ("", "|", "")),
    ),
    Door(
        plain_text,
        lambda text: plain_text.markdown_table([{f"k{n}": n} for n in range(len(text))]),
        (("", "x", ""),),
    ),
    Door(
        suggestions,
        suggestions._questions,
        (("", "[", ""), ("", "]", ""), ("]", "[", ""), ("[", '"a",', "]"), ("[", " ", "]")),
    ),
    Door(
        code_spans,
        code_spans.code_spans,
        (("", "`", ""), ("", "` ", ""), ("", "`\n\n", ""), ("", "` `` ", ""), ("\n", " ", "")),
    ),
    Door(
        placeholders,
        placeholders.unknown_placeholders,
        (
            ("{{", "`", ""),
            ("", "`{{`", ""),
            ("`", "{{ ", "`"),
            ("{{", "`\n\n", ""),
            ("", "{{", ""),
            ("{{", " ", ""),
            ("", "{{ ", ""),
            ("", "{", "}"),
            ("", "{{a}}", ""),
        ),
    ),
    Door(
        placeholders,
        placeholders.ends_open,
        (("", "{{", ""), ("{{", " ", ""), ("", "{{ ", ""), ("", "{", "}"), ("", "{{a}}", "")),
    ),
    Door(
        placeholders,
        placeholders.in_single_braces,
        (
            ("", "{{", ""),
            ("{{", " ", ""),
            ("", "{{ ", ""),
            ("", "{", "}"),
            ("", "{ ", ""),
            ("", "{{a}}", ""),
        ),
    ),
    Door(
        ranking,
        ranking.terms_of,
        (
            ("a", "\u0301\u0316", ""),
            ("", "\u0f73", ""),
            ("", "\ufdfa", ""),
            ("", "\u5e74", ""),
            ("", "aB", ""),
            ("", "_", ""),
        ),
    ),
    Door(ranking, ranked, (("", "x", ""),)),
    Door(
        markdown_images,
        in_pieces(markdown_images.MarkdownImages),
        (
            ("", "![", ""),
            ("", "![a", ""),
            ("", "`![", ""),
            ("`", "![a](", ""),
            ("", "!", ""),
            ("", "<", ""),
            ("", "<img", ""),
            ("", "`a\n![", ""),
            ("", "```\n![\n", ""),
            ("", "![a](data:image/", ""),
            ("", "\\", "![a](b)"),
        ),
    ),
    Door(
        markdown_images,
        lambda text: markdown_images.without_remote_images(text, sources=()),
        (("", "![", ""), ("", "`![", ""), ("", "<img", ""), ("", "![a](data:image/", "")),
    ),
    Door(
        composed,
        lambda text: canonical.canonical(HumanMessage(text)),
        (
            ("a", "\u0301\u0316", ""),
            ("", "\u0f73", ""),
            ("", "\u0344\u0316", ""),
            ("", "a" + "\u0316\u0301" * 14, ""),
            ("", "\u1100\u1161", ""),
            ("", "\u2014", ""),
            ("", "\r\n", ""),
        ),
    ),
    Door(
        data_lines,
        encoded(in_pieces(data_lines.EitherForm)),
        (
            ("data: ", "x", ""),
            ("", "data: x\n", ""),
            ("", "\r", ""),
            ("", "data:\n\n", ""),
            ("", "{", ""),
        ),
    ),
    Door(
        sse,
        encoded(in_pieces(sse.Decoder)),
        (("data: ", "x", ""), ("", "data: x\n", ""), ("", "\r", ""), ("", "data:\n\n", "")),
    ),
    Door(sse, sse.encode_chunk, (("", "\u2028", ""),)),
    Door(
        text_tools,
        until_refused(in_pieces(text_tools.ToolBlocks)),
        (("```tool\n", "x", ""), ("", "`", ""), ("", "```tool```", ""), ("", "``x", "")),
    ),
    Door(
        text_tools,
        until_refused(lambda text: list(text_tools.ToolBlocks().feed(text))),
        (("", "```tool```", ""), ("", "`", "")),
    ),
    Door(fragments, until_refused(put_together), (("", "x", ""),)),
    Door(client_functions, listed_tools, (("", "x", ""),)),
    Door(wanted_files, sent_items, (("", "x", ""),)),
    Door(artifact_names, named, (("", "x", ""),)),
    Door(citations, cited, (("", "x", ""),)),
    Door(citations, citing, (("", "x", ""),)),
    Door(
        passages,
        lambda text: list(passages._cut(text)),
        (
            ("", ".", ""),
            ("", '."', ""),
            (".", '"', ""),
            ("", "a. ", ""),
            ("", "},", ""),
            ("", "\n", ""),
            ("", "a", ""),
            ("", "\u3002", ""),
        ),
    ),
    Door(passages, passages._essence, (("", "a ", ""), ("", "_", ""))),
    Door(
        pdf_claims,
        encoded(pdf_claims.check_claims),
        (
            ("", "/", ""),
            ("", "/Length", ""),
            ("", "/Length ", ""),
            ("/Length", " ", ""),
            ("/Length ", "1", ""),
            ("", "/Length 1 ", ""),
            ("", "/Length 1 0 ", ""),
        ),
    ),
    Door(
        data_text,
        lambda text: data_text._ENCODED.fullmatch(text),
        (("", "a", "!"), ("data:", "a", ""), ("a" * 200, " ", "!")),
    ),
    Door(
        data_text,
        lambda text: data_text.shortened(text, limit=10),
        (("", "[", ""), ("[1", ",1", "]"), ("", "a\n", "")),
    ),
    Door(data_text, of_many_items, (("", "x", ""),)),
    Door(
        item_forms,
        lambda text: item_forms.plain_content(
            DataItem(content=text, data_format={"parse_as": "text"})
        ),
        (('"', "\\", ""), ('"', "\\n", '"'), ("", '"', ""), ('"', " ", '"')),
    ),
    Door(component_text, component_text.is_address, (("https://", "a", " "), ("", "h", ""))),
    Door(component_text, component_text.plain, (("", "[", ""), ("", " ", ""))),
    Door(component_text, component_text.fenced, (("", "`", ""), ("", "``` ", ""), ("", "`` ", ""))),
    Door(
        tool_arguments,
        tool_arguments.tool_name,
        (("", " ", ""),),
    ),
    Door(
        addresses,
        as_if_new(Egress().refuses),
        (
            ("http://a", "\u0301\u0316", ""),
            ("//a", "\u0301\u0316", ""),
            ("http:a//a", "\u0301\u0316", ""),
            ("http://", "1.", ""),
            ("http://[", "1:", "]"),
            ("http://a/", "\u0301\u0316", ""),
            ("http://a", "\t", ""),
            ("http:/\t/a", "\u0301\u0316", ""),
        ),
    ),
    Door(
        addresses,
        as_if_new(led_from_here),
        (
            ("http://a", "\u0301\u0316", ""),
            ("//a", "\u0301\u0316", ""),
            ("/\r\n/a", "\u0301\u0316", ""),
            ("/a//", "\u0301\u0316", ""),
            ("", "../", ""),
            ("//[", "1:", "]"),
        ),
    ),
    Door(
        component_files,
        as_if_new(component_files._last_part),
        (("http://a", "\u0301\u0316", "/a.txt"), ("http://a/", "/", ""), ("http://a/", "%cc", "")),
    ),
    Door(
        http_refusals,
        lambda text: http_refusals._NO_IMAGES.search(text) or http_refusals._TOO_LONG.search(text),
        (("", "image", ""), ("", "context ", ""), ("", "support", "")),
    ),
    Door(
        markers,
        lambda text: (markers.strip_markers(text), markers.artifact_names(text)),
        (
            ('<artifact className="', "a", ""),
            ("", '<artifact className="', ""),
            ("", "<artifact ", ""),
            ("<artifact", " ", ""),
            ("", "</artifact ", ""),
            ("", "<|start_artifact_id|>", ""),
            ("", "<|start_citation_id|>a<|end_citation_id|>", ""),
        ),
    ),
    Door(
        redaction,
        redaction.redact_text,
        (
            ("", "a://", ""),
            ("http://", "@", ""),
            ("http://a?", "a=b&", ""),
            ("http://a?", "%41", "=1"),
            ("&amp;", "&a", ""),
            ("http://a?", "access_", "=1"),
            ("http://a?x_amz_", "_key", "=1"),
            ("", "a.", "://"),
        ),
    ),
    Door(redaction, redaction.is_secret_name, (("", "a_", ""), ("", "aB", ""))),
    Door(storable, storable.storable, (("", "\x00", ""), ("", "\ud800", ""))),
    Door(
        strict_json,
        encoded(strict_json.parse),
        (
            ("", "[", ""),
            ('"', '\\"', ""),
            ("[", '"",', '""]'),
            ('"', "\\u0000", '"'),
            ("[", " ", "]"),
            ("", "1", ""),
        ),
    ),
    Door(
        json_tokens,
        encoded(lambda text: json_tokens._STRING.sub(b"", text)),
        (('"', "\\", ""), ("", '"', ""), ("", '\\"', "")),
    ),
    Door(
        json_tokens,
        encoded(lambda text: list(json_tokens._outside_texts(text))),
        (('"', "\\", ""), ("", '"', ""), ('"', '\\"', ""), ("", '"",', "")),
    ),
    Door(
        long_texts,
        encoded(read_in_pieces),
        (
            ('"', '\\"', '","' + "a" * long_texts._PIECE + '"'),
            ('"', "\\", ""),
            ('"', '"', ""),
            ("", "\\", '"'),
            ("", "\\ud83d\\ude00", ""),
        ),
    ),
    Door(
        manifests,
        manifests.argument_descriptions,
        (
            ("Args:\n    a", " ", ""),
            ("Args:\n    a (", "(", ""),
            ("Args:\n", "    a:\n", ""),
            ("Args:\n", "    a (b): c\n", ""),
            ("Note:", " ", "x"),
        ),
    ),
    Door(
        date_texts,
        date_column,
        (
            ("", "1", ""),
            ("", "1/", ""),
            ("Jan ", " ", "1, 2024"),
            ("", "Jan", ""),
            ("1/2/2024 ", "1:", ""),
            ("1/31/2024", ", ", "10:00"),
        ),
    ),
    Door(cells, numbers_of_a_column, (("", "1", ""), ("", "1.234,", ""), ("(", "1 ", "%)"))),
    Door(
        numbers,
        lambda text: list(numbers.numbers_in(text)),
        (
            ("", "1", ""),
            ("", "1,", ""),
            ("", "1.234,", "e"),
            ("", "(1 %)", ""),
            ("", "-$1", ""),
            ("1", "\u202f234", ""),
        ),
    ),
    Door(
        expectations,
        expectations.verdict_of_judge,
        (("", "*", ""), ("", "*", "yes"), ("", " ", "no")),
    ),
    Door(message, message.kind_from, (("", "-", ""), ("", "\xb6a", ""))),
    Door(
        loading,
        encoded(loading.load),
        (
            ("{", " ", ""),
            ("", " ", "{"),
            ('{"a":"', "b", '"}'),
            ("", "- a\n", ""),
            ("a: ", "b ", ""),
            ('a: "', "\\x41", '"'),
            ("a: [", "b,", "]"),
            ("a: |\n", "  b\n", ""),
            ("a: ", "!", ""),
            ("a: ", "!a", ""),
            ("a: >\n", "\n", " b"),
            ('a: "', "\n", '"'),
            ("", "[", ""),
        ),
    ),
    Door(
        markdown,
        markdown.safe_html,
        (
            ("", "> a\n", ""),
            ("", "> ", ""),
            ("", "- a\n", ""),
            ("", "- ", "a"),
            ("", "[a](b) ", ""),
            ("", "![a", ""),
            ("", "[a](", ""),
            ("", "[a]: b\n", ""),
            ("", "*a*b", ""),
            ("", "a**b_", ""),
            ("", "~~a", ""),
            ("", "`a", ""),
            ("", "``a`", ""),
            ("|a|b|\n|-|-|\n", "|1|2|\n", ""),
            ("", "|a|\n|-|\n", ""),
            ("", "a|b\n-|-\n", ""),
            ("", "|", ""),
            ("", "&amp;", ""),
            ("", "&#1", ""),
            ("", "<a@b.c> ", ""),
            ("", "a\n", ""),
            ("", "# a\n", ""),
            ("", "```\n", ""),
            ("", "a\n=\n", ""),
        ),
    ),
    Door(markdown_room, wide_table, (("", "x", ""),)),
    Door(
        copilot_admin.config.logs,
        lambda text: copilot_admin.config.logs._CONTROL_CHARACTERS.sub("?", text),
        (("", "\n", ""),),
    ),
    Door(
        folding,
        folding.fold,
        (
            ("", "ẞ", ""),
            ("", " \n", "x"),
            ("a", "\u0316\u0301", ""),
            ("", "i\u0307", ""),
            ("", "각", ""),
        ),
    ),
    Door(
        folding,
        lambda text: folding.spans_of(text, ("ab", "b a", "zzz")),
        (("", "ab ", ""), ("", "a", "b"), ("a", "\u0316\u0301", ""), ("", "\u0301", "")),
    ),
    Door(
        marking,
        lambda text: marking.marked(SafeString(text), ("a b",)),
        (
            ("", "<", ""),
            ("", "<a ", ""),
            ("", "<\"'", ""),
            ("", "<'<a\"", ""),
            ("", "<b>a</b> <i>b</i>", ""),
            ("", "&", ""),
            ("", "&a", ";"),
            ("", "a b", ""),
        ),
    ),
    Door(
        no_formula,
        no_formula.no_formula,
        (("", ";", "="), ("", "\n", ""), ("", ";- ", "("), ("", " ", "="), ("x;", "\u200b", "=")),
    ),
    Door(
        counted,
        counted._FORM.fullmatch,
        (
            ("", "a", ""),
            ("a:", "b", ""),
            ("a", " b", ""),
            ("a 1 2 v", "1", ""),
            ("a 1 2 model=", " v1", ""),
        ),
    ),
    Door(
        exported_markdown, exported_markdown.plain, (("", "*", ""), ("", " ", "x"), ("", "a\n", ""))
    ),
    Door(
        exported_markdown, exported_markdown.fenced, (("", "`", ""), ("", "` ", ""), ("", "a", ""))
    ),
    Door(
        schema_keywords,
        lambda text: data_faults([[one, "a"] for one in range(len(text))], {"uniqueItems": True}),
        (("", "a", ""),),
    ),
    Door(
        contents,
        lambda text: contents.content_of(text, key="k"),
        (
            ("", " ", "x"),
            ("{", " ", "x"),
            ('{"', "a", ""),
            ('{"a"', " ", ":x"),
            ("[", '{"a":1},', ""),
            ("[", "[", ""),
        ),
    ),
)

# Modules that no long text reaches, and why.
BOUNDED = {
    "copilot_admin.http.scope": "a path is looked at once, and has 64 KB at most",
    "copilot_admin.redaction.checked": "only made; what they find is tried in a process of its own",
    "copilot_admin.redaction.worker": "in a process of its own, which has an end",
    "copilot_admin.environment": "expressions of the operator, compiled only",
    "copilot_admin.config.variables": "names of headers in settings",
    "copilot_admin.config.origins": "hosts and headers that the operator wrote into the environment",
    "copilot_admin.audit.forwarding": "lines of a file that an operator names",
    "copilot_admin.audit.parties": "one character at a time of a text that is cut",
    "copilot_admin.audit.changes": "names of 100 characters at most",
    "copilot_admin.management.commands.audit": "an option that an operator types",
    "copilot_admin.transcripts.search.phrases": "looks at 500 characters",
    "copilot_admin.pricing.litellm": "its expression has a longest match",
    "copilot_admin.ids": "its expression has a longest match",
    "copilot_admin.admin.copilots.rows": "fields of a form with a longest length",
    "copilot_admin.admin.copilots.questions_form": "a field of a form with a longest length",
    "copilot_admin.admin.copilots.data_rows": "fields of a form with a longest length",
    "copilot_admin.evaluation.differences": "one character at a time; its own test bounds the effort",
    "copilot_admin.admin.providers.form": "fields of a form with a longest length",
    "copilot_admin.models.copilots": "a field with a longest length",
    "copilot_admin.admin.common.record_rows": "fields of a form with a longest length",
    "copilot_admin.import_export.yaml_writing": "one character at a time, or two",
    "copilot_admin.copilots.fields.controls": "pydantic's expressions have no backtracking",
    "copilot_admin.copilots.fields.values": "pydantic's expressions have no backtracking",
    "copilot_admin.copilots.fields.records": "pydantic's expressions have no backtracking",
    "copilot_admin.copilots.questions.entry": "pydantic's expressions have no backtracking",
    "copilot_admin.copilots.questions.expectation": "pydantic's expressions have no backtracking",
    "copilot_admin.import_export.schema": "pydantic's expressions have no backtracking",
    "copilot_admin.accounts.external": "looks at 150 characters, one at a time",
    "copilot_admin.import_export.yaml_reading": "read through copilot_file.loading",
    "copilot_admin.agent.toolkits.arithmetic.tokens": "calculations have at most 1,000 characters",
    "copilot_admin.agent.component_runs.run": "errors of components, one expression of one class",
    "copilot_admin.agent.components.registry": "versions of components, written by us",
    "copilot_admin.privacy.leftovers": "what PostgreSQL says of a table; its expression has one match",
    "copilot_admin.transcripts.matching.similarity": "looks at 2,000 characters",
    "protocol.components.contract": "its expressions have a longest match",
}
