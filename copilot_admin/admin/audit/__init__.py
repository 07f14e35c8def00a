"""The pages of the audit trail: a list with filters, an entry, and what the filters find as a file.

Doors: `admin`, for the site.
"""
