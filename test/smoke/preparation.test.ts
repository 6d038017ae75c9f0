/** What `npm start` and the others show of their preparation: in a small checkout of its own, with the real installer and compiler. */
import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))
const lockfile = "lockfileVersion: '9.0'\n\nimporters:\n\n  .: {}\n"
const source = (name: string): string => `packages/${name}/src/index.ts`

let dir = ''
let manifest = {}
const at = (path: string): string => join(dir, path)
const write = (path: string, text: string): void => {
  mkdirSync(join(at(path), '..'), { recursive: true })
  writeFileSync(at(path), text)
}
interface Ended { readonly code: number; readonly out: string; readonly err: string }
const prepare = (command: string): Promise<Ended> =>
  new Promise((resolve) => {
    execFile(process.execPath, [at('scripts/run.mjs'), command], { cwd: dir }, (error, out, err) => resolve({ code: error === null ? 0 : Number(error.code), out, err }))
  })
const log = (name: string): string => readFileSync(at(`.tools/logs/${name}.log`), 'utf8')

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'daybook-prepare-'))
  cpSync(join(root, 'scripts'), at('scripts'), { recursive: true })
  mkdirSync(at('.tools'))
  const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { packageManager: string }
  const pnpm = packageManager.replace('@', '-')
  symlinkSync(join(root, '.tools', pnpm), at(join('.tools', pnpm)))
  manifest = { name: 'small', private: true, packageManager }
  write('tsconfig.base.json', '{}')
  const folders = ['packages/core', 'packages/projections', 'packages/client', 'packages/console', 'packages/adapters', 'packages/testing', 'bench', 'test']
  write('tsconfig.json', JSON.stringify({ files: [], references: folders.map((path) => ({ path })) }))
  for (const folder of folders) {
    write(`${folder}/tsconfig.json`, JSON.stringify({ compilerOptions: { composite: true, rootDir: 'src', outDir: 'dist', tsBuildInfoFile: 'dist/.tsbuildinfo', types: [], lib: ['es5'], skipLibCheck: true }, include: ['src'] }))
    write(`${folder}/src/index.ts`, 'export const x = 1\n')
  }
  write('packages/console/build.mjs', "import { mkdirSync, writeFileSync } from 'node:fs'\nmkdirSync('packages/console/dist/site', { recursive: true })\nwriteFileSync('packages/console/dist/site/index.html', 'a page')\n")
  write('packages/adapters/build.mjs', "import { mkdirSync, writeFileSync } from 'node:fs'\nmkdirSync('packages/adapters/dist/program', { recursive: true })\nwriteFileSync('packages/adapters/dist/program/main.js', 'a program')\n")
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

test('an install that fails shows why, names the file with all of the output, and says what to do', async () => {
  write('pnpm-lock.yaml', lockfile)
  write('package.json', JSON.stringify({ ...manifest, dependencies: { 'not-in-the-lockfile': '1.0.0' } }))
  const { code, out, err } = await prepare('install')
  expect([code, out]).toEqual([1, ''])
  expect(err).toMatch(/^daybook: the first time, this installs and builds.*\ndaybook: installing dependencies …\n(.*\n)* {2}\| .*ERR_PNPM_OUTDATED_LOCKFILE/)
  expect(err).toContain('exit code 1. All of its output: .tools/logs/install.log\n')
  expect(err).toContain('network: the package registry must be reachable')
  expect(log('install')).toContain('ERR_PNPM_OUTDATED_LOCKFILE')
  expect(existsSync(at('.tools/lock'))).toBe(false)
})

test('a build shows a line for each package, and what the compiler says is in a file', async () => {
  write('package.json', JSON.stringify(manifest))
  expect(await prepare('install')).toMatchObject({ code: 0, out: '', err: expect.stringMatching(/daybook: installed \(\d+ s\)\n$/) as string })
  symlinkSync(join(root, 'node_modules/typescript'), at('node_modules/typescript'))
  const { code, out, err } = await prepare('build')
  expect([code, out]).toEqual([0, ''])
  expect(err).toMatch(/^daybook: building …\n(daybook: {3}(core|projections|client|console|adapters|testing|bench|test)\n){8}daybook: built \(\d+ s\)\ndaybook: building the pages of the console …\ndaybook: built \(\d+ s\)\ndaybook: building the program …\ndaybook: built \(\d+ s\)\n$/)
  expect(log('build-all')).toContain("Building project '")
  expect(await prepare('build')).toEqual({ code: 0, out: '', err: '' })
})

test('a build that fails shows the errors alone, and the next one builds what was wrong', async () => {
  write(source('client'), 'export const x: string = 1\n')
  const { code, out, err } = await prepare('build')
  expect([code > 0, out]).toEqual([true, ''])
  expect(err.split('\n').filter((line) => line.startsWith('  | '))).toEqual([expect.stringMatching(/ {2}\| packages\/client\/src\/index\.ts\(1,14\): error TS2322/)])
  expect(err).toContain(`exit code ${code}. All of its output: .tools/logs/build-all.log\n`)
  write(source('client'), 'export const x = 2\n')
  expect(await prepare('build')).toMatchObject({ code: 0, err: expect.stringContaining('daybook: built') as string })
  expect(readFileSync(at('packages/client/dist/index.js'), 'utf8')).toContain('x = 2')
})
