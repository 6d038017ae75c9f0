"""A client and a worker for Daybook: one file, the standard library alone, Python 3.9 or newer.

Copy this file, or ``pip install`` the folder that it is in. See docs/python.md.
"""
from __future__ import annotations

import argparse
import dataclasses
import functools
import http.client
import json
import logging
import os
import queue as queues
import random
import re
import selectors
import signal
import socket
import ssl
import sys
import threading
import time
import traceback
import urllib.parse
import uuid
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Set, Tuple, Type, TypeVar, Union

_log = logging.getLogger("daybook")

Json = Any
"""What JSON can hold: None, bool, int, float, str, lists and dicts with str as keys."""

__all__ = [
    "Client", "Worker", "Task", "Result", "NewTask", "Enqueued", "TaskView", "Claim", "TaskResult",
    "RateLimited", "Park", "NotRetryable", "Cancelled",
    "DaybookError", "Unreachable", "Invalid", "Unauthorized", "Forbidden", "NotFound", "Conflict", "LeaseLost", "WrongState", "Disabled",
    "CapacityExceeded", "TooLarge", "UnknownDependency", "DependencyCycle", "TooManyRequests", "Overloaded", "ReadOnly", "Clock",
    "Unavailable", "OutcomeUnknown",
]

# ---------------------------------------------------------------------------------------------- errors


class DaybookError(Exception):
    """A request was refused. ``code`` is stable, for programs; ``detail`` is for people."""

    code = ""

    def __init__(self, detail: str, *, code: str = "", status: int = 0, errors: Sequence[Mapping[str, str]] = (),
                 retry_after: Optional[float] = None, correlation_id: Optional[str] = None) -> None:
        super().__init__(detail)
        self.detail = detail
        self.code = code or type(self).code
        self.status = status
        self.errors = list(errors)
        """Each place of the request that is wrong: ``path`` and ``message``."""
        self.retry_after = retry_after
        """Seconds after which it may be tried again, if the server says so."""
        self.correlation_id = correlation_id


class Unreachable(DaybookError):
    """No answer came: it is not known whether the server did it."""
    code = "unreachable"


class Invalid(DaybookError):
    code = "invalid"


class Unauthorized(DaybookError):
    code = "unauthorized"


class Forbidden(DaybookError):
    code = "forbidden"


class NotFound(DaybookError):
    code = "not-found"


class Conflict(DaybookError):
    code = "conflict"


class LeaseLost(DaybookError):
    """The task is no longer held: stop working on it."""
    code = "lease-lost"


class WrongState(DaybookError):
    code = "wrong-state"


class Disabled(DaybookError):
    code = "disabled"


class CapacityExceeded(DaybookError):
    code = "capacity-exceeded"


class TooLarge(DaybookError):
    code = "too-large"


class UnknownDependency(DaybookError):
    code = "unknown-dependency"


class DependencyCycle(DaybookError):
    code = "dependency-cycle"


class TooManyRequests(DaybookError):
    code = "too-many-requests"


class Overloaded(DaybookError):
    code = "overloaded"


class ReadOnly(DaybookError):
    code = "read-only"


class Clock(DaybookError):
    code = "clock"


class Unavailable(DaybookError):
    code = "unavailable"


class OutcomeUnknown(DaybookError):
    code = "outcome-unknown"


_by_code: Dict[str, Type[DaybookError]] = {each.code: each for each in DaybookError.__subclasses__()}
# Reports that end the lease: the same again would be refused. The same completion again gets the same answer.
_ends_lease = ("fail", "release", "park")
# Errors that may pass by themselves. Only requests that have the same effect when they are sent twice are sent again.
_may_pass = {"unreachable", "overloaded", "too-many-requests", "unavailable", "read-only", "clock", "outcome-unknown", "timeout"}


def _error_of(status: int, body: bytes, retry_after: Optional[str]) -> DaybookError:
    try:
        problem = json.loads(body)
        code, detail = str(problem["code"]), str(problem["detail"])
    except (ValueError, KeyError, TypeError):
        # Not from Daybook: a proxy, perhaps.
        code = "unavailable" if status in (502, 503, 504) else "too-many-requests" if status == 429 else "unexpected"
        problem, detail = {}, f"the answer was {status}: {body[:200]!r}"
    header = float(retry_after) if retry_after is not None and re.fullmatch(r"\d+", retry_after) else None
    kind = _by_code.get(code, DaybookError)
    return kind(detail, code=code, status=status, errors=problem.get("errors") or (),
                retry_after=problem.get("retryAfterSeconds", header), correlation_id=problem.get("correlationId"))


# ---------------------------------------------------------------------------------------------- values

T = TypeVar("T")


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.title() for part in rest)


def _read(kind: Type[T], value: Mapping[str, Json]) -> T:
    """An answer as a dataclass. Members that it does not know are in ``raw``."""
    known = {each.name: value[_camel(each.name)] for each in dataclasses.fields(kind) if _camel(each.name) in value}
    if any(each.name == "raw" for each in dataclasses.fields(kind)):
        known["raw"] = dict(value)
    return kind(**known)


def _sendable(text: str) -> str:
    """The text without what UTF-8 cannot hold, such as bytes of a file name that ``surrogateescape`` has kept."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _text_of(error: object) -> str:
    """What the error says. It may be anybody's, so its ``__str__`` may raise."""
    try:
        return str(error)
    except Exception:  # noqa: B902
        return "(it has no text)"


def _kept(text: str, longest: int) -> str:
    """The beginning of the text as it can be sent. Lengths are those of the server, which counts UTF-16 units."""
    units = _sendable(text).encode("utf-16-le")[:2 * longest]
    return units.decode("utf-16-le", "ignore")


def _stack() -> Dict[str, Json]:
    """The stack of the exception that is being handled, as a member of a failure. Reading it may raise, because the exception may be anybody's."""
    try:
        return {"stack": _sendable(traceback.format_exc()[-16_000:])}
    except Exception:  # noqa: B902
        return {}


class NotJson(TypeError, ValueError):
    """The value of a caller or a handler cannot be written as JSON."""


def _json_of(value: Json) -> bytes:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except Exception as error:  # noqa: B902: anybody's classes, or nested too deeply
        raise NotJson(_text_of(error)) from error


def _written(value: Any) -> Json:
    """A dataclass as the API takes it: camelCase, without members that are ``None``."""
    return {_camel(each.name): getattr(value, each.name) for each in dataclasses.fields(value) if getattr(value, each.name) is not None}


@dataclass
class NewTask:
    """A task to enqueue. Times are ISO 8601 with a zone, durations seconds. The queue decides about fields that are ``None``."""
    type: str
    payload: Json = None
    id: Optional[str] = None
    priority: Union[int, str, None] = None
    description: Optional[str] = None
    metadata: Optional[Dict[str, Json]] = None
    dependencies: Optional[List[str]] = None
    idempotency_key: Optional[str] = None
    deduplicate: Optional[str] = None
    """``content``, ``key`` or ``off``."""
    timeout: Optional[float] = None
    max_run_seconds: Optional[float] = None
    max_retries: Optional[int] = None
    backoff_seconds: Optional[float] = None
    available_at: Optional[str] = None
    deadline_at: Optional[str] = None
    ticket_id: Optional[str] = None
    phase: Optional[str] = None
    tenant: Optional[str] = None
    batch_id: Optional[str] = None
    concurrency_key: Optional[str] = None
    concurrency_limit: Optional[int] = None
    ordering_key: Optional[str] = None
    parent_task_id: Optional[str] = None
    discovery: Optional[str] = None
    requires: Optional[Dict[str, List[str]]] = None
    traceparent: Optional[str] = None


@dataclass(frozen=True)
class Enqueued:
    """``duplicate``: such a task was there already, and ``id`` is its id."""
    id: str
    number: int
    status: str
    duplicate: bool
    duplicate_by: Optional[str] = None


@dataclass(frozen=True)
class TaskView:
    """A task as the queue shows it. ``raw`` is the whole answer."""
    id: str
    number: int
    type: str
    priority: int
    status: str
    payload: Json = None
    attempt: int = 0
    attempts_max: int = 0
    claimed_by: Optional[str] = None
    last_error: Optional[str] = None
    result: Json = None
    checkpoint: Json = None
    raw: Dict[str, Json] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class TaskResult:
    """``status`` says where the task stands; ``result`` is there when it is completed, ``error`` when it failed."""
    status: str
    result: Json = None
    error: Optional[str] = None


@dataclass(frozen=True)
class Claim:
    """A leased task. ``token`` goes with every report; the lease lasts ``lease_seconds`` from ``claimed_at`` (``time.monotonic()``)."""
    task: TaskView
    token: int
    attempt: int
    lease_seconds: float
    claimed_at: float
    checkpoint: Json = None
    callback: Optional[Dict[str, Json]] = None
    memories: List[Dict[str, Json]] = field(default_factory=list)


# ---------------------------------------------------------------------------------------------- client


class Client:
    """Talks to one queue of a server. Threads may share it: each request has a connection of its own, which is then kept for a later one.

    A request that fails for a reason that may pass (no connection, 429, 503) is sent again for ``retry_seconds``, after as long as the
    server asks for. Nothing is done twice by that: new tasks get ids from a request id, heartbeats and completions have the token of their
    lease, and all other requests an ``Idempotency-Key``. A claim whose answer was lost leaves its tasks leased until the server, or the end of their
    leases, gives them to others.
    """

    def __init__(self, url: Optional[str] = None, token: Optional[str] = None, queue: str = "default", *, timeout: float = 30.0,
                 retry_seconds: float = 30.0, ssl_context: Optional[ssl.SSLContext] = None) -> None:
        """``url`` and ``token``: default ``DAYBOOK_URL`` and ``DAYBOOK_TOKEN``. ``timeout``: seconds for one answer, without the time that the server is asked to wait."""
        parts = urllib.parse.urlsplit(url or os.environ.get("DAYBOOK_URL") or "http://127.0.0.1:7878")
        if parts.scheme not in ("http", "https") or parts.hostname is None:
            raise ValueError(f"the URL of the server must begin with http:// or https://, not {urllib.parse.urlunsplit(parts)!r}")
        try:
            port = parts.port
        except ValueError as error:
            raise ValueError(f"the URL of the server has a wrong port: {error}") from None
        self._parts = parts
        # Given in any case: http.client looks for one in an IPv6 address.
        self._port = port if port is not None else 443 if parts.scheme == "https" else 80
        # Without a user and a password, which must not get into errors.
        self._origin = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
        self._prefix = urllib.parse.quote(parts.path.rstrip("/"), safe="/%:@!$&'()*+,;=~")
        self._token = token or os.environ.get("DAYBOOK_TOKEN") or None
        if self._token is not None and not re.fullmatch(r"[!-~]*", self._token):
            raise ValueError("a token has printable ASCII characters without spaces, and the given one has others: perhaps a line break at its end")
        self.queue = queue
        self.timeout = timeout
        self.retry_seconds = retry_seconds
        self._context = ssl_context if ssl_context is not None or parts.scheme == "http" else ssl.create_default_context()
        self._open: Set[http.client.HTTPConnection] = set()
        # Those that no request has now, with the times since when; the newest last.
        self._idle: List[Tuple[http.client.HTTPConnection, float]] = []
        self._lock = threading.Lock()
        # How often it was closed.
        self._closings = 0

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes all connections. A request under way fails. A later one opens a connection again."""
        with self._lock:
            self._closings += 1
            connections, self._open, self._idle = self._open, set(), []
        for connection in connections:
            _cut(connection)
            connection.close()

    # ------------------------------------------------------------------------------------ enqueue

    def enqueue(self, task: Union[NewTask, str], payload: Json = None, **fields: Any) -> Enqueued:
        """Enqueues a task: a ``NewTask``, or a type, a payload and the other fields by name."""
        if isinstance(task, NewTask) and (payload is not None or fields):
            raise TypeError("a NewTask has its payload and fields itself: see dataclasses.replace")
        new = task if isinstance(task, NewTask) else NewTask(task, payload, **fields)
        return _read(Enqueued, self._request("POST", self._of("tasks"), _written(new), enqueues=True))

    def enqueue_all(self, tasks: Iterable[NewTask]) -> List[Enqueued]:
        """Enqueues up to 1,000 tasks, all or none. They may depend on each other."""
        answer = self._request("POST", self._of("tasks"), {"tasks": [_written(task) for task in tasks]}, enqueues=True)
        return [_read(Enqueued, each) for each in answer["results"]]

    def create_batch(self, tasks: Iterable[NewTask] = (), *, callback: Optional[Mapping[str, Json]] = None, open: bool = False, **fields: Json) -> Dict[str, Json]:
        """Makes a batch with up to 1,000 tasks, all or none: ``{"batch": …, "results": […]}``. ``callback`` (``{"type": …, "payload": …}``) is enqueued when all are
        finished. ``open``: tasks with its ``batch_id`` may follow until it is closed. ``fields``: ``id``, ``description``, ``tenant``, ``on``."""
        batch: Dict[str, Json] = {"tasks": [_written(task) for task in tasks], **fields}
        if callback is not None:
            batch["callback"] = dict(callback)
        if open:
            batch["open"] = True
        return dict(self._request("POST", self._of("batches"), batch, enqueues=True))

    def batch(self, batch_id: str) -> Dict[str, Json]:
        """How far a batch is (``state``, ``tasks``, ``open``, ``completed``, ``progress`` …), and ``reasons`` why it is not finished."""
        return self._json("GET", f"{self._of('batches')}/{_quote(batch_id)}")

    def close_batch(self, batch_id: str) -> Dict[str, Json]:
        """No more tasks join it. When all that it has are finished, it is."""
        return self._json("POST", f"{self._of('batches')}/{_quote(batch_id)}/close", {})

    def cancel_batch(self, batch_id: str, reason: str, *, runs_callback: bool = False) -> Dict[str, Json]:
        """Closes it and cancels its open tasks. Its callback is not enqueued, unless ``runs_callback`` is true."""
        return self._json("POST", f"{self._of('batches')}/{_quote(batch_id)}/cancel", {"reason": reason, "runsCallback": runs_callback})

    # --------------------------------------------------------------------------------------- look

    def show(self, task_id: str) -> TaskView:
        return _read(TaskView, self._request("GET", self._task(task_id)))

    def list(self, *, limit: Optional[int] = None, **filters: Any) -> Iterator[TaskView]:
        """All tasks that match, page by page: ``status``, ``type``, ``phase``, ``priority``, ``ticket_id``, ``tenant``, ``agent``, ``q``."""
        return self._pages("tasks", limit, filters)

    def dead_letters(self, *, limit: Optional[int] = None, **filters: Any) -> Iterator[TaskView]:
        """All dead letters that match: ``type``, ``signature``, ``error``, ``escalated``, ``snoozed``."""
        return self._pages("dead-letters", limit, filters)

    def result(self, task_id: str, wait: float = 0) -> TaskResult:
        """The result of a task. Waits for it up to ``wait`` seconds, which may be any number."""
        deadline = time.monotonic() + wait
        while True:
            left = max(0.0, min(50.0, deadline - time.monotonic()))
            found = _read(TaskResult, self._request("GET", f"{self._task(task_id)}/result?wait={left:.3f}", waits=left))
            if found.status in ("completed", "cancelled", "discarded", "dead-letter") or time.monotonic() >= deadline:
                return found

    def explain(self, task_id: str, **claim: Any) -> Dict[str, Json]:
        """Why a task is not running: ``reasons``, ``position``, ``score``. ``claim``: ``agent_id``, ``types``, ``skills`` … of who asks."""
        return self._json("GET", f"{self._task(task_id)}/explain{_query(claim)}")

    def history(self, task_id: str) -> List[Dict[str, Json]]:
        """The events of a task, oldest first. For one that the queue no longer knows, the log is searched to its beginning."""
        found: List[Dict[str, Json]] = []
        before: Optional[int] = None
        while True:
            answer = self._request("GET", f"{self._task(task_id)}/history{_query({'before': before})}")
            found = [*answer["events"], *found]
            before = answer.get("next")
            if before is None:
                return found

    def depth(self) -> Dict[str, Json]:
        return self._json("GET", self._of("depth"))

    def events(self, from_revision: int = 0, **filters: Any) -> Iterator[Dict[str, Json]]:
        """The log from a revision on, event by event, as a stream: ``type``, ``task``, ``actor``, ``correlation_id``. Ends at the last event."""
        connection = self._connect(self.timeout)
        try:
            connection.request("GET", f"{self._of('events')}{_query({'from': from_revision, **filters})}", headers=self._headers({"Accept": "application/x-ndjson"}))
            response = connection.getresponse()
            if response.status >= 400:
                raise _error_of(response.status, response.read(), response.getheader("Retry-After"))
            # Not line by line: then a connection that ends between two chunks looks like the end of the stream.
            rest = b""
            while data := response.read1(65_536):
                *lines, rest = (rest + data).split(b"\n")
                yield from (json.loads(line) for line in lines if line)
            if rest:
                raise Unreachable("the stream of events ended early, in the middle of an event")
        except (OSError, http.client.HTTPException) as error:
            raise Unreachable(f"the stream of events ended early: {error!r}") from error
        finally:
            connection.close()

    # ------------------------------------------------------------------------------------- change

    def cancel(self, task_id: str, reason: str) -> List[str]:
        """Cancels a task and all that depend on it; returns their ids."""
        return list(self._request("POST", f"{self._task(task_id)}/cancel", {"reason": reason})["cancelled"])

    def retry_dead_letter(self, task_id: str, reviewer: str, reason: str, **payload: Json) -> None:
        """Sends a dead letter back. ``payload=…`` gives it another one."""
        self._request("POST", f"{self._of('dead-letters')}/{_quote(task_id)}/retry", {"reviewer": reviewer, "reason": reason, **payload})

    def discard_dead_letter(self, task_id: str, reviewer: str, reason: str) -> None:
        self._request("POST", f"{self._of('dead-letters')}/{_quote(task_id)}/discard", {"reviewer": reviewer, "reason": reason})

    def callback(self, key: str, payload: Json = None) -> Dict[str, Json]:
        """Answers a task that is parked under ``key``."""
        return self._json("POST", f"{self._of('callbacks')}/{_quote(key)}", {"payload": payload})

    def settings(self, **changes: Json) -> Dict[str, Json]:
        """The settings of the queue, after the changes: ``settings(decisionReport="optional")``."""
        return self._json("PATCH", self._of("settings"), changes) if changes else self._json("GET", self._of("settings"))

    # --------------------------------------------------------------------------------------- work

    def claim(self, agent_id: str, types: Optional[Sequence[str]] = None, *, max: int = 1, wait: float = 0, lease_seconds: Optional[float] = None,
              skills: Optional[Sequence[str]] = None, phases: Optional[Sequence[str]] = None, tenant: Optional[str] = None) -> List[Claim]:
        """Leases up to ``max`` tasks, and waits up to ``wait`` seconds for the first."""
        return self._claims_and_reason(agent_id, types, max=max, wait=wait, lease_seconds=lease_seconds, skills=skills, phases=phases, tenant=tenant)[0]

    def _claims_and_reason(self, agent_id: str, types: Optional[Sequence[str]], *, max: int, wait: float, lease_seconds: Optional[float], skills: Optional[Sequence[str]],
                           phases: Optional[Sequence[str]], tenant: Optional[str]) -> Tuple[List[Claim], Optional[Dict[str, Json]]]:
        """With the reason why there are none, if matching tasks are ready and are not given to this agent."""
        wish = {"agentId": agent_id, "max": max, "wait": wait, "types": types, "leaseSeconds": lease_seconds, "skills": skills, "phases": phases, "tenant": tenant}
        sent = time.monotonic()
        answer = self._request("POST", self._of("claims"), {key: value for key, value in wish.items() if value is not None}, waits=wait, is_claim=True)
        return ([
            Claim(task=_read(TaskView, each["task"]), token=each["lease"]["token"], attempt=each["attempt"], lease_seconds=each["lease"]["seconds"],
                  # Measured from when the claim was sent: the clocks of two machines differ.
                  claimed_at=sent + each["lease"].get("waitedSeconds", 0.0), checkpoint=each.get("checkpoint"), callback=each.get("callback"), memories=each.get("memories", []))
            for each in answer["claims"]
        ], answer.get("reason"))

    def heartbeat(self, task_id: str, agent_id: str, token: int, **more: Json) -> None:
        """Extends the lease. ``progress=…`` and ``checkpoint=…`` are kept."""
        self._report(task_id, "heartbeat", agent_id, token, more)

    def complete(self, task_id: str, agent_id: str, token: int, result: Mapping[str, Json]) -> Dict[str, Json]:
        """``result``: ``output``, ``decisionReport``, ``discoveries`` …"""
        return self._report(task_id, "complete", agent_id, token, {"result": dict(result)})

    def fail(self, task_id: str, agent_id: str, token: int, error: Union[str, Mapping[str, Json]], *, retryable: bool = True, **more: Json) -> Dict[str, Json]:
        """``error``: text, or ``message``, ``code``, ``retryAfter``, ``stack``."""
        return self._report(task_id, "fail", agent_id, token, {"error": error, "retryable": retryable, **more})

    def release(self, task_id: str, agent_id: str, token: int, reason: str, *, stopping: bool = False) -> Dict[str, Json]:
        """Gives a task back. With ``stopping`` no attempt is counted."""
        return self._report(task_id, "release", agent_id, token, {"reason": reason, "stopping": stopping})

    def park(self, task_id: str, agent_id: str, token: int, callback_key: str, timeout_seconds: float, *, on_timeout: str = "fail", **more: Json) -> Dict[str, Json]:
        """Parks a task until a callback comes."""
        return self._report(task_id, "park", agent_id, token, {"callbackKey": callback_key, "timeoutSeconds": timeout_seconds, "onTimeout": on_timeout, **more})

    def report(self, outcomes: Sequence[Mapping[str, Json]]) -> List[Union[Dict[str, Json], DaybookError]]:
        """Many reports at once (``taskId``, ``kind`` …): an answer or an error for each."""
        said = list(outcomes)
        answer = self._request("POST", self._of("outcomes"), {"outcomes": said}, is_report=True, ends_lease=any(each.get("kind") in _ends_lease for each in said))
        return [_error_of(each["status"], json.dumps(each).encode(), None) if "code" in each else each for each in answer["results"]]

    # ---------------------------------------------------------------------------------- internals

    def _report(self, task_id: str, kind: str, agent_id: str, token: int, more: Mapping[str, Json]) -> Dict[str, Json]:
        return dict(self._request("POST", f"{self._task(task_id)}/{kind}", {"agentId": agent_id, "token": token, **more}, is_report=True, ends_lease=kind in _ends_lease))

    def _of(self, what: str) -> str:
        return f"{self._prefix}/api/queues/{_quote(self.queue)}/{what}"

    def _task(self, task_id: str) -> str:
        return f"{self._of('tasks')}/{_quote(task_id)}"

    def _pages(self, what: str, limit: Optional[int], filters: Mapping[str, Any]) -> Iterator[TaskView]:
        cursor: Optional[str] = None
        left = limit
        while left is None or left > 0:
            page = self._request("GET", f"{self._of(what)}{_query({**filters, 'limit': 200 if left is None else min(200, left), 'cursor': cursor})}")
            for each in page["tasks"]:
                yield _read(TaskView, each)
            left = None if left is None else left - len(page["tasks"])
            cursor = page["nextCursor"]
            if cursor is None:
                return

    def _json(self, method: str, path: str, body: Optional[Json] = None) -> Dict[str, Json]:
        return dict(self._request(method, path, body))

    def _headers(self, more: Mapping[str, str]) -> Dict[str, str]:
        return {**({} if self._token is None else {"Authorization": f"Bearer {self._token}"}), **more}

    def _request(self, method: str, path: str, body: Optional[Json] = None, *, waits: float = 0, enqueues: bool = False, is_report: bool = False, ends_lease: bool = False,
                 is_claim: bool = False) -> Any:
        headers: Dict[str, str] = {}
        if body is not None:
            headers["Content-Type"] = "application/json"
        if enqueues:
            headers["Daybook-Request-Id"] = str(uuid.uuid4())
        elif method == "POST" and not is_claim and (ends_lease or not is_report):
            headers["Idempotency-Key"] = str(uuid.uuid4())
        text = None if body is None else _json_of(body)
        deadline = time.monotonic() + self.retry_seconds
        failures = 0
        closings = self._closings
        while True:
            try:
                return self._once(method, path, text, headers, self.timeout + waits)
            except DaybookError as error:
                failures += 1
                # A first request with the same key that is still running says when to come back.
                passes = error.code in _may_pass or (error.code == "conflict" and error.retry_after is not None)
                # Something else than the queue has answered, a proxy perhaps, or the server has a defect. The work is done, and its report must not be lost.
                passes = passes or (is_report and error.code in ("unexpected", "internal"))
                pause = max(error.retry_after or 0.0, min(2.0, 0.025 * 2.0 ** min(failures, 10)) * (0.5 + random.random() / 2))
                if not passes or time.monotonic() + pause > deadline or self._closings > closings:
                    raise
                time.sleep(pause)

    def _once(self, method: str, path: str, text: Optional[bytes], headers: Mapping[str, str], timeout: float) -> Any:
        connection = self._take(timeout)
        try:
            connection.timeout = timeout
            if connection.sock is not None:
                connection.sock.settimeout(timeout)
            connection.request(method, path, body=text, headers=self._headers(headers))
            response = connection.getresponse()
            body = response.read()
        except (OSError, http.client.HTTPException) as error:
            self._forget(connection)
            # If it ended because the server did, the idle ones have ended, too, and each would cost another try.
            self._forget_idle()
            raise Unreachable(f"{self._origin} gave no answer: {error!r}") from error
        except BaseException:
            self._forget(connection)
            raise
        if response.will_close:
            self._forget(connection)
        else:
            self._keep(connection)
        if response.status >= 400:
            raise _error_of(response.status, body, response.getheader("Retry-After"))
        try:
            answer = json.loads(body)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            raise DaybookError(f"the answer was no JSON object; is this a Daybook server? It said: {body[:200]!r}", code="unexpected", status=response.status)
        return answer

    def _connect(self, timeout: float) -> http.client.HTTPConnection:
        host = self._parts.hostname or ""
        if self._parts.scheme == "https":
            return http.client.HTTPSConnection(host, self._port, timeout=timeout, context=self._context)
        return http.client.HTTPConnection(host, self._port, timeout=timeout)

    def _take(self, timeout: float) -> http.client.HTTPConnection:
        with self._lock:
            oldest = time.monotonic() - _idle_seconds
            old = [connection for connection, since in self._idle if since < oldest]
            self._idle = [(connection, since) for connection, since in self._idle if since >= oldest]
            while self._idle and _has_ended(self._idle[-1][0]):
                old.append(self._idle.pop()[0])
            connection = self._idle.pop()[0] if self._idle else self._connect(timeout)
            self._open.add(connection)
        for each in old:
            self._forget(each)
        return connection

    def _keep(self, connection: http.client.HTTPConnection) -> None:
        with self._lock:
            # Otherwise the client was closed meanwhile.
            if connection in self._open:
                self._idle.append((connection, time.monotonic()))
                return
        connection.close()

    def _forget(self, connection: http.client.HTTPConnection) -> None:
        with self._lock:
            self._open.discard(connection)
        connection.close()

    def _forget_idle(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for connection, _ in idle:
            self._forget(connection)


# After this time a server or a proxy may have ended a connection.
_idle_seconds = 30.0


def _has_ended(connection: http.client.HTTPConnection) -> bool:
    """Whether the server has ended a connection that no request has: only then is there anything to read."""
    if connection.sock is None:
        return True
    with selectors.DefaultSelector() as selector:
        selector.register(connection.sock, selectors.EVENT_READ)
        return bool(selector.select(0))


def _cut(connection: http.client.HTTPConnection) -> None:
    """Ends a request that another thread waits for."""
    sock = connection.sock
    if sock is not None:
        try:
            sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def _quote(part: str) -> str:
    return urllib.parse.quote(part, safe="")


def _query(values: Mapping[str, Any]) -> str:
    def text(value: Any) -> str:
        if isinstance(value, bool):
            return "true" if value else "false"
        return ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)

    given = {_camel(key): text(value) for key, value in values.items() if value is not None}
    return f"?{urllib.parse.urlencode(given)}" if given else ""


# ---------------------------------------------------------------------------------------------- worker


class RateLimited(Exception):
    """A service limits its requests: the task waits, and this is no failure. ``retry_after``: seconds, or a time as text."""

    def __init__(self, message: str = "too many requests", retry_after: Union[float, str, None] = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Park(Exception):
    """The task waits for a callback with this key."""

    def __init__(self, callback_key: str, timeout_seconds: float, *, on_timeout: str = "fail", checkpoint: Json = None) -> None:
        super().__init__(callback_key)
        self.callback_key = callback_key
        self.timeout_seconds = timeout_seconds
        self.on_timeout = on_timeout
        self.checkpoint = checkpoint


class NotRetryable(Exception):
    """It cannot succeed: a dead letter at once."""


class Cancelled(Exception):
    """Raised by ``task.raise_if_cancelled()`` and ``task.wait()``: the outcome would not be accepted any more."""


@dataclass
class Result:
    """What a handler returns, if it has more to say than the output."""
    output: Json = None
    decision_report: Json = None
    discoveries: Optional[List[Json]] = None
    errors: Optional[List[str]] = None
    metrics: Optional[Dict[str, Json]] = None
    validation_failed: Optional[bool] = None
    success: Optional[bool] = None
    """``False``: the attempt has failed, and ``errors`` say why."""
    status: Optional[str] = None


class Task:
    """A task that is being worked on."""

    def __init__(self, claim: Claim, worker: "Worker") -> None:
        self.id = claim.task.id
        self.type = claim.task.type
        self.payload = claim.task.payload
        self.metadata: Dict[str, Json] = claim.task.raw.get("metadata") or {}
        """What the producer said beside the payload. Of the callback of a batch, ``batch`` has the counts."""
        self.attempt = claim.attempt
        self.token = claim.token
        self.view = claim.task
        self.last_checkpoint = claim.checkpoint
        """What an earlier attempt kept: continue from there."""
        self.callback = claim.callback
        """What came for the task while it was parked: ``key``, ``payload``, ``at``."""
        self.memories = claim.memories
        self.cancel_reason: Optional[str] = None
        self._worker = worker
        self._gone = threading.Event()
        self._lock = threading.Lock()
        self._is_settled = False
        self._lease_seconds = claim.lease_seconds
        self._lease_ends = claim.claimed_at + claim.lease_seconds
        longest: float = claim.task.raw.get("maxRunSeconds", float("inf"))
        # A little earlier, so that the report is in time.
        self._ends_at_latest = claim.claimed_at + longest
        self._end_by = self._ends_at_latest - min(1.0, longest / 20)
        # Why it failed, once it has run too long; and when to report that although the handler goes on.
        self._overdue: Optional[Dict[str, Json]] = None
        self._report_by = float("inf")
        self._started: Optional[float] = None

    @property
    def cancelled(self) -> bool:
        """The lease is lost, the task was cancelled, its time is over, or the worker stops: end soon."""
        return self._gone.is_set()

    def raise_if_cancelled(self) -> None:
        if self.cancelled:
            raise Cancelled(self.cancel_reason)

    def wait(self, seconds: float) -> None:
        """Sleeps, unless the task is cancelled meanwhile: then ``Cancelled`` is raised."""
        if self._gone.wait(seconds):
            raise Cancelled(self.cancel_reason)

    def checkpoint(self, value: Json) -> None:
        """Keeps a value for the next attempt, and extends the lease."""
        self._beat(checkpoint=value)

    def progress(self, value: Json) -> None:
        """Shows the progress to people, and extends the lease. If the queue cannot be reached just now, this progress is not shown, and the work goes on."""
        try:
            self._beat(progress=value)
        except DaybookError as error:
            if error.code not in _may_pass:
                raise
            self._worker._tell("error", {"error": error, "doing": "progress", "task": self.id})

    def _beat(self, **more: Json) -> None:
        self.raise_if_cancelled()
        sent = time.monotonic()
        try:
            self._worker._notes.heartbeat(self.id, self._worker.agent_id, self.token, **more)
            self._extended(sent)
        except (LeaseLost, NotFound, WrongState) as error:
            self._cancel(error.detail)
            raise Cancelled(error.detail) from error

    def _extended(self, sent: float) -> None:
        """A later heartbeat may have been answered before this one."""
        self._lease_ends = max(self._lease_ends, sent + self._lease_seconds)

    def _cancel(self, reason: str) -> None:
        if not self._gone.is_set():
            self.cancel_reason = reason
            self._gone.set()

    def _settle(self) -> bool:
        """Whether the caller is the one to report the outcome: exactly one is."""
        with self._lock:
            was, self._is_settled = self._is_settled, True
            return not was


Handler = Callable[[Task], Any]


# The largest number of tasks in a claim, and of outcomes in a request.
_claim_max = 1_000
_outcomes_max = 1_000
# For how long a worker sends an outcome again while the queue cannot be reached, in seconds.
_report_seconds = 600.0
# How long a handler that ran too long may take to end before that is reported in any case.
_overdue_seconds = 6.0
# How long a handler may take to end after its worker has told it to, before the task is given back in any case.
_ending_seconds = 1.0
# Ahead of runs that take longer, no tasks are claimed by default.
_quick_seconds = 0.05
# A claim that finds tasks is mostly answered within this time. After that, it is a long poll that waits for tasks.
_answer_seconds = 1.0


# The signals that a worker has taken for itself, with their handlers before.
_signals_before: Dict[int, Any] = {}


def _give_signals_back() -> None:
    while _signals_before:
        number, handler = _signals_before.popitem()
        # A handler that was not set from Python is None, and cannot be set again.
        signal.signal(number, signal.SIG_DFL if handler is None else handler)


# They are not those of a process that a handler forks: there, nobody would end at SIGTERM.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_give_signals_back)


class Worker:
    """Claims tasks and calls ``handler`` for each, in ``concurrency`` threads.

    What the handler returns is the output (a ``Result`` says more); what it raises is a failure, except ``RateLimited``, ``Park`` and
    ``NotRetryable``. Leases are renewed at half their length. Python cannot end a thread: a handler that runs for longer than
    ``max_run_seconds`` (the worker's or the task's), or has lost its lease, sees ``task.cancelled``, and its place stays taken until it returns. That it ran too long is
    reported when it returns, or after six seconds.
    """

    def __init__(self, client: Client, agent_id: str, types: Optional[Sequence[str]], handler: Handler, *, concurrency: int = 1, ahead: Optional[int] = None,
                 lease_seconds: float = 60.0, poll_seconds: float = 20.0, max_run_seconds: float = 21_600.0, skills: Optional[Sequence[str]] = None,
                 phases: Optional[Sequence[str]] = None, tenant: Optional[str] = None, on_event: Optional[Callable[[str, Dict[str, Any]], None]] = None) -> None:
        """``types``, ``skills``, ``phases`` and ``tenant`` are those of its claims. ``ahead``: tasks that are claimed before a thread is free; default as many as ``concurrency``, and none while a run takes more than 50 ms on average:
        others could begin them at once. ``on_event``: is told ``settled``, ``error``, and ``found-nothing`` when matching tasks are ready and this worker gets none,
        with the ``reason``. Without it, errors are warnings of the logger ``daybook``."""
        if concurrency < 1 or lease_seconds <= 0:
            raise ValueError("concurrency must be 1 or more, and lease_seconds more than 0")
        self.client = client
        self.agent_id = agent_id
        self.types = types
        self.handler = handler
        self.concurrency = concurrency
        self.ahead = ahead
        # The average time of a run, in seconds; the latest count most.
        self._run_seconds = float("inf")
        self.lease_seconds = lease_seconds
        self.poll_seconds = poll_seconds
        self.max_run_seconds = max_run_seconds
        self.skills = skills
        self.phases = phases
        self.tenant = tenant
        # The reason that was told last: each is told once.
        self._told: Optional[Tuple[Json, Json]] = None
        self._on_event = on_event
        def own_client(timeout: float, retry_seconds: float = 0) -> Client:
            return Client(urllib.parse.urlunsplit(client._parts), client._token, client.queue, timeout=timeout, retry_seconds=retry_seconds, ssl_context=client._context)

        # The claims have a client of their own, so that one that waits can be cut off.
        self._claims = own_client(client.timeout)
        # Heartbeats are not sent again: the next round comes soon, and the times of the runs are to be looked at, too.
        self._heartbeats = own_client(self._answer_seconds(lease_seconds))
        # Those of handlers, with progress and checkpoints, are.
        self._notes = own_client(self._answer_seconds(lease_seconds), client.retry_seconds)
        # The work is done, so its outcome is sent for longer than the caller's own requests.
        self._reports = own_client(client.timeout, max(client.retry_seconds, _report_seconds))
        self._ready: "queues.Queue[Optional[Task]]" = queues.Queue()
        self._held: Dict[int, Task] = {}
        self._changed = threading.Condition()
        self._stopping = threading.Event()
        self._is_signalled = False
        self._has_run = False
        self._refusal: Optional[DaybookError] = None
        self._ended = threading.Event()
        self._grace = 8.0
        self._claim_sent = 0.0

    def run(self, *, until_empty: bool = False, handle_signals: bool = True) -> None:
        """Works until ``stop()``, SIGTERM or SIGINT, or, with ``until_empty``, until a claim finds nothing and nothing is held.
        Raises ``Invalid``, ``Unauthorized`` or ``Forbidden`` when a claim is refused for good. A worker runs once."""
        if self._has_run:
            raise RuntimeError("this worker has run; make another one")
        self._has_run = True
        if handle_signals and threading.current_thread() is threading.main_thread():
            for number in (signal.SIGTERM, signal.SIGINT):
                _signals_before[number] = signal.signal(number, self._on_signal)
            try:
                self._run(until_empty)
            finally:
                # Afterwards Ctrl-C ends the program again.
                _give_signals_back()
        else:
            self._run(until_empty)

    def stop(self, grace_seconds: Optional[float] = None) -> None:
        """Claims no more. ``run()`` returns when what is under way has ended, after ``grace_seconds`` (8) at most; the rest goes back to the queue."""
        if grace_seconds is not None:
            self._grace = grace_seconds
        self._stopping.set()

    # ---------------------------------------------------------------------------------- internals

    def _on_signal(self, *_: object) -> None:
        """Sets no ``Event``: the main thread may have its lock just now, and would wait for itself."""
        self._is_signalled = True

    def _run(self, until_empty: bool) -> None:
        threads = [threading.Thread(target=self._work, daemon=True, name=f"daybook-{i}") for i in range(self.concurrency)]
        claiming = threading.Thread(target=self._claim, args=(until_empty,), daemon=True, name="daybook-claims")
        threads += [claiming, threading.Thread(target=self._renew, daemon=True, name="daybook-leases")]
        for thread in threads:
            thread.start()
        try:
            while not self._stopping.wait(0.1) and not self._is_signalled:
                pass
        finally:
            # Also when a signal handler of the caller raises an exception here.
            self._stopping.set()
            self._finish(claiming)
        if self._refusal is not None:
            raise self._refusal

    def _end_claims(self, claiming: threading.Thread, deadline: float) -> None:
        with self._changed:
            self._changed.notify_all()
        # A claim that was just sent may be answered at any moment. If it were cut off, nobody would work on the tasks that it took.
        claiming.join(max(0.0, min(deadline, self._claim_sent + _answer_seconds) - time.monotonic()))
        # Again and again: it may have been about to connect.
        while claiming.is_alive() and time.monotonic() < deadline:
            self._claims.close()
            claiming.join(0.05)
        self._claims.close()

    def _finish(self, claiming: threading.Thread) -> None:
        deadline = time.monotonic() + self._grace
        self._end_claims(claiming, deadline)
        waiting: List[Task] = []
        while True:
            try:
                waiting += [task for task in [self._ready.get_nowait()] if task is not None]
            except queues.Empty:
                break
        self._release(*waiting)
        with self._changed:
            while self._held and time.monotonic() < deadline:
                self._changed.wait(min(0.1, max(0.001, deadline - time.monotonic())))
            left = list(self._held.values())
        self._release(*left, patience=_ending_seconds)
        self._ended.set()
        self._heartbeats.close()
        self._notes._forget_idle()
        # One about a run that took too long may still be under way.
        self._reports._forget_idle()
        for _ in range(self.concurrency):
            self._ready.put(None)

    def _release(self, *tasks: Task, patience: float = 0.0) -> None:
        """Gives tasks back because the worker stops: together, so that a server that is gone is waited for once and not for each.
        ``patience``: how long their handlers may take to end before that, in seconds."""
        # A run that took too long is a failed attempt: it is reported, or its lease ends.
        own = [task for task in tasks if task._overdue is None and task._settle()]
        # After that: a handler that ends now has no outcome to report any more.
        for task in tasks:
            task._cancel("the worker stops")
        # Otherwise another worker could begin a task whose handler just cleans up.
        with self._changed:
            self._changed.wait_for(lambda: not any(task.token in self._held for task in own), patience)
        for part in (own[begin:begin + _outcomes_max] for begin in range(0, len(own), _outcomes_max)):
            back = {"kind": "release", "agentId": self.agent_id, "reason": "the worker stops", "stopping": True}
            answers: Sequence[Any]
            try:
                answers = self.client.report([{**back, "taskId": task.id, "token": task.token} for task in part])
            except Exception as error:  # noqa: B902: nothing is known about the outcome. The leases end.
                answers = [error] * len(part)
            for task, answer in zip(part, answers):
                if isinstance(answer, Exception):
                    self._tell("error", {"error": answer, "doing": "report", "task": task.id})
                else:
                    self._tell("settled", {"task": task.id, **answer})
        for task in tasks:
            self._let_go(task)

    def _let_go(self, task: Task) -> None:
        with self._changed:
            self._held.pop(task.token, None)
            self._changed.notify_all()

    def _held_max(self) -> int:
        if self.ahead is not None:
            return self.concurrency + self.ahead
        return self.concurrency * (2 if self._run_seconds <= _quick_seconds else 1)

    def _claim(self, until_empty: bool) -> None:
        pause = 0.05
        while not self._stopping.is_set():
            with self._changed:
                while not self._stopping.is_set() and len(self._held) >= self._held_max():
                    self._changed.wait(0.5)
                room = self._held_max() - len(self._held)
                was_idle = not self._held
            if self._stopping.is_set():
                return
            self._claim_sent = time.monotonic()
            try:
                claims, reason = self._claims._claims_and_reason(
                    self.agent_id, self.types, max=min(room, _claim_max), wait=0 if until_empty else self.poll_seconds, lease_seconds=self.lease_seconds, skills=self.skills,
                    phases=self.phases, tenant=self.tenant)
                pause = 0.05
            except Exception as error:  # noqa: B902: whatever has answered, the thread goes on
                if self._stopping.is_set():
                    return
                self._tell("error", {"error": error, "doing": "claim"})
                if isinstance(error, (Invalid, Unauthorized, Forbidden)):
                    # No claim like this one will ever be granted.
                    self._refusal = error
                    self._stopping.set()
                    return
                asked = error.retry_after if isinstance(error, DaybookError) else None
                self._stopping.wait(max(asked or 0.0, pause * (0.5 + random.random() / 2)))
                pause = min(5.0, pause * 2)
                continue
            self._found(reason if was_idle else None)
            tasks = [Task(claim, self) for claim in claims]
            with self._changed:
                self._held.update((task.token, task) for task in tasks)
            if self._stopping.is_set():
                self._release(*tasks)
            else:
                for task in tasks:
                    self._ready.put(task)
            if until_empty and not claims:
                # What has ended since the claim was sent may have made others ready.
                if was_idle:
                    self._stopping.set()
                else:
                    with self._changed:
                        self._changed.wait_for(lambda: not self._held or self._stopping.is_set(), 0.2)

    def _found(self, reason: Optional[Dict[str, Json]]) -> None:
        """A worker that holds tasks is not told: to the queue its agent may be full, and nobody has to change that."""
        told = None if reason is None else (reason.get("code"), reason.get("message"))
        if told != self._told and reason is not None:
            self._tell("found-nothing", {"reason": reason})
        self._told = told

    def _renew(self) -> None:
        """Renews leases at half their length, and looks at the time of each run."""
        while not self._ended.wait(min(0.25, self.lease_seconds / 8)):
            try:
                self._look()
            except Exception as error:  # noqa: B902: whatever has answered, the thread goes on
                self._tell("error", {"error": error, "doing": "heartbeat"})

    def _look(self) -> None:
        now = time.monotonic()
        with self._changed:
            # Also those whose outcomes are being sent: until one is accepted, the task must not go to another worker.
            held = list(self._held.values())
        for task in held:
            if task._started is not None and task._overdue is None and now > min(task._started + self.max_run_seconds, task._end_by):
                longest = min(self.max_run_seconds, task.view.raw.get("maxRunSeconds", self.max_run_seconds))
                # Of the time that the task leaves after `_end_by`, half is for the report.
                task._report_by = min(now + _overdue_seconds, (task._end_by + task._ends_at_latest) / 2)
                task._overdue = {"message": f"the handler ran for longer than {longest} seconds", "code": "ran-too-long"}
                task._cancel(f"it ran for longer than {longest} seconds")
            if task._overdue is not None and now > task._report_by and task._settle():
                # The leases of the others must not wait until this is answered.
                threading.Thread(target=self._send, args=(task, self._ran_too_long(task)), daemon=True, name="daybook-overdue").start()
        for task in held:
            if task._lease_ends <= now:
                task._cancel("its lease could not be renewed in time: another worker may have the task by now")
        # While a handler that ran too long cleans up, no other worker may have the task.
        due = [task for task in held if (not task.cancelled or task._overdue and not task._is_settled) and task._lease_ends - now < task._lease_seconds / 2]
        for begin in range(0, len(due), _outcomes_max):
            self._beat(due[begin:begin + _outcomes_max])

    def _answer_seconds(self, lease_seconds: float) -> float:
        """How long a heartbeat may wait for its answer. Its connection may hang, and there must be time for others before the lease ends."""
        return min(self.client.timeout, max(1.0, lease_seconds / 8))

    def _beat(self, tasks: Sequence[Task]) -> None:
        sent = time.monotonic()
        # The timeout of a task may make its lease shorter than the worker's.
        self._heartbeats.timeout = self._answer_seconds(min(task._lease_seconds for task in tasks))
        try:
            answers = self._heartbeats.report([{"taskId": task.id, "kind": "heartbeat", "agentId": self.agent_id, "token": task.token} for task in tasks])
        except DaybookError as error:
            self._tell("error", {"error": error, "doing": "heartbeat"})
            return
        for task, answer in zip(tasks, answers):
            if isinstance(answer, (LeaseLost, NotFound, WrongState)):
                task._cancel(answer.detail)
            elif not isinstance(answer, DaybookError):
                task._extended(sent)

    def _work(self) -> None:
        while True:
            task = self._ready.get()
            if task is None:
                return
            # The worker may have been suspended, so that nobody has looked at the lease.
            if task._lease_ends <= time.monotonic():
                task._cancel("its lease ended before it was begun")
            if task.cancelled or self._stopping.is_set():
                self._release(task)
                continue
            task._started = time.monotonic()
            try:
                report = self._outcome(task)
            except BaseException as odd:  # noqa: B902: what the handler raised or returned cannot even be read. Its thread goes on.
                report = functools.partial(self._reports.fail, task.id, self.agent_id, task.token, _kept(f"the handler's outcome cannot be read: {_text_of(odd)}", 4_000))
            took = time.monotonic() - task._started
            self._run_seconds = took if self._run_seconds == float("inf") else 0.8 * self._run_seconds + 0.2 * took
            if task._overdue is not None:
                report = self._ran_too_long(task)
            if task._settle() and report is not None:
                self._send(task, report)
            self._let_go(task)

    def _ran_too_long(self, task: Task) -> Callable[[], Any]:
        return functools.partial(self._reports.fail, task.id, self.agent_id, task.token, task._overdue or "")

    def _outcome(self, task: Task) -> Optional[Callable[[], Any]]:
        """Runs the handler. Returns what to report; ``None`` for a task that is lost."""
        of = (task.id, self.agent_id, task.token)
        try:
            returned = self.handler(task)
        except Cancelled as raised:
            if task.cancelled:
                return None
            reason = _kept(f"the handler gave it back: {_text_of(raised)}", 4_000)
            return lambda: self._reports.release(*of, reason)
        except Park as wait:
            more = {} if wait.checkpoint is None else {"checkpoint": wait.checkpoint}
            return lambda wait=wait: self._or_fail(  # type: ignore[misc]
                task, "parking", lambda: self._reports.park(*of, wait.callback_key, wait.timeout_seconds, on_timeout=wait.on_timeout, **more))
        except RateLimited as limit:
            error: Dict[str, Json] = {"message": _kept(_text_of(limit), 4_000), "code": "429"}
            # The queue knows what to do without a time. It takes no NaN and no infinity, which JSON does not have, and no datetime or bool.
            if isinstance(limit.retry_after, str):
                error["retryAfter"] = _kept(limit.retry_after, 4_000)
            elif isinstance(limit.retry_after, (int, float)) and not isinstance(limit.retry_after, bool) and 0 < limit.retry_after < 1e15:
                error["retryAfter"] = limit.retry_after
            return lambda: self._reports.fail(*of, error)
        except BaseException as raised:  # noqa: B902: a handler that exits has failed, and its thread goes on
            failure = {"message": _kept(f"{type(raised).__name__}: {_text_of(raised)}", 4_000), **_stack()}
            retryable = not isinstance(raised, NotRetryable)
            return lambda: self._reports.fail(*of, failure, retryable=retryable)
        result = _written(returned) if isinstance(returned, Result) else {"output": returned}
        if result.get("success") is False:
            errors = [returned.errors] if isinstance(returned.errors, str) else returned.errors or []
            why = _kept("; ".join(map(_text_of, errors)) or "the handler returned success=False", 4_000)
            return lambda: self._reports.fail(*of, {"message": why})
        return lambda: self._complete(task, result)

    def _complete(self, task: Task, result: Dict[str, Json]) -> Dict[str, Json]:
        answer = self._or_fail(task, "the result", lambda: self._reports.complete(task.id, self.agent_id, task.token, result))
        if answer["status"] == "incomplete":
            return self._reports.fail(task.id, self.agent_id, task.token, "the queue requires a decision report: return Result(output, decision_report=…)", retryable=False)
        return answer

    def _or_fail(self, task: Task, what: str, report: Callable[[], Dict[str, Json]]) -> Dict[str, Json]:
        """Reports an outcome. If it is refused, the task fails: otherwise it would be held until its lease ends, and then be done again in vain."""
        try:
            return report()
        except (Invalid, TooLarge, Conflict) as refused:
            self._tell("error", {"error": refused, "doing": "report", "task": task.id})
            # Another task waits for the same callback key, but not for ever.
            retryable = isinstance(refused, Conflict)
            return self._reports.fail(task.id, self.agent_id, task.token, f"{what} was refused ({refused.code}): {refused.detail}", retryable=retryable)

    def _tell(self, kind: str, about: Dict[str, Any]) -> None:
        """What the caller does with it must not stop the work: an exception is printed, also that of ``sys.exit()``."""
        if self._on_event is None:
            if kind == "error":
                _log.warning("%s: %s", about["doing"], _text_of(about["error"]))
            return
        try:
            self._on_event(kind, about)
        except (Exception, SystemExit):  # noqa: B902: its thread goes on
            traceback.print_exc()

    def _send(self, task: Task, report: Callable[[], Any]) -> None:
        try:
            answer = dict(report())
        except NotJson as error:
            # What the handler returned.
            why = _kept(f"the outcome is no JSON: {error}", 4_000)
            self._send(task, lambda: self._reports.fail(task.id, self.agent_id, task.token, why, retryable=False))
        except Exception as error:  # noqa: B902: its thread goes on. What has answered may not be the queue, so nothing is known about the outcome.
            self._tell("error", {"error": error, "doing": "report", "task": task.id})
        else:
            self._tell("settled", {"task": task.id, **answer})


# ---------------------------------------------------------------------------------------- command line


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """``python3 daybook.py enqueue TYPE --payload JSON``, ``show ID``, ``result ID --wait 60``, ``depth``: prints JSON."""
    parser = argparse.ArgumentParser(prog="daybook.py", description="A small command line. The server is DAYBOOK_URL, the token DAYBOOK_TOKEN.")
    parser.add_argument("--queue", default="default")
    commands = parser.add_subparsers(dest="command", required=True)
    enqueue = commands.add_parser("enqueue", help="enqueue a task")
    enqueue.add_argument("type")
    enqueue.add_argument("--payload", type=json.loads, default=None, help="JSON")
    enqueue.add_argument("--id")
    commands.add_parser("show", help="a task as it is now").add_argument("id")
    result = commands.add_parser("result", help="the result of a task")
    result.add_argument("id")
    result.add_argument("--wait", type=float, default=0, help="seconds")
    commands.add_parser("depth", help="tasks by status")
    given = parser.parse_args(arguments)
    try:
        with Client(queue=given.queue) as client:
            if given.command == "enqueue":
                said: Json = dataclasses.asdict(client.enqueue(given.type, given.payload, id=given.id))
            elif given.command == "show":
                said = client.show(given.id).raw
            elif given.command == "result":
                said = dataclasses.asdict(client.result(given.id, given.wait))
            else:
                said = client.depth()
    except DaybookError as error:
        print(f"{error.code}: {error.detail}", file=sys.stderr)
        return 3 if isinstance(error, Unreachable) else 1
    except ValueError as error:
        # The address, the token, or a payload such as NaN.
        parser.error(str(error))
    print(json.dumps(said))
    return 0


if __name__ == "__main__":
    sys.exit(main())
