"""Small documents of several writers, each with text that must and must not be read in it."""

from tests.agent.documents.corpus import office, pdf, spreadsheets, text
from tests.agent.documents.corpus.case import Case

CASES: tuple[Case, ...] = (*pdf.CASES, *office.CASES, *spreadsheets.CASES, *text.CASES)
