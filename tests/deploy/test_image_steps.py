"""The steps of the Containerfile, done over this machine's system where no image can be pulled.

What a network brings (base image, packages) is this machine's own; all else is as it is written: the
copies, what is run, the user, the variables, the read-only root, the health check, the command.
"""

import json
import os
from pathlib import Path
import shlex
import shutil
import subprocess
import sys

import pytest

from copilot_admin.settings import BASE_DIR
from tests.deploy.containerfile import stages
from tests.production import production_environment

PACKAGES, IMAGE = stages()
FROM_A_NETWORK = ("apt-get ", "/opt/venv/bin/python -m pip ")
pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(
        os.geteuid() != 0 or not all(map(shutil.which, ("unshare", "chroot", "ip"))),
        reason="only root may mount: run as root, with util-linux and iproute2",
    ),
]


def lines(root: Path, steps: str) -> list[str]:
    """A script of its own mounts and its own loopback; it ends with all of them."""
    merged = root / "merged"
    script = [
        "set -eu",
        "ip link set lo up",
        f"mount -t tmpfs tmpfs {root}",
        f"mkdir {root}/upper {root}/work {merged}",
        f"mount -t overlay overlay -o lowerdir=/,upperdir={root}/upper,workdir={root}/work {merged}",
        f"mount --rbind /proc {merged}/proc",
        f"mount --rbind /dev {merged}/dev",
        f"mkdir -p {merged}/opt/venv && mount --bind {sys.prefix} {merged}/opt/venv",
        f"chmod o+x {merged}/root",  # where this Python may lie
    ]
    workdir = "/"
    for one in IMAGE.instructions:
        if one.name == "WORKDIR":
            workdir = one.text
            script.append(f"mkdir -p {merged}{workdir}")
        elif one.name == "RUN" and not one.text.startswith(FROM_A_NETWORK):
            script.append(
                f"chroot {merged} /bin/sh -c {shlex.quote(f'cd {workdir} && {one.text}')}"
            )
        elif one.name == "COPY" and "--from=packages" not in one.words:
            *sources, target = one.words
            for source in sources:
                place = f"{merged}{workdir}/{target}"
                plain = "" if (BASE_DIR / source).is_dir() else "/"
                script.append(f"cp -rT {BASE_DIR / source} {place}{plain and source}")
    script += [
        f"cp {BASE_DIR}/tests/deploy/inside.py {merged}/inside.py",
        f"mount -o remount,ro,bind {merged}/opt/venv",
        f"mount -o remount,ro {merged}",
        f"mount -t tmpfs -o mode=1777 tmpfs {merged}/tmp",
        f"mount -t tmpfs -o uid=10001,gid=10001,mode=700 tmpfs {merged}/data",
    ]
    user = IMAGE.last("USER").text
    inside = f"cd {workdir} && exec python /inside.py {shlex.quote(steps)}"
    script.append(f"exec chroot --userspec={user} {merged} /bin/sh -c {shlex.quote(inside)}")
    return script


def test_the_image_serves_as_nobody_on_a_root_that_cannot_be_written(tmp_path):
    steps = {
        "entrypoint": IMAGE.last("ENTRYPOINT").words,
        "command": IMAGE.last("CMD").words,
        "healthcheck": json.loads(IMAGE.last("HEALTHCHECK").text.partition("CMD ")[2]),
    }
    variables = dict(word.split("=", 1) for one in IMAGE.all("ENV") for word in one.words)
    environment = {**production_environment("/data"), "ALLOWED_HOSTS": "localhost", **variables}
    script = "\n".join(lines(tmp_path, json.dumps(steps)))
    ended = subprocess.run(
        ["unshare", "--mount", "--net", "--propagation", "private", "sh", "-c", script],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    said = ended.stdout + ended.stderr
    assert "SEEN" in ended.stdout, said
    assert json.loads(ended.stdout.rpartition("SEEN ")[2]) == {
        "uid": 10001,
        "writable": ["/data", "/tmp"],
        "migrated": 0,
        "imported": 0,
        "healthy": True,
        "ready": 200,
        "answered": True,
        "styled": 200,
        "stopped": -15,
    }, said
