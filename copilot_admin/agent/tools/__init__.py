"""Tools that run on the server, and what they share with components and client functions."""
