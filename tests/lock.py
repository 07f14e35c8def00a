"""Compares the locked dependencies with pyproject.toml; `--write` locks anew.

The committed versions are kept as long as pyproject.toml allows them.
"""

from pathlib import Path
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = Path(__file__).parent.parent
EXTRAS = {"run.txt": (), "dev.txt": ("--extra", "dev")}
ADDRESS = re.compile(
    r"^[^#]*://|^\s*-{1,2}(?:index-url|extra-index-url|find-links|i|f)\b", re.MULTILINE
)


def main(arguments: list[str]) -> int:
    """Checks or writes both files; returns the status of the process."""
    stale = [_lock(name, write="--write" in arguments) for name in EXTRAS]  # both, even if one is
    return int(any(stale))


def _lock(name: str, *, write: bool) -> bool:
    committed = ROOT / "requirements" / name
    with tempfile.TemporaryDirectory() as folder:
        fresh = Path(folder) / name
        shutil.copy(committed, fresh)  # the pins that the compiler starts from
        _compile(fresh, EXTRAS[name])
        if write:
            committed.write_text(_header(name) + _body(fresh))
        if _body(fresh) != _body(committed):
            print(f"requirements/{name} does not fit pyproject.toml. Run 'make lock'.")
            return True
    if ADDRESS.search(committed.read_text()):
        print(f"requirements/{name} holds a download address. Run 'make lock'.")
        return True
    return False


def _compile(output: Path, extras: tuple[str, ...]) -> None:
    uv = Path(sys.executable).parent / "uv"
    command: list[str | Path] = [
        uv,
        "pip",
        "compile",
        "pyproject.toml",
        *extras,
        "--universal",
        "--quiet",
    ]
    command += ["--python-version", "3.11", "--generate-hashes", "--no-header", "-o", output]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def _body(file: Path) -> str:
    lines = file.read_text().splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith("#"))


def _header(name: str) -> str:
    return f"# Locked from pyproject.toml by 'make lock'. Install: pip install --require-hashes -r {name}\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
