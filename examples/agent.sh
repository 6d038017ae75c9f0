#!/usr/bin/env bash
# A tiny agent: reads a task as JSON on standard input, "works" on it, and
# prints a result as JSON. The decision report is what a queue requires by
# default; without it the task would be left incomplete.
#
#   daybook work --types 'eng-*' -- ./examples/agent.sh
set -euo pipefail

exec node -e '
const task = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
const { action = "work on", target = task.id } = task.payload ?? {};
process.stdout.write(JSON.stringify({
  success: true,
  output: `${action} ${target}`,
  decisionReport: {
    decision: `did it as ${task.type}, attempt ${process.env.DAYBOOK_ATTEMPT}`,
    because: "nothing spoke against it",
  },
}));
'
