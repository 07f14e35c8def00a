"""Database, uploads and spool as one file, and back: `backing_up`, `restoring`.

The file is a ZIP archive whose last member, `manifest.json`, lists the others with their checksums: a
file that was cut has none. No secret of the environment is in it. See ADR 18.
"""
