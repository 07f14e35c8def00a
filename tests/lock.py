"""Compares the locked dependencies with what they are locked from; `--write` locks anew.

The committed versions are kept as long as their source allows them.
"""

from pathlib import Path
import re
import shutil
import subprocess
import sys
import tempfile

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


def _lock(name: str, *, write: bool) -> bool:
    committed = ROOT / "requirements" / name
    with tempfile.TemporaryDirectory() as folder:
        fresh = Path(folder) / name
        shutil.copy(committed, fresh)  # the pins that the compiler starts from
        _compile(fresh, SOURCES[name])
        if write:
            committed.write_text(_header(name) + _body(fresh))
        if _body(fresh) != _body(committed):
            print(f"requirements/{name} does not fit {SOURCES[name][0]}. Run 'make lock'.")
            return True
    if ADDRESS.search(committed.read_text()):
        print(f"requirements/{name} holds a download address. Run 'make lock'.")
        return True
    return False


def _compile(output: Path, source: tuple[str, ...]) -> None:
    uv = Path(sys.executable).parent / "uv"
    command: list[str | Path] = [uv, "pip", "compile", *source, "--universal", "--quiet"]
    command += ["--python-version", "3.11", "--generate-hashes", "--no-header", "-o", output]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def _body(file: Path) -> str:
    lines = file.read_text().splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith("#"))


def _header(name: str) -> str:
    source, install = SOURCES[name][0], f"pip install --require-hashes -r {name}"
    return f"# Locked from {source} by 'make lock'. Install: {install}\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
