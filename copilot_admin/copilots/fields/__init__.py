"""The fields of a draft: one table for form, file, version and comparison."""
