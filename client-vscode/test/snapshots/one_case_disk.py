"""one_case_disk.py FOLDER MOUNTED: shows a folder as a disk on which names that differ in case alone are the same.

Names stay as they were written, as on Windows and macOS. Prints a line when the disk is there. Needs fusepy and Linux.
"""

import errno
import os
import sys

try:
    from fusepy import FUSE, FuseOSError, Operations  # as Debian names it
except ImportError:
    from fuse import FUSE, FuseOSError, Operations


class OneCaseDisk(Operations):
    def __init__(self, folder: str) -> None:
        self.folder = folder

    def init(self, path: str) -> None:
        print("ready", flush=True)

    def _at(self, path: str) -> str:
        """Where a path is; what does not exist is where it would be made."""
        at = self.folder
        for part in path.strip("/").split("/"):
            names = os.listdir(at) if os.path.isdir(at) and not os.path.islink(at) else []
            at = os.path.join(at, next((name for name in names if name.lower() == part.lower()), part))
        return at

    def getattr(self, path, fh=None):
        state = os.lstat(self._at(path))
        names = "st_mode st_size st_uid st_gid st_nlink st_atime st_mtime st_ctime"
        return {name: getattr(state, name) for name in names.split()}

    def readdir(self, path, fh):
        return [".", "..", *os.listdir(self._at(path))]

    def readlink(self, path):
        return os.readlink(self._at(path))

    def mkdir(self, path, mode):
        os.mkdir(self._at(path), mode)

    def rmdir(self, path):
        os.rmdir(self._at(path))

    def unlink(self, path):
        os.unlink(self._at(path))

    def symlink(self, target, source):
        os.symlink(source, self._at(target))

    def link(self, target, source):
        raise FuseOSError(errno.EPERM)

    def rename(self, old, new):
        source, there = self._at(old), self._at(new)
        if source != there and os.path.lexists(there):
            (os.rmdir if os.path.isdir(there) else os.unlink)(there)
        os.rename(source, os.path.join(os.path.dirname(there), os.path.basename(new)))

    def chmod(self, path, mode):
        os.chmod(self._at(path), mode)

    def chown(self, path, uid, gid):
        os.chown(self._at(path), uid, gid, follow_symlinks=False)

    def utimens(self, path, times=None):
        os.utime(self._at(path), times, follow_symlinks=False)

    def open(self, path, flags):
        return os.open(self._at(path), flags)

    def create(self, path, mode, fi=None):
        return os.open(self._at(path), os.O_RDWR | os.O_CREAT, mode)

    def read(self, path, size, offset, fh):
        return os.pread(fh, size, offset)

    def write(self, path, data, offset, fh):
        return os.pwrite(fh, data, offset)

    def truncate(self, path, length, fh=None):
        os.truncate(self._at(path) if fh is None else fh, length)

    def release(self, path, fh):
        os.close(fh)


FUSE(
    OneCaseDisk(sys.argv[1]),
    sys.argv[2],
    foreground=True,
    nothreads=True,
    hard_remove=True,
    entry_timeout=0,
    attr_timeout=0,
    negative_timeout=0,
)
