"""The loop around the life of a server: find out which event it is, step, do what the step says.

Nothing that may take long happens here: output is read in one thread, readiness asked in another, terminals written in
more, port and GPU memory awaited in one. Signals, children, timers and what the threads tell come in through one
selector.
"""

from __future__ import annotations

import os
import random
import selectors
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from urllib.parse import urlsplit

from launcher.capture.capture import Capture
from launcher.capture.log_thread import open_log
from launcher.capture.terminal import Say, Terminal
from launcher.causes import stack_dump
from launcher.causes.classes import Failure
from launcher.causes.concluding import End
from launcher.model import Finding, Outcome, Plan
from launcher.runs import Run
from launcher.secrets import mask
from launcher.supervise import asking, cgroup, closing, fresh_caches, outcomes, port, processes, restarting, run_mark
from launcher.supervise.attempt import Attempt
from launcher.supervise.examining import Examination
from launcher.supervise.family import Family, become_subreaper
from launcher.supervise.gpu_memory import memory_is_back, not_back
from launcher.supervise.guarding import Guard
from launcher.supervise.lifecycle import LAST_TERM, Action, Event, State, Times, begin, step
from launcher.supervise.naming import command_of, several
from launcher.supervise.notify import Notifier
from launcher.supervise.outcomes import Ending
from launcher.supervise.posts import Posts
from launcher.supervise.processes import Process
from launcher.supervise.releasing import Release, port_is_free
from launcher.supervise.restarting import Ended, GiveUp, History
from launcher.supervise.segments import Ledger
from launcher.supervise.signals import STOPS, Inbox, Received
from launcher.supervise.spawn import Leader, spawn
from launcher.supervise.watching import Watching

_OFTEN = 1.0  # seconds between looks at the tree for the guard and the run folder
_SELDOM = 5.0  # the same where nothing changes any more: engines have hundreds of threads, and each is looked at
_EMPTYING = 0.05  # seconds between looks while the tree is being emptied
_MORE_TIME = 30.0  # seconds that systemd is asked for while the server loads
_DRAIN_PATIENCE = 5.0  # seconds without a byte for the pipes to end once no process is left


class Supervisor:
    """One run from the first start to the last process, with as many starts as the plan allows."""

    def __init__(self, plan: Plan, run: Run, environ: Mapping[str, str], say: Say) -> None:
        self._plan = plan
        self._run = run
        self._say: Say = lambda sentence: say(mask(sentence, plan.secrets))
        self._notifier = Notifier(environ)
        self._times = Times(grace=plan.grace, ready_within=plan.ready.timeout if plan.ready else 0.0)
        self._posts: Posts[tuple[int, Event, str]] = Posts()  # of which attempt, what happened, in words
        self._self = processes.identify(os.getpid())
        self._asked = asking.Asked()
        self._attempt = Attempt(0)
        self._history = History()
        self._swept: set[Process] = set()
        self._told: list[Process] | None = None
        self._told_at = 0.0
        self._watching = Watching(plan, lambda: [process.pid for process in self._family.left()], self._say)
        self._pause = _OFTEN

    def supervise(self) -> Outcome:
        """Runs the plan. Returns when nothing of it is left."""
        self._family = Family()
        become_subreaper()
        with Inbox() as inbox:
            folder = cgroup.make(self._run.run_id)
            self._guard = Guard(self._run.run_id, str(folder) if folder else None)
            self._family.live_in(folder, lambda: self._guard.pid)
            # The guard is not marked, everybody whom we start from now on is.
            unmarked = run_mark.put(self._run.run_id)
            self._cgroup = folder
            ledger = Ledger(self._run, lambda: self._told or ())
            try:
                self._live(inbox)
                outcome = self._outcome()
            except BaseException:
                # A mistake of ours must not leave the server behind, unwatched: the guard ends it.
                self._guard.give_up()
                raise
            finally:
                run_mark.take_off(unmarked)
                ledger.stop()
                self._posts.close()
            self._guard.farewell()
            if folder is not None:
                cgroup.remove(folder)
            return outcome

    # ----------------------------------------------------------------------------------------------------------------
    # The loop

    def _live(self, inbox: Inbox) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(inbox.descriptor, selectors.EVENT_READ)
            selector.register(self._posts.descriptor, selectors.EVENT_READ)
            self._life, actions = begin(self._times, time.monotonic())
            self._do_all(actions)
            while self._life.state is not State.DONE:
                selector.select(self._patience())
                self._look(inbox)
        self._attempt.stop_watching()

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
        for number, event, words in self._posts.read():
            if number == self._attempt.number:  # what watched an earlier start may be late
                self._learn(event, words)
        if self._life.state in (State.STARTING, State.READY):
            dead = self._attempt.dead_and_there(time.monotonic())
            if dead:
                self._learn(Event.STUCK, dead)
        self._tell(time.monotonic())
        if self._life.deadline is not None and time.monotonic() >= self._life.deadline:
            self._step(Event.TIME_UP)
        if self._is_emptying() and self._family.is_empty():
            self._step(Event.EMPTY)

    def _learn(self, event: Event, words: str) -> None:
        """What a thread found out, with what there is to say about it."""
        if event is Event.STUCK and self._life.state in (State.STARTING, State.READY):
            self._attempt.stuck = words
        if words:
            self._say(words)
        if event is Event.NO_MORE:
            event = self._another_try()
        self._step(event)

    def _step(self, event: Event) -> None:
        self._life, actions = step(self._life, event, self._times, time.monotonic())
        self._do_all(actions)

    def _is_emptying(self) -> bool:
        return self._life.state in (State.SWEEPING, State.KILLING)

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
        elif self._family.has(received.pid):
            # A stop comes from outside; sglang's schedulers send QUIT to their parent when they fail.
            self._say(f"{number.name} from the server's own {who}: ignored")
        else:
            yield from self._asked_to_stop(number, who)

    def _asked_to_stop(self, number: signal.Signals, who: str) -> Iterator[Event]:
        self._asked, event = asking.hear(self._asked, number.name, time.monotonic())
        if event is Event.STOP_ASKED:
            self._say(f"{number.name} from {who}: {self._answer_to_a_stop()}")
        elif event is Event.HURRY:
            self._say(f"asked again by {who}: ending it at once")
        if event is not None:
            yield event

    def _answer_to_a_stop(self) -> str:
        match self._life.state:
            case State.SWEEPING | State.KILLING | State.RELEASING:
                return "it is ending already"
            case State.RESTING:
                return "not started again"
        return f"stopping, at most {self._plan.grace + LAST_TERM:g} s"

    # ----------------------------------------------------------------------------------------------------------------
    # What a step says

    def _do_all(self, actions: tuple[Action, ...]) -> None:
        for action in actions:
            self._do(action)

    def _do(self, action: Action) -> None:
        match action:
            case Action.SPAWN:
                self._start()
            case Action.SAY_READY:
                self._announce_ready()
            case Action.DUMP_STACKS:
                self._dump_stacks()
            case Action.SAY_STOPPING:
                self._notifier.stopping()
                self._run.event("stopping")
            case Action.TERM_LEADER:
                processes.send(self._attempt.leader, signal.SIGTERM)
                self._run.event("term", pid=self._attempt.leader.pid)
            case Action.TERM_REST:
                self._signal_rest(signal.SIGTERM)
            case Action.KILL_ALL:
                self._signal_rest(signal.SIGKILL)
                self._family.kill_cgroup()
            case Action.RELEASE:
                self._release()

    def _start(self) -> None:
        """The next attempt. One that cannot be started ends like one whose leader is gone at once."""
        self._attempt = attempt = Attempt(self._attempt.number + 1)
        attempt.examination = Examination(self._plan, self._cgroup)
        leader = self._hindrance() or spawn(self._plan, {**self._plan.env, **self._run.marks}, self._cgroup)
        if isinstance(leader, Finding):
            attempt.refused = leader
            self._run.event("not started", code=leader.code)
            self._step(Event.LEADER_GONE)
            return
        attempt.leader = processes.identify(leader.pid) or Process(leader.pid, 0)
        self._family.known.add(attempt.leader)
        self._tell(time.monotonic(), force=True)
        self._run.event("started", pid=leader.pid, attempt=attempt.number)
        attempt.capture = self._capture(leader, attempt.examination)
        if self._plan.ready is None:
            self._step(Event.READY)
        else:
            self._watching.until_ready(self._plan.ready, attempt, self._poster)

    def _hindrance(self) -> Finding | None:
        """What keeps a later start from being tried; before the first one it was asked already."""
        if self._attempt.number == 1:
            return None
        found = port.port_findings(self._plan.endpoint)
        return found[0] if found else not_back(self._family.known) if self._plan.gpus else None

    def _announce_ready(self) -> None:
        self._attempt.is_ready(time.monotonic())
        if self._plan.live is not None:
            self._watching.while_ready(self._plan.live, self._attempt, self._poster)
        url = self._plan.ready.url if self._plan.ready else ""
        self._run.event("ready", url=url, attempt=self._attempt.number)
        self._notifier.ready(f"ready: {url}" if url else "running")
        if url:
            self._say(f"ready: {url}")
            self._say(f"try: curl {self._try_url(url)}    stop: Ctrl-C or gpulaunch stop {self._run.instance}")

    def _try_url(self, url: str) -> str:
        """What every OpenAI-compatible engine answers; of any other server we know only what it is asked for."""
        parts = urlsplit(url)
        return url if self._plan.engine == "command" else f"{parts.scheme}://{parts.netloc}/v1/models"

    def _dump_stacks(self) -> None:
        """Where it hangs, into the log, before it is ended. In a thread: py-spy may take its time."""
        pids = [process.pid for process in self._family.left()]
        dumped = self._poster(Event.DUMPED)

        def dump() -> None:
            found = stack_dump.dump(pids, self._plan.env.get("PATH", ""))
            self._note(found.text or f"no stacks: {found.problem}")
            dumped("" if found.text else f"no stacks of the server: {found.problem}")

        threading.Thread(target=dump, name="dump", daemon=True).start()

    def _note(self, text: str) -> None:
        """Lines of our own in the server's log."""
        if self._attempt.log is not None:
            self._attempt.log.note(mask(text, self._plan.secrets))

    def _signal_rest(self, number: signal.Signals) -> None:
        left = self._family.left()
        new = [process for process in left if process not in self._swept and process != self._attempt.leader]
        if new:
            self._run.event("sweep", signal=number.name, processes=[process.pid for process in new])
            self._say(f"left behind by the server: {len(new)} processes: {several([one.pid for one in new])}")
            self._swept.update(new)
        for process in left:
            processes.send(process, number)

    def _release(self) -> None:
        """No process is left: what it held must be free before anybody is told, or another one is started."""
        self._attempt.stop_watching()
        self._reap()
        if self._attempt.refused is not None:
            self._poster(Event.NO_MORE)("")
            return
        waits = [self._drain, self._examine, *([port_is_free(self._plan.endpoint)] if self._plan.endpoint else [])]
        if self._plan.gpus:
            waits.append(memory_is_back(tuple(self._family.known)))
        free = self._poster(Event.NO_MORE)
        self._attempt.until_over.append(Release(waits, lambda held: free("; ".join(held))).stop)

    def _drain(self, until: float, stopped: threading.Event) -> str | None:
        """The rest of the server's output."""
        capture = self._attempt.capture
        if capture is not None and not capture.finish(_DRAIN_PATIENCE, until):
            return "a process beyond our reach still holds the server's output"
        return None

    def _examine(self, until: float, stopped: threading.Event) -> str | None:
        """Why it ended, when all of its words are here."""
        attempt, life = self._attempt, self._life
        if attempt.examination is not None:
            end = End(
                wait_status=attempt.wait_status,
                requested=life.asked,
                ready=life.was_ready,
                killed_because=self._ended_for() or None,
                too_late=life.too_late,
            )
            attempt.examination.conclude(end, {process.pid for process in self._family.known})
        return None

    # ----------------------------------------------------------------------------------------------------------------
    # Another try

    def _another_try(self) -> Event:
        """Nothing of it is left: does the plan want another start?"""
        attempt, ending = self._attempt, self._ending()
        if self._asked.first is not None:
            return Event.NO_MORE
        failure = attempt.conclusion.failure if attempt.conclusion else None
        ended = Ended(
            code=restarting.may_come_back(failure) or (None if ending.of_child else ending.exit_code),
            was_ready=self._life.was_ready,
            healthy=attempt.healthy,
            heals=attempt.conclusion.can_heal if attempt.conclusion else None,
            poisoned=self._died_of_its_cache(),
            beyond_reach=self._life.beyond_reach,
        )
        decision = restarting.decide(ended, self._history, self._plan.restarts, chance=random.random())
        if isinstance(decision, GiveUp):
            if decision.reason:
                self._say(f"not started again: {decision.reason}")
            return Event.NO_MORE
        if decision.move_aside:
            self._say(fresh_caches.move_aside(self._plan))
        self._history = decision.history
        self._times = replace(self._times, rest=decision.seconds)
        number = f"{decision.history.restarts} of {self._plan.restarts.max}"
        self._run.event("resting", seconds=round(decision.seconds, 3), cause=ending.cause, restart=number)
        self._say(f"{ending.cause}; starting again in {decision.seconds:.1f} s ({number})")
        return Event.AGAIN

    def _died_of_its_cache(self) -> bool:
        """And the cache can be moved aside."""
        conclusion = self._attempt.conclusion
        if conclusion is None or conclusion.failure is not Failure.CACHE:
            return False
        return bool(fresh_caches.folders(self._plan)) and not fresh_caches.others_use(self._plan)

    def _ending(self) -> Ending:
        attempt = self._attempt
        if attempt.refused is not None:
            return outcomes.not_started(attempt.refused)
        why = attempt.conclusion.cause if attempt.conclusion else None
        return outcomes.judge(self._life, attempt.wait_status, self._asked.first, self._ended_for(), why)

    def _ended_for(self) -> str:
        """Why we ended it unasked; empty where we did not."""
        return self._attempt.stuck or outcomes.too_late(self._life, self._plan.ready, self._attempt.heard())

    # ----------------------------------------------------------------------------------------------------------------
    # Processes

    def _reap(self) -> bool:
        """Collects whoever of our children died, adopted ones too. True if the leader was among them."""
        attempt, leader_died = self._attempt, False
        while True:
            try:
                pid, wait_status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return leader_died
            if pid == 0:
                return leader_died
            self._guard.reaped(pid)
            if pid == attempt.leader.pid and attempt.wait_status is None:
                attempt.wait_status, attempt.ended_at = wait_status, time.monotonic()
                leader_died = True
                self._run.event("leader gone", status=outcomes.describe_child(wait_status))

    def _tell(self, now: float, force: bool = False) -> None:
        """Keeps the guard, the run folder and systemd informed."""
        if not force and now - self._told_at < self._pause:
            return
        self._told_at = now
        if self._life.state is State.STARTING:
            self._notifier.status(self._loading())
        if self._life.state is not State.READY:
            self._notifier.more_time(_MORE_TIME)
        current = self._family.left()
        self._guard.tell(current)
        if current != self._told:
            self._family.known.update(current)
            self._told = current
            self._run.record_processes(self._self, self._attempt.leader, current, grace=self._plan.grace)
            self._pause = _OFTEN
        elif self._life.state is State.READY:
            self._pause = min(self._pause * 1.5, _SELDOM)

    def _loading(self) -> str:
        """How far it is, in its own words: a bar in its output, such as "Loading shards 37/61 (61 %)"."""
        capture = self._attempt.capture
        return f"loading: {capture.progress if capture and capture.progress else self._plan.profile}"

    def _sender(self, received: Received) -> str:
        if received.of_kernel:
            return "the terminal"
        if received.pid == 0:
            return "a process outside this container"
        who = f"process {received.pid} ({command_of(received.pid) or 'gone'}, uid {received.uid})"
        return mask(who, self._plan.secrets)

    # ----------------------------------------------------------------------------------------------------------------
    # Beginning and end

    def _capture(self, leader: Leader, examination: Examination) -> Capture:
        terminals = {
            leader.stdout: Terminal(1, "standard output", self._say),
            leader.stderr: Terminal(2, "standard error", self._say),
        }
        log = self._attempt.log = open_log(self._run, self._plan.logging, self._say)
        capture = Capture(terminals, log, self._plan.secrets, self._say, examination.hear)
        capture.start()
        return capture

    def _poster(self, event: Event) -> Callable[[str], None]:
        """Posts that this happened to the present attempt, whatever comes after it; from any thread."""
        number = self._attempt.number
        return lambda words: self._posts.post((number, event, words))

    def _outcome(self) -> Outcome:
        beyond = self._family.left() if self._life.beyond_reach else []
        return closing.outcome(self._attempt, self._ending(), self._run, beyond=beyond, swept=len(self._swept))
