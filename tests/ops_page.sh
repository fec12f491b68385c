#!/usr/bin/env bash
# ops_page.sh SALTUS SOURCE_DIR: docs/ops.md says what the operations' records say.
set -euo pipefail
diff "$2/docs/ops.md" <("$1" list ops --format markdown) ||
    { echo "FAILED: make it anew by: saltus list ops --format markdown > docs/ops.md"; exit 1; }
