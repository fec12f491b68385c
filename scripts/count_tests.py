#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""count_tests.py testlog.json: the last line of scripts/test, from Meson's log of a test run.

A Check suite counts as its checks, one of Python's unittest as its tests, any other test as one. A check that printed "SKIPPED: why" (its
data are not there) is skipped, not passed. A suite that ended without Check's own line, or failed
although no check did (a crash, a time-out), counts as one failure more. Exits 1 if anything failed
or nothing passed."""
import json
import re
import sys

passed = failed = skipped = 0
for line in open(sys.argv[1], encoding='utf-8'):
    test = json.loads(line)
    out, err = test.get('stdout') or '', test.get('stderr') or ''
    good = test['result'] in ('OK', 'EXPECTEDFAIL')
    checks = re.search(r'^\d+%: Checks: (\d+), Failures: (\d+), Errors: (\d+)$', out, re.M)
    python = re.search(r'^Ran (\d+) tests? in .*\n\n(?:OK|FAILED)(.*)$', err, re.M)
    if python:
        numbers = dict(re.findall(r'(failures|errors|skipped)=(\d+)', python[2]))
        bad = int(numbers.get('failures', 0)) + int(numbers.get('errors', 0))
        skips = int(numbers.get('skipped', 0))
        passed += int(python[1]) - bad - skips
        failed += bad + (not good and bad == 0)
        skipped += skips
    elif test['result'] == 'SKIP':
        skipped += 1
    elif not checks:
        passed += good
        failed += not good
    else:
        total, bad = int(checks[1]), int(checks[2]) + int(checks[3])
        unsaid = not good and bad == 0
        skips = len(re.findall(r'^SKIPPED: ', out + err, re.M))
        passed += total - bad - skips
        failed += bad + unsaid
        skipped += skips
    for reason in re.findall(r'^SKIPPED: .*', out + err, re.M):
        print(f"{test['name']}: {reason}")
print(f'{passed} passed, {failed} failed, {skipped} skipped')
sys.exit(failed > 0 or passed == 0)
