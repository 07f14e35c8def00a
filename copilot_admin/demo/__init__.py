"""Demo conversations that fill every page of a new server, and their removal."""
