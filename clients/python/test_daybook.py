"""Plays the client and the worker against a real server, which it starts, kills and starts again."""
import datetime
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock
import urllib.request
from collections import Counter

import daybook
from daybook import Client, DaybookError, NewTask, Worker

HERE = os.path.dirname(os.path.abspath(__file__))
SERVER = os.path.join(HERE, "..", "..", "packages", "adapters", "bin", "daybook.js")
TOKEN = "dbk_token-of-the-python-tests"


def until(condition, what, seconds=30.0):
    """Waits for a condition; the limit is reached on failure only."""
    deadline = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > deadline:
            raise AssertionError(f"{what} did not happen in {seconds} s")
        time.sleep(0.02)


def free_port():
    """Not one that systems give to clients: a client that tries again and again to connect to such a port may meet itself, and keep it."""
    while True:
        port = random.randrange(20_000, 30_000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue


class Server:
    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.start()

    def start(self):
        arguments = ["node", SERVER, "serve", "--port", str(self.port), "--data", self.folder.name]
        self.process = subprocess.Popen(arguments, env={**os.environ, "DAYBOOK_TOKEN": TOKEN}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until(self.is_ready, "a ready server")

    def is_ready(self):
        try:
            with urllib.request.urlopen(f"{self.url}/readyz", timeout=5) as answer:
                return answer.status == 200
        except OSError:
            return False

    def kill(self):
        self.process.kill()
        self.process.wait()

    def close(self):
        self.kill()
        self.folder.cleanup()


class BadConnection:
    """A proxy. It passes the first request on and closes the connection instead of answering; or, with ``delay``, it gives each answer so many seconds late."""

    def __init__(self, port, delay=None):
        self.delay = delay
        self.target = port
        self.dropped = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(near,), daemon=True).start()

    def serve(self, near):
        far = socket.create_connection(("127.0.0.1", self.target))
        drops = self.delay is None and self.dropped == 0

        def forward():
            while data := near.recv(65536):
                far.sendall(data)

        if drops:
            self.dropped += 1
        threading.Thread(target=forward, daemon=True).start()
        while data := far.recv(65536):
            if drops:
                break
            time.sleep(self.delay or 0)
            try:
                near.sendall(data)
            except OSError:
                break
        for end in (near, far):
            # Closing alone sends nothing while another thread reads from it.
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            end.close()


class DaybookTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.queues = 0

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def setUp(self):
        type(self).queues += 1
        self.client = Client(self.server.url, TOKEN, f"q{self.queues}")
        self.addCleanup(self.client.close)
        self.client.settings(decisionReport="optional")

    def work(self, handler, **options):
        """A worker in a thread; it is stopped at the end of the test."""
        worker = Worker(self.client, "w", ["*"], handler, poll_seconds=5, **options)
        thread = threading.Thread(target=worker.run, daemon=True)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(worker.stop, 1)
        return worker

    def run_program(self, handler, **options):
        program = f"""
import sys; sys.path.insert(0, {HERE!r})
from daybook import Client, Worker
client = Client({self.server.url!r}, {TOKEN!r}, {self.client.queue!r})
def handler(task):
    {handler}
Worker(client, "other", None, handler, **{options!r}).run()
"""
        return subprocess.Popen([sys.executable, "-c", program])

    def status(self, task_id):
        return self.client.show(task_id).status

    def types(self):
        return Counter(event["type"] for event in self.client.events())

    def test_a_task_from_its_enqueueing_to_its_result(self):
        client = self.client
        first = client.enqueue("mail", {"to": "ada"}, id="a", priority="HIGH")
        self.assertEqual((first.id, first.duplicate), ("a", False))
        self.assertTrue(client.enqueue("mail", {"to": "ada"}).duplicate)
        client.enqueue_all([NewTask("mail", {"to": "bob"}, id="b"), NewTask("mail", {"to": "cleo"}, id="c", dependencies=["b"])])
        self.assertEqual(client.show("a").payload, {"to": "ada"})
        self.assertEqual([task.id for task in client.list(status=["pending"])], ["a", "b"])
        self.assertEqual(client.explain("c")["reasons"][0]["blockedBy"][0]["id"], "b")
        [claim] = client.claim("w", ["ma*"], wait=5, lease_seconds=30)
        self.assertEqual((claim.task.id, claim.attempt, claim.lease_seconds), ("a", 1, 30))
        client.heartbeat("a", "w", claim.token, progress={"percent": 50})
        self.assertEqual(client.complete("a", "w", claim.token, {"output": [1, "ü"]})["status"], "completed")
        self.assertEqual(client.result("a", wait=5).result["output"], [1, "ü"])
        self.assertEqual(client.cancel("b", "no longer needed"), ["b", "c"])
        self.assertEqual(client.depth()["byStatus"]["completed"], 1)
        self.assertEqual([event["revision"] for event in client.events(1)], list(range(1, sum(self.types().values()))))

    def test_a_batch_and_its_callback(self):
        client = self.client
        made = client.create_batch([NewTask("row", 1)], id="b", callback={"type": "mail", "payload": {"to": "ada"}}, open=True)
        self.assertEqual((made["batch"]["state"], made["results"][0]["duplicate"]), ("open", False))
        client.enqueue("row", 2, batch_id="b")
        self.assertEqual(client.close_batch("b")["open"], 2)
        with self.assertRaises(daybook.WrongState):
            client.enqueue("row", 3, batch_id="b")
        told = []
        self.work(lambda task: told.append(task.metadata["batch"]) if task.type == "mail" else None)
        deadline = time.monotonic() + 30
        while not told and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertEqual([(each["id"], each["completed"]) for each in told], [("b", 2)])
        self.assertEqual(client.batch("b")["progress"], 1)
        client.create_batch([NewTask("row", 4, available_at="2990-01-01T00:00:00.000Z")], id="c")
        self.assertEqual(client.cancel_batch("c", "the wrong file")["batch"]["state"], "finished")

    def test_errors_are_typed(self):
        with self.assertRaises(daybook.NotFound):
            self.client.show("nothing")
        with self.assertRaises(daybook.Invalid) as found:
            self.client.enqueue("mail", timeout=-1)
        self.assertEqual(found.exception.errors[0]["path"], "timeout")
        with self.assertRaises(daybook.LeaseLost):
            self.client.enqueue("mail", id="a")
            self.client.complete("a", "w", 7, {})
        with self.assertRaises(daybook.Unauthorized):
            Client(self.server.url, "dbk_wrong").depth()
        with self.assertRaises(daybook.Unreachable):
            Client("http://127.0.0.1:9", retry_seconds=0.1).depth()

    def test_too_many_requests_are_waited_for(self):
        body = json.dumps({"name": "slow", "roles": ["auditor"], "rate": {"perSecond": 1, "burst": 1}}).encode()
        request = urllib.request.Request(f"{self.server.url}/api/tokens", body, {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"})
        with urllib.request.urlopen(request) as answer:
            slow = Client(self.server.url, json.load(answer)["token"], self.client.queue)
        for _ in range(3):
            slow.depth()
        slow.retry_seconds = 0
        with self.assertRaises(daybook.TooManyRequests):
            for _ in range(20):
                slow.depth()

    def test_a_thousand_tasks_through_four_threads_are_each_done_once(self):
        self.client.enqueue_all([NewTask("count", i) for i in range(1_000)])
        done = []
        worker = Worker(self.client, "w", ["count"], lambda task: done.append(task.payload), concurrency=4, ahead=16)
        worker.run(until_empty=True, handle_signals=False)
        self.assertEqual(sorted(done), list(range(1_000)))
        self.assertEqual(self.types()["Completed"], 1_000)

    def test_an_answer_that_is_lost_enqueues_nothing_twice(self):
        proxy = BadConnection(self.server.port)
        self.addCleanup(proxy.listener.close)
        self.client.enqueue("other")
        through = Client(proxy.url, TOKEN, self.client.queue)
        self.addCleanup(through.close)
        through.enqueue("mail", deduplicate="off")
        self.assertEqual(proxy.dropped, 1)
        self.assertEqual(len(list(self.client.list(type="mail"))), 1)

    def test_what_a_handler_says(self):
        def handler(task):
            if task.type == "limited":
                raise daybook.RateLimited(retry_after=600)
            if task.type == "never":
                raise daybook.NotRetryable("there is no such host")
            if task.type == "wrong":
                raise ValueError("boom")
            if task.type == "strange":
                return object()
            if task.callback is None:
                raise daybook.Park(f"key-{task.id}", 600, checkpoint={"built": 7})
            return daybook.Result({"answer": task.callback["payload"], "built": task.last_checkpoint["built"]}, decision_report="as the person said")

        for kind in ("never", "wrong", "strange", "parks"):
            self.client.enqueue(kind, id=kind)
        self.work(handler, concurrency=2)
        for kind, status in (("never", "dead-letter"), ("wrong", "scheduled"), ("strange", "dead-letter"), ("parks", "waiting")):
            until(lambda: self.status(kind) == status, f"{kind} is {status}")
        self.assertEqual(self.client.show("wrong").last_error, "ValueError: boom")
        self.client.callback("key-parks", {"approved": True})
        self.assertEqual(self.client.result("parks", wait=30).result["output"], {"answer": {"approved": True}, "built": 7})
        self.client.retry_dead_letter("never", "ada", "it is there now")
        until(lambda: self.status("never") == "dead-letter", "the same failure")
        # Last, because its agent gets no task until the wait is over.
        self.client.enqueue("limited", id="limited")
        until(lambda: self.status("limited") == "scheduled", "a wait")
        self.assertEqual(self.client.show("limited").raw["rateLimits"], 1)

    def test_an_outcome_that_the_queue_refuses_is_a_failure(self):
        def park(_task):
            raise daybook.Park("key", -1)

        returned = {"large": lambda _: "x" * 400_000, "inexact": lambda _: 2 ** 80, "parks": park}
        for kind in returned:
            self.client.enqueue(kind, id=kind)
        told = []
        worker = Worker(self.client, "w", None, lambda task: returned[task.type](task), on_event=lambda kind, about: told.append((kind, about["task"])))
        worker.run(until_empty=True, handle_signals=False)
        for kind, why in (("large", "the result was refused (too-large): "), ("inexact", "the result was refused (invalid): "), ("parks", "parking was refused (invalid): ")):
            self.assertEqual((self.status(kind), self.client.show(kind).raw["attempts"]), ("dead-letter", 1))
            self.assertIn(why, self.client.show(kind).last_error)
            self.assertEqual([event for event, task in told if task == kind], ["error", "settled"])

    def test_a_failure_that_no_utf8_can_hold_is_a_failure_like_others(self):
        def handler(_task):
            raise RuntimeError("tool said " + b"\xff".decode("utf-8", "surrogateescape"))

        self.client.enqueue("odd", id="odd")
        self.work(handler)
        until(lambda: self.status("odd") == "scheduled", "another try")
        self.assertEqual(self.client.show("odd").last_error, "RuntimeError: tool said \\udcff")

    def test_an_exception_of_whoever_is_told_does_not_stop_the_work(self):
        ends = [KeyError("a bug"), SystemExit(1), KeyError("another")]

        def told(_kind, _about):
            raise ends.pop()

        for number in range(3):
            self.client.enqueue("w", number, id=f"t{number}")
        Worker(self.client, "w", None, lambda _task: 1, on_event=told).run(until_empty=True, handle_signals=False)
        self.assertEqual([self.status(f"t{number}") for number in range(3)], ["completed"] * 3)

    def test_answers_of_something_else_stop_neither_the_client_nor_the_worker(self):
        self.client.enqueue("w", id="t")
        once, strange = Client._once, Counter()

        def sometimes(client, method, path, *rest):
            kind = path.rpartition("/")[2]
            strange[kind] += 1
            if strange[kind] <= 2:
                raise DaybookError("the answer was no JSON", code="unexpected", status=200) if kind == "complete" else (KeyError, TypeError)[strange[kind] - 1]("claims")
            return once(client, method, path, *rest)

        def handler(task):
            # Time for a heartbeat, and enough for another on a slow machine.
            task._lease_ends = ends = time.monotonic() + 28
            until(lambda: task._lease_ends > ends, "a heartbeat")

        told = []
        with unittest.mock.patch.object(Client, "_once", sometimes):
            self.work(handler, on_event=lambda kind, about: told.append(about.get("doing", kind)))
            until(lambda: "settled" in told, "the completion")
        self.assertEqual(self.status("t"), "completed")
        self.assertEqual(sorted(told), ["claim", "claim", "heartbeat", "heartbeat", "settled"])

    def test_an_answer_that_is_no_json_object_is_a_typed_error(self):
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)
        strange = (b"<html></html>", b'["<html>"]', b'"<html>"')

        def serve():
            for body in strange:
                near, _ = listener.accept()
                with near:
                    near.recv(65536)
                    near.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))

        threading.Thread(target=serve, daemon=True).start()
        for _ in strange:
            with Client(f"http://127.0.0.1:{listener.getsockname()[1]}", TOKEN) as client:
                with self.assertRaisesRegex(DaybookError, "is this a Daybook server.*<html>"):
                    client.depth()

    def test_a_completion_that_something_else_has_answered_makes_no_dead_letter(self):
        once, answered = Client._once, []

        def other(client, method, path, *rest):
            if path.endswith("/complete") and not answered:
                answered.append(path)
                return {"message": "welcome"}
            return once(client, method, path, *rest)

        self.client.enqueue("w", id="t")
        told = []
        with unittest.mock.patch.object(Client, "_once", other):
            self.work(lambda _task: 1, on_event=lambda kind, _about: told.append(kind))
            until(lambda: told, "an event")
        self.assertEqual((told, self.status("t")), (["error"], "in-progress"))

    def test_an_error_or_a_result_that_cannot_be_written_fails_its_own_task(self):
        class Odd(Exception):
            def __str__(self):
                raise RuntimeError("no text")

        def handler(task):
            if task.id == "odd":
                raise Odd()
            deep = []
            for _ in range(100_000):
                deep = [deep]
            return deep if task.id == "deep" else 1

        for each in ("odd", "deep", "last"):
            self.client.enqueue("w", each, id=each, max_retries=0)
        self.work(handler)
        until(lambda: self.status("last") == "completed" and self.status("odd") == self.status("deep") == "dead-letter", "the end of all")
        self.assertEqual(self.client.show("odd").last_error, "Odd: (it has no text)")

    def test_what_a_handler_raises_or_returns_and_nobody_can_read_fails_its_own_task_and_no_thread_ends(self):
        class Hollow(Exception):
            def __getattr__(self, name):
                raise ValueError(f"no {name}")

        class Bare(daybook.Park):
            def __init__(self):
                pass

        def handler(task):
            if task.id == "hollow":
                raise Hollow("see there")
            if task.id == "bare":
                raise Bare()
            return daybook.Result(success=False, errors={"number": 5, "text": "no disk"}[task.id]) if task.id != "last" else 1

        for each in ("hollow", "bare", "number", "text", "last"):
            self.client.enqueue("w", each, id=each, max_retries=0)
        self.work(handler)
        until(lambda: self.status("last") == "completed", "the last one's end")
        self.assertEqual([self.status(each) for each in ("hollow", "bare", "number", "text")], ["dead-letter"] * 4)
        self.assertEqual([self.client.show(each).last_error for each in ("hollow", "text")], ["Hollow: see there", "no disk"])
        self.assertIn("the handler's outcome cannot be read", self.client.show("bare").last_error)

    def test_a_worker_that_stops_while_its_claim_is_answered_gives_all_tasks_back_in_one_request(self):
        self.client.enqueue_all([NewTask("slow", i) for i in range(20)])
        asked = []
        once = Client._once

        def counted(client, method, path, *rest):
            asked.append(path.rpartition("/")[2])
            answer = once(client, method, path, *rest)
            if asked[-1] == "claims":
                worker.stop()
            return answer

        worker = Worker(self.client, "w", None, lambda task: task.wait(60), ahead=19)
        with unittest.mock.patch.object(Client, "_once", counted):
            worker.run(handle_signals=False)
        self.assertEqual(asked, ["claims", "outcomes"])
        self.assertEqual(self.client.depth()["byStatus"]["pending"], 20)

    def test_a_handler_that_ends_as_soon_as_the_worker_stops_does_not_keep_its_task(self):
        cancel = daybook.Task._cancel

        def slowly(task, reason):
            cancel(task, reason)
            # Time for the handler's thread.
            time.sleep(0.5)

        self.client.enqueue("slow", id="t")
        begun = threading.Event()
        worker = Worker(self.client, "w", None, lambda task: (begun.set(), task.wait(60)), lease_seconds=600)
        thread = threading.Thread(target=worker.run, daemon=True)
        thread.start()
        until(begun.is_set, "a run")
        with unittest.mock.patch.object(daybook.Task, "_cancel", slowly):
            worker.stop(0)
            thread.join(60)
        self.assertEqual((self.status("t"), self.client.show("t").raw["attempts"]), ("pending", 0))

    def test_an_exception_that_ends_run_gives_the_tasks_back(self):
        program = f"""
import signal, sys; sys.path.insert(0, {HERE!r})
from daybook import Client, Worker
def end(*_):
    sys.exit(7)
signal.signal(signal.SIGTERM, end)
worker = Worker(Client({self.server.url!r}, {TOKEN!r}, {self.client.queue!r}), "w", None, lambda task: task.wait(60), lease_seconds=600)
worker._grace = 0.5
worker.run(handle_signals=False)
"""
        self.client.enqueue("slow", id="t")
        process = subprocess.Popen([sys.executable, "-c", program])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        until(lambda: self.status("t") == "in-progress", "a claim")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(60), 7)
        self.assertEqual((self.status("t"), self.client.show("t").raw["attempts"]), ("pending", 0))

    def test_a_worker_runs_once(self):
        worker = Worker(self.client, "w", None, lambda _task: None)
        worker.run(until_empty=True)
        with self.assertRaisesRegex(RuntimeError, "make another one"):
            worker.run(until_empty=True)

    @unittest.skipUnless(hasattr(os, "fork"), "needs fork")
    def test_a_process_that_a_handler_forks_can_be_terminated(self):
        program = f"""
import multiprocessing, sys, time; sys.path.insert(0, {HERE!r})
from daybook import Client, Worker
fork = multiprocessing.get_context("fork")
def sleeps(begun):
    begun.send(1)
    time.sleep(60)
def handler(task):
    ours, theirs = fork.Pipe()
    process = fork.Process(target=sleeps, args=(theirs,))
    process.start()
    ours.recv()
    process.terminate()
    process.join(20)
    return process.exitcode
Worker(Client({self.server.url!r}, {TOKEN!r}, {self.client.queue!r}), "w", None, handler).run(until_empty=True)
"""
        self.client.enqueue("w", id="t")
        subprocess.run([sys.executable, "-c", program], timeout=60, check=True)
        self.assertEqual(self.client.result("t").result, {"output": -signal.SIGTERM})

    def test_until_empty_asks_again_after_its_last_task(self):
        once = Client._once

        def late(client, method, path, *rest):
            answer = once(client, method, path, *rest)
            if path.endswith("/claims") and not answer["claims"]:
                # The task ends meanwhile.
                until(lambda: not worker._held, "its end")
            return answer

        self.client.enqueue("w", 1, id="a")
        self.client.enqueue("w", 2, id="b", dependencies=["a"])
        worker = Worker(self.client, "w", None, lambda _task: time.sleep(0.5))
        with unittest.mock.patch.object(Client, "_once", late):
            worker.run(until_empty=True, handle_signals=False)
        self.assertEqual((self.status("a"), self.status("b")), ("completed", "completed"))

    def test_a_report_whose_answer_is_lost_is_accepted_once_and_not_refused(self):
        def through():
            proxy = BadConnection(self.server.port)
            self.addCleanup(proxy.listener.close)
            client = Client(proxy.url, TOKEN, self.client.queue)
            self.addCleanup(client.close)
            return client

        said = {
            "fail": (lambda client, *of: client.fail(*of, "no"), "scheduled"),
            "release": (lambda client, *of: client.release(*of, "not mine"), "pending"),
            "park": (lambda client, *of: client.park(*of, "key", 600), "waiting"),
            "complete": (lambda client, *of: client.complete(*of, {}), "completed"),
            "many": (lambda client, *of: client.report([{"taskId": of[0], "kind": "fail", "agentId": of[1], "token": of[2], "error": "no"}])[0], "scheduled"),
        }
        for kind, (report, status) in said.items():
            self.client.enqueue(kind, id=kind)
            [claim] = self.client.claim("w", [kind])
            self.assertEqual(report(through(), kind, "w", claim.token)["status"], status, kind)

    def test_a_request_under_way_fails_when_the_client_is_closed(self):
        self.client.enqueue("w", id="t")
        waiting = Client(self.server.url, TOKEN, self.client.queue)
        errors = []

        def wait():
            try:
                waiting.result("t", wait=50)
            except DaybookError as error:
                errors.append(error)

        thread = threading.Thread(target=wait, daemon=True)
        thread.start()
        until(lambda: any(connection.sock is not None for connection in waiting._open), "its connection")
        time.sleep(0.2)
        waiting.close()
        thread.join(30)
        self.assertEqual([type(error) for error in errors], [daybook.Unreachable])
        self.assertEqual(waiting._open, set())

    def test_addresses_of_all_kinds(self):
        for url, host, port in (("http://[::1]", "::1", 80), ("https://[::1]/", "::1", 443), ("http://[::1]:7878", "::1", 7878), ("http://example.org", "example.org", 80)):
            connection = Client(url)._connect(1)
            self.assertEqual((connection.host, connection.port), (host, port))
        for url in ("http://127.0.0.1:abc", "http://127.0.0.1:99999"):
            with self.assertRaisesRegex(ValueError, "wrong port"):
                Client(url)
        with self.assertRaises(daybook.Unreachable) as found:
            Client(f"http://ada:secret@127.0.0.1:{free_port()}", TOKEN, retry_seconds=0).depth()
        self.assertNotIn("secret", str(found.exception))
        # The server knows no such path, and that is no reason to try again.
        with Client(self.server.url + "/a b/\u00e4", TOKEN) as lost, self.assertRaises(DaybookError) as refused:
            lost.depth()
        self.assertEqual(refused.exception.status, 404)

    def test_an_empty_token_is_none(self):
        with unittest.mock.patch.dict(os.environ, {"DAYBOOK_TOKEN": ""}):
            self.assertEqual(Client(self.server.url, "")._headers({}), {})

    def test_a_task_is_given_back_when_its_handler_has_cleaned_up(self):
        cleaned = []

        def handler(task):
            begun.set()
            until(lambda: task.cancelled, "the stop")
            time.sleep(0.5)
            cleaned.append(self.status("t"))

        self.client.enqueue("slow", id="t")
        begun = threading.Event()
        worker = Worker(self.client, "w", None, handler)
        thread = threading.Thread(target=worker.run, daemon=True)
        # A busy machine takes longer than a second.
        with unittest.mock.patch.object(daybook, "_ending_seconds", 20.0):
            thread.start()
            until(begun.is_set, "a run")
            worker.stop(0)
            thread.join(60)
        self.assertEqual((cleaned, self.status("t")), (["in-progress"], "pending"))

    def test_a_run_that_took_too_long_is_reported_when_its_handler_has_cleaned_up_or_some_seconds_later(self):
        ended = threading.Event()
        self.addCleanup(ended.set)
        cleaned = []

        def handler(task):
            if task.id == "hangs":
                ended.wait(90)
                return
            until(lambda: task.cancelled, "the end of its time")
            time.sleep(2)
            cleaned.append(self.status(task.id))

        self.client.enqueue("slow", 1, id="cleans", max_retries=0)
        self.client.enqueue("slow", 2, id="hangs", max_retries=0)
        with unittest.mock.patch.object(daybook, "_overdue_seconds", 8.0):
            self.work(handler, concurrency=2, lease_seconds=10, max_run_seconds=0.3)
            until(lambda: self.status("cleans") == "dead-letter", "its report")
            self.assertEqual((cleaned, self.status("hangs")), (["in-progress"], "in-progress"))
            until(lambda: self.status("hangs") == "dead-letter", "the other report", 60)
        self.assertIn("longer than 0.3 seconds", self.client.show("hangs").last_error)

    def hanging(self, what):
        """The first request of this kind hangs until its time is over."""
        once, hung = Client._once, []

        def hang(client, method, path, text, headers, timeout):
            if path.endswith(what) and not hung:
                hung.append(timeout)
                time.sleep(timeout)
                raise daybook.Unreachable("timed out")
            return once(client, method, path, text, headers, timeout)

        patch = unittest.mock.patch.object(Client, "_once", hang)
        patch.start()
        self.addCleanup(patch.stop)
        return hung

    def test_a_checkpoint_on_a_connection_that_hangs_is_sent_again(self):
        hung = self.hanging("/heartbeat")
        self.client.enqueue("w", id="t")
        self.work(lambda task: task.checkpoint(7), lease_seconds=16)
        until(lambda: self.status("t") != "pending" and self.status("t") != "in-progress", "its end", 60)
        self.assertEqual((self.status("t"), hung), ("completed", [2.0]))

    def test_a_lease_that_the_timeout_of_a_task_makes_short_survives_a_heartbeat_that_hangs(self):
        hung = self.hanging("/outcomes")
        self.client.enqueue("w", id="t", timeout=6, max_retries=0)
        self.work(lambda task: task.wait(8))
        until(lambda: self.status("t") != "pending" and self.status("t") != "in-progress", "its end", 60)
        self.assertEqual((self.status("t"), hung), ("completed", [1.0]))

    def test_nothing_is_claimed_ahead_of_a_slow_handler(self):
        self.client.enqueue_all([NewTask("w", i) for i in range(3)])
        begun = threading.Event()
        worker = self.work(lambda task: (begun.set(), task.wait(60)))
        until(begun.is_set, "a run")
        # Time for another claim.
        time.sleep(1)
        self.assertEqual((len(worker._held), self.client.depth()["byStatus"]["pending"]), (1, 2))

    def test_a_task_is_claimed_ahead_of_a_quick_handler(self):
        worker = Worker(self.client, "w", None, lambda _task: None, concurrency=3)
        self.assertEqual(worker._held_max(), 3)
        worker._run_seconds = 0.01
        self.assertEqual(worker._held_max(), 6)

    def test_a_task_whose_lease_has_ended_is_not_begun(self):
        self.client.enqueue_all([NewTask("w", i, max_retries=0) for i in range(2)])
        begun = []

        def handler(task):
            begun.append(task.id)
            if len(begun) == 1:
                until(lambda: len(worker._held) == 2, "the other's claim")
                for held in worker._held.values():
                    held._lease_ends = time.monotonic()

        with unittest.mock.patch.object(Worker, "_look", lambda _: None):
            worker = self.work(handler, ahead=1)
            until(lambda: self.types()["Completed"] == 2, "the ends of both")
        # The other one was given back, and begun with its next lease.
        self.assertEqual(self.types()["ClaimReturned"], 1)

    def test_connections_are_used_again_by_other_threads(self):
        before = len(self.client._open)
        for _ in range(20):
            thread = threading.Thread(target=self.client.depth)
            thread.start()
            thread.join()
        self.assertEqual(len(self.client._open), before)
        with unittest.mock.patch("daybook._idle_seconds", -1.0):
            self.client.depth()
        self.assertEqual(len(self.client._open), before)

    def kept_connections(self):
        connections = [self.client._take(30) for _ in range(5)]
        for connection in connections:
            connection.close()
            connection.connect()
            self.client._keep(connection)
        return connections

    def test_connections_that_the_server_has_ended_are_not_used(self):
        for connection in self.kept_connections():
            daybook._cut(connection)
        with unittest.mock.patch.object(Client, "_once", autospec=True, side_effect=Client._once) as once:
            self.client.depth()
        self.assertEqual(once.call_count, 1)
        self.assertEqual(len(self.client._open), 1)

    def test_connections_that_end_together_while_they_are_taken_cost_one_more_try(self):
        connections = self.kept_connections()
        for connection in connections:
            daybook._cut(connection)
        with unittest.mock.patch.object(Client, "_once", autospec=True, side_effect=Client._once) as once:
            with unittest.mock.patch.object(daybook, "_has_ended", lambda _: False):
                self.client.depth()
        self.assertEqual(once.call_count, 2)

    def test_a_token_that_no_header_can_hold_is_refused_at_once(self):
        with self.assertRaisesRegex(ValueError, "a line break at its end"):
            Client(self.server.url, TOKEN + "\n")

    def test_a_report_about_a_run_that_takes_too_long_does_not_keep_other_leases_from_being_renewed(self):
        self.client.enqueue("w", 1, id="long")
        self.client.enqueue("w", 2, id="kept")
        answered = threading.Event()
        fail = Client.fail

        def late(*args, **more):
            answered.wait(90)
            return fail(*args, **more)

        def handler(task):
            if task.id == "long":
                task._started -= 3_600
                until(lambda: task.cancelled, "its end")
            else:
                # Time for a heartbeat, and enough for another on a slow machine.
                task._lease_ends = ends = time.monotonic() + 28
                until(lambda: task._lease_ends > ends, "a heartbeat")

        self.addCleanup(answered.set)
        with unittest.mock.patch.object(Client, "fail", late):
            self.work(handler, concurrency=2, max_run_seconds=1_800)
            until(lambda: self.status("kept") in ("completed", "scheduled"), "the end of the other")
            self.assertEqual(self.status("kept"), "completed")
            answered.set()
        until(lambda: "Failed" in self.types(), "its failure")

    def test_the_history_of_a_forgotten_task_is_searched_to_its_beginning(self):
        pages = [{"events": [{"revision": 9}], "next": 5}, {"events": [], "next": 2}, {"events": [{"revision": 1}], "next": None}]
        with unittest.mock.patch.object(self.client, "_request", side_effect=pages) as request:
            self.assertEqual([each["revision"] for each in self.client.history("old")], [1, 9])
        self.assertEqual([call.args[1].partition("?")[2] for call in request.call_args_list], ["", "before=5", "before=2"])

    def test_heartbeats_that_fail_do_not_keep_the_worker_from_looking_at_its_runs(self):
        nobody = Client(f"http://127.0.0.1:{free_port()}", TOKEN)
        told = []
        worker = Worker(nobody, "w", None, lambda _task: None, on_event=lambda kind, about: told.append((kind, about["doing"])))
        claim = daybook.Claim(daybook.TaskView("a", 1, "w", 5, "in-progress"), 1, 1, 60.0, time.monotonic())
        with unittest.mock.patch("daybook.time.sleep", side_effect=AssertionError("it sleeps")):
            worker._beat([daybook.Task(claim, worker)])
        self.assertEqual(told, [("error", "heartbeat")])
        # Whoever is told nothing finds it in the log.
        with self.assertLogs("daybook", "WARNING") as logged:
            Worker(nobody, "w", None, lambda _task: None)._beat([daybook.Task(claim, worker)])
        self.assertRegex(logged.output[0], "heartbeat: .*gave no answer")

    def test_a_lease_that_cannot_be_renewed_is_lost(self):
        self.client.enqueue("slow", id="lost")
        reasons = []

        def handler(task):
            until(lambda: task.cancelled, "the end of the lease")
            reasons.append(task.cancel_reason)

        with unittest.mock.patch.object(Worker, "_beat", side_effect=lambda _tasks: None):
            self.work(handler, lease_seconds=0.5)
            until(lambda: reasons, "the loss")
        self.assertIn("could not be renewed in time", reasons[0])

    def test_a_handler_that_raises_cancelled_gives_its_task_back(self):
        def handler(_task):
            raise daybook.Cancelled("not now")

        self.client.enqueue("w", id="back")
        self.work(handler)
        until(lambda: "Released" in self.types(), "the release")

    def test_a_cancelled_task_is_told(self):
        reasons = {}

        def handler(task):
            until(lambda: task.cancelled, "the end of the lease")
            reasons[task.id] = task.cancel_reason

        self.client.enqueue("slow", id="cancelled")
        self.work(handler, lease_seconds=1)
        until(lambda: self.status("cancelled") == "in-progress", "a claim")
        self.client.cancel("cancelled", "nobody wants it")
        until(lambda: "cancelled" in reasons, "the cancellation")
        self.assertNotIn("Completed", self.types())

    def test_a_run_that_takes_too_long_has_failed(self):
        self.client.enqueue("slow", id="long", max_retries=1)
        self.work(lambda task: until(lambda: task.cancelled, "the end of its time"), lease_seconds=2, max_run_seconds=0.3)
        until(lambda: self.status("long") == "dead-letter", "a dead letter")
        self.assertIn("longer than 0.3 seconds", self.client.show("long").last_error)

    def test_a_worker_is_killed_and_another_takes_over(self):
        self.client.enqueue("slow", id="a")
        program = self.run_program("task.checkpoint({'step': 3}); task.wait(60)", lease_seconds=1)
        until(lambda: self.client.show("a").checkpoint, "a checkpoint")
        program.kill()
        program.wait()
        seen = []
        self.work(lambda task: seen.append((task.attempt, task.last_checkpoint)))
        until(lambda: self.status("a") == "completed", "another worker's completion", 60)
        self.assertEqual(seen, [(2, {"step": 3})])

    def test_a_worker_that_stops_waits_for_the_answer_to_its_claim_and_gives_the_task_back(self):
        proxy = BadConnection(self.server.port, delay=0.5)
        self.addCleanup(proxy.listener.close)
        self.client.enqueue("slow", id="a")
        through = Client(proxy.url, TOKEN, self.client.queue)
        self.addCleanup(through.close)
        worker = Worker(through, "w", None, lambda task: task.wait(60))
        # A busy machine takes longer than a second.
        patient = unittest.mock.patch.object(daybook, "_answer_seconds", 20.0)
        patient.start()
        self.addCleanup(patient.stop)
        thread = threading.Thread(target=worker.run, daemon=True)
        thread.start()
        until(lambda: self.types()["Claimed"] == 1, "a claim")
        worker.stop(30)
        thread.join(60)
        self.assertEqual((self.status("a"), self.client.show("a").raw["attempts"]), ("pending", 0))

    def test_a_worker_that_stops_gives_all_its_waiting_tasks_back_in_one_request(self):
        self.client.enqueue_all([NewTask("slow", i) for i in range(6)])
        asked = []
        once = Client._once

        def counted(client, method, path, *rest):
            asked.append(path.rpartition("/")[2])
            return once(client, method, path, *rest)

        told = []
        begun = threading.Event()

        def handler(task):
            begun.set()
            task.wait(60)

        worker = Worker(self.client, "w", None, handler, ahead=5, lease_seconds=600, on_event=lambda kind, about: told.append((kind, about.get("status"))))
        thread = threading.Thread(target=worker.run, daemon=True)
        thread.start()
        until(lambda: self.types()["Claimed"] == 6, "claims")
        until(lambda: len(worker._held) == 6 and begun.is_set(), "the answer to the claim, and a run")
        with unittest.mock.patch.object(Client, "_once", counted):
            worker.stop(0)
            thread.join(60)
        self.assertEqual([(task.status, task.raw["attempts"]) for task in self.client.list()], [("pending", 0)] * 6)
        # The tasks that wait for a thread, and the one that is being worked on.
        self.assertEqual(asked, ["outcomes"] * 2)
        self.assertEqual(told, [("settled", "pending")] * 6)

    def test_sigterm_gives_unfinished_tasks_back(self):
        self.client.enqueue_all([NewTask("slow", i) for i in range(2)])
        program = self.run_program("task.wait(60)", ahead=1, lease_seconds=600)
        until(lambda: self.types()["Claimed"] == 2, "claims")
        program.send_signal(signal.SIGTERM)
        self.assertEqual(program.wait(30), 0)
        self.assertEqual([(task.status, task.raw["attempts"]) for task in self.client.list()], [("pending", 0)] * 2)

    def test_a_signal_is_the_workers_only_while_it_runs(self):
        before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
        Worker(self.client, "w", None, lambda _task: None).run(until_empty=True)
        self.assertEqual((signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)), before)

    def test_a_signal_that_comes_while_the_main_thread_has_the_lock_of_its_event_stops_the_worker(self):
        program = f"""
import os, signal, sys, threading; sys.path.insert(0, {HERE!r})
from daybook import Client, Worker
class Interrupted(threading.Event):
    def wait(self, timeout=None):
        with self._cond:
            signal.raise_signal(signal.SIGTERM)
        return super().wait(timeout)
worker = Worker(Client({self.server.url!r}, {TOKEN!r}, {self.client.queue!r}), "w", None, lambda _task: None)
worker._stopping = Interrupted()
worker.run()
"""
        process = subprocess.Popen([sys.executable, "-c", program])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertEqual(process.wait(30), 0)

    def test_an_outcome_is_sent_for_longer_than_the_callers_requests_and_its_lease_is_renewed_meanwhile(self):
        once, refused = Client._once, []

        def away(client, method, path, *rest):
            # Longer than the lease, and than the client tries.
            if path.endswith("/complete") and (not refused or time.monotonic() - refused[0] < 4):
                refused.append(time.monotonic())
                raise DaybookError("a defect", code="internal", status=500)
            return once(client, method, path, *rest)

        self.client.retry_seconds = 0.5
        self.client.enqueue("w", id="t")
        with unittest.mock.patch.object(Client, "_once", away):
            self.work(lambda _task: 1, lease_seconds=2)
            until(lambda: self.status("t") == "completed", "the completion")
        self.assertGreater(len(refused), 1)
        self.assertGreater(self.types()["LeaseExtended"], 0)

    def test_a_worker_whose_claims_are_refused_for_good_ends_with_the_refusal(self):
        for client, types, error in ((Client(self.server.url, "dbk_wrong"), None, daybook.Unauthorized), (self.client, [""], daybook.Invalid)):
            worker = Worker(client, "w", types, lambda _task: None)
            # It must not wait for ever where it does not end by itself.
            timer = threading.Timer(10, worker.stop)
            timer.start()
            with self.assertRaises(error), self.assertLogs("daybook", "WARNING"):
                worker.run(until_empty=True)
            timer.cancel()

    def test_a_worker_takes_only_tasks_of_its_phases_and_tenant_and_is_told_why_it_gets_none(self):
        for n, (phase, tenant) in enumerate([("ANALYSIS", "acme"), ("TESTING", "acme"), ("ANALYSIS", "other")]):
            self.client.enqueue("t", n, id=f"t{n}", phase=phase, tenant=tenant)
        told = []
        worker = Worker(self.client, "w", None, lambda task: task.id, phases=["ANALYSIS"], tenant="acme", on_event=lambda *event: told.append(event))
        worker.run(until_empty=True)
        self.assertEqual([self.status(f"t{n}") for n in range(3)], ["completed", "pending", "pending"])
        self.assertEqual([kind for kind, _ in told], ["settled"])
        self.client._json("POST", self.client._of("pause"), {"reason": "a test"})
        told.clear()
        worker = self.work(lambda task: task.id, on_event=lambda *event: told.append(event))
        worker.poll_seconds = 0.05
        until(lambda: len(told) > 0, "the reason")
        time.sleep(0.3)
        # Each reason is told once.
        self.assertEqual([(kind, about["reason"]["code"]) for kind, about in told], [("found-nothing", "queue-paused")])

    def test_a_worker_that_holds_more_tasks_than_one_request_takes(self):
        asked = []
        once = Client._once

        def counted(client, method, path, text, *rest):
            body = json.loads(text) if text is not None else {}
            asked.append((path.rpartition("/")[2], body.get("max") or len(body.get("outcomes", []))))
            return once(client, method, path, text, *rest)

        for part in range(2):
            self.client.enqueue_all([NewTask("w", [part, i]) for i in range(600)])
        begun = threading.Event()

        def handler(task):
            begun.set()
            task.wait(60)

        worker = Worker(self.client, "w", None, handler, ahead=1_199, on_event=lambda *_: None)
        with unittest.mock.patch.object(Client, "_once", counted):
            thread = threading.Thread(target=worker.run, daemon=True)
            thread.start()
            until(lambda: len(worker._held) == 1_200 and begun.is_set(), "all claims")
            for task in list(worker._held.values()):
                task._lease_ends = time.monotonic() + 25
            until(lambda: sum(count for what, count in asked if what == "outcomes") >= 1_200, "their heartbeats")
            worker.stop(0)
            thread.join(60)
        self.assertEqual([each for each in asked if each[0] == "claims"][:2], [("claims", 1_000), ("claims", 200)])
        self.assertEqual(asked[2][0], "outcomes")
        self.assertLessEqual(max(count for _, count in asked), 1_000)

    def test_a_reason_of_any_length_and_any_characters_gives_the_task_back(self):
        texts = {"emoji": "\U0001f600" * 5_000, "odd": "\udcff" * 5_000}

        def handler(task):
            raise daybook.Cancelled(texts[task.id])

        told = []
        for each in texts:
            self.client.enqueue("w", each, id=each)
        self.work(handler, on_event=lambda kind, about: told.append((kind, about.get("status"))))
        until(lambda: len(told) == 2, "the ends of both")
        self.assertEqual(told, [("settled", "pending")] * 2)

    def test_a_result_without_success_is_a_failed_attempt(self):
        self.client.enqueue("w", id="t")
        self.work(lambda _task: daybook.Result("half", success=False, errors=["no disk", "no net"]))
        until(lambda: self.status("t") != "pending" and self.status("t") != "in-progress", "its end")
        self.assertEqual((self.status("t"), self.client.show("t").last_error), ("scheduled", "no disk; no net"))

    def test_tasks_and_results_have_the_fields_of_the_api(self):
        request = urllib.request.Request(f"{self.server.url}/api/openapi.json", headers={"Authorization": f"Bearer {TOKEN}"})
        with urllib.request.urlopen(request) as answer:
            schemas = json.load(answer)["components"]["schemas"]
        for kind, other in ((NewTask, set()), (daybook.Result, {"validation_failed"})):
            fields = {daybook._camel(each.name) for each in daybook.dataclasses.fields(kind)}
            self.assertEqual(fields, set(schemas[kind.__name__]["properties"]) - other)

    def test_a_run_ends_in_time_to_report_that_the_task_allows_no_more(self):
        self.client.enqueue("slow", id="long", max_retries=1, max_run_seconds=4)
        reasons = []

        def handler(task):
            until(lambda: task.cancelled, "the end of its time")
            reasons.append(task.cancel_reason)

        self.work(handler, lease_seconds=3)
        until(lambda: reasons and self.status("long") == "dead-letter", "a dead letter")
        self.assertEqual(reasons, ["it ran for longer than 4 seconds"])
        self.assertIn("the handler ran for longer than 4 seconds", self.client.show("long").last_error)

    def test_a_stream_of_events_that_breaks_off_is_no_end_of_the_log(self):
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)
        start = b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nc\r\n{"is": "1"}\n\r\nc\r\n{"is": "2"}\n\r\n'

        def serve():
            for end in (b"", b"c\r\n", b'c\r\n{"is"', b"0\r\n\r\n"):
                near, _ = listener.accept()
                with near:
                    near.recv(65536)
                    near.sendall(start + end)

        threading.Thread(target=serve, daemon=True).start()
        client = Client(f"http://127.0.0.1:{listener.getsockname()[1]}", TOKEN)
        for _ in range(3):
            with self.assertRaisesRegex(daybook.Unreachable, "ended early"):
                list(client.events())
        self.assertEqual(list(client.events()), [{"is": "1"}, {"is": "2"}])

    def test_progress_that_cannot_be_shown_does_not_fail_the_work(self):
        def handler(task):
            with unittest.mock.patch.object(Client, "_once", side_effect=daybook.Unreachable("gone", code="unreachable")):
                task.progress({"percent": 50})
            return 1

        told = []
        self.client.retry_seconds = 0
        self.client.enqueue("w", id="t")
        self.work(handler, on_event=lambda kind, about: told.append(about.get("doing", kind)))
        until(lambda: "settled" in told, "its end")
        self.assertEqual((self.status("t"), told[0]), ("completed", "progress"))

    def test_what_a_proxy_refuses_for_now_may_pass(self):
        for status, code in ((429, "too-many-requests"), (502, "unavailable"), (503, "unavailable"), (504, "unavailable"), (404, "unexpected")):
            error = daybook._error_of(status, b"<html>", "7")
            self.assertEqual((error.code, error.code in daybook._may_pass, error.retry_after), (code, code != "unexpected", 7))

    def test_fields_beside_a_new_task_are_not_passed_over(self):
        for fields in ({"priority": 1}, {"payload": 1}):
            with self.assertRaises(TypeError):
                self.client.enqueue(NewTask("w"), **fields)

    def test_the_command_line_says_in_one_line_what_is_wrong(self):
        def said(*arguments, **environment):
            done = subprocess.run([sys.executable, daybook.__file__, *arguments], capture_output=True, encoding="utf-8",
                                  env={**os.environ, "DAYBOOK_URL": self.server.url, "DAYBOOK_TOKEN": TOKEN, **environment})
            return done.returncode, done.stdout, done.stderr.rpartition("daybook.py: error: ")[2]

        queue = ("--queue", self.client.queue)
        self.assertEqual(said(*queue, "enqueue", "mail", "--id", "a")[0], 0)
        self.assertEqual(json.loads(said(*queue, "show", "a")[1])["status"], "pending")
        self.assertEqual(said(*queue, "show", "b")[:2], (1, ""))
        code, _, why = said("enqueue", "mail", "--payload", "NaN")
        self.assertEqual((code, why[:12]), (2, "Out of range"))
        self.assertRegex(said("depth", DAYBOOK_URL="localhost")[2], "^the URL of the server must begin with http")

    def test_a_rate_limit_without_a_usable_time_is_no_failure(self):
        times = {"nan": float("nan"), "bool": True, "datetime": datetime.datetime(2030, 1, 1), "huge": 10**400, "odd": "\udcff"}

        def handler(task):
            raise daybook.RateLimited("slower", times[task.id])

        for each in times:
            self.client.enqueue(each, id=each)
            # Types and names of their own, because both wait after a rate limit.
            worker = Worker(self.client, f"w-{each}", None, handler)
            threading.Thread(target=worker.run, daemon=True).start()
            self.addCleanup(worker.stop, 1)
            until(lambda: self.status(each) not in ("pending", "in-progress"), "its end")
            self.assertEqual((self.status(each), self.client.show(each).raw["rateLimits"]), ("scheduled", 1), each)
            worker.stop()


class RestartTest(unittest.TestCase):
    def test_a_server_that_is_killed_under_load_loses_and_doubles_nothing(self):
        server = Server()
        self.addCleanup(server.close)
        client = Client(server.url, TOKEN, "load", retry_seconds=60)
        client.settings(decisionReport="optional")
        # A kill may take the answer of a claim with it. That task comes back when its lease ends.
        worker = Worker(client, "w", None, lambda task: task.payload, concurrency=2, lease_seconds=5)
        thread = threading.Thread(target=worker.run, daemon=True)
        thread.start()
        sent = []

        def produce():
            for i in range(80):
                sent.append(client.enqueue("count", i, deduplicate="off").id)

        producer = threading.Thread(target=produce, daemon=True)
        producer.start()
        for part in (20, 50):
            until(lambda: len(sent) >= part, f"{part} tasks")
            server.kill()
            server.start()
        producer.join(60)
        self.assertEqual(len(set(sent)), 80)
        until(lambda: client.depth()["byStatus"].get("completed") == 80, "all completions", 90)
        worker.stop()
        thread.join(30)
        types = Counter(event["type"] for event in client.events())
        self.assertEqual((types["TaskEnqueued"], types["Completed"]), (80, 80))


if __name__ == "__main__":
    unittest.main()
