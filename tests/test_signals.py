"""Signals that arrive while something must not stop half-way act when it has ended, as if they had just arrived."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.strikes import COMPARE, ended, moments, struck
from workbench.support.signals import uninterrupted

if sys.platform == "win32":
    pytest.skip("signals are POSIX", allow_module_level=True)

import pty

ROOT = Path(__file__).parents[1]
USR1, USR2, ALRM, HUP, TERM = signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM, signal.SIGHUP, signal.SIGTERM


class StruckError(Exception):
    """What the handlers raise."""


def strike(number, _):
    raise StruckError(signal.Signals(number).name)


def struck_within(*numbers, then=lambda: None):
    """These signals arrive, one after the other, and then something happens, all of it within the block."""
    with uninterrupted(), uninterrupted():
        for number in numbers:
            os.kill(os.getpid(), number)
        then()


@pytest.fixture(autouse=True)
def _restored():
    """The handlers of the test's own process, as they were before."""
    before = {number: signal.getsignal(number) for number in signal.valid_signals()}
    yield
    for number, handler in before.items():
        if handler is not None and handler is not signal.getsignal(number):
            signal.signal(number, handler)


def process(code, *words, **environment):
    """A fresh process: its exit status, what it printed and what it complained of."""
    command = [sys.executable, "-c", code, *map(str, words)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)} | environment
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=300)
    return done.returncode, done.stdout.split(), done.stderr


@pytest.mark.parametrize("number", [USR1, USR2, ALRM, HUP, TERM, signal.SIGINT])
def test_a_handler_is_called_when_the_block_has_ended_and_what_it_raises_is_raised(number):
    signal.signal(number, strike)
    reached = []
    with pytest.raises(StruckError, match=signal.Signals(number).name):
        struck_within(number, number, then=lambda: reached.append(True))
    assert reached == [True]
    assert signal.getsignal(number) is strike


def test_every_handler_is_called_although_each_raises():
    called = []

    def note(number, _):
        called.append(number)
        raise StruckError

    for number in (USR1, USR2, ALRM):
        signal.signal(number, note)
    with pytest.raises(StruckError):
        struck_within(USR1, USR2, ALRM, USR1, then=lambda: called.append(0))
    assert called[0] == 0
    assert sorted(called[1:]) == sorted((USR1, USR2, ALRM))
    assert {signal.getsignal(number) for number in (USR1, USR2, ALRM)} == {note}


def test_a_handler_that_returns_takes_nothing_from_the_block_s_own_error():
    called = []
    signal.signal(USR1, lambda number, _: called.append(number))
    with pytest.raises(ZeroDivisionError):
        struck_within(USR1, then=lambda: 1 / 0)
    assert called == [USR1]


def test_a_handler_may_come_before_all_others_are_back(monkeypatch):
    """A signal that strikes amid the restoring leaves no handler behind that is not the user's."""
    for number in (USR1, USR2, ALRM):
        signal.signal(number, strike)
    real, struck = signal.signal, []

    def interrupted(number, handler):
        found = real(number, handler)
        if handler is strike and not struck:
            struck.append(number)
            os.kill(os.getpid(), number)
        return found

    monkeypatch.setattr(signal, "signal", interrupted)
    with pytest.raises(StruckError), uninterrupted():
        pass
    monkeypatch.undo()
    assert struck
    assert {signal.getsignal(number) for number in (USR1, USR2, ALRM)} == {strike}


def test_ignored_signals_stay_ignored():
    signal.signal(ALRM, signal.SIG_IGN)
    with uninterrupted():
        assert signal.getsignal(ALRM) is signal.SIG_IGN
        os.kill(os.getpid(), ALRM)
    assert signal.getsignal(ALRM) is signal.SIG_IGN


FOREIGN = """
import ctypes, os, signal
from workbench.support.signals import uninterrupted
handler = ctypes.CFUNCTYPE(None, ctypes.c_int)(lambda number: print("called", flush=True))
ctypes.CDLL(None).signal(int(signal.SIGHUP), handler)
with uninterrupted():
    os.kill(os.getpid(), signal.SIGHUP)
    print("ended", flush=True)
os.kill(os.getpid(), signal.SIGHUP)
"""


def test_handlers_that_python_does_not_know_of_wait_and_come_back():
    assert process(FOREIGN) == (0, ["ended", "called", "called"], "")


def test_a_loop_of_events_hears_of_a_signal_once():
    async def main():
        heard = []
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(USR1, heard.append, 1)
        with uninterrupted():
            os.kill(os.getpid(), USR1)
        await asyncio.sleep(0.01)
        first = list(heard)
        os.kill(os.getpid(), USR1)
        await asyncio.sleep(0.01)
        loop.remove_signal_handler(USR1)
        return first, heard

    assert asyncio.run(main()) == ([1], [1, 1])


def test_in_another_thread_nothing_changes():
    found = []

    def inside():
        with uninterrupted():
            found.append(signal.getsignal(USR1))

    signal.signal(USR1, strike)
    thread = threading.Thread(target=inside)
    thread.start()
    thread.join()
    assert found == [strike]


DEFAULT = """
import os, signal, sys
from workbench.support.signals import uninterrupted
number = int(sys.argv[1])
signal.signal(number, signal.SIG_DFL)
with uninterrupted():
    os.kill(os.getpid(), number)
    print("ended", flush=True)
print("too late", flush=True)
"""


@pytest.mark.parametrize("number", [ALRM, HUP, TERM, signal.SIGINT])
def test_what_ends_the_process_by_default_does_so_when_the_block_has_ended(number):
    assert process(DEFAULT, int(number)) == (-number, ["ended"], "")


@pytest.mark.thorough
@pytest.mark.parametrize(("number", "moment"), [*zip((ALRM, TERM), moments(seed=4), strict=False)])
def test_a_handler_may_raise_while_kernels_compile(number, moment):
    assert struck(number, moment) == []


@pytest.mark.thorough
@pytest.mark.parametrize(("number", "moment"), [*zip((TERM, signal.SIGINT), moments(seed=5), strict=False)])
def test_a_command_ends_with_the_usual_code_and_leaves_nothing(number, moment):
    assert ended(number, moment) == []


@pytest.mark.thorough
def test_a_command_that_runs_somebody_s_file_ends_with_the_usual_code(tmp_path):
    mine = tmp_path / "mine.py"
    mine.write_text("import os, signal\nos.kill(os.getpid(), signal.SIGTERM)\n")
    code = "import sys; from workbench.cli.main import main; sys.exit(main(['show', sys.argv[1]]))"
    assert process(code, f"{mine}:law") == (128 + TERM, [], "")


@pytest.mark.thorough
def test_a_command_whose_terminal_is_closed_ends_with_the_usual_code_and_leaves_nothing(tmp_path):
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(tmp_path)
        os.execve(COMPARE[0], [*COMPARE, "--duration", "20"], os.environ | {"PYTHONPATH": str(ROOT)})
    # The bar names what is being run.
    drawn = b""
    while b"coulomb" not in drawn:
        drawn += os.read(terminal, 1000)
    assert list(tmp_path.glob(".result-*"))
    os.close(terminal)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 128 + HUP
    assert list(tmp_path.iterdir()) == []
