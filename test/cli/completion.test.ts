/** Completion: what may stand at the cursor, and that real shells ask for it. */
import { execFile } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fish, goesWithout, type Need, zsh } from '../support/needs.js'
import { root, runHere, serverOfFile } from './program.js'

const server = serverOfFile()
beforeAll(async () => {
  for (const type of ['eng-backend', 'eng-docs', 'mail']) await server.daybook(['enqueue', type, '--queue', 'builds'])
})

interface Answer { readonly kind: string; readonly words: ReadonlyArray<string> }
/** The words offered at the end of this line, without what is told of each. */
const offered = async (line: string, env: Record<string, string> = {}): Promise<Answer> => {
  const { code, out, err } = await runHere(['completion', 'words', '--', ...line.split(' ')], env)
  expect([code, err]).toEqual([0, ''])
  const [kind = '', ...lines] = out.trimEnd().split('\n')
  return { kind, words: lines.map((each) => each.split('\t')[0] as string) }
}

/** The server has 0.7 s to answer. On a busy machine it may need longer: the key is pressed again then, as people do. */
const pressed = async <A extends string | ReadonlyArray<string>>(press: () => Promise<A>): Promise<A> => {
  for (let times = 1; ; times++) {
    const words = await press()
    if (String(words) !== '' || times === 20) return words
  }
}

describe('words', () => {
  test.each<[line: string, words: ReadonlyArray<string>]>([
    ['rep', ['report']],
    ['dlq re', ['retry', 'redrive', 'redrive-status']],
    ['--queue x dlq re', ['retry', 'redrive', 'redrive-status']],
    ['list --sta', ['--status']],
    ['list --status pending --sta', []],
    ['list --status pend', ['pending']],
    ['list --status pending,comp', ['pending,completed']],
    ['list --status=comp', ['--status=completed']],
    ['enqueue x --priority H', ['HIGH']],
    ['enqueue x --deduplicate ', ['content', 'key', 'off']],
    ['report --by ph', ['phase']],
    ['report lat', ['latency']],
    ['token create ci --role a', ['auditor', 'admin']],
    ['settings get defaults.t', ['defaults.timeout']],
    ['settings set a=1 capacity.max', ['capacity.maxConcurrentAgents=']],
    ['audit log --type TaskE', ['TaskEnqueued', 'TaskErased']],
    ['watch --events task_created,al', ['task_created,alert_raised', 'task_created,alert_cleared']],
    ['completion ', ['bash', 'zsh', 'fish']],
    ['show x', []],
  ])('daybook %s', async (line, words) => {
    expect((await offered(line)).words).toEqual(words)
  })

  test('all commands at the beginning, and no hidden one', async () => {
    const { words } = await offered('')
    expect(words).toEqual(expect.arrayContaining(['enqueue', 'top', 'archive', 'completion']))
    expect((await offered('completion w')).words).toEqual([])
  })

  test('names of files are the shell’s business', async () => {
    for (const line of ['enqueue --file x', 'import x', 'backup x', 'simulate x', 'project --module x', 'audit what-if --settings x', 'audit check --older x', 'audit verify --checkpoints x', 'audit prove --checkpoints x', 'man --write x']) {
      expect([line, await offered(line)]).toEqual([line, { kind: 'files', words: [] }])
    }
  })

  test('what serve calls --checkpoints is a time', async () => {
    expect(await offered('serve --checkpoints x')).toEqual({ kind: '-', words: [] })
  })

  test('queues and types come from the server', async () => {
    const words = (line: string): Promise<ReadonlyArray<string>> => pressed(async () => (await offered(line, server.env)).words)
    expect(await words('list --queue b')).toEqual(['builds'])
    expect(await words('--queue builds enqueue eng')).toEqual(['eng-backend', 'eng-docs'])
    expect(await words('work --queue=builds --types mail,eng-d')).toEqual(['mail,eng-docs'])
  })

  test('without a server, or with a wrong token, it is silent', async () => {
    expect((await offered('list --queue b', { DAYBOOK_URL: 'http://127.0.0.1:1' })).words).toEqual([])
    expect((await offered('list --queue b', { ...server.env, DAYBOOK_TOKEN: 'wrong' })).words).toEqual([])
    expect((await offered('list --queue b', { DAYBOOK_URL: 'nowhere' })).words).toEqual([])
  })
})

/** Runs a script in a shell that has `daybook` on its PATH. */
let bin = ''
beforeAll(() => {
  bin = mkdtempSync(join(tmpdir(), 'daybook-bin-'))
  writeFileSync(join(bin, 'daybook'), `#!/bin/sh\nexec '${process.execPath}' '${join(root, 'packages/adapters/bin/daybook.js')}' "$@"\n`)
  chmodSync(join(bin, 'daybook'), 0o755)
})
afterAll(() => rmSync(bin, { recursive: true, force: true }))
const inShell = (program: string, args: ReadonlyArray<string>): Promise<string> =>
  new Promise((resolve, reject) => {
    execFile(program, [...args], { env: { ...process.env, ...server.env, PATH: `${bin}:${process.env['PATH'] ?? ''}`, HOME: bin, TERM: 'dumb' } }, (error, out, err) =>
      error === null ? resolve(out) : reject(new Error(`${program}: ${error.message}\n${err}`)))
  })

const bash: Need = { name: 'bash', probe: ['bash', '-c', 'true'], advice: 'install bash' }

describe.skipIf(goesWithout(bash))('bash', () => {
  /** The words as readline passes them: taken apart at each `=`. */
  const inBash = async (...words: ReadonlyArray<string>): Promise<ReadonlyArray<string>> => {
    const quoted = ['daybook', ...words].map((word) => `'${word}'`).join(' ')
    const out = await inShell('bash', ['--norc', '-c', `source <(daybook completion bash); complete -p daybook >&2; COMP_WORDS=(${quoted}); COMP_CWORD=${words.length}; _daybook daybook; printf '%s\\n' "\${COMPREPLY[@]}"`])
    return out.trim().split('\n')
  }

  test('completes commands, options, choices and queues', async () => {
    expect(await inBash('rep')).toEqual(['report'])
    expect(await inBash('list', '--sta')).toEqual(['--status'])
    expect(await pressed(() => inBash('list', '--queue', '=', 'b'))).toEqual(['builds'])
  })

  test('a name that the shell would obey is quoted', async () => {
    await server.daybook(['enqueue', 'x;touch $(id) "a"', '--queue', 'strange'])
    expect(await pressed(() => inBash('--queue', 'strange', 'enqueue', 'x'))).toEqual(['x\\;touch\\ \\$\\(id\\)\\ \\"a\\"'])
    expect(await inBash('list', '--status', 'pending,comp')).toEqual(['pending,completed'])
  })
})

describe.skipIf(goesWithout(zsh))('zsh', () => {
  test('completes commands with what they are, and queues', async () => {
    // `compadd` is what every completion ends in: here it tells its words.
    const script = (line: string): string => `
      autoload -Uz compinit && compinit -D -u
      source <(daybook completion zsh)
      [[ \${_comps[daybook]} == _daybook ]] || exit 3
      _describe() { print -rl -- "\${(@P)3}" }
      words=(${line}) CURRENT=\${#words}
      _daybook`
    expect((await inShell('zsh', ['-f', '-c', script("daybook rep")])).trim()).toMatch(/^report:figures of a period/)
    expect(await pressed(async () => (await inShell('zsh', ['-f', '-c', script("daybook list --queue b")])).trim())).toBe('builds:')
  })
})

describe.skipIf(goesWithout(fish))('fish', () => {
  test('completes commands with what they are, options and queues', async () => {
    const complete = async (line: string): Promise<string> => (await inShell('fish', ['--no-config', '-c', `daybook completion fish | source; complete -C '${line}'`])).trim()
    expect(await complete('daybook rep')).toMatch(/^report\tfigures of a period/)
    expect(await complete('daybook list --sta')).toMatch(/^--status\twith commas/)
    expect(await pressed(() => complete('daybook list --queue b'))).toBe('builds')
  })
})
