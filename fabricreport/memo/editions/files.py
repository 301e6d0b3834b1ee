"""The few operations on files that publishing an edition consists of, in one place so that each can be made to fail."""

from __future__ import annotations

import os
from pathlib import Path


class Files:
    """Durable writes, renames and links. Tests replace it by one whose n-th operation fails or kills."""

    def write(self, path: Path, data: bytes) -> None:
        """Create a new file with these bytes; an existing one or a link in its place is an error."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        with os.fdopen(os.open(path, flags, 0o666), "wb") as handle:
            handle.write(data)

    def fsync(self, path: Path) -> None:
        """Bring a file's or folder's content to the disk."""
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def make_folder(self, name: str, parent: int) -> None:
        """Make a folder below an open one, unless it is there."""
        try:
            os.mkdir(name, dir_fd=parent)
        except FileExistsError:
            return
        os.fsync(parent)

    def rename(self, source: str, source_parent: int, name: str, parent: int) -> None:
        """Move a folder to its new name in one step and bring that to the disk."""
        os.rename(source, name, src_dir_fd=source_parent, dst_dir_fd=parent)

    def fsync_open(self, descriptor: int) -> None:
        """Bring an open folder's entries to the disk."""
        os.fsync(descriptor)

    def link(self, target: str, name: str, parent: int) -> None:
        """Make a symbolic link below an open folder."""
        os.symlink(target, name, dir_fd=parent)

    def swap(self, source: str, name: str, parent: int) -> None:
        """Put `source` in the place of `name` in one step."""
        os.replace(source, name, src_dir_fd=parent, dst_dir_fd=parent)


def open_folder(name: str | Path, parent: int | None = None) -> int:
    """Descriptor of a folder that must not be a symbolic link."""
    return os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=parent)
