"""What was taken from others is what they published, with its licence."""

import hashlib
from pathlib import Path

from copilot_admin.settings import BASE_DIR

VENDOR = BASE_DIR / "copilot_admin" / "static" / "copilot_admin" / "vendor"


def recorded() -> dict[str, str]:
    rows = [line.split() for line in (VENDOR / "SHA256SUMS").read_text().splitlines()]
    return {name: digest for digest, name in rows}


def scripts() -> list[Path]:
    return sorted(path for path in VENDOR.rglob("*.js"))


def test_every_vendored_script_is_the_one_that_was_recorded():
    found = {
        str(path.relative_to(VENDOR)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in scripts()
    }
    assert found == recorded()
