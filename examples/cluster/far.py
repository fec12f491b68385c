#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Run a command of MPI on hosts that are far from each other, all of them on this machine.

    far.py [--hosts 3] [--delay MS] [--rate MBIT] -- mpirun -n 3 saltus sample ..

Each host is a network namespace with a network device of its own (/dev/net/tun). This program is the
cable between them: a packet arrives `delay` milliseconds after it was sent, and each host sends
`rate` million bits a second. (tc netem does that in the kernel, where it has it.) Ranks talk by TCP
only. Needs Linux, root and Open MPI 4; everything is gone when the command ends.
"""
import argparse
import fcntl
import heapq
import os
import pathlib
import select
import struct
import subprocess
import sys
import tempfile
import threading
import time

NETWORK = "10.213.7."
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000


def shell(command):
    subprocess.run(command, shell=True, check=True)


def open_host(k):
    """The device of host k, in a namespace of its own."""
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH", b"far%d" % k, IFF_TUN | IFF_NO_PI))
    shell(
        f"ip netns add far{k} && ip link set far{k} netns far{k} && ip -n far{k} addr add {NETWORK}{k}/24 dev far{k}"
        f" && ip -n far{k} link set far{k} mtu 60000 up && ip -n far{k} link set lo up"
    )
    return device


def carry(devices, delay, rate):
    """Packets from device to device, for ever."""
    queue, count, free = [], 0, [0.0] * len(devices)
    while True:
        left = queue[0][0] - time.monotonic() if queue else None
        ready, _, _ = select.select(devices, [], [], left if left is None or left > 1e-4 else 0)
        for device in ready:
            sender = devices.index(device)
            try:
                packet = os.read(device, 65536)
            except BlockingIOError:
                continue
            except OSError:  # the hosts are gone
                return
            to = packet[19] - 1 if packet[0] >> 4 == 4 else -1  # of IPv4, the last byte
            if 0 <= to < len(devices):
                free[sender] = max(free[sender], time.monotonic()) + len(packet) / rate
                heapq.heappush(queue, (free[sender] + delay, count, to, packet))
                count += 1
        while queue and queue[0][0] <= time.monotonic():
            _, _, to, packet = heapq.heappop(queue)
            try:
                os.write(devices[to], packet)
            except OSError:  # a full queue drops a packet, as a router does; TCP sends it again
                pass


def on_host(k, command):
    """A command there, under a host name of its own, by which Open MPI tells hosts apart."""
    return ["ip", "netns", "exec", f"far{k}", "unshare", "--uts", "sh", "-c",
            f'hostname far-{k}; exec "$@"', "sh", *command]


def main():
    if len(sys.argv) > 3 and sys.argv[1] == "--agent":  # as mpirun starts programs on a host
        os.execvp("ip", on_host(sys.argv[2].removeprefix(NETWORK), ["sh", "-c", " ".join(sys.argv[3:])]))
    options = argparse.ArgumentParser()
    options.add_argument("--hosts", type=int, default=3)
    options.add_argument("--delay", type=float, default=5, help="milliseconds, one way")
    options.add_argument("--rate", type=float, default=1000, help="million bits a second")
    options.add_argument("command", nargs="+")
    o = options.parse_args()
    hosts = range(1, o.hosts + 1)
    try:
        devices = [open_host(k) for k in hosts]
        threading.Thread(target=carry, args=(devices, o.delay / 1e3, o.rate * 125e3), daemon=True).start()
        with tempfile.TemporaryDirectory() as folder:
            hostfile = pathlib.Path(folder, "hosts")
            hostfile.write_text("".join(f"{NETWORK}{k} slots=1\n" for k in hosts))
            agent = pathlib.Path(folder, "agent")
            agent.write_text(f'#!/bin/sh\nexec {sys.executable} {pathlib.Path(__file__).resolve()} --agent "$@"\n')
            agent.chmod(0o755)
            os.environ |= {
                "OMPI_MCA_orte_default_hostfile": str(hostfile), "OMPI_MCA_plm_rsh_agent": str(agent),
                "OMPI_MCA_btl": "tcp,self", "OMPI_MCA_btl_tcp_if_include": NETWORK + "0/24",
                "OMPI_MCA_oob_tcp_if_include": NETWORK + "0/24",
            }
            return subprocess.run(on_host(1, o.command)).returncode
    finally:
        for k in hosts:
            subprocess.run(["ip", "netns", "del", f"far{k}"], stderr=subprocess.DEVNULL)


if __name__ == "__main__":
    sys.exit(main())
