"""The vendor's public Python client of the component API, in an environment of its own.

It is no dependency: it wants other versions of what the product uses. Its environment is made of
what `requirements/sdk.txt` locks, once on a machine, and kept in its folder for temporary files.
"""

from functools import cache
import hashlib
import json
import os
from pathlib import Path
import shutil
import subprocess
import sys
import tempfile
from typing import Any

import pytest

LOCK = Path(__file__).resolve().parents[2] / "requirements" / "sdk.txt"
SECONDS = 600
UNREACHABLE = ("Retrying (", "No matching distribution", "Network is unreachable")
SCRIPT = """
import json, sys
from appbuilder.core.console.component_client.component_client import ComponentClient

def told(call):
    try:
        content = ComponentClient().run(**call).content
        answers = content if call.get("stream") else [content]
        return [one.model_dump(exclude_none=True) for one in answers]
    except Exception as error:
        return {"error": type(error).__name__, "text": str(error)}

print(json.dumps([told(call) for call in json.load(sys.stdin)]))
"""


class Unreachable(Exception):
    """The package index does not answer, or does not have the SDK."""


def run_sdk(calls: list[dict[str, Any]], *, url: str, key: str, home: Path) -> list[Any]:
    """Calls components as somebody would who has the SDK.

    Args:
        calls: The arguments of each `ComponentClient().run`.
        url: Of the server.
        key: An endpoint key.
        home: Where the SDK may write.

    Returns:
        What the SDK's models hold, for each call: a list of answers, or an error.
    """
    done = subprocess.run(
        [_python(), "-W", "ignore", "-c", SCRIPT],
        input=json.dumps(calls),
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "NO_PROXY": "*",
            "GATEWAY_URL_V2": url,
            "APPBUILDER_TOKEN": key,
        },
        cwd=home,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told: list[Any] = json.loads(done.stdout.splitlines()[-1])
    return told


def need_sdk() -> None:
    """Skips a test where the SDK cannot be had; an installation that breaks is a failure in CI."""
    try:
        _python()
    except Unreachable:
        pytest.skip("the package index has no appbuilder-sdk: connect, or set PIP_INDEX_URL")
    except subprocess.SubprocessError as error:
        if os.environ.get("REQUIRE_ALL"):
            pytest.fail(f"appbuilder-sdk was not installed: {error}", pytrace=False)
        pytest.skip("appbuilder-sdk was not installed: install requirements/sdk.txt to see why")


@cache
def _python() -> str:
    """The interpreter of the environment, which is made if there is none."""
    locked = hashlib.sha256(LOCK.read_bytes()).hexdigest()[:12]
    home = Path(tempfile.gettempdir()) / f"copilot-admin-appbuilder-{locked}-{os.getuid()}"
    if not _is_ours(home):
        _make(home)
    return str(home / "bin" / "python")


def _is_ours(home: Path) -> bool:
    """Whether nobody else can have put something there for us to run."""
    if not home.exists():
        return False
    state = home.lstat()
    return home.is_dir() and state.st_uid == os.getuid() and not state.st_mode & 0o022


def _make(home: Path) -> None:
    """Makes the environment under another name first: half of one is never found."""
    made = Path(tempfile.mkdtemp(prefix=f"{home.name}-"))
    try:
        subprocess.run([sys.executable, "-m", "venv", str(made)], check=True, capture_output=True)
        installed = subprocess.run(
            [
                *(str(made / "bin" / "python"), "-m", "pip", "install", "--quiet"),
                *("--disable-pip-version-check", "--retries", "1", "--require-hashes"),
                *("--no-deps", "--only-binary", ":all:", "-r", str(LOCK)),
            ],
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        if installed.returncode != 0:
            if any(sign in installed.stderr for sign in UNREACHABLE):
                raise Unreachable
            raise subprocess.CalledProcessError(
                installed.returncode, "pip", stderr=installed.stderr
            )
        try:
            made.rename(home)
        except OSError:  # another process was faster
            assert _is_ours(home), f"{home} belongs to somebody else"
    finally:
        shutil.rmtree(made, ignore_errors=True)
