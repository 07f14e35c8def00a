"""HTML: one document that is whole by itself; it runs nothing and fetches nothing."""

from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from typing import ClassVar

from django.utils.html import escape
from django.utils.translation import gettext_lazy as _

from copilot_admin.transcripts.exports.conversations import ExportedConversation
from copilot_admin.transcripts.exports.format import About, ExportFormat
from copilot_admin.transcripts.exports.said import facts_of, facts_of_turn, parts_of

STYLE = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 0 auto; padding: 1rem; }
section { border-top: 1px solid; margin-top: 2rem; }
article { margin: 1.5rem 0; }
h2, h3, p { overflow-wrap: anywhere; }
h4 { margin: 0.5rem 0 0; font-size: 0.85rem; }
pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; font: inherit; }
.facts { opacity: 0.75; font-size: 0.85rem; font-weight: normal; }
"""
STYLE_HASH = b64encode(sha256(STYLE.encode()).digest()).decode()
POLICY = f"default-src 'none'; style-src 'sha256-{STYLE_HASH}'; base-uri 'none'; form-action 'none'"
HEAD = f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Transcripts</title>
<style>{STYLE}</style>
</head>
<body>
<main>
<h1>Transcripts</h1>
"""


class HtmlPage(ExportFormat):
    """Every text is escaped and shown as it was written, links and pictures too."""

    name: ClassVar[str] = "html"
    label = _("HTML")
    help = _("One page to read in a browser, without scripts, pictures or anything from elsewhere.")
    media_type: ClassVar[str] = "text/html; charset=utf-8"

    def begin(self, about: About) -> Iterator[str]:
        """The head with its policy, and what was filtered."""
        words = f" · {escape(about.words)}" if about.words else ""
        yield f'{HEAD}<p class="facts">{about.made_at:%Y-%m-%d %H:%M} UTC{words}</p>\n'

    def conversation(self, conversation: ExportedConversation) -> Iterator[str]:
        """A section with an article for each turn."""
        row = conversation.row
        yield f'<section id="c{row.pk}">\n<h2 dir="auto">{escape(row.title or f"#{row.pk}")}</h2>\n'
        yield f'<p class="facts">#{row.pk} · {escape(facts_of(conversation))}</p>\n'
        for turn in conversation.turns():
            yield f'<article>\n<h3 class="facts">{escape(facts_of_turn(turn))}</h3>\n'
            for part in parts_of(turn, with_data=conversation.options.with_data):
                # A line break right behind the tag is dropped, so one stands there.
                yield f'<h4>{escape(part.who)}</h4>\n<pre dir="auto">\n{escape(part.text)}</pre>\n'
            yield "</article>\n"
        yield "</section>\n"

    def end(self) -> Iterator[str]:
        """The tags that close what `begin` opened."""
        yield "</main>\n</body>\n</html>\n"
