"""What asking a Redis may break with, where pages and answers go on without it."""

from redis.exceptions import RedisError

# Besides its own errors and those of the socket, what clients make of a reply that is none, or that
# is another one's: `:abc`, `$abc` (ValueError), text that is no UTF-8 (a ValueError too), lists within
# thousands of lists, `+OK` where a list is due. Before, each of them was a fault (500) of every question.
REDIS_FAULTS: tuple[type[Exception], ...] = (
    RedisError,
    OSError,
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    AssertionError,
    RecursionError,
    MemoryError,
)
