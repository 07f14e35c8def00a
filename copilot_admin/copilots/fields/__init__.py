"""The fields of a draft: one table, of which form, file, version and comparison are made.

`table.DRAFT_FIELDS` has a row for every field, `draft_field` says what a row may say. What stands
in a field is typed by `values`, `records` and `controls`, with what they share in `shape`; `shown`
says how a key of a record is asked for; `codecs` has what is not one column as it is.
"""
