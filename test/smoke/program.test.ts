/** The bundled program has all files that it loads and all threads, and comes with the licences of other packages. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const adapters = fileURLToPath(new URL('../../packages/adapters', import.meta.url))
const program = join(adapters, 'dist/program')

/** Threads and chunks that the files of a folder name, and that are not in it. */
const missingIn = (folder: string): ReadonlyArray<string> => {
  const present = new Set(readdirSync(folder))
  return [...present]
    .filter((file) => file.endsWith('.js'))
    .flatMap((file) => [...readFileSync(join(folder, file), 'utf8').matchAll(/(?:new URL\(|from |import |import\()"\.\/([\w-]+\.js)"/g)].map(([, named = '']) => named))
    .filter((named) => !present.has(named))
}

test('each file that the program starts as a thread or imports is there', () => {
  expect(missingIn(program)).toEqual([])
})

test('each thread of the sources is one of its files', () => {
  const threads = readdirSync(join(adapters, 'src'), { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('-thread.ts')).map((file) => `${basename(file, '.ts')}.js`)
  expect(threads.length).toBeGreaterThan(8)
  expect(readdirSync(program)).toEqual(expect.arrayContaining(threads))
})

test('teeth: a thread and a chunk that are not there are found', () => {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-program-'))
  try {
    writeFileSync(join(folder, 'main.js'), 'import {\n  a\n} from "./chunk-1.js";\nimport "./main.js";\nnew Worker(new URL("./lost-thread.js", import.meta.url));\n')
    expect(missingIn(folder)).toEqual(['chunk-1.js', 'lost-thread.js'])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('the licences of the packages that were bundled come with them', () => {
  const text = readFileSync(join(program, 'third-party-notices.txt'), 'utf8')
  for (const name of ['fastify', 'undici', 'ws', 'commander', 'fp-ts', 'io-ts', 'rxjs']) expect(text).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\(`, 'm'))
  expect(text.match(/copyright/gi)?.length).toBeGreaterThan(40)
})

/** Whether a command that asks a server loads OpenTelemetry. `before`: runs in its process before the program. */
const loadsOpenTelemetry = (before: string): boolean => {
  const onExit = `process.on('exit', () => { if (Object.keys(require.cache).some((file) => file.includes('@opentelemetry'))) console.log('loaded') })`
  const folder = mkdtempSync(join(tmpdir(), 'daybook-program-'))
  try {
    const hook = join(folder, 'hook.cjs')
    writeFileSync(hook, `${before};${onExit}`)
    const { status, stdout, stderr } = spawnSync(process.execPath, ['--require', hook, join(adapters, 'bin/daybook.js'), 'list', '--url', 'http://127.0.0.1:1'], { encoding: 'utf8' })
    expect(stderr).toContain('ECONNREFUSED')
    expect(status).toBe(3)
    return stdout === 'loaded\n'
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

test('a command loads OpenTelemetry only if something is registered with it', () => {
  expect(loadsOpenTelemetry('')).toBe(false)
  expect(loadsOpenTelemetry("globalThis[Symbol.for('opentelemetry.js.api.1')] = { version: '1.9.1' }")).toBe(true)
})

/** The file and all files that it imports at once, by the beginning of its name. */
const loadedWith = (name: string, found = new Set<string>()): ReadonlySet<string> => {
  const files = readdirSync(program).filter((file) => file === `${name}.js` || (file.startsWith(`${name}-`) && file.endsWith('.js')))
  expect(files.length, name).toBeGreaterThan(0)
  for (const file of files) {
    if (found.has(file)) continue
    found.add(file)
    for (const [, named = ''] of readFileSync(join(program, file), 'utf8').matchAll(/(?:from |import )"\.\/([\w-]+)\.js"/g)) loadedWith(named, found)
  }
  return found
}

test('the command line and the server load undici when they send a request, and not before', () => {
  const hasUndici = (name: string): boolean => [...loadedWith(name)].some((file) => readFileSync(join(program, file), 'utf8').includes('require_undici = '))
  expect(['main', 'serve', 'list'].filter(hasUndici)).toEqual([])
  expect(hasUndici('transport')).toBe(true)
})
