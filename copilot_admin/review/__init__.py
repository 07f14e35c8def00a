"""What reviewers do with transcripts: they search, judge, learn from them, count and export them.

All its modules are doors.
"""
