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
from urllib.parse import urlsplit

from launcher.model import Finding, Outcome, Plan
from launcher.runs import Run
from launcher.secrets import mask
from launcher.supervise import asking, cgroup, outcomes, port, processes, run_mark
from launcher.supervise.capture import Capture
from launcher.supervise.guarding import Guard
from launcher.supervise.lifecycle import Action, Event, State, Times, born, born_ready, step
from launcher.supervise.naming import command_of
from launcher.supervise.notify import Notifier
from launcher.supervise.processes import Process
from launcher.supervise.ready import Probe
from launcher.supervise.signals import STOPS, Inbox, Received
from launcher.supervise.spawn import Leader, spawn
from launcher.supervise.terminal import Say, Terminal

_OFTEN = 1.0  # seconds between looks at the tree for the guard and the run folder
_SELDOM = 5.0  # the same where nothing changes any more: engines have hundreds of threads, and each is looked at
_EMPTYING = 0.05  # seconds between looks while the tree is being emptied
_MORE_TIME = 30.0  # seconds that systemd is asked for while the server loads
_PORT_PATIENCE = 20.0  # seconds for the port to become free after the end
_PORT_PAUSE = 0.2  # seconds between tries
_DRAIN_PATIENCE = 5.0  # seconds for the pipes to end once no process is left
_NAMED = 5  # processes that are named one by one
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
        self._asked = asking.Asked()
        self._known: set[Process] = set()
        self._swept: set[Process] = set()
        # Children that we had before: `helper & exec gpulaunch ...` in a container's entry point. Not ours to end.
        self._foreign: set[Process] = set()
        self._told: list[Process] | None = None
        self._told_at = 0.0
        self._refused_answer = False
        self._pause = _OFTEN

    def supervise(self) -> Outcome:
        """Runs the plan. Returns when nothing of it is left."""
        self._foreign.update(processes.descendants([os.getpid()]))
        become_subreaper()
        with Inbox() as inbox:
            self._cgroup = cgroup.make(self._run.run_id)
            self._guard = Guard(self._run.run_id, str(self._cgroup) if self._cgroup else None)
            # The guard is not marked, everybody whom we start from now on is.
            unmarked = run_mark.put(self._run.run_id)
            try:
                leader = spawn(self._plan, {**self._plan.env, **self._run.marks}, self._cgroup)
                outcome = self._not_started(leader) if isinstance(leader, Finding) else self._live(leader, inbox)
            except BaseException:
                # A mistake of ours must not leave the server behind, unwatched: the guard ends it.
                self._guard.give_up()
                raise
            finally:
                run_mark.take_off(unmarked)
                os.close(self._wake_read)
                os.close(self._wake_write)
            self._guard.farewell()
            if self._cgroup is not None:
                cgroup.remove(self._cgroup)
            return outcome

    # ----------------------------------------------------------------------------------------------------------------
    # The loop

    def _live(self, leader: Leader, inbox: Inbox) -> Outcome:
        self._leader = processes.identify(leader.pid) or Process(leader.pid, 0)
        self._known.add(self._leader)
        self._life = born(self._times, time.monotonic()) if self._plan.ready else born_ready()
        self._tell(time.monotonic(), force=True)
        self._run.event("started", pid=leader.pid)
        capture = self._capture(leader)
        probe = self._probe()
        if probe is None:
            self._announce_ready()
        with selectors.DefaultSelector() as selector:
            selector.register(inbox.descriptor, selectors.EVENT_READ)
            selector.register(self._wake_read, selectors.EVENT_READ)
            while self._life.state is not State.DONE:
                selector.select(self._patience())
                self._look(inbox)
        if probe is not None:
            probe.stop()
        self._reap()
        if not capture.finish(_DRAIN_PATIENCE):
            self._say("a process beyond our reach still holds the server's output")
        self._await_port(inbox)
        return self._outcome(capture)

    def _patience(self) -> float:
        """Seconds until somebody must look again."""
        if self._is_emptying():
            return _EMPTYING
        deadline = self._life.deadline
        return self._pause if deadline is None else max(0.0, min(self._pause, deadline - time.monotonic()))

    def _look(self, inbox: Inbox) -> None:
        """Whatever happened since the last look. Signals first: one to us all reaches us before it ends the leader."""
        for received in inbox.read():
            for event in self._heard(received):
                self._step(event)
        if self._reap():
            self._step(Event.LEADER_GONE)
        with contextlib.suppress(BlockingIOError):
            if os.read(self._wake_read, 64):
                self._step(Event.READY)
        self._tell(time.monotonic())
        if self._life.deadline is not None and time.monotonic() >= self._life.deadline:
            self._step(Event.TIME_UP)
        if self._is_emptying() and self._is_empty():
            self._step(Event.EMPTY)

    def _step(self, event: Event) -> None:
        self._life, actions = step(self._life, event, self._times, time.monotonic())
        for action in actions:
            self._do(action)

    def _is_emptying(self) -> bool:
        return self._life.state in (State.SWEEPING, State.KILLING)

    def _is_empty(self) -> bool:
        """Two looks: a process that forks and ends meanwhile can hide its child from one."""
        return not self._left() and not self._left()

    def _heard(self, received: Received) -> Iterator[Event]:
        number = received.number
        if number == signal.SIGCHLD:
            return
        if number == signal.SIGTSTP:
            self._say("not stopped by Ctrl-Z: nobody would read the server's output; Ctrl-C ends it")
            return
        who = self._sender(received)
        self._run.event("signal", signal=number.name, sender=who)
        if number not in STOPS:
            self._say(f"{number.name} from {who}: ignored")
        elif self._is_ours(received.pid):
            # A stop comes from outside; sglang's schedulers send QUIT to their parent when they fail.
            self._say(f"{number.name} from the server's own {who}: ignored")
        else:
            yield from self._asked_to_stop(number, who)

    def _asked_to_stop(self, number: signal.Signals, who: str) -> Iterator[Event]:
        self._asked, event = asking.hear(self._asked, number.name, time.monotonic())
        if event is Event.STOP_ASKED:
            how = "it is ending already" if self._is_emptying() else f"stopping, at most {self._plan.grace:g} s"
            self._say(f"{number.name} from {who}: {how}")
        elif event is Event.HURRY:
            self._say(f"asked again by {who}: ending it at once")
        if event is not None:
            yield event

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
            self._say(f"try: curl {self._try_url(url)}    stop: Ctrl-C or gpulaunch stop {self._plan.profile}")

    def _try_url(self, url: str) -> str:
        """What every OpenAI-compatible engine answers; of any other server we know only what it is asked for."""
        parts = urlsplit(url)
        return url if self._plan.engine == "command" else f"{parts.scheme}://{parts.netloc}/v1/models"

    def _signal_rest(self, number: signal.Signals) -> None:
        left = self._left()
        new = [process for process in left if process not in self._swept and process != self._leader]
        if new:
            names = ", ".join(f"{process.pid} ({command_of(process.pid)})" for process in new[:_NAMED])
            names += f" and {len(new) - _NAMED} more" if len(new) > _NAMED else ""
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
        """Keeps the guard, the run folder and systemd informed."""
        if not force and now - self._told_at < self._pause:
            return
        self._told_at = now
        if self._life.state is not State.READY:
            self._notifier.more_time(_MORE_TIME)
        current = self._left()
        self._guard.tell(current)
        if current != self._told:
            self._known.update(current)
            self._told = current
            self._run.record_processes(self._self, self._leader, current)
            self._pause = _OFTEN
        elif self._life.state is State.READY:
            self._pause = min(self._pause * 1.5, _SELDOM)

    def _is_ours(self, pid: int) -> bool:
        """True for a process of the server, also one that has ended since and is not yet collected."""
        now = processes.identify(pid)
        known = any(process.pid == pid and now in (process, None) for process in self._known)
        foreign = {process.pid for process in self._known_foreign()}
        return known or processes.is_below(pid, os.getpid(), without=foreign)

    def _sender(self, received: Received) -> str:
        if received.of_kernel:
            return "the terminal"
        if received.pid == 0:
            return "a process outside this container"
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
        probe = Probe(self._plan.ready.url, self._wake, self._answers_itself)
        probe.start()
        self._notifier.status(f"loading: {self._plan.profile}")
        return probe

    def _answers_itself(self) -> bool:
        """False if somebody else is known to listen at the port: two that were started at once saw it free, both.

        Asked in the probe's thread. Where this user may not see who listens, the answer counts.
        """
        endpoint = self._plan.endpoint
        listeners = {pid for pid, _ in port.holders(endpoint.port)} if endpoint else set()
        if not listeners or listeners & {process.pid for process in self._left()}:
            return True
        if not self._refused_answer:
            self._refused_answer = True
            self._say(
                f"{self._plan.ready.url if self._plan.ready else ''} is answered by somebody else: not taken for ready"
            )
        return False

    def _wake(self) -> None:
        with contextlib.suppress(OSError):
            os.write(self._wake_write, b"r")

    def _await_port(self, inbox: Inbox) -> None:
        """Only when the port can be bound again is the server gone for whoever starts the next one."""
        endpoint, until = self._plan.endpoint, time.monotonic() + _PORT_PATIENCE
        if endpoint is None:
            return
        while port.bind_problem(endpoint) == errno.EADDRINUSE:
            holders = ", ".join(f"{pid} ({command})" for pid, command in port.holders(endpoint.port))
            # Nothing of ours is left: somebody else's process has taken it meanwhile, and will not let go for us.
            if holders or time.monotonic() > until:
                self._say(f"port {endpoint.port} is taken by {holders or 'somebody whom this user may not see'}")
                return
            self._notifier.more_time(_MORE_TIME)
            with selectors.DefaultSelector() as selector:
                selector.register(inbox.descriptor, selectors.EVENT_READ)
                selector.select(_PORT_PAUSE)
            if any(received.number in STOPS for received in inbox.read()):
                return

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

    def _outcome(self, capture: Capture) -> Outcome:
        ending = outcomes.judge(self._life, self._wait_status, self._asked.first)
        beyond = self._left() if self._life.beyond_reach else []
        cause = ending.cause
        if beyond:
            cause += f"; beyond reach: {', '.join(str(process.pid) for process in beyond)}"
        failed = beyond and ending.exit_code == 0
        return Outcome(
            exit_code=1 if failed else ending.exit_code,
            cause=cause,
            origin="child" if ending.of_child else "launcher",
            child=outcomes.describe_child(self._wait_status),
            requested=ending.asked,
            ready=self._life.was_ready,
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
