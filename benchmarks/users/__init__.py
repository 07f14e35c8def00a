"""A thousand users with tokens over two workers: nothing mixed, limits held, counts agreed, one erased."""
