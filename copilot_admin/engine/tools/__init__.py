"""Tools that run on the server: one typed function in one file each; `registry` finds them."""
