"""Untrusted values as HTML, SVG and CSV."""
