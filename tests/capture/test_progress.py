"""Of a progress bar the first state, every tenth per cent and the last are kept; of everything else all."""

from __future__ import annotations

import io

from hypothesis import given
from hypothesis import strategies as st

from launcher.capture.lines import Lines
from launcher.capture.masker import Masker


def kept(raw: bytes) -> list[str]:
    """The lines of the log."""
    lines = Lines(Masker([]))
    return (lines.feed(raw) + lines.settle()).decode().splitlines()


def bar(label: str, percent: int, end: str = "") -> str:
    """As tqdm writes it."""
    return f"\r{label}: {percent:3d}%|{'█' * (percent // 10)}  | {percent}/100 [00:0{percent % 10}<00:01, 9.9it/s]{end}"


def percents(lines: list[str]) -> list[int]:
    return [int(line.partition("%")[0].rpartition(" ")[2]) for line in lines]


def test_a_bar_keeps_the_first_every_tenth_and_the_last() -> None:
    raw = "".join(bar("Load", percent) for percent in range(3, 101)) + "\n"
    assert percents(kept(raw.encode())) == [3, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100]


def test_bars_that_take_turns_are_followed_apart() -> None:
    raw = "".join(bar(label, percent, "\n") for percent in range(0, 101, 5) for label in ("TP0 load", "TP1 load"))
    lines = kept(raw.encode())
    assert percents([line for line in lines if "TP0" in line]) == list(range(0, 101, 10))
    assert percents([line for line in lines if "TP1" in line]) == list(range(0, 101, 10))


def test_a_bar_that_is_cut_short_keeps_its_last_state() -> None:
    raw = "".join(bar("Load", percent) for percent in range(48))
    assert percents(kept(raw.encode())) == [0, 10, 20, 30, 40, 47]


def test_a_bar_that_begins_anew_begins_anew() -> None:
    raw = "".join(bar("Epoch", percent) for percent in (0, 44, 55, 0, 5, 100))
    assert percents(kept(raw.encode())) == [0, 44, 55, 0, 100]


def test_numbers_within_a_label_do_not_make_it_another_bar() -> None:
    raw = "".join(bar(f"Capturing batches (bs={256 - n} avail_mem={90 - n / 10:.2f} GB)", n, "\n") for n in range(101))
    assert len(kept(raw.encode())) == 11


def test_texts_that_are_written_over_keep_the_first_and_the_last() -> None:
    assert kept(b"waiting 1\rwaiting 2\rwaiting 3\rcame\n") == ["waiting 1", "came"]
    assert kept(b"waiting 1\rwaiting 2\rwaiting 3") == ["waiting 1", "waiting 3"]


def test_ordinary_lines_between_the_states_are_kept_in_order() -> None:
    raw = bar("Load", 0) + "\nnote\n" + bar("Load", 5, "\n") + "50% of it | maybe\n" + bar("Load", 100, "\n")
    assert [line[:12] for line in kept(raw.encode())][1:3] == ["note", "50% of it | "]


def test_the_latest_state_is_told_in_short() -> None:
    lines = Lines(Masker([]))
    assert lines.progress is None
    lines.feed(b"Loading safetensors checkpoint shards:  61% Completed | 37/61 [00:10<00:06,  3.7it/s]\n")
    assert lines.progress == "Loading safetensors checkpoint shards 37/61 (61 %)"


@given(st.lists(st.tuples(st.sampled_from("AB"), st.integers(0, 100)), max_size=40))
def test_no_state_is_made_up_and_the_last_of_each_bar_is_there(states: list[tuple[str, int]]) -> None:
    written = io.StringIO()
    for label, percent in states:
        written.write(bar(label, percent, "\n"))
    lines, raw = kept(written.getvalue().encode()), written.getvalue().replace("\r", "").splitlines()
    assert set(lines) <= set(raw) | {line for line in lines if line.startswith("last line repeated")}
    for label in "AB":
        of_label = [line for line in raw if line.startswith(label)]
        assert not of_label or of_label[-1] in lines
