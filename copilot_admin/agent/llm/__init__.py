"""Model calls: the request, the parser of its stream, deadlines, retries and errors."""
