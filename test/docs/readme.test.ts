/** Runs the README's examples as they are, against a server started in the way that it describes. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { withoutTypes } from '../packages/examples.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const token = 'token-of-the-readme-test'
let folder: string
let server: ChildProcess
let url: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'daybook-readme-'))
  // What npx does in the workspace, without its start, which takes longer than the command.
  await mkdir(join(folder, 'bin'))
  await writeFile(join(folder, 'bin/npx'), `#!/bin/sh\nname=$1; shift\nexec '${join(root, 'node_modules/.bin')}'/"$name" "$@"\n`, { mode: 0o755 })
  server = spawn(process.execPath, [join(root, 'packages/adapters/bin/daybook.js'), 'serve', '--port', '0', '--data', folder], {
    env: { ...process.env, DAYBOOK_TOKEN: token },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (server.stdout === null) throw new Error('no output of the server to read')
  for await (const line of createInterface({ input: server.stdout })) {
    const found = /http:\/\/\S+/.exec(line)?.[0]
    if (found === undefined) continue
    url = found.replace(/\/$/, '')
    break
  }
})

afterAll(async () => {
  server.kill('SIGTERM')
  if (server.exitCode === null) await once(server, 'exit')
  await rm(folder, { recursive: true, force: true })
})

/** The code blocks marked as runnable, in order. */
const blocks = async (file = 'README.md'): Promise<ReadonlyArray<{ readonly language: string; readonly code: string }>> => {
  const text = await readFile(join(root, file), 'utf8')
  return [...text.matchAll(/<!-- run -->\n```(\w+)\n([\s\S]*?)```/g)].map(([, language = '', code = '']) => ({ language, code }))
}

/** `path`: folders in which commands are looked for first. */
const run = async (program: string, args: ReadonlyArray<string>, path: ReadonlyArray<string> = []): Promise<{ code: number; output: string }> => {
  const child = spawn(program, args, { cwd: root, env: { ...process.env, PATH: [...path, process.env['PATH']].join(':'), DAYBOOK_URL: url, DAYBOOK_TOKEN: token, NO_COLOR: '1' } })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const [code] = (await once(child, 'close')) as [number]
  return { code, output }
}

const runBlock = async ({ language, code }: { readonly language: string; readonly code: string }, path = [join(folder, 'bin')]) => {
  if (language === 'sh') return run('bash', ['--norc', '-euo', 'pipefail', '-c', code], path)
  // In this folder, so that imports are resolved as in a service of the workspace.
  const file = fileURLToPath(new URL(`./.example-${process.pid}.mjs`, import.meta.url))
  await writeFile(file, withoutTypes(code))
  try {
    return await run(process.execPath, [file])
  } finally {
    await rm(file, { force: true })
  }
}

/** Pages whose examples are only run. Others have tests of their own below. */
const pages = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md') && name !== 'outcomes.md' && name !== 'outbox.md' && !name.startsWith('adr/'))

test.each(pages)('docs/%s: every example that it marks as runnable runs', async (page) => {
  for (const example of await blocks(`docs/${page}`)) {
    const { code, output } = await runBlock(example)
    expect(code, `${example.code}\n${output}`).toBe(0)
  }
}, 600_000)

describe('README', () => {
  test('every example that it marks as runnable runs', async () => {
    const examples = await blocks()
    expect(examples.map(({ language }) => language)).toEqual(['sh', 'ts', 'ts'])
    const outputs: Array<string> = []
    for (const example of examples) {
      // With the real npx.
      const { code, output } = await runBlock(example, [])
      expect(code, `${example.code}\n${output}`).toBe(0)
      outputs.push(output)
    }
    // The examples had the described effect.
    expect(outputs[0]).toContain('write-docs')
    expect(outputs[0]).toContain('Completed')
    expect(outputs[1]).toContain('false')
    expect(outputs[2]).toContain('ada@example.org')
  }, 600_000)

  test('the examples of docs/outcomes.md run', async () => {
    const outputs: Array<string> = []
    for (const example of await blocks('docs/outcomes.md')) {
      const { code, output } = await runBlock(example)
      expect(code, `${example.code}\n${output}`).toBe(0)
      outputs.push(output)
    }
    const [limited, parked, redriven, amended] = outputs
    expect(limited).toMatch(/rate limit/)
    expect(parked).toBe('{"answer":{"approved":true},"built":"v7"}\n')
    expect(redriven).toMatch(/1 dead letter[\s\S]*sending 1 dead letter back, 30 a minute/)
    expect(amended).toMatch(/welcome \(scheduled\): priority, payload changed[\s\S]*welcome \(pending\): availableAt changed[\s\S]*TaskAmended/)
  }, 600_000)

  test('the examples of docs/discoveries.md run', async () => {
    const outputs: Array<string> = []
    for (const example of await blocks('docs/discoveries.md')) {
      const { code, output } = await runBlock(example)
      expect(code, `${example.code}\n${output}`).toBe(0)
      outputs.push(output)
    }
    expect(outputs[0]).toMatch(/spawned: [\s\S]*waits for a guardian: [\s\S]*it is about another ticket/)
  }, 600_000)

  test('EV-07: the examples of docs/tamper-evidence.md run', async () => {
    for (const example of await blocks('docs/tamper-evidence.md')) {
      const { code, output } = await runBlock(example)
      expect(code, `${example.code}\n${output}`).toBe(0)
      expect(output).toMatch(/ok {2}1 event, revision 0, hash [\w-]{43}\n[\s\S]*"ok":true/)
    }
  }, 600_000)

  test('teeth: an example that fails is noticed', async () => {
    expect((await runBlock({ language: 'ts', code: `import { noSuchThing } from '@daybook/adapters/client'` })).code).not.toBe(0)
    expect((await runBlock({ language: 'sh', code: 'npx daybook show no-such-task' })).code).not.toBe(0)
  }, 600_000)
})
