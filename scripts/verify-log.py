#!/usr/bin/env python3
"""Verifies the log of a Daybook queue in an SQLite file, independently of Daybook (docs/tamper-evidence.md).

    python3 scripts/verify-log.py daybook-data/daybook.sqlite --queue default \
        --checkpoints daybook-data/checkpoints/default.checkpoints --key daybook-data/checkpoints/default.key

Needs nothing but Python 3.8 and its standard library. Exit code 0: the log is whole. 1: it is not, and the first
fault is named. 2: it could not be read.
"""
import argparse
import base64
import gzip
import hashlib
import itertools
import json
import re
import sqlite3
import sys
import urllib.parse
import zlib
from pathlib import Path

# "$" would also fit before a line break at the end, and "\d+" numbers with leading zeros, which nobody has appended.
SEAL = re.compile(r',"chain":\{"from":(0|[1-9]\d{0,15}),"to":(0|[1-9]\d{0,15}),"hash":"([\w-]{43})","leaves":"((?:[\w-]{8})+)"\}\}\Z', re.ASCII)
NOTE = re.compile(r"((?:.+\n)+)\n((?:— .*\n)+)")
SEGMENT = re.compile(r"(\d{12,16})-(\d{12,16})\.jsonl\.gz", re.ASCII)


class Fault(Exception):
    """The log is not what was appended."""


def sha256(data):
    return hashlib.sha256(data).digest()


def base64url(digest):
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


# ------------------------------------------------------------------------------------------------------- the chain


def leaf_hash(stream, revision, event_id, kind, bare, data):
    lines = "\n".join((stream, str(revision), event_id, kind, bare, data))
    # Text that is no UTF-8 keeps its bytes: nobody has appended it, so its hash does not fit.
    return sha256(b"\x00" + lines.encode(errors="surrogateescape"))


def without_seal(metadata):
    """The metadata as it was hashed, and the seal, or None."""
    found = SEAL.search(metadata)
    if found is None:
        return metadata, None
    start, end, seal_hash, marks = found.groups()
    return metadata[: found.start()] + "}", (int(start), int(end), seal_hash, marks)


def first_unmarked(leaves, first, end, marks):
    """The first revision whose event is not the one that the seal marks."""
    count = len(marks) // 8
    for i in range(count):
        revision = end - count + 1 + i
        leaf = leaves[revision - first] if 0 <= revision - first < len(leaves) else b""
        if base64url(leaf)[:8] != marks[8 * i : 8 * i + 8]:
            return revision
    return None


def verify(events, stream, on_leaf):
    """Reads all events, oldest first. Returns the number of events, where the chain begins, and the last hash."""
    before, begins, next_revision, covered = "", None, 0, -1
    leaves = []
    for revision, event_id, kind, data, metadata in events:
        if revision != next_revision:
            raise Fault(f"revision {next_revision} is missing: there is {revision} in its place")
        next_revision += 1
        if not all(isinstance(text, str) for text in (event_id, kind, data, metadata)):
            raise Fault(f"revision {revision} is not what was appended there: its id, type, data or metadata is no text")
        bare, seal = without_seal(metadata)
        leaf = leaf_hash(stream, revision, event_id, kind, bare, data)
        on_leaf(leaf)
        leaves.append(leaf)
        if begins is None and seal is None and len(leaves) > 20_000:
            del leaves[:-10_000]
        if seal is None:
            continue
        start, end, seal_hash, marks = seal
        count = len(marks) // 8
        if begins is None:
            # The first seal covers its own append alone.
            del leaves[:-count]
        first = revision - len(leaves) + 1
        lines = [before, *map(base64url, leaves), str(count)]
        if start != first or end != revision or base64url(sha256("\n".join(lines).encode())) != seal_hash:
            found = first_unmarked(leaves, first, end, marks)
            if start == first and end == revision and found is None:
                # Whoever altered an event may have computed the hashes from it on anew.
                raise Fault(f"some event up to revision {revision}, or its hash, was altered: the hash in the metadata of revision {revision} does not fit")
            where = f"revision {found}" if found is not None and start == first else f"one of the revisions {max(covered, 0)} to {revision}"
            raise Fault(f"{where} is not what was appended there")
        if first_unmarked(leaves, first, end, marks) is not None:
            raise Fault(f"what revision {revision} says about its hash was altered")
        begins = first if begins is None else begins
        before, covered, leaves = seal_hash, revision, []
    return next_revision, begins, before, covered


# ----------------------------------------------------------------------------------- the Merkle tree of RFC 9162


class Tree:
    """Keeps the hashes of its complete subtrees, from the largest to the smallest."""

    def __init__(self):
        self.size = 0
        self.hashes = []

    def add(self, leaf):
        rest = self.size
        while rest % 2 == 1:
            leaf = sha256(b"\x01" + self.hashes.pop() + leaf)
            rest //= 2
        self.hashes.append(leaf)
        self.size += 1

    def root(self):
        if not self.hashes:
            return sha256(b"")
        root = self.hashes[-1]
        for left in reversed(self.hashes[:-1]):
            root = sha256(b"\x01" + left + root)
        return root


# ------------------------------------------------------------------------- Ed25519, as in RFC 8032, section 6

P = 2**255 - 19
Q = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
ROOT_OF_MINUS_ONE = pow(2, (P - 1) // 4, P)


def add_points(a, b):
    e, f = (a[1] - a[0]) * (b[1] - b[0]) % P, (a[1] + a[0]) * (b[1] + b[0]) % P
    g, h = 2 * a[3] * b[3] * D % P, 2 * a[2] * b[2] % P
    x, y, z, t = f - e, h - g, h + g, f + e
    return x * y % P, z * t % P, y * z % P, x * t % P


def times(scalar, point):
    result = (0, 1, 1, 0)
    while scalar > 0:
        if scalar & 1:
            result = add_points(result, point)
        point = add_points(point, point)
        scalar >>= 1
    return result


def equal_points(a, b):
    return (a[0] * b[2] - b[0] * a[2]) % P == 0 and (a[1] * b[2] - b[1] * a[2]) % P == 0


def decompress(data):
    y = int.from_bytes(data, "little")
    sign, y = y >> 255, y & (2**255 - 1)
    if y >= P:
        return None
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    if square == 0:
        return None if sign else (0, y, 1, 0)
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P != 0:
        x = x * ROOT_OF_MINUS_ONE % P
    if (x * x - square) % P != 0:
        return None
    if x & 1 != sign:
        x = P - x
    return x, y, 1, x * y % P


BASE_Y = 4 * pow(5, P - 2, P) % P
BASE = decompress(BASE_Y.to_bytes(32, "little"))


def is_signed(public, message, signature):
    if len(public) != 32 or len(signature) != 64:
        return False
    a, r = decompress(public), decompress(signature[:32])
    s = int.from_bytes(signature[32:], "little")
    if a is None or r is None or s >= Q:
        return False
    h = int.from_bytes(hashlib.sha512(signature[:32] + public + message).digest(), "little") % Q
    return equal_points(times(s, BASE), add_points(r, times(h, a)))


# ------------------------------------------------------- checkpoints: C2SP's signed-note and tlog-checkpoint


def read_key(text):
    name, key_id, key = text.strip().split("+", 2)
    raw = base64.b64decode(key)
    if raw[0] != 1 or len(raw) != 33 or sha256(f"{name}\n".encode() + raw)[:4].hex() != key_id:
        raise ValueError("this is no Ed25519 key of a note")
    return name, bytes.fromhex(key_id), raw[1:]


def read_checkpoints(text, key):
    """Size and root of each checkpoint of this signer, smallest first."""
    name, key_id, public = key
    checkpoints = []
    for body, signatures in re.findall(NOTE, text):
        origin, size, root = body.split("\n")[:3]
        if origin != name:
            continue
        signed = False
        for line in signatures.splitlines():
            _, signer, encoded = line.split(" ")
            raw = base64.b64decode(encoded)
            signed = signed or (signer == name and raw[:4] == key_id and is_signed(public, body.encode(), raw[4:]))
        if not signed:
            raise Fault(f"the checkpoint of {size} events is not signed by {name}")
        checkpoints.append((int(size), base64.b64decode(root)))
    if re.sub(NOTE, "", text).strip():
        raise Fault("the file of checkpoints has something that is no signed checkpoint")
    if not checkpoints:
        raise Fault(f"the file has no checkpoint of {name}")
    return sorted(checkpoints)


class Comparison:
    """Compares the log with its checkpoints, as it is read."""

    def __init__(self, checkpoints):
        self.tree = Tree()
        self.waiting = list(checkpoints)
        self.proven = 0

    def take(self, leaf):
        if not self.waiting:
            return
        self.tree.add(leaf)
        while self.waiting and self.waiting[0][0] == self.tree.size:
            size, root = self.waiting.pop(0)
            if root != self.tree.root():
                raise Fault(f"one of the revisions {self.proven} to {size - 1} is not what it was when {size} events were signed")
            self.proven = size

    def end(self, events):
        if self.waiting:
            raise Fault(f"the log has {events} events, and {self.waiting[-1][0]} were signed: its end was cut off")


def archived_rows(file, stream, first):
    """The events before revision `first`, from the segments beside the file (docs/archive.md)."""
    folder = Path(f"{Path(file).resolve()}.archive") / urllib.parse.quote(stream, safe="!~*'()")
    for segment in sorted(folder.glob("*.jsonl.gz")):
        named = SEGMENT.fullmatch(segment.name)
        if named is None:
            continue
        revisions = []
        try:
            with gzip.open(segment, "rt", encoding="utf-8", newline="\n") as lines:
                for line in lines:
                    event = json.loads(line)
                    if "revision" not in event:
                        continue
                    revisions = [*revisions[:1], event["revision"]]
                    if event["revision"] < first:
                        yield tuple(event[name] for name in ("revision", "id", "type", "data", "metadata"))
        except (AttributeError, EOFError, KeyError, TypeError, ValueError, zlib.error, gzip.BadGzipFile) as error:
            raise Fault(f"the segment {segment} is damaged: {error}") from error
        if revisions[:1] + revisions[-1:] != list(map(int, named.groups())):
            raise Fault(f"the segment {segment} has the events {revisions[0]} to {revisions[-1]}: it was renamed" if revisions else f"the segment {segment} has no events")


def check_end(stream_row, events):
    """The row of the log in the table of streams says where it ends. A server reads no further."""
    last = -1 if stream_row is None else stream_row[0]
    if last > events - 1:
        raise Fault(f"the table of streams says that the last revision is {last}, and the log has {events} events: its end was cut off")
    if last < events - 1:
        raise Fault(f"the table of streams says that the last revision is {last}, and the log has {events} events: the table was altered")


def main():
    parser = argparse.ArgumentParser(description="Verifies the log of a Daybook queue in an SQLite file.")
    parser.add_argument("file")
    parser.add_argument("--queue", default="default")
    parser.add_argument("--checkpoints", help="a file of signed checkpoints")
    parser.add_argument("--key", help="the key that verifies them, or a file with it")
    options = parser.parse_args()
    stream = f"taskqueue-{options.queue}"
    try:
        checkpoints = []
        if options.checkpoints is not None:
            if options.key is None:
                parser.error("--checkpoints needs --key")
            key = Path(options.key).read_text() if Path(options.key).is_file() else options.key
            checkpoints = read_checkpoints(Path(options.checkpoints).read_text(), read_key(key))
        connection = sqlite3.connect(f"{Path(options.file).resolve().as_uri()}?mode=ro", uri=True, isolation_level=None)
        connection.text_factory = lambda text: text.decode(errors="surrogateescape")
        # One moment for all that is read: a server may be appending.
        connection.execute("BEGIN")
        rows = connection.execute("SELECT revision, id, type, data, metadata FROM events WHERE stream = ? ORDER BY position", (stream,))
        first = connection.execute("SELECT min(first_revision) FROM segments WHERE stream = ?", (stream,)).fetchone()[0] or 0
        comparison = Comparison(checkpoints)
        events, begins, last, covered = verify(itertools.chain(archived_rows(options.file, stream, first), rows), stream, comparison.take)
        comparison.end(events)
        check_end(connection.execute("SELECT revision FROM streams WHERE stream = ?", (stream,)).fetchone(), events)
    except Fault as fault:
        print(json.dumps({"ok": False, "reason": str(fault)}))
        return 1
    except (OSError, ValueError, sqlite3.Error) as error:
        print(f"verify-log: {error}", file=sys.stderr)
        return 2
    print(json.dumps({"ok": True, "events": events, "begins": begins, "head": {"revision": events - 1, "hash": last or None}, "covered": covered + 1, "signed": comparison.proven}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
