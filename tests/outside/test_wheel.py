"""The wheel in an environment of its own and an empty folder: what somebody without a checkout has. `make outside`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SHIPPED = ("notebooks", "output", "params")
pytestmark = pytest.mark.outside
ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON") and k != "VIRTUAL_ENV"}


def done(*words: str | Path, cwd: Path, code: int = 0) -> str:
    """What a command says, both streams, once it has ended as it should."""
    told = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    run = subprocess.run([str(w) for w in words], cwd=cwd, env=ENVIRONMENT, check=False, **told)
    assert run.returncode == code, f"{words}: {run.returncode}\n{run.stdout}"
    return str(run.stdout)


def environment(folder: Path, *installed: str | Path) -> Path:
    """A new environment with these packages; its interpreter."""
    done(sys.executable, "-m", "venv", folder, cwd=folder.parent)
    python = folder / "bin" / "python"
    done(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *installed, cwd=folder.parent)
    return python


@dataclass(frozen=True)
class Installed:
    """The wheel, the sdist it was built from, and the environment it was installed into."""

    sdist: Path
    wheel: Path
    python: Path

    @property
    def libraries(self) -> Path:
        """Its site-packages."""
        (found,) = (self.python.parents[1] / "lib").glob("python*/site-packages")
        return found

    def files(self) -> dict[str, tuple[int, int]]:
        """Size and time of every file that is installed."""
        every = ((path, path.stat()) for path in self.libraries.rglob("*") if path.is_file())
        return {str(path): (facts.st_size, facts.st_mtime_ns) for path, facts in every}

    def told(self, *words: str, cwd: Path, code: int = 0) -> str:
        """What `fabricreport` says."""
        return done(self.python.parent / "fabricreport", *words, cwd=cwd, code=code)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installed]:
    folder = tmp_path_factory.mktemp("outside")
    (builder,) = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]["requires"]
    tools = environment(folder / "tools", builder)
    done(tools, "-m", "hatchling", "build", "-t", "sdist", "-d", folder / "dist", cwd=ROOT)
    (sdist,) = (folder / "dist").glob("*.tar.gz")
    build = (tools, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", folder / "dist", sdist)
    done(*build, cwd=folder)
    (wheel,) = (folder / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        pins = Path(archive.extract("fabricreport/constraints.txt", folder))
    found = Installed(sdist, wheel, environment(folder / "bare", "--constraint", pins, wheel))
    before = found.files()
    yield found
    assert found.files() == before, "something was written into site-packages"


def git_files(*folders: str) -> set[str]:
    """What git has below these folders."""
    listed = ["git", "ls-files", "-z", *folders]
    return set(filter(None, subprocess.check_output(listed, cwd=ROOT, text=True).split("\0")))


def test_wheel_and_sdist_hold_what_git_has_and_nothing_else(installed: Installed) -> None:
    package, beside = git_files("fabricreport"), git_files(*SHIPPED)
    with zipfile.ZipFile(installed.wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert names == package | {f"fabricreport/shipped/{name}" for name in beside}
    with tarfile.open(installed.sdist) as archive:
        packed = {name.partition("/")[2] for name in archive.getnames()}
    assert packed == package | beside | {".gitignore", "PKG-INFO", "README.md", "pyproject.toml"}


def test_it_is_the_installed_package_that_answers(installed: Installed, tmp_path: Path) -> None:
    asked = "import fabricreport; print(fabricreport.__file__)"
    assert Path(done(installed.python, "-c", asked, cwd=tmp_path).strip()).is_relative_to(installed.libraries)
    exporters = done(
        installed.python, "-c", "from nbconvert.exporters import get_export_names as n; print(n())", cwd=tmp_path
    )
    assert "fabricreport-html" in exporters and "fabricreport-pdf" in exporters


def test_every_command_works_in_an_empty_folder(installed: Installed, tmp_path: Path) -> None:
    params = "params/lib-client.yaml"
    assert f"Wrote {params}" in installed.told("new", "Lib Client", cwd=tmp_path)
    assert "nothing to mend" in installed.told("check", params, cwd=tmp_path)
    assert "/memo.pdf" in installed.told("build", params, cwd=tmp_path)
    assert (tmp_path / "output/lib-client/latest/memo.pdf").read_bytes().startswith(b"%PDF")
    assert "nothing that moves a number has changed" in installed.told("refresh", params, cwd=tmp_path)
    assert "price:" in installed.told("explain", "decision.difference", cwd=tmp_path)
    assert "lib-client" in installed.told("list", cwd=tmp_path)
    assert "switch-qm9700" in installed.told("prices", "show", cwd=tmp_path)
    assert "pieces" in installed.told("quotes", params, cwd=tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir() if p.name[0] != ".") == ["output", "params", "quotes"]


def test_a_notebook_of_the_project_goes_before_the_shipped_one_for_as_long_as_it_is_there(
    installed: Installed, tmp_path: Path
) -> None:
    ours = "This sentence is our own."
    own = tmp_path / "notebooks" / "tco.ipynb"

    def memo() -> str:
        told = installed.told("build", "params/example.yaml", "--only", "tco", cwd=tmp_path)
        (page,) = (line.strip() for line in told.splitlines() if line.endswith("memo.html"))
        return (tmp_path / page).read_text(encoding="utf-8")

    assert "params/example.yaml" in installed.told("new", "--project", cwd=tmp_path)
    first = memo()
    theirs, changed = _sentence(json.loads(own.read_text(encoding="utf-8")), first, ours)
    own.write_text(json.dumps(changed), encoding="utf-8")
    second = memo()
    assert ours in second and theirs not in second

    own.unlink()
    assert memo() == first


def _sentence(notebook: dict, memo: str, ours: str) -> tuple[str, dict]:  # type: ignore[type-arg]
    """A plain sentence of the notebook, or a note, that stands in the memo, and the notebook with ours in its place."""
    for cell in notebook["cells"]:
        for line in "".join(cell["source"]).splitlines():
            plain = line.removeprefix("note: ")
            if plain in memo and len(plain) > len(ours) and plain.endswith(".") and not set(plain) & set("{}*_%#`[|"):
                cell["source"] = "".join(cell["source"]).replace(plain, ours)
                return plain, notebook
    raise AssertionError("no plain sentence of the notebook stands in the memo")
