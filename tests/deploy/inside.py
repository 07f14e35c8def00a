"""Run as the user of the image, within its root: migrates, serves, is asked, and stops.

Prints what it saw as JSON. It knows nothing of the tests: they hand it the steps of the Containerfile.
"""

import contextlib
import json
import os
from pathlib import Path
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

STEPS = json.loads(sys.argv[1])
COPILOT = """
format: 1
providers: [{name: R, kind: demo}]
copilots: [{slug: news, name: News, provider: R, model: demo, description: one, access: open}]
"""
QUESTION = b'{"messages": [{"role": "human", "content": "Hello"}]}'
ADDRESS = "http://127.0.0.1:7777"
MOST_SECONDS = 120


def manage(*arguments: str) -> int:
    return subprocess.run([*STEPS["entrypoint"], *arguments], check=False).returncode


def is_healthy() -> bool:
    return (
        subprocess.run(STEPS["healthcheck"], check=False, stderr=subprocess.DEVNULL).returncode == 0
    )


def asked(path: str, body: bytes | None = None) -> tuple[int, str]:
    request = urllib.request.Request(
        ADDRESS + path, data=body, headers={"Content-Type": "application/json", "Host": "localhost"}
    )
    try:
        with urllib.request.urlopen(request, timeout=MOST_SECONDS) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def writable(folder: str) -> bool:
    with contextlib.suppress(OSError):
        path = Path(folder) / "written"
        path.write_text("x")
        path.unlink()
        return True
    return False


def main() -> None:
    seen: dict[str, object] = {"uid": os.getuid()}
    seen["writable"] = [
        one for one in ("/", "/app", "/opt/venv", "/etc", "/data", "/tmp") if writable(one)
    ]
    seen["migrated"] = manage("migrate", "--no-input", "--verbosity", "0")
    Path("/data/news.yaml").write_text(COPILOT)
    seen["imported"] = manage("copilots", "import", "/data/news.yaml", "--publish")
    server = subprocess.Popen([*STEPS["entrypoint"], *STEPS["command"]])
    until = time.monotonic() + MOST_SECONDS
    while not (healthy := is_healthy()) and server.poll() is None and time.monotonic() < until:
        time.sleep(0.2)
    seen["healthy"] = healthy
    if healthy:
        seen["ready"] = asked("/readyz")[0]
        seen["answered"] = "copilotMessageChunk" in asked("/v1/copilots/news/query", QUESTION)[1]
        seen["styled"] = asked("/static/admin/css/base.css")[0]
    server.send_signal(signal.SIGTERM)
    seen["stopped"] = server.wait(MOST_SECONDS)
    print("SEEN", json.dumps(seen))


main()
