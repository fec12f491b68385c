#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How large the largest cut of a sparse graph can be, by linear and integer programs.

    cut_bound.py GRAPH.gset [SECONDS]

x_e = 1 says that edge e is cut. A cycle C is cut an even number of times: for each odd set F of its
edges, x(F) - x(C - F) <= |F| - 1 (Barahona & Mahjoub 1986, On the cut polytope). The program begins
with none of these inequalities, adds those that its solution violates most, one through each node,
which shortest paths in two copies of the graph find, and drops those that the solution is far from.
Where the bound of the linear program has not fallen for five rounds, x has to be whole: once no
inequality is violated, x is a largest cut. Every program gives a bound, so it is stopped after
SECONDS of the processor, 60 if nothing is said.

Where all degrees are even and all weights odd, as on tori with signs, cuts are even, and so is the
bound. Needs scipy (1.9 or later), whose programs HiGHS solves.
"""
import sys
import time

try:
    import numpy as np
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_matrix, lil_matrix, vstack
    from scipy.sparse.csgraph import dijkstra
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

TOLERANCE = 1e-4  # of violation
ROUNDS = 5        # without progress, before x has to be whole
NEAR = 10         # inequalities further off are dropped while x is whole


def read(path):
    """Number of nodes, the two ends of each edge, and its weight; repeated edges add up."""
    with open(path, encoding="utf-8") as file:
        lines = [line.split() for line in file if line.strip() and line[0] not in "#%"]
    nodes, edges = int(lines[0][0]), {}
    for u, v, *weight in lines[1:]:
        ends = min(int(u), int(v)) - 1, max(int(u), int(v)) - 1
        if not 0 <= ends[0] < ends[1] < nodes:
            raise ValueError(f"{path}: an edge of {u} and {v}, of {nodes} nodes")
        edges[ends] = edges.get(ends, 0) + float(weight[0] if weight else 1)
    u, v = np.array(list(edges), dtype=int).reshape(-1, 2).T
    return nodes, u, v, np.array(list(edges.values()))


def violated(nodes, u, v, edge, x):
    """Inequalities that x violates: set of (edges of C, edges of F). edge: of its ends, either way."""
    # A walk from a node to its copy changes sides an odd number of times: at edges of F, of length
    # 1 - x_e; others have x_e. (0 would be no edge.)
    stays, changes = np.maximum(x, 1e-9), np.maximum(1 - x, 1e-9)
    ends = np.concatenate([u, u + nodes, u, u + nodes]), np.concatenate([v, v + nodes, v + nodes, v])
    lengths = np.concatenate([stays, stays, changes, changes])
    copies = csr_matrix((lengths, ends), shape=(2 * nodes, 2 * nodes))
    found = set()
    for start in range(nodes):
        length, before = dijkstra(copies, directed=False, indices=start, return_predecessors=True,
                                  limit=1 - TOLERANCE)
        at, C, F = start + nodes, [], []
        while np.isfinite(length[at]) and at != start:
            e = edge[at % nodes, before[at] % nodes]
            C.append(e)
            if (at < nodes) != (before[at] < nodes):
                F.append(e)
            at = before[at]
        if C and len(set(C)) == len(C):
            found.add((frozenset(C), frozenset(F)))
    return found


def largest_cut(nodes, u, v, w, seconds):
    """The bound, and whether there is such a cut."""
    degree = np.bincount(np.concatenate([u, v]), minlength=nodes)
    unit = 0 if np.any(w % 1) else 2 if np.all(degree % 2 == 0) and np.all(w % 2 == 1) else 1
    below = lambda f: unit * np.floor(f / unit + 1e-6) if unit else f
    bound, idle, whole = below(w[w > 0].sum()), 0, False
    x = (w > 0).astype(float)
    edge = {}
    for k, ends in enumerate(zip(u, v)):
        edge[ends] = edge[ends[::-1]] = k
    rows, limits = csr_matrix((0, len(w))), np.zeros(0)
    while True:
        found = violated(nodes, u, v, edge, x)
        if not found and (whole or np.all(x == np.round(x))):
            return bound, bool(w @ x >= bound - 1e-9 * max(1, abs(bound)))
        more = lil_matrix((len(found), len(w)))
        for k, (C, F) in enumerate(found):
            more[k, list(C)] = -1
            more[k, list(F)] = 1
        rows = vstack([rows, more.tocsr()]).tocsr()
        limits = np.concatenate([limits, [len(F) - 1 for _, F in found]])
        idle = idle + 1 if found else ROUNDS
        whole = whole or idle >= ROUNDS
        left = seconds - time.process_time()
        if left <= 0:
            return bound, False
        solution = milp(-w, integrality=int(whole), bounds=Bounds(0, 1),
                        constraints=LinearConstraint(rows, ub=limits),
                        options={"time_limit": left, "mip_rel_gap": 0})
        most = -solution.mip_dual_bound if whole else -solution.fun if solution.success else np.inf
        if below(most) < bound:
            bound, idle = below(most), 0
        if solution.x is None or not solution.success:
            return bound, False
        x = np.round(solution.x) if whole else solution.x
        print(f"{len(limits)} inequalities{', whole' if whole else ''}: {most:.4f}",
              file=sys.stderr, flush=True)
        kept = limits - rows @ x < (NEAR if whole else 1e-6)
        rows, limits = rows[kept], limits[kept]


def main():
    if not 2 <= len(sys.argv) <= 3:
        sys.exit(__doc__)
    try:
        seconds = float((sys.argv + ["60"])[2])
        graph = read(sys.argv[1])
        if not np.all(np.abs(graph[3]) < 1e9):
            raise ValueError(f"{sys.argv[1]}: a weight of 1e9 or more")
    except (OSError, ValueError, IndexError) as error:
        sys.exit(f"cut_bound.py: {error}")
    bound, reached = largest_cut(*graph, seconds) if len(graph[3]) else (0, True)
    text = f"{bound:.0f}" if bound == np.floor(bound) else f"{bound + 5e-7:.6f}"
    print(f"the largest cut is {text}" if reached else f"no cut is larger than {text}")


main()
