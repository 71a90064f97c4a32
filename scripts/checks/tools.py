"""Sets up, under target/tools/, the software of others that the checks use."""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target").resolve()
TOOLS = TARGET / "tools"
REQUIREMENTS = ROOT / "scripts/checks/requirements.txt"
NODE_PACKAGES = ["gltf-validator@2.0.0-dev.3.10", "playwright-core@1.65.0"]


def run(*command, **options):
    """Runs a command; its output is shown only where it fails."""
    command = [str(part) for part in command]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}\n{done.stdout}")
    return done.stdout


def program():
    """The command to be checked: the first argument, or the release build."""
    return Path(sys.argv[1] if len(sys.argv) > 1 else TARGET / "release/thirdlaw").resolve()


def skip(name, why):
    """Tells that a check is left out; where CI=true that ends everything."""
    print(f"skipped: {name}: {str(why).strip()[-600:]}", flush=True)
    if os.environ.get("CI") == "true":
        sys.exit("error: with CI=true no check may be skipped")
    return None


def set_up(name, folder, key, make):
    """Makes a tool's folder unless it is there, whole and of the pinned versions."""
    mark = folder / ".versions"
    if mark.is_file() and mark.read_text() == key:
        return folder
    print(f"setting up {name} in {folder}", flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    try:
        folder.mkdir(parents=True)
        make(folder)
        mark.write_text(key)
        return folder
    except (RuntimeError, OSError) as error:
        return skip(f"{name} cannot be had", error)


def python():
    """An environment with USD, VTK, trimesh and meshio; None where it cannot be had."""

    def make(folder):
        run(sys.executable, "-m", "venv", folder)
        run(folder / "bin/pip", "install", "--disable-pip-version-check", "-r", REQUIREMENTS)

    key = hashlib.sha256(REQUIREMENTS.read_bytes() + sys.version.encode()).hexdigest()
    return set_up("usd-core, pyvista, trimesh and meshio", TOOLS / "python", key, make)


def node():
    """A folder with the glTF validator and Playwright; None where it cannot be had."""

    def make(folder):
        if not (shutil.which("npm") and shutil.which("node")):
            raise RuntimeError("there is no node or no npm")
        run("npm", "install", "--no-audit", "--no-fund", "--no-save", "--prefix", folder, *NODE_PACKAGES)

    return set_up("the glTF validator and Playwright", TOOLS / "node", " ".join(NODE_PACKAGES), make)


def installed(what, names, packages):
    """Path of a program, installed where this is root with apt; None where it cannot be had."""
    find = lambda: next((path for path in map(shutil.which, names) if path), None)
    if find():
        return find()
    if not (shutil.which("apt-get") and os.geteuid() == 0):
        return skip(f"{what} cannot be had", "it is not installed, and this is not root with apt")
    print(f"setting up {what}", flush=True)
    try:
        quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        run("apt-get", "update", env=quiet)
        run("apt-get", "install", "-y", "--no-install-recommends", *packages, env=quiet)
    except RuntimeError as error:
        return skip(f"{what} cannot be had", error)
    return find() or skip(f"{what} cannot be had", "its package brings no program of a known name")


def chromium():
    """Path of a Chromium; None where it cannot be had."""
    names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]
    return installed("Chromium", names, ["chromium", "fonts-dejavu-core"])


def valgrind():
    """Path of valgrind; None where it cannot be had."""
    return installed("valgrind", ["valgrind"], ["valgrind", "libc6-dbg"])
