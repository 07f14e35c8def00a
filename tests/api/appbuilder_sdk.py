"""The vendor's public Python client of the component API, in an environment of its own.

It needs other versions of libraries than the product. Its environment is created from
`requirements/sdk.txt` once per lock file, in the cache folder of the user.
"""

from contextlib import suppress
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


def run_sdk(calls: list[dict[str, Any]], *, url: str, key: str, home: Path) -> list[Any]:
    """Call components with the SDK; return a list of answers, or an error, for each call.

    Args:
        calls: The arguments of each `ComponentClient().run`.
        url: Of the server.
        key: An API key.
        home: Folder that the SDK may write to.
    """
    environment = {"HOME": str(home), "NO_PROXY": "*"}
    environment |= {"PATH": os.environ["PATH"], "GATEWAY_URL_V2": url, "APPBUILDER_TOKEN": key}
    done = subprocess.run(
        [_find_python(), "-W", "ignore", "-c", SCRIPT],
        input=json.dumps(calls),
        env=environment,
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
    """Skip a test where the SDK can't be installed."""
    try:
        _find_python()
    except subprocess.SubprocessError as error:
        if os.environ.get("REQUIRE_ALL"):
            pytest.fail(f"appbuilder-sdk was not installed: {error}", pytrace=False)
        pytest.skip("appbuilder-sdk was not installed: install requirements/sdk.txt to see why")


@cache
def _find_python() -> str:
    locked = hashlib.sha256(LOCK.read_bytes()).hexdigest()[:12]
    home = Path.home() / ".cache" / f"copilot-admin-appbuilder-{locked}"  # nobody else writes there
    python = home / "bin" / "python"
    if not python.exists():
        home.parent.mkdir(exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=f"{home.name}-", dir=home.parent))
        pip = [str(made / "bin" / "python"), "-m", "pip", "install", "--quiet", "--retries", "1"]
        pip += ["--require-hashes", "--no-deps", "--only-binary", ":all:", "-r", str(LOCK)]
        try:
            for command in ([sys.executable, "-m", "venv", str(made)], pip):
                subprocess.run(command, check=True, capture_output=True, text=True, timeout=SECONDS)
            with suppress(OSError):  # another process was faster
                made.rename(home)
        finally:
            shutil.rmtree(made, ignore_errors=True)
    return str(python)
