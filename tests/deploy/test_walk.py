"""Somebody new follows docs/operations.md from an empty machine to a service, with Debian's programs."""

from contextlib import ExitStack
import json
import os
from pathlib import Path
import re
import shutil
import ssl
import subprocess
import urllib.request
import uuid

import psycopg
import pytest

from benchmarks.processes import free_port
from copilot_admin.settings import BASE_DIR
from tests import services
from tests.deploy.machine import (
    QUESTION,
    Server,
    as_nobody,
    free_ports,
    give_to_nobody,
    program,
    serving,
)
from tests.services import nginx, pgbouncer

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.nginx,
    pytest.mark.pgbouncer,
    pytest.mark.postgres,
    pytest.mark.redis,
]
TEXT = (BASE_DIR / "docs" / "operations.md").read_text()
WALK = TEXT[TEXT.index("## From an empty machine") : TEXT.index("## Start and stop")]
STEPS = dict(
    re.findall(r"^\*\*(\d+)\. .*?\n(.*?)(?=^\*\*\d+\. |\Z)", WALK, re.DOTALL | re.MULTILINE)
)
BLOCKS = {number: re.findall(r"```sh\n(.*?)```", text, re.DOTALL) for number, text in STEPS.items()}
(PGBOUNCER,) = re.findall(r"```ini\n(\[databases\].*?)```", TEXT, re.DOTALL)
COPILOT = """
format: 1
providers: [{name: R, kind: demo}]
copilots: [{slug: news, name: News, provider: R, model: demo, description: one, access: open}]
"""
UNIT = "copilot-admin.service"
# Systemd and Debian's users are not here; what they would do is looked at afterwards.
WITHOUT = "systemctl() { :; }; chown() { :; }; nginx() { :; };\n"


class Machine:
    """An empty machine: folders, names and ports of its own in place of those in the document."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.role = f"copilot_{uuid.uuid4().hex[:12]}"
        self.port, self.bouncer, self.tls = free_ports(3)
        server = psycopg.conninfo.conninfo_to_dict(services.DATABASE_URL)
        self.postgres = (server["host"], str(server.get("port", 5432)))
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(root),
            "PGHOST": self.postgres[0],
            "PGPORT": self.postgres[1],
            "PGUSER": server["user"],
            "DJANGO_SUPERUSER_PASSWORD": "a password of one who walks",
        }

    def here(self, text: str) -> str:
        """What a document says, for this machine."""
        for before, after in {
            "/etc/copilot-admin": f"{self.root}/etc",
            "/opt/copilot-admin": str(BASE_DIR),
            "/var/lib/copilot-admin": f"{self.root}/lib",
            "-o copilot-admin /var/backups": "/var/backups",
            "/var/backups/copilot-admin": f"{self.root}/backups",
            "/etc/pgbouncer/": f"{self.root}/pgbouncer/",
            "/etc/systemd/system": f"{self.root}/units",
            "/etc/nginx/": f"{self.root}/nginx/",
            '\\"copilot\\"': f'\\"{self.role}\\"',
            "LOGIN PASSWORD": f"{self.role} LOGIN PASSWORD",
            "CREATE ROLE copilot ": "CREATE ROLE ",
            "createdb --owner copilot copilot": f"createdb --owner {self.role} {self.role}",
            "postgres://copilot:": f"postgres://{self.role}:",
            "127.0.0.1:5432/copilot": f"{':'.join(self.postgres)}/{self.role}",
            "127.0.0.1:6432/copilot": f"127.0.0.1:{self.bouncer}/copilot",
            "https://copilots.example.com": f"https://localhost:{self.tls}",
            "127.0.0.1:7777": f"127.0.0.1:{self.port}",
            "redis://127.0.0.1:6379/0": services.REDIS_URL,
            "createsuperuser": "createsuperuser --no-input",
            "curl --fail": f"curl --fail --silent --show-error --cacert {self.root}/tls.crt",
        }.items():
            text = text.replace(before, after)
        return text

    def walk(self, step: str) -> str:
        """Does what a step says, as it is written."""
        return "".join(map(self.type, BLOCKS[step]))

    def type(self, block: str) -> str:
        """Types commands of the document."""
        ended = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", WITHOUT + self.here(block)],
            cwd=BASE_DIR, env=self.environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert ended.returncode == 0, block + ended.stdout + ended.stderr
        return str(ended.stdout)

    def service(self) -> dict[str, str]:
        """What systemd gives to the service: the unit, its drop-ins, settings, credentials as files."""
        units = self.root / "units"
        files = [units / UNIT, *sorted((units / f"{UNIT}.d").iterdir())]
        text = "".join(file.read_text() for file in files)
        given = dict(
            word.split("=", 1)
            for line in re.findall(r"^Environment=(.*)$", text, re.MULTILINE)
            for word in line.split()
        )
        given |= dict(
            line.split("=", 1) for line in (self.root / "etc" / "settings").read_text().splitlines()
        )
        credentials = dict(re.findall(r"^LoadCredential=(\w+):(.*)$", text, re.MULTILINE))
        for key, value in given.items():
            if value.startswith("%d/"):
                given[key] = self.here(credentials[value.removeprefix("%d/")])
        given["COPILOT_DATA_DIR"] = self.here(given["COPILOT_DATA_DIR"])
        given["PATH"] = os.environ["PATH"]
        return given

    def start_pgbouncer(self) -> ExitStack:
        """Starts it with the documented file; his folders are those of nobody."""
        folder = Path("/tmp") / f"pgbouncer-{self.bouncer}"  # not below a folder of root alone
        folder.mkdir()
        shutil.copy(self.root / "pgbouncer" / "userlist.txt", folder)
        text = PGBOUNCER.replace(
            "port=5432 dbname=copilot", f"port={self.postgres[1]} dbname={self.role}"
        )
        text = text.replace("host=127.0.0.1", f"host={self.postgres[0]}")
        text = text.replace("listen_port = 6432", f"listen_port = {self.bouncer}")
        text = text.replace("/etc/pgbouncer/userlist.txt", str(folder / "userlist.txt"))
        for name in ("/var/log/postgresql", "/run/postgresql"):
            text = text.replace(name, str(folder))
        (folder / "pgbouncer.ini").write_text(text)
        give_to_nobody(folder, *folder.iterdir())
        command = [*as_nobody(), pgbouncer() or "pgbouncer", "-q", str(folder / "pgbouncer.ini")]
        stack = ExitStack()
        stack.callback(shutil.rmtree, folder)
        stack.enter_context(program(command, port=self.bouncer, log=self.root / "pgbouncer.log"))
        return stack

    def start_nginx(self) -> ExitStack:
        """Starts it with what lies in its folder."""
        text = (self.root / "nginx" / "conf.d" / "copilot-admin.conf").read_text()
        text = text.replace("listen 443 ssl", f"listen 127.0.0.1:{self.tls} ssl")
        text = text.replace("listen 80;", f"listen 127.0.0.1:{free_port()};")
        folders = "".join(
            f"{name}_temp_path {self.root}/{name};"
            for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        user = "user root;" if os.geteuid() == 0 else ""
        file = self.root / "nginx.conf"
        file.write_text(
            f"{user} daemon off; pid {self.root}/pid; events {{}} "
            f"http {{ access_log off; {folders} {text} }}"
        )
        command = [
            nginx() or "nginx",
            "-p",
            str(self.root),
            "-e",
            str(self.root / "e"),
            "-c",
            str(file),
        ]
        stack = ExitStack()
        stack.enter_context(program(command, port=self.tls, log=self.root / "nginx.log"))
        return stack

    def make_certificate(self) -> None:
        """What somebody brings along."""
        for name in ("conf.d", "sites-enabled"):
            (self.root / "nginx" / name).mkdir(parents=True)
        certificate = self.root / "nginx" / "tls.crt"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1",
             "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
             "-keyout", str(self.root / "nginx" / "tls.key"), "-out", str(certificate)],
            capture_output=True, check=True,
        )  # fmt: skip
        shutil.copy(certificate, self.root / "tls.crt")

    def ask(self, path: str, body: bytes | None = None) -> bytes:
        """What the service says through TLS."""
        trusted = ssl.create_default_context(cafile=str(self.root / "tls.crt"))
        request = urllib.request.Request(  # loopback
            f"https://localhost:{self.tls}{path}",
            data=body,
            headers={"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, context=trusted) as answer:
            return bytes(answer.read())

    def count(self, table: str) -> int:
        where = f"host={self.postgres[0]} port={self.postgres[1]} dbname={self.role}"
        with psycopg.connect(f"{where} user={self.environment['PGUSER']}") as rows:
            (found,) = rows.execute(f"SELECT count(*) FROM {table}").fetchall()  # noqa: S608
        return int(found[0])

    def leave(self) -> None:
        with psycopg.connect(services.DATABASE_URL, autocommit=True) as admin:
            admin.execute(f"DROP DATABASE IF EXISTS {self.role} WITH (FORCE)")
            admin.execute(f"DROP ROLE IF EXISTS {self.role}")


def test_the_path_leads_from_an_empty_machine_to_a_watched_and_backed_up_service(tmp_path):
    machine = Machine(tmp_path)
    with ExitStack() as running:
        running.callback(machine.leave)
        for folder in ("pgbouncer", "units"):
            (tmp_path / folder).mkdir()
        for step in ("2", "3", "4"):
            machine.walk(step)
        secrets = [*(tmp_path / "etc").iterdir(), tmp_path / "pgbouncer" / "userlist.txt"]
        assert [path.stat().st_mode & 0o077 for path in secrets] == [0] * 7
        bouncer = running.enter_context(machine.start_pgbouncer())
        for step in ("5", "6", "7"):
            machine.walk(step)
        # Without systemd: with what the unit and its drop-ins give.
        server = Server(machine.service(), machine.port, workers=2)
        with serving(server):
            machine.make_certificate()
            machine.walk("8")
            running.enter_context(machine.start_nginx())
            machine.walk("9")
            export = BLOCKS["6"][0].split("export", 1)[1]
            prepare = (
                "set -a; . /etc/copilot-admin/settings; set +a; export"
                + export.partition(".venv/bin/python")[0]
            )
            (tmp_path / "news.yaml").write_text(COPILOT)
            told = f".venv/bin/python manage.py copilots import {tmp_path}/news.yaml --publish"
            machine.type(prepare + told)
            assert b"copilotMessageChunk" in machine.ask("/v1/copilots/news/query", QUESTION)
            assert list(json.loads(machine.ask("/agents.json"))) == ["news"]
            token = (tmp_path / "etc" / "metrics_token").read_text().strip()
            figures = machine.type(
                f"curl --fail -H 'Authorization: Bearer {token}' http://127.0.0.1:7777/metrics"
            )
            assert 'copilot_runs_total{copilot="news"' in figures
            backup, restore = (
                TEXT[TEXT.index("## Backups") :].split("```sh\n")[1].split("```")[0].splitlines()
            )
            machine.type(prepare + backup)
            machine.ask("/v1/copilots/news/query", QUESTION)
            assert machine.count("copilot_admin_run") == 2
            server.stop()
        bouncer.close()
        machine.type(f"{prepare}{restore} --force")
        assert (machine.count("copilot_admin_run"), machine.count("auth_user")) == (1, 1)
