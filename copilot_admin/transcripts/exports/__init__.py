"""Exports of transcripts as files, written in the background."""
