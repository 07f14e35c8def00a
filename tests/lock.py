"""Compares the locked dependencies with what they are locked from; `--write` locks anew.

The committed versions are kept as long as their source allows them. To ask the registry for all of
them takes as long as fifty tests, so that is done by night; by day `tests/test_lock.py` looks at the
digest of source and lines, which is written with them.
"""

import hashlib
import json
from pathlib import Path
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib

ROOT = Path(__file__).parent.parent
SOURCES = {
    "run.txt": ("pyproject.toml",),
    "traces.txt": ("pyproject.toml", "--extra", "traces"),
    "dev.txt": ("pyproject.toml", "--extra", "dev"),
    # The SDK never imports its `ffmpeg`, which is source; what would build it stands in no lock.
    "sdk.txt": ("requirements/sdk.in", "--no-emit-package", "ffmpeg"),
}
ADDRESS = re.compile(
    r"^[^#]*://|^\s*-{1,2}(?:index-url|extra-index-url|find-links|i|f)\b", re.MULTILINE
)


def main(arguments: list[str]) -> int:
    """Checks or writes all files; returns the status of the process."""
    stale = [_lock(name, write="--write" in arguments) for name in SOURCES]  # all, even if one is
    return int(any(stale))


def fault(name: str, root: Path = ROOT) -> str:
    """What is wrong with a committed file, without asking a registry; nothing is, if empty."""
    committed = root / "requirements" / name
    text = committed.read_text(encoding="utf-8")
    if ADDRESS.search(text):
        return f"requirements/{name} holds a download address. Run 'make lock'."
    if not text.startswith(_header(name, _body(committed), root)):
        return f"requirements/{name} does not fit {SOURCES[name][0]}. Run 'make lock'."
    return ""


def _lock(name: str, *, write: bool) -> bool:
    committed = ROOT / "requirements" / name
    with tempfile.TemporaryDirectory() as folder:
        fresh = Path(folder) / name
        shutil.copy(committed, fresh)  # the pins that the compiler starts from
        _compile(fresh, SOURCES[name])
        body = _body(fresh)
    if write:
        committed.write_text(_header(name, body, ROOT) + body)
    found = fault(name)
    if not found and body != _body(committed):
        found = f"requirements/{name} is not what the registry gives now. Run 'make lock'."
    if found:
        print(found)
    return bool(found)


def _compile(output: Path, source: tuple[str, ...]) -> None:
    uv = Path(sys.executable).parent / "uv"
    command: list[str | Path] = [uv, "pip", "compile", *source, "--universal", "--quiet"]
    command += ["--python-version", "3.11", "--generate-hashes", "--no-header", "-o", output]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def _body(file: Path) -> str:
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith("#"))


def _header(name: str, body: str, root: Path) -> str:
    source, install = SOURCES[name][0], f"pip install --require-hashes -r {name}"
    locked = json.dumps([SOURCES[name], _wanted(name, root), body])
    digest = hashlib.sha256(locked.encode()).hexdigest()
    return (
        f"# Locked from {source} by 'make lock'. Install: {install}\n"
        f"# Digest of source and lines: {digest}\n"
    )


def _wanted(name: str, root: Path) -> list[str]:
    """What a file is locked from, as its source names it."""
    source, *options = SOURCES[name]
    text = (root / source).read_text(encoding="utf-8")
    if not source.endswith(".toml"):
        return text.splitlines()
    project = tomllib.loads(text)["project"]
    extra = options[1] if options else ""
    return [*project["dependencies"], *project["optional-dependencies"].get(extra, ())]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
