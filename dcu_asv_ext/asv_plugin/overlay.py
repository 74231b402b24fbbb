"""`"environment_type": "overlay"`: a virtual environment per commit over the packages of asv's own interpreter.

asv itself answers `"pythons": ["same"]` and `-E existing` with its own `existing` environment wherever no
environment type is set; with `"environment_type": "overlay"`, "same" means this interpreter here too.
"""

from __future__ import annotations

import hashlib
import json
import os
import site
import sys
import sysconfig
import venv
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from asv import util
from asv.console import log
from asv.environment import Environment, EnvironmentUnavailable

from dcu_asv_ext.devices import DeviceUnavailable, device_kind, torch_build

from . import install
from .install import InstallError
from .overlay_names import ParentCopy, distributions_in, editable_distributions, parent_copy, withheld_names
from .overlay_store import CommitStore, InUse, Lease
from .project_size import project_size
from .settings import SettingsError, settings_of


def running_python() -> str:
    """The version of asv's interpreter, as asv writes it ("3.11")."""
    return f"{sys.version_info[0]}.{sys.version_info[1]}"


def platform_entries() -> dict[str, str]:
    """torch and the kind of device, as entries of the environment's name. Raises asv's UserError."""
    build = torch_build()
    if build.kind == "absent":
        log.warning("dcu-asv: torch is not installed beside asv; benchmarks that need it will not be found")
        return {}
    try:
        return {"torch": build.version, "device": device_kind(build=build)}
    except DeviceUnavailable as error:
        raise util.UserError(str(error)) from error


def parent_sites() -> list[str]:
    """The site-packages of asv's interpreter, in its own order."""
    folders = [site.getusersitepackages()] if site.ENABLE_USER_SITE else []
    folders += site.getsitepackages()
    return [folder for folder in folders if os.path.isdir(folder)]


@lru_cache(maxsize=64)
def _parent_copy(names: frozenset[str], roots: tuple[Path, ...]) -> ParentCopy:
    return parent_copy(names, roots, sys.path, parent_sites())


class OverlayEnvironment(Environment):  # type: ignore[misc]
    """One virtual environment a commit, below `<env_dir>/<dir_name>/`, each with the commit's project alone.

    Attributes: keep_environments, how many of them are kept on disk; env_folder, the commit's that is in use.
    """

    tool_name = "overlay"

    def __init__(
        self,
        conf: Any,
        python: str,
        requirements: dict[str, str],
        tagged_env_vars: dict[tuple[str, str], str],
    ) -> None:
        if not self.matches(python):
            raise EnvironmentUnavailable(
                f'"environment_type": "overlay" builds on the interpreter that runs asv, Python {running_python()}, '
                f'and cannot offer {python!r}: set "pythons": ["{running_python()}"], or run asv by that interpreter'
            )
        if requirements:
            raise util.UserError(
                f'"matrix" asks for {", ".join(sorted(requirements))}, but the overlay environment installs nothing '
                'besides the project: install it beside asv, and keep only "env" and "env_nobuild" in "matrix"'
            )
        self._lease: Lease | None = None
        self._active: str | None = None
        self._owner = os.getpid()
        self._requirements = platform_entries()
        super().__init__(conf, running_python(), self._requirements, tagged_env_vars)
        self._base = Path(self._path)
        self._store = CommitStore(self._base)
        self._roots = self._local_roots(conf)
        try:
            self.keep_environments = settings_of(conf).keep_environments
        except SettingsError as error:
            raise util.UserError(str(error)) from error

    @staticmethod
    def _local_roots(conf: Any) -> tuple[Path, ...]:
        """The folders of the project in its local repository; none where `repo` is an address."""
        root = Path(str(conf.repo))
        if not root.is_dir():
            return ()
        places = [root.resolve()]
        if conf.repo_subdir:
            places.append((root / conf.repo_subdir).resolve())
        return tuple(places)

    @classmethod
    def matches(cls, python: str) -> bool:
        return python in (running_python(), "same")

    def __getstate__(self) -> dict[str, Any]:
        # Goes to the workers of `asv run --parallel`; a lock cannot.
        return {**self.__dict__, "_lease": None, "_active": None}

    @property
    def env_folder(self) -> str:
        """The folder of the commit in use (of all of them where none is)."""
        return str(self._path)

    # What asv asks -----------------------------------------------------------------------------------------

    @property
    def installed_commit_hash(self) -> str | None:
        self._adopt_from_worker()
        return self._active

    def _get_installed_commit_hash(self) -> str | None:
        return self._active

    def project_facts(self) -> dict[str, Any]:
        """`package_size` (bytes) and `files` of the project in use; {} where none is."""
        self._adopt_from_worker()
        return {} if self._lease is None else dict(self._lease.record.get("project", {}))

    def check_presence(self) -> bool:
        return self._base.is_dir()

    def create(self) -> None:
        """Nothing is downloaded and nothing installed before a commit is known."""
        try:
            self._setup()
        except OSError as error:
            raise util.UserError(self._unusable(error)) from error
        self._is_setup = True

    def _setup(self) -> None:
        self._base.mkdir(parents=True, exist_ok=True)

    def install_project(self, conf: Any, repo: Any, commit_hash: str) -> None:
        if self.installed_commit_hash == commit_hash:
            return
        self._deactivate()
        try:
            if not self._activate_installed(commit_hash):
                self._setup()
                with self._store.exclusive(self._say_waiting):
                    # Whoever was waited for may have installed just this.
                    if not self._activate_installed(commit_hash):
                        self._install_commit(repo, commit_hash)
        except InstallError as error:
            self._deactivate()
            log.error(str(error))
            raise
        except OSError as error:
            self._deactivate()
            raise InstallError(self._unusable(error)) from error
        except BaseException:
            self._deactivate()
            raise
        if os.getpid() != self._owner:
            self._store.announce(self._owner, self.hashname, commit_hash)

    def run(self, args: Sequence[str], **kwargs: Any) -> Any:
        log.debug(f"Running '{' '.join(args)}' in {self.name}")
        return self.run_executable("python", list(args), **kwargs)

    def run_executable(self, executable: str, args: list[str], **kwargs: Any) -> Any:
        self._adopt_from_worker()
        environ = self.inherited_environ(kwargs.pop("env", None))
        return super().run_executable(executable, args, env=environ, **kwargs)

    def inherited_environ(self, given: Mapping[str, str] | None = None) -> dict[str, str]:
        """`given` (os.environ) with the parent's scripts at hand and a child that dies with this process."""
        environ: dict[str, str] = dict(os.environ if given is None else given)
        environ["DCU_ASV_PARENT_PID"] = str(os.getpid())
        # Tools that go by this variable must not install beside asv.
        environ["VIRTUAL_ENV"] = self.env_folder
        scripts = sysconfig.get_path("scripts")
        paths = environ.get("PATH", os.defpath).split(os.pathsep)
        if scripts not in paths:
            environ["PATH"] = os.pathsep.join([scripts, *paths])
        return environ

    # Activating --------------------------------------------------------------------------------------------

    def _activate_installed(self, commit: str) -> bool:
        lease = self._store.lease(commit, self._checksum())
        if lease is None:
            return False
        self._use_folder(lease)
        self._write_startup(lease)
        if "project" not in lease.record:  # installed before its size was asked for
            lease.record["project"] = project_size(lease.folder, bool(lease.record["sources"]))
        self._finish_activation(commit)
        return True

    def _use_folder(self, lease: Lease) -> None:
        self._lease = lease
        self._path = str(lease.folder)
        self._global_env_vars["ASV_ENV_DIR"] = self._path

    def _finish_activation(self, commit: str) -> None:
        self._active = commit
        self._set_commit_hash(commit)
        self._set_build_dirs(None, None)

    def _deactivate(self) -> None:
        if self._lease is not None:
            self._lease.release()
        self._lease = None
        self._active = None
        self._path = str(self._base)
        self._global_env_vars["ASV_ENV_DIR"] = self._path
        self._set_commit_hash(None)
        self._set_build_dirs(None, None)

    def _adopt_from_worker(self) -> None:
        """`asv run --parallel` installs in another process, and then measures in this one."""
        if os.getpid() != self._owner:
            return
        commit = self._store.announced(self.hashname)
        if commit is None or commit == self._active:
            return
        self._deactivate()
        if not self._activate_installed(commit):
            raise util.UserError(
                f"the environment of commit {commit[:8]} was removed while asv was running; run asv again"
            )

    # Installing --------------------------------------------------------------------------------------------

    def _install_commit(self, repo: Any, commit: str) -> None:
        log.info(f"Installing {repo.get_decorated_hash(commit, 8)} into {self.name}")
        try:
            lease = self._store.begin(commit)
        except InUse:
            raise InstallError(
                f"commit {commit[:8]} would have to be installed anew (its commands or its Python changed), "
                f"but another asv is using {self._store.folder(commit)}; wait for it, or set another env_dir"
            ) from None
        self._use_folder(lease)
        venv.EnvBuilder(symlinks=True, with_pip=False).create(self._path)
        site_packages = install.site_packages_of(lease.folder)
        install.write_startup(site_packages, self._startup_arguments({}))
        self.checkout_project(repo, commit)
        root = Path(self._build_root) / (self._repo_subdir or "")
        if not root.is_dir():
            raise InstallError(f'"repo_subdir": {self._repo_subdir!r} does not exist in commit {commit[:8]}')
        sources = self._install_from(root, lease.folder, commit)
        own = install.provided_names(site_packages, sources)
        self._refuse_editable(site_packages, commit)
        record = {
            "commit": commit,
            "checksum": self._checksum(),
            "distributions": sorted({name for name, _ in distributions_in(site_packages)}),
            "sources": [str(folder) for folder in sources],
            "own": sorted(own),
            "project": project_size(lease.folder, bool(sources)),
        }
        install.write_startup(site_packages, self._startup_arguments(record))
        # A package without __init__.py may share its name with one of the parent's: Python decides, as ever.
        checked = {name for name in own if "." not in name} if sources else own
        install.verify(self, checked, lease.folder, commit)
        self._store.complete(lease, record)
        self._finish_activation(commit)
        self._store.prune(self.keep_environments)

    def _install_from(self, root: Path, folder: Path, commit: str) -> list[Path]:
        """Install what lies in `root`; the folders to put on the path where that is all there is to do.

        An empty install_command asks for just that, whatever packaging there is.
        """
        packaging = install.packaging_of(root)
        if self._build_command or self._install_command:
            self._set_build_dirs(str(root), None)
            install.run_build_step(self, lambda: self._run_own_commands(root, commit), packaging, commit)
        elif packaging.backend is not None and self._install_command is None:
            self._set_build_dirs(str(root), None)
            install.build_and_install(self, root, packaging, commit)
        else:
            return install.copy_sources(root, folder)
        return []

    def _run_own_commands(self, root: Path, commit: str) -> None:
        """The configuration's build_command and install_command, by asv's own rules."""
        build = self._build_command
        wheel_wanted = any("{wheel_file}" in str(line) for line in _as_list(self._install_command))
        if build is not None or wheel_wanted:
            cache = self._cache.create_cache_dir(commit)
            self._set_build_dirs(str(root), cache)
            if build is None:
                build = [
                    "python -m pip wheel --no-deps --no-index --no-build-isolation -w {build_cache_dir} {build_dir}"
                ]
            self._interpolate_and_run_commands(build, default_cwd=str(root), extra_env=self.build_env_vars)
        if self._install_command is not None:
            self._interpolate_and_run_commands(
                self._install_command, default_cwd=str(root), extra_env=self.build_env_vars
            )
        else:
            wheels = sorted(Path(self._global_env_vars["ASV_BUILD_CACHE_DIR"]).glob("*.whl"))
            install.prepare_pip(self)
            install.pip_install(self, wheels[0] if len(wheels) == 1 else root)
        self._cache.finalize_cache_dir(commit)

    def _refuse_editable(self, site_packages: Path, commit: str) -> None:
        editable = editable_distributions(site_packages)
        if editable:
            raise InstallError(
                f"install_command installs {editable[0]} of commit {commit[:8]} as editable, and all commits share "
                "one checkout, so each would measure the last one; take -e (--editable) out of install_command"
            )

    # What a commit's environment is made of ----------------------------------------------------------------

    def _startup_arguments(self, record: dict[str, Any]) -> dict[str, Sequence[str]]:
        own = record.get("own", ())
        arguments: dict[str, Sequence[str]] = {
            "sources": record.get("sources", ()),
            "inherited": self._inherited_folders(),
            "parents": parent_sites(),
            "own": own,
        }
        if record:
            copy = _parent_copy(frozenset(record["distributions"]), self._roots)
            arguments["withheld"] = sorted(withheld_names(copy.names, own))
            arguments["dropped"] = sorted(copy.folders)
        return arguments

    def _write_startup(self, lease: Lease) -> None:
        # At every activation: what is installed beside asv may have changed since the commit was installed.
        install.write_startup(install.site_packages_of(lease.folder), self._startup_arguments(lease.record))

    def _inherited_folders(self) -> list[str]:
        """The parent's PYTHONPATH, without the project's own working tree."""
        own = {str(place) for root in self._roots for place in (root, root / "src")}
        entries = os.environ.get("PYTHONPATH", "").split(os.pathsep)
        folders = [entry for entry in entries if os.path.isabs(entry) and os.path.isdir(entry)]
        return [folder for folder in folders if os.path.realpath(folder) not in own]

    def _checksum(self) -> str:
        """Of all that a finished install depends on."""
        parts = [
            self._project,
            self._repo_subdir,
            self._build_command,
            self._install_command,
            self.build_env_vars,
            sys.version,
            sys.base_prefix,
            parent_sites(),
            install.startup_source(),
        ]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    def _say_waiting(self) -> None:
        log.warning(f"Another asv is installing a commit in {self._base}; waiting for it")

    def _unusable(self, error: OSError) -> str:
        return (
            f"the commit environments in {self._base} cannot be made or used ({error}); "
            'set "env_dir" to a folder on a local disk that can be written and has room'
        )


def _as_list(commands: Any) -> list[Any]:
    if commands is None:
        return []
    return list(commands) if isinstance(commands, list) else [commands]
