"""The loop around the life of a server: find out which event it is, step, do what the step says.

Nothing that may take long happens here: output is read in one thread, readiness asked in another, terminals written in
more. Signals, children and timers come in through one selector.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import selectors
import signal
import time
from collections.abc import Iterator, Mapping

from launcher.model import Finding, Outcome, Plan
from launcher.runs import Run
from launcher.secrets import mask
from launcher.supervise import cgroup, outcomes, port, processes
from launcher.supervise.capture import Capture, Say, Terminal
from launcher.supervise.guarding import Guard
from launcher.supervise.lifecycle import Action, Event, Life, State, Times, born, born_ready, step
from launcher.supervise.naming import command_of
from launcher.supervise.notify import Notifier
from launcher.supervise.processes import Process
from launcher.supervise.ready import Probe
from launcher.supervise.signals import Inbox, Received
from launcher.supervise.spawn import Leader, spawn

_TELL = 1.0  # seconds between looks at the tree for the guard and the run folder
_EMPTYING = 0.05  # seconds between looks while the tree is being emptied
_MORE_TIME = 30.0  # seconds that systemd is asked for while the server loads
_PORT_PATIENCE = 20.0  # seconds for the port to become free after the end
_DRAIN_PATIENCE = 5.0  # seconds for the pipes to end once no process is left
_SECOND_TERM = 1.0  # seconds: systemd and a user may both send one; later it is impatience
_PR_SET_CHILD_SUBREAPER = 36


class Supervisor:
    """One run from spawn to the last process."""

    def __init__(self, plan: Plan, run: Run, environ: Mapping[str, str], say: Say) -> None:
        self._plan = plan
        self._run = run
        self._say: Say = lambda sentence: say(mask(sentence, plan.secrets))
        self._notifier = Notifier(environ)
        self._times = Times(grace=plan.grace, ready_within=plan.ready.timeout if plan.ready else 0.0)
        self._wake_read, self._wake_write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._self = processes.identify(os.getpid())
        self._wait_status: int | None = None
        self._stopped_by: signal.Signals | None = None
        self._asked_at = 0.0
        self._interrupts = 0
        self._known: set[Process] = set()
        self._swept: set[Process] = set()
        # Children from before: a script that says `helper & exec gpulaunch ...`. They are not ours to end.
        self._foreign: set[Process] = set()
        self._told_at = 0.0
        self._recorded: list[Process] | None = None

    def supervise(self) -> Outcome:
        """Runs the plan. Returns when nothing of it is left."""
        self._foreign.update(processes.descendants([os.getpid()]))
        become_subreaper()
        with Inbox() as inbox:
            self._cgroup = cgroup.make(self._run.run_id)
            self._guard = Guard(f"GPULAUNCH_RUN_ID={self._run.run_id}", str(self._cgroup) if self._cgroup else None)
            try:
                leader = spawn(self._plan, {**self._plan.env, **self._run.marks}, self._cgroup)
                if isinstance(leader, Finding):
                    return self._not_started(leader)
                return self._live(leader, inbox)
            finally:
                self._guard.farewell()
                if self._cgroup is not None:
                    cgroup.remove(self._cgroup)
                os.close(self._wake_read)
                os.close(self._wake_write)

    # ----------------------------------------------------------------------------------------------------------------
    # The loop

    def _live(self, leader: Leader, inbox: Inbox) -> Outcome:
        self._leader = processes.identify(leader.pid) or Process(leader.pid, 0)
        self._known.add(self._leader)
        self._tell(time.monotonic(), force=True)
        self._run.event("started", pid=leader.pid)
        capture = self._capture(leader)
        probe = self._probe()
        life = born(self._times, time.monotonic()) if probe else born_ready()
        if probe is None:
            self._announce_ready()
        with selectors.DefaultSelector() as selector:
            selector.register(inbox.descriptor, selectors.EVENT_READ)
            selector.register(self._wake_read, selectors.EVENT_READ)
            while life.state is not State.DONE:
                selector.select(self._patience(life))
                for event in self._events(inbox, life):
                    life, actions = step(life, event, self._times, time.monotonic())
                    for action in actions:
                        self._do(action)
        if probe is not None:
            probe.stop()
        self._reap()
        if not capture.finish(_DRAIN_PATIENCE):
            self._say("a process beyond our reach still holds the server's output")
        self._await_port(inbox)
        return self._outcome(life, capture)

    def _patience(self, life: Life) -> float:
        """Seconds until somebody must look again."""
        if life.state in (State.SWEEPING, State.KILLING):
            return _EMPTYING
        due = _TELL if life.deadline is None else min(_TELL, life.deadline - time.monotonic())
        return max(0.0, due)

    def _events(self, inbox: Inbox, life: Life) -> Iterator[Event]:
        for received in inbox.read():
            yield from self._heard(received)
        if self._reap():
            yield Event.LEADER_GONE
        with contextlib.suppress(BlockingIOError):
            if os.read(self._wake_read, 64):
                yield Event.READY
        now = time.monotonic()
        self._tell(now)
        if life.deadline is not None and now >= life.deadline:
            yield Event.TIME_UP
        if life.state in (State.SWEEPING, State.KILLING) and not self._left():
            yield Event.EMPTY

    def _heard(self, received: Received) -> Iterator[Event]:
        number = received.number
        if number == signal.SIGCHLD:
            return
        if number == signal.SIGTSTP:
            self._say("not stopped by Ctrl-Z: nobody would read the server's output; Ctrl-C ends it")
            return
        who = self._sender(received)
        self._run.event("signal", signal=number.name, sender=who)
        if number == signal.SIGQUIT and self._is_ours(received.pid):
            self._say(f"{number.name} from the server's own {who}: ignored")
            return
        now = time.monotonic()
        if self._stopped_by is None:
            self._say(f"{number.name} from {who}: stopping, at most {self._plan.grace:g} s")
            self._stopped_by, self._asked_at = number, now
            self._interrupts = int(number == signal.SIGINT)
            yield Event.STOP_ASKED
        elif number == signal.SIGINT:
            self._interrupts += 1
            if self._interrupts > 1:
                yield from self._hurry(who)
        elif number == signal.SIGTERM and now - self._asked_at > _SECOND_TERM:
            yield from self._hurry(who)

    def _hurry(self, who: str) -> Iterator[Event]:
        self._say(f"asked again by {who}: ending it at once")
        yield Event.HURRY

    # ----------------------------------------------------------------------------------------------------------------
    # What a step says

    def _do(self, action: Action) -> None:
        match action:
            case Action.SAY_READY:
                self._announce_ready()
            case Action.SAY_STOPPING:
                self._notifier.stopping()
                self._run.event("stopping")
            case Action.TERM_LEADER:
                processes.send(self._leader, signal.SIGTERM)
                self._run.event("term", pid=self._leader.pid)
            case Action.TERM_REST:
                self._signal_rest(signal.SIGTERM)
            case Action.KILL_ALL:
                self._signal_rest(signal.SIGKILL)
                if self._cgroup is not None:
                    cgroup.kill(self._cgroup)

    def _announce_ready(self) -> None:
        url = self._plan.ready.url if self._plan.ready else ""
        self._run.event("ready", url=url)
        self._notifier.ready(f"ready: {url}" if url else "running")
        if url:
            self._say(f"ready: {url}")
            self._say(
                f"try: curl {url.rsplit('/', 1)[0]}/v1/models    stop: Ctrl-C or gpulaunch stop {self._plan.profile}"
            )

    def _signal_rest(self, number: signal.Signals) -> None:
        left = self._left()
        new = [process for process in left if process not in self._swept and process != self._leader]
        if new:
            names = ", ".join(f"{process.pid} ({command_of(process.pid)})" for process in new[:5])
            self._run.event("sweep", signal=number.name, processes=[process.pid for process in new])
            self._say(f"left behind by the server: {len(new)} processes: {names}")
            self._swept.update(new)
        for process in left:
            processes.send(process, number)

    # ----------------------------------------------------------------------------------------------------------------
    # Processes

    def _left(self) -> list[Process]:
        """Whatever belongs to the run and still lives."""
        found = set(processes.descendants([os.getpid()], without=self._guard.pid))
        if self._cgroup is not None:
            inside = (processes.identify(pid) for pid in cgroup.members(self._cgroup))
            found |= {process for process in inside if process is not None and processes.is_alive(process)}
        return sorted(found - self._known_foreign())

    def _known_foreign(self) -> set[Process]:
        """What we had before the start, with what it has started since."""
        if self._foreign:
            alive = [process.pid for process in self._foreign if processes.is_alive(process)]
            self._foreign.update(processes.descendants(alive))
        return self._foreign

    def _reap(self) -> bool:
        """Collects whoever of our children died, adopted ones too. True if the leader was among them."""
        leader_died = False
        while True:
            try:
                pid, wait_status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return leader_died
            if pid == 0:
                return leader_died
            self._guard.reaped(pid)
            if pid == self._leader.pid and self._wait_status is None:
                self._wait_status = wait_status
                leader_died = True
                self._run.event("leader gone", status=outcomes.describe_child(wait_status))

    def _tell(self, now: float, force: bool = False) -> None:
        """Keeps the guard and the run folder informed of what belongs to the run."""
        if not force and now - self._told_at < _TELL:
            return
        if self._wait_status is None and self._told_at and self._notifier.listens:
            self._notifier.still_loading(_MORE_TIME)
        self._told_at = now
        current = self._left()
        self._known.update(current)
        self._guard.tell(current)
        if current != self._recorded:
            self._run.record_processes(self._self, self._leader, current)
            self._recorded = current

    def _is_ours(self, pid: int) -> bool:
        return pid in {process.pid for process in self._known} or pid in {process.pid for process in self._left()}

    def _sender(self, received: Received) -> str:
        if received.pid == 0:
            return "the terminal"
        who = f"process {received.pid} ({command_of(received.pid) or 'gone'}, uid {received.uid})"
        return mask(who, self._plan.secrets)

    # ----------------------------------------------------------------------------------------------------------------
    # Beginning and end

    def _capture(self, leader: Leader) -> Capture:
        terminals = {
            leader.stdout: Terminal(1, "standard output", self._say),
            leader.stderr: Terminal(2, "standard error", self._say),
        }
        capture = Capture(terminals, self._run.open_log(), self._plan.secrets, self._say)
        capture.start()
        return capture

    def _probe(self) -> Probe | None:
        if self._plan.ready is None:
            return None
        probe = Probe(self._plan.ready.url, self._wake)
        probe.start()
        self._notifier.status(f"loading: {self._plan.profile}")
        return probe

    def _wake(self) -> None:
        with contextlib.suppress(OSError):
            os.write(self._wake_write, b"r")

    def _await_port(self, inbox: Inbox) -> None:
        """Only when the port can be bound again is the server gone for whoever starts the next one."""
        endpoint, until = self._plan.endpoint, time.monotonic() + _PORT_PATIENCE
        if endpoint is None:
            return
        while port.bind_problem(endpoint) == errno.EADDRINUSE:
            if time.monotonic() > until:
                holders = ", ".join(f"{pid} ({command})" for pid, command in port.holders(endpoint.port))
                self._say(f"port {endpoint.port} is still taken by {holders or 'somebody'}")
                return
            with selectors.DefaultSelector() as selector:
                selector.register(inbox.descriptor, selectors.EVENT_READ)
                selector.select(_EMPTYING)
            list(inbox.read())

    def _not_started(self, finding: Finding) -> Outcome:
        self._run.event("not started", code=finding.code)
        cause = f"{finding.message} {finding.fix}"
        return Outcome(
            exit_code=finding.exit_code,
            cause=cause,
            origin="launcher",
            child="not started",
            requested=False,
            ready=False,
        )

    def _outcome(self, life: Life, capture: Capture) -> Outcome:
        ending = outcomes.judge(life, self._wait_status, self._stopped_by)
        beyond = self._left() if life.beyond_reach else []
        cause = ending.cause
        if beyond:
            cause += f"; beyond reach: {', '.join(str(process.pid) for process in beyond)}"
        failed = beyond and ending.exit_code == 0
        return Outcome(
            exit_code=1 if failed else ending.exit_code,
            cause=cause,
            origin="child" if ending.of_child else "launcher",
            child=outcomes.describe_child(self._wait_status),
            requested=life.asked,
            ready=life.was_ready,
            run_folder=str(self._run.folder) if self._run.folder else None,
            log=str(self._run.log_path) if self._run.log_path else None,
            last_lines=capture.last_lines(10),
            swept=len(self._swept),
        )


def become_subreaper() -> None:
    """Orphans of the server become our children instead of process 1's: none can hide by a double fork."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"prctl: {os.strerror(number)}")
