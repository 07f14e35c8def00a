"""Rows, widgets and words that several pages of the admin share."""
