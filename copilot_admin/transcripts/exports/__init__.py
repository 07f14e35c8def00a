"""Transcripts taken along as a file: what the list shows, read piece by piece, written in one of several forms.

All its modules are doors.
"""
