#!/usr/bin/env bash
# A fleet at work. Starts a server, imports a queue folder twice (the second
# import must change nothing), and runs two workers with two agents each until
# the queue is empty. Then it checks them against the queue's own log: every
# claim took the most urgent task whose dependencies were completed, and the
# queue files agree with the views. Exits non-zero on any disagreement.
#
#   bash examples/work-a-fleet.sh [FOLDER WITH QUEUE FILES]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

daybook() { node packages/adapters/bin/daybook.js "$@"; }
say() { printf '\n== %s\n' "$*"; }
fail() {
  printf '\nFAILED: %s\n' "$*" >&2
  [ -s "$work/server.err" ] && sed 's/^/  server: /' "$work/server.err" >&2
  exit 1
}

folder=${1:-examples/data/queue}
[ -d "$folder" ] || { echo "$folder is not a folder" >&2; exit 2; }

work=$(mktemp -d)
server=
finish() {
  local code=$?
  if [ -n "$server" ] && kill -0 "$server" 2>/dev/null; then
    kill -TERM "$server"
    wait "$server" || true
  fi
  rm -rf "$work"
  exit "$code"
}
trap finish EXIT

say 'a server on a free port, with queue files'
DAYBOOK_TOKEN=$(node -p 'require("node:crypto").randomBytes(24).toString("base64url")')
export DAYBOOK_TOKEN DAYBOOK_QUEUE=fleet
node packages/adapters/bin/daybook.js serve --port 0 --data "$work/data" --queue-files "$work/files" \
  >"$work/server.out" 2>"$work/server.err" &
server=$!
for _ in $(seq 300); do
  DAYBOOK_URL=$(sed -n 's/.*ready at \(http[^ ]*\).*/\1/p' "$work/server.out")
  [ -n "$DAYBOOK_URL" ] && break
  kill -0 "$server" 2>/dev/null || fail 'the server did not start'
  sleep 0.1
done
[ -n "$DAYBOOK_URL" ] || fail 'the server was not ready within 30 s'
export DAYBOOK_URL
echo "ready at $DAYBOOK_URL"

say "import $folder"
daybook import "$folder"

say 'import it again: nothing must change'
again=$(daybook import "$folder")
echo "$again"
grep -q '^nothing has changed$' <<<"$again" || fail 'a second import changed something'
before=$(daybook depth)
echo "$before"

say 'two workers, two agents each'
daybook work --types 'eng-*' --until-empty --concurrency 2 --agent one -- ./examples/agent.sh &
one=$!
daybook work --types 'eng-*' --until-empty --concurrency 2 --agent two -- ./examples/agent.sh &
two=$!
wait "$one" || fail 'worker one ended with an error'
wait "$two" || fail 'worker two ended with an error'
daybook depth

say 'check the log, the views and the files'
node examples/check-fleet.mjs "$work/files/fleet" || fail 'see above'

say 'stop the server'
kill -TERM "$server"
code=0
wait "$server" || code=$?
server=
[ "$code" -eq 0 ] || fail "the server ended with exit code $code"
echo 'The order of claims, the views and the queue files agree.'
