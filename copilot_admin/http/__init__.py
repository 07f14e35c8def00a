"""ASGI middleware around Django: ids, CORS, security headers, body limit, proxy identity, errors."""
