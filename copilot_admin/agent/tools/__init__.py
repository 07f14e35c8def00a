"""Tools that run on the server, and code shared with components and client functions."""
