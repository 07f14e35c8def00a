"""Lets a process import one module with a change that is in no file."""

from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType


class ChangedModule(MetaPathFinder):
    """Finds one module, and only it; goes before the finders of `sys.meta_path`."""

    def __init__(self, root: Path, file: str, text: bytes) -> None:
        parts = Path(file).with_suffix("").parts
        self._name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        self._path = str(root / file)
        self._text = text

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self._name:
            return None
        loader = _Loader(fullname, self._path, self._text)
        return spec_from_file_location(fullname, self._path, loader=loader)


class _Loader(SourceFileLoader):
    def __init__(self, fullname: str, path: str, text: bytes) -> None:
        super().__init__(fullname, path)
        self._text = text

    def get_code(self, fullname: str) -> CodeType:
        # Not from the cache of compiled modules, and not into it.
        return compile(self._text, self.path, "exec", dont_inherit=True)
