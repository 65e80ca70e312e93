"""Run PageRank of a Python library on the files of bench-graph: peers.py PEER DIRECTORY ROUNDS.

Prints rounds, seconds, processor seconds and peak memory in megabytes; writes PEER.f64.
Requires numpy and scipy, or networkit: python3 -m venv DIR && DIR/bin/pip install scipy networkit
"""

import sys
import time
from pathlib import Path

import numpy as np

DAMPING = 0.85


def measured(work):
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        pass
    start, processor_start = time.perf_counter(), time.process_time()
    value = work()
    seconds, processor = time.perf_counter() - start, time.process_time() - processor_start
    status = Path("/proc/self/status").read_text()
    peak = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:"))
    return value, f"{seconds} {processor} {peak * 1024 / 1e6}"


def with_scipy(starts, sources, degrees, rounds):
    from scipy.sparse import csr_matrix

    pages = len(degrees)
    dangling = degrees == 0
    weights = 1.0 / np.maximum(degrees, 1)
    # 32-bit indices for fewer than 2³¹ links.
    width = np.int32 if len(sources) < 2**31 else np.int64
    matrix = csr_matrix(
        (weights[sources], sources.astype(width), starts.astype(width)), shape=(pages, pages), copy=False
    )
    del sources, starts

    def work():
        ranks = np.full(pages, 1.0 / pages)
        for _ in range(rounds):
            teleport = (1.0 - DAMPING) + DAMPING * ranks[dangling].sum()
            next_ranks = matrix @ ranks
            next_ranks *= DAMPING
            next_ranks += teleport / pages
            change = np.abs(next_ranks - ranks).sum()
            ranks = next_ranks
        assert np.isfinite(change)
        return ranks

    ranks, taken = measured(work)
    return ranks, rounds, taken


def with_networkit(starts, sources, degrees, rounds):
    import networkit

    pages = len(degrees)
    targets = np.repeat(np.arange(pages, dtype=np.uint64), np.diff(starts).astype(np.int64))
    graph = networkit.GraphFromCoo((sources.astype(np.uint64), targets), n=pages, directed=True)
    del sources, starts, targets
    handling = networkit.centrality.SinkHandling.DistributeSinks
    ranking = networkit.centrality.PageRank(graph, DAMPING, 0.0, distributeSinks=handling)
    ranking.maxIterations = rounds
    ranking.norm = networkit.centrality.Norm.L1_NORM
    _, taken = measured(ranking.run)
    return np.array(ranking.scores()), ranking.numberOfIterations(), taken


def main():
    peer, directory, rounds = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    starts = np.fromfile(directory / "starts.u64", dtype="<u8")
    sources = np.fromfile(directory / "sources.u32", dtype="<u4")
    degrees = np.fromfile(directory / "degrees.u32", dtype="<u4")
    work = {"scipy": with_scipy, "networkit": with_networkit}[peer]
    ranks, rounds, taken = work(starts, sources, degrees, rounds)
    ranks.astype("<f8").tofile(directory / f"{peer}.f64")
    print(rounds, taken)


main()
