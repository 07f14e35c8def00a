"""The program that measures files works on each once; nothing is timed here."""

import asyncio

import pytest

from benchmarks.files import NORMAL, Cost, costs_table, floors, most_megabytes, normal_files


@pytest.mark.nightly
def test_every_normal_file_is_read_here_and_apart():
    costs = asyncio.run(normal_files(runs=1))

    assert [one.kind for one in costs] == list(NORMAL)
    assert all(one.here > 0 and one.apart > 0 for one in costs)


def test_costs_are_lines_of_a_table():
    lines = costs_table([Cost("pdf", 100.0, 112.5)]).splitlines()

    assert [line.split() for line in lines][1] == ["pdf", "100.0", "112.5", "12.5"]


@pytest.mark.parametrize(("apart", "megabytes"), [(30.0, 399.0), (31.0, 401.0)])
def test_floors_say_what_was_measured(apart, megabytes):
    kept = megabytes < 400
    costs = [Cost("csv", 10.0, apart), Cost("pdf", 90.0, 90.0)]
    clock = f"a normal file: {apart - 10:.1f} ms more, at most 20"
    memory = (f"this process: {megabytes:.0f} MB, at most 400", kept)

    assert floors(costs, megabytes=megabytes, is_quiet=True) == ((clock, kept), memory)
    busy = (f"{clock} (not judged: the machine is busy)", True)
    assert floors(costs, megabytes=megabytes, is_quiet=False) == (busy, memory)


def test_the_memory_of_this_process_is_known():
    assert most_megabytes() > 10
