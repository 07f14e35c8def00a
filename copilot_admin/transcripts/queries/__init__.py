"""Transcripts in the form for reviewers, read with a constant number of queries."""
