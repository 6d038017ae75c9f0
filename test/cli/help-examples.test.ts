/**
 * The examples in the help of every command. Each is read by a real shell, whose `daybook` notes what it was called with, so quotes, pipes and variables count.
 * Each of these calls is then checked against the program as it is declared, and run against a server where there is what it is about. What makes no sense to
 * run is named below, with the reason.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Cli, treeFor } from '@daybook/adapters/cli'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { inTime } from '../support/in-time.js'
import { noTerminal, runHere, type Server, startServer } from './program.js'

const dir = mkdtempSync(join(tmpdir(), 'daybook-examples-'))
const here = process.cwd()
let server: Server
let examples: ReadonlyArray<Example> = []
beforeAll(async () => {
  for (const folder of ['.local/share/bash-completion/completions', '.zfunc', '.config/fish/completions', '.local/share/man/man1']) mkdirSync(join(dir, folder), { recursive: true })
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, file)), { recursive: true })
    writeFileSync(join(dir, file), text)
  }
  process.chdir(dir)
  server = await startServer(['--checkpoints', 'off'])
  examples = readLines(await linesOfHelp())
})
afterAll(async () => {
  process.chdir(here)
  await server.stop()
  server.remove()
  rmSync(dir, { recursive: true, force: true })
})

type Command = Awaited<ReturnType<typeof treeFor>>

const silent = { ...noTerminal, env: {}, out: () => undefined, err: () => undefined }
const commandsBelow = (command: Command): ReadonlyArray<Command> => command.commands.flatMap((child) => [child, ...commandsBelow(child)])

/** The lines below `Examples:` of all commands, up to the text that follows them. */
const linesOfHelp = async (): Promise<ReadonlyArray<string>> => {
  let text = ''
  const tree = await treeFor(new Cli({ ...silent, out: (said) => void (text += said) }), [])
  for (const command of [tree, ...commandsBelow(tree)]) command.outputHelp()
  const blocks = [...text.matchAll(/^(?:Examples|A first round):\n((?: {2}\S.*\n)+)/gm)].map(([, block = '']) => block)
  return [...new Set(blocks.flatMap((block) => block.split('\n')).map((line) => line.trim()).filter((line) => /(?:^|[|(] ?|DAYBOOK_\w+=\S+ )daybook /.test(line)))]
}

interface Example {
  readonly line: string
  /** What the shell calls `daybook` with, in the order of the calls. */
  readonly calls: ReadonlyArray<ReadonlyArray<string>>
  /** What the shell finds wrong; '' if nothing. */
  readonly said: string
}

/** Evaluates each of its arguments. `daybook` notes its words for one of them after the other, and other programs do nothing. */
const script = `
  daybook() { { printf '%s\\0' "$@"; printf '\\1'; } >> "$noted.calls"; }
  jq() { cat > /dev/null; }; man() { cat > /dev/null; }; run-agent() { :; }
  for line; do
    noted="$PWD/$((++count))"
    : > "$noted.calls"
    (set -u; eval "$line"$'\\n'wait) > /dev/null 2> "$noted.said" < /dev/null || echo "exit code $?" >> "$noted.said"
  done`

/** One shell reads all lines, since each start of one takes a while. */
const readLines = (lines: ReadonlyArray<string>): ReadonlyArray<Example> => {
  const cwd = mkdtempSync(join(dir, 'shell-'))
  execFileSync('bash', ['--norc', '-c', script, 'bash', ...lines], { cwd, env: { PATH: process.env['PATH'], HOME: dir } })
  return lines.map((line, i) => {
    const [calls, said] = ['calls', 'said'].map((kind) => readFileSync(join(cwd, `${i + 1}.${kind}`), 'utf8')) as [string, string]
    return { line, said, calls: calls.split('\u0001').filter((call) => call !== '').map((call) => call.split('\0').slice(0, -1)) }
  })
}

/** Why the program would not take these words; `undefined` if it does. Nothing is run. */
const complaintAbout = async (args: ReadonlyArray<string>): Promise<string | undefined> => {
  let said = ''
  const tree = await treeFor(new Cli({ ...silent, err: (text) => void (said += text) }), args)
  for (const command of commandsBelow(tree)) if (command.commands.length === 0) command.action(() => undefined)
  try {
    await tree.parseAsync([...args], { from: 'user' })
    return undefined
  } catch {
    return said
  }
}

/** Not run, and why. */
const notRun: ReadonlyArray<readonly [RegExp, string]> = [
  [/^serve\b/, 'it runs until it is stopped: serve.test.ts does that'],
  [/^watch\b/, 'it runs until it is stopped: watch.test.ts does that'],
  [/--every 60|^top( --interval.*)?$/, 'it runs until it is stopped'],
  [/^work --types|^work --until-empty/, 'it starts programs: work.test.ts does that'],
  [/esdb:|\/srv\/|\/mnt\/|sqlite:backup\.db|sqlite:\/var/, 'it is about other machines'],
  [/--(?:at|from|to|until) 20\d\d|120000|0b6e…|--revision 42|--since 1042/, 'it is about a moment, an event or a correlation that this log does not have'],
  [/3f9a1c27/, 'it is about an approval or a failure that this queue does not have'],
  [/^audit check|^audit replay july|run-time-by-tenant|^report fairness --views|^alerts --test-webhooks/, 'it needs a file of another program or command: their own tests make them'],
  [/--data daybook-data|^project --once|^archive|^backup/, 'it is about the files of a server that has stopped: audit-files.test.ts and others do that'],
  [/^simulate (?!--example)|^audit what-if/, 'it takes long: simulate.test.ts and what-if.test.ts do that'],
]

type Steps = ReadonlyArray<readonly [args: string, input?: string]>
const tasks = (...given: ReadonlyArray<readonly [type: string, id: string]>): string => JSON.stringify({ tasks: given.map(([type, id], i) => ({ type, id, payload: i, ticketId: 'OPS-7' })) })
const others = Array.from({ length: 49 }, (_, i) => ['mail', `other-${i}`] as const)
/** Of this queue, the seventh lease is that of the task. */
const sevenClaimed = (id: string): Steps => [
  ['enqueue --file -', tasks(...others.slice(0, 6), ['t', id])],
  ['claim --types mail --max 6'],
  ['claim --types t'],
]
const claimed: Steps = [['enqueue eng-backend --id M1-001 --ticket OPS-7'], ['claim']]
const deadLetter: Steps = [...claimed, ['fail M1-001 --lease 1 --error ENOSPC --permanent']]
const completed: Steps = [...claimed, ['complete M1-001 --lease 1 --output done --report asked']]
/** These only read, and share one queue. `audit replay` has the file of the export before it. */
const reads = /^(?:list|show|depth|queues$|alerts|explain|history|audit (?:log|verify|export|replay)|report|top|memory|agents list|approvals list|breakers list|batch list|schedules list|limits list|settings get|token list|doctor|export|completion|man|simulate)\b/
/** What is done before a call that has this; the first that fits. Before all others, M1-001 and 49 more are enqueued (`waiting`). */
const worlds: ReadonlyArray<readonly [RegExp, Steps]> = [
  [/^batch show .*--watch/, [['batch create --id upload-7 --open'], ['batch close upload-7']]],
  [/^batch (show|close|cancel)|--batch nightly/, [['batch create --id upload-7 --open --description first'], ['batch create --id nightly --open']]],
  [/^dlq redrive-status/, [...deadLetter, ['dlq redrive --type eng-* --per-minute 1 --reason r']]],
  [/^dlq /, deadLetter],
  [/^queues delete/, [['--queue defualt enqueue t'], ['--queue defualt cancel --all --yes']]],
  [/^--queue defualt/, [['--queue defualt enqueue t']]],
  [/^restart M1-001 M1-002/, [['enqueue eng-backend --id M1-001'], ['enqueue eng-docs --id M1-002'], ['enqueue eng-web --id M1-003'], ['cancel M1-001'], ['cancel M1-002'], ['cancel M1-003']]],
  [/^restart --status cancelled/, [['enqueue eng-backend --id M1-001'], ['cancel M1-001']]],
  [/^restart --status completed/, [['enqueue report-daily --id r'], ['claim --types report-*'], ['complete r --lease 1 --output done --report asked']]],
  [/^(result|restart) /, completed],
  [/^(complete|fail|release|heartbeat) api /, sevenClaimed('api')],
  [/^park /, sevenClaimed('deploy')],
  [/^callback /, [['enqueue t --id deploy'], ['claim'], ['park deploy --lease 1 --key approve-deploy-1 --timeout 60']]],
  [/^schedules (show|pause|resume|remove|set nightly --missed)/, [['schedules set nightly --cron @daily --type ops-backup --paused']]],
  [/^breakers close/, [['enqueue t'], ['breakers open eng-backend --reason r']]],
  [/^resume/, [['enqueue t'], ['pause --reason r']]],
  [/^limits remove/, [['limits set type:send-mail --concurrency 1']]],
  [/^agents terminate/, [['enqueue t'], ['claim --agent worker-3']]],
  [/^claim /, [['enqueue eng-backend']]],
  [/^enqueue eng-frontend/, [['enqueue t --id api']]],
  [/^erase /, [['settings set erasable=true'], ...completed]],
]
const waiting: Steps = [['enqueue --file -', tasks(['eng-backend', 'M1-001'], ...others)]]
/** What a call that has this reads from standard input. */
const inputs: ReadonlyArray<readonly [RegExp, string]> = [
  [/^complete /, '{"output":"done","decisionReport":"as asked"}'],
  [/ -$/, '{"tasks":[{"type":"from-a-file"}]}'],
]
/** The files that examples name, in the folder where they run. */
const files: Readonly<Record<string, string>> = {
  'plan.json': '{"items":[]}',
  'plans/a.json': '{"items":[]}',
  'rows.ndjson': '{"type":"row","payload":1}\n{"type":"row","payload":2}\n',
  'fixed.json': '{"target":"apps/api"}',
  'tasks.json': '[{"id":"t-1","priority":1}]',
  '.loki/queue/pending.json': '[{"id":"t-1"}]',
  '.loki/config/circuit-breakers.yaml': 'defaults:\n  failureThreshold: 4\n',
}

const firstOf = <A>(table: ReadonlyArray<readonly [RegExp, A]>, call: string): A | undefined => table.find(([pattern]) => pattern.test(call))?.[1]
/** What went wrong; `undefined` if nothing did. */
const failureOf = async (call: string, args: ReadonlyArray<string>, env: Record<string, string>, given = ''): Promise<string | undefined> => {
  const { code, err } = await inTime(`daybook ${call}`, runHere(args, env, given))
  return code === 0 ? undefined : `daybook ${call}: exit code ${code}: ${err}`
}
const firstFailure = async (steps: Steps, env: Record<string, string>): Promise<string | undefined> => {
  for (const [step, given] of steps) {
    const failure = await failureOf(step, step.split(' '), env, given)
    if (failure !== undefined) return failure
  }
  return undefined
}

let queues = 0
const makeQueue = (call: string): { readonly env: Record<string, string>; readonly made: Promise<string | undefined> } => {
  const env = { ...server.env, DAYBOOK_QUEUE: `example-${++queues}` }
  return { env, made: firstFailure(firstOf(worlds, call) ?? waiting, env) }
}
let toRead: ReturnType<typeof makeQueue> | undefined
/** Why the call does not do what it says; `undefined` if it does. */
const complaintOf = async (args: ReadonlyArray<string>): Promise<string | undefined> => {
  const call = args.join(' ')
  const { env, made } = reads.test(call) ? (toRead ??= makeQueue(call)) : makeQueue(call)
  return (await made) ?? failureOf(call, args, env, firstOf(inputs, call))
}

test('every example is what the program takes', async () => {
  const wrong: Array<string> = []
  for (const { line, said, calls } of examples) {
    if (said !== '') wrong.push(`${line}: ${said}`)
    if (calls.length === 0) wrong.push(`${line}: calls nothing`)
    for (const args of calls) {
      const complaint = await complaintAbout(args)
      if (complaint !== undefined) wrong.push(`${line}: ${complaint}`)
    }
  }
  expect(wrong).toEqual([])
  expect(examples.length).toBeGreaterThan(120)
})

test('every example that can be run does what it says, against a real server', async () => {
  const calls = new Map(examples.flatMap((example) => example.calls).map((args) => [args.join(' '), args]))
  const toRun = [...calls].filter(([call]) => !notRun.some(([pattern]) => pattern.test(call)))
  expect(toRun.length).toBeGreaterThan(130)
  const wrong: Array<string | undefined> = []
  for (const [, args] of toRun) wrong.push(await complaintOf(args))
  expect(wrong.filter((each) => each !== undefined)).toEqual([])
}, 180_000)

describe('teeth', () => {
  test('each reason not to run has an example', () => {
    const calls = examples.flatMap((example) => example.calls.map((args) => args.join(' ')))
    expect(notRun.filter(([pattern]) => !calls.some((call) => pattern.test(call))).map(([pattern]) => String(pattern))).toEqual([])
  })

  test('a wrong option, a quote too few and a task that is not there are found', async () => {
    const [option, quote] = readLines(["daybook list --stauts pending | jq '.tasks[]'", "daybook show 'M1-001 | jq ."]) as [Example, Example]
    expect(await complaintAbout(option.calls[0] ?? [])).toContain("unknown option '--stauts'")
    expect(quote.said).toContain('unexpected EOF')
    expect(await complaintOf(['show', 'M9-999'])).toContain('not-found')
  })
})
