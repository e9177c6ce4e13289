"""What a figure depends on beside the code under test: commit, machine, versions."""

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import psutil

PACKAGES = (
    "milepost", "neo4j", "neo4j-rust-ext", "numpy", "onnxruntime", "tokenizers", "ir-measures",
    "scipy",
)  # fmt: skip

_ROOT = Path(__file__).resolve().parents[1]


def commit() -> str:
    """Return the commit of the code, with "+changes" where files differ; "unknown" without Git."""
    head = _git("rev-parse", "HEAD")
    if head is None:
        return "unknown"
    return f"{head}+changes" if _git("status", "--porcelain", "--untracked-files=no") else head


def machine() -> dict[str, str | int | float | None]:
    """Return what the times depend on, the load of the last minute included."""
    return {
        "system": platform.system(),
        "processor": platform.machine(),
        "cores": os.cpu_count(),
        "memory_gb": round(psutil.virtual_memory().total / 1024**3, 1),
        "load_1_min": round(psutil.getloadavg()[0], 2),
        "python": platform.python_version(),
    }


def packages() -> dict[str, str]:
    """Return the versions of the packages that results depend on."""
    found: dict[str, str] = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def _git(*arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(_ROOT), *arguments],
            capture_output=True,
            text=True,
            timeout=20,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
