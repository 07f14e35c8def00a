"""The fields of a draft: one table, of which form, file, version and comparison are made.

`table.DRAFT_FIELDS` has a row for every field, `draft_field` says what a row may say. What stands
in a field is typed by `values` and `records`; `codecs` has what is not one column as it is.
"""
