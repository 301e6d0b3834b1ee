"""The few operations on files that publishing an edition consists of, in one place so that each can be made to fail."""

from __future__ import annotations

import os
from pathlib import Path

from fabricreport.descriptors import Folder, at, open_file, sync, sync_folder


class Files:
    """Durable writes, renames and links. Tests replace it by one whose n-th operation fails or kills."""

    def write(self, path: Path, data: bytes) -> None:
        """Create a new file with these bytes; an existing one or a link in its place is an error."""
        with os.fdopen(open_file(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as handle:
            handle.write(data)

    def fsync(self, path: Path) -> None:
        """Bring a file's or folder's content to the disk."""
        sync(path)

    def make_folder(self, name: str, parent: Folder) -> None:
        """Make a folder below an open one, unless it is there."""
        path, descriptor = at(parent, name)
        try:
            os.mkdir(path, dir_fd=descriptor)
        except FileExistsError:
            return
        sync_folder(parent)

    def rename(self, source: str, source_parent: Folder, name: str, parent: Folder) -> None:
        """Move a folder to its new name in one step and bring that to the disk."""
        (old, before), (new, after) = at(source_parent, source), at(parent, name)
        os.rename(old, new, src_dir_fd=before, dst_dir_fd=after)

    def fsync_open(self, folder: Folder) -> None:
        """Bring an open folder's entries to the disk."""
        sync_folder(folder)

    def link(self, target: str, name: str, parent: Folder) -> None:
        """Make a symbolic link below an open folder."""
        path, descriptor = at(parent, name)
        os.symlink(target, path, dir_fd=descriptor)

    def swap(self, source: str, name: str, parent: Folder) -> None:
        """Put `source` in the place of `name` in one step."""
        (old, before), (new, after) = at(parent, source), at(parent, name)
        os.replace(old, new, src_dir_fd=before, dst_dir_fd=after)
