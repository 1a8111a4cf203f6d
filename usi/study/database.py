"""A SQLite file that many read and one thread writes: what was acknowledged is on disk.

Writes are functions of a connection. A single thread runs them, several in one transaction where
several wait, and tells their callers only after the commit. SQLite keeps a write-ahead log
(`WAL <https://www.sqlite.org/wal.html>`_) with ``synchronous=FULL``, so that a commit survives the
end of the process and the loss of power. Content that is deleted is overwritten
(``secure_delete``).
"""

from __future__ import annotations

import asyncio
import fcntl
import queue
import secrets
import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from usi.errors import InputError, UsageError

T = TypeVar("T")
Connection = sqlite3.Connection
MOST_AT_ONCE = 64
"""Writes that share a transaction at most."""
_WAIT_SECONDS = 20.0


def connect(path: Path) -> Connection:
    """A connection with the pragmas of this package; rows are read by name."""
    db = sqlite3.connect(
        str(path), timeout=_WAIT_SECONDS, isolation_level=None, check_same_thread=False
    )
    db.row_factory = sqlite3.Row
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "secure_delete=ON"):
        db.execute(f"pragma {pragma}")
    return db


class Database:
    """A file of a study.

    Parameters
    ----------
    path
        Made where it is absent.
    schema
        SQL that makes the tables; its version is in ``pragma user_version``.
    version
        Of the schema. A file of another version is refused.

    Raises
    ------
    InputError
        Where the file can't be used.
    """

    def __init__(self, path: Path, schema: str, version: int) -> None:
        self.path = path
        self._local = threading.local()
        self._readers: list[Connection] = []
        self._lock = threading.Lock()
        self._waiting: queue.SimpleQueue[tuple[Callable[[Connection], Any], Future[Any]] | None]
        self._waiting = queue.SimpleQueue()
        try:
            self._writer = connect(path)
            found = self._writer.execute("pragma user_version").fetchone()[0]
            if found == 0:
                self._writer.executescript(f"begin immediate; {schema} commit;")
                self._writer.execute(f"pragma user_version={version:d}")
            elif found != version:
                raise InputError(f"has schema {found}; this usi knows {version}", file=str(path))
        except sqlite3.Error as error:
            raise InputError(f"is no file of a study: {error}", file=str(path)) from None
        self._thread = threading.Thread(target=self._write, name="study-writer", daemon=True)
        self._thread.start()

    def read(self) -> Connection:
        """This thread's connection for reading; it sees what was committed."""
        db: Connection | None = getattr(self._local, "db", None)
        if db is None:
            db = connect(self.path)
            db.execute("pragma query_only=ON")
            self._local.db = db
            with self._lock:
                self._readers.append(db)
        return db

    def submit(self, work: Callable[[Connection], T]) -> Future[T]:
        """Have `work` written; the future is done once it is on disk.

        What `work` raises is the future's exception, and nothing of it is written.
        """
        future: Future[T] = Future()
        self._waiting.put((work, future))
        return future

    def write(self, work: Callable[[Connection], T]) -> T:
        """As `submit`, and wait."""
        return self.submit(work).result()

    async def commit(self, work: Callable[[Connection], T]) -> T:
        """As `submit`, for the event loop."""
        return await asyncio.wrap_future(self.submit(work))

    def close(self) -> None:
        """Finish what waits and close the file."""
        self._waiting.put(None)
        self._thread.join()
        for db in self._readers:
            db.close()
        self._writer.close()

    def _write(self) -> None:
        while True:
            first = self._waiting.get()
            if first is None:
                return
            batch, ended = [first], False
            while len(batch) < MOST_AT_ONCE:
                try:
                    item = self._waiting.get_nowait()
                except queue.Empty:
                    break
                if item is None:
                    ended = True
                    break
                batch.append(item)
            self._transaction(batch)
            if ended:
                return

    def _transaction(self, batch: list[tuple[Callable[[Connection], Any], Future[Any]]]) -> None:
        db = self._writer
        done: list[tuple[Future[Any], Any, BaseException | None]] = []
        try:
            db.execute("begin immediate")
            for work, future in batch:
                db.execute("savepoint one")
                try:
                    done.append((future, work(db), None))
                except Exception as error:  # noqa: BLE001  (belongs to whoever asked)
                    db.execute("rollback to one")
                    done.append((future, None, error))
                db.execute("release one")
            db.execute("commit")
        except sqlite3.Error as error:
            if db.in_transaction:
                db.execute("rollback")
            done = [(future, None, error) for _, future in batch]
        for future, result, problem in done:
            if problem is None:
                future.set_result(result)
            else:
                future.set_exception(problem)

    def forget_log(self) -> None:
        """Empty the write-ahead log, so that nothing deleted is left in it."""
        db = connect(self.path)
        try:
            db.execute("pragma wal_checkpoint(TRUNCATE)")
        finally:
            db.close()


def study_name(database: Database) -> str:
    """Random name of a study that its links are bound to; made once."""

    def work(db: Connection) -> str:
        db.execute("insert or ignore into setting values ('study', ?)", (secrets.token_hex(8),))
        row = db.execute("select value from setting where name = 'study'").fetchone()
        return str(row["value"])

    return database.write(work)


@contextmanager
def only_server(folder: Path) -> Iterator[None]:
    """Hold the folder's lock while a server runs; the system lets go of it whatever ends it.

    Raises
    ------
    UsageError
        Where another server has it.
    """
    with (folder / ".server.lock").open("w") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UsageError(f"another server runs in {folder}") from None
        yield
