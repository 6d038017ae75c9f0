/** The point of this file: what is packed can be installed alone, and the examples of each package's README run there. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runHere } from '../cli/program.js'
import { examplesOf, runExample, runIn, type Started, startServer } from './examples.js'
import { broughtBy, filesOf, install, installLinked, manifestOf, packAll, packedManifest, refusing, type Tarballs, textIn, treeOf } from './packed.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const readme = (name: string): string => join(root, 'packages', name, 'README.md')
const token = 'token-of-the-packages-test'
/** Static files, and no module. */
const site = '@daybook/console'

let scratch: string
let tarballs: Tarballs
/** A folder with a server, and one with a client and nothing else. */
let onServer: string
let service: string

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'daybook-packages-'))
  tarballs = await packAll(join(scratch, 'tarballs'))
  onServer = join(scratch, 'server')
  service = join(scratch, 'service')
  await install(onServer, ['@daybook/adapters'], tarballs)
  await install(service, ['@daybook/client'], tarballs)
}, 600_000)
afterAll(() => rm(scratch, { recursive: true, force: true }))

const ran = async (folder: string, code: string, env?: NodeJS.ProcessEnv): Promise<string> => {
  const { code: exit, output } = await runExample(folder, code, env)
  expect(exit, `${code}\n${output}`).toBe(0)
  return output
}

describe('each tarball', () => {
  test('has a README, the licence, and what was compiled of the sources, without tests, maps or the compiler\'s notes', async () => {
    for (const [name, tarball] of tarballs) {
      if (name === site) continue
      const files = await filesOf(tarball)
      const others = files.filter((file) => !/^dist\/.*\.(?:js|d\.ts)$/.test(file)).sort()
      const { man = [] } = await packedManifest(tarball)
      const more = name === '@daybook/adapters' ? ['bin/daybook.js', 'dist/http/openapi/examples/recorded.json', 'dist/program/third-party-notices.txt'] : []
      expect(others, name).toEqual(['LICENSE', 'README.md', ...more, ...man.map((page) => page.replace('./', '')).sort(), 'package.json'])
      expect(files.filter((file) => /\.test\./.test(file))).toEqual([])
      expect(files.filter((file) => file.endsWith('.js')).length, name).toBeGreaterThanOrEqual(5)
    }
  })

  test('that of the command line has the pages for man, as the program prints them', async () => {
    const page = await textIn(tarballs.get('@daybook/adapters') as string, 'man/daybook-enqueue.1')
    expect(page).toBe((await runHere(['man', 'enqueue'])).out)
  })

  test('declares exact versions, of ours as of others', async () => {
    for (const tarball of tarballs.values()) {
      const { dependencies = {} } = await packedManifest(tarball)
      for (const [dependency, version] of Object.entries(dependencies)) expect(`${dependency} ${version}`).toMatch(/ \d+\.\d+\.\d+$/)
    }
  })

  test('brings no package that refuses the oldest Node that ours promise', async () => {
    expect((await manifestOf(join(root, 'packages/adapters'))).engines).toEqual({ node: '>=20.19' })
    expect(refusing('20.19.0', await broughtBy(onServer, '@daybook/adapters'))).toEqual([])
    expect(refusing('20.19.0', [{ name: 'cookie', version: '2.0.2', engines: { node: '>=22' } }])).toEqual(['cookie@2.0.2'])
  })

  test('has everything that its entries import, with what it declares and nothing else', async () => {
    for (const [name, tarball] of tarballs) {
      if (name === site) continue
      const folder = join(scratch, 'each', name)
      await installLinked(folder, [name], tarballs)
      const entries = Object.keys((await packedManifest(tarball)).exports).map((entry) => `${name}${entry.slice(1)}`)
      expect(entries.length).toBeGreaterThan(0)
      await ran(folder, `for (const entry of ${JSON.stringify(entries)}) await import(entry)`)
    }
  })
})

test('CON-2: the console is a page and its files, each also compressed, with no module to import and no dependency', async () => {
  const tarball = tarballs.get(site) as string
  const files = (await filesOf(tarball)).filter((file) => !['LICENSE', 'README.md', 'package.json'].includes(file)).sort()
  const plain = files.filter((file) => !/\.(?:br|gz)$/.test(file))
  for (const file of plain) expect(file).toMatch(/^dist\/site\/(?:index\.html|assets\/[a-z-]+\.[A-Z0-9]{8}\.(?:js|css))$/)
  expect(plain).toContain('dist/site/index.html')
  expect(files).toEqual(plain.flatMap((file) => [file, `${file}.br`, `${file}.gz`]).sort())
  const { dependencies, exports } = await packedManifest(tarball)
  expect(dependencies ?? {}).toEqual({})
  expect(Object.keys(exports)).toEqual(['./package.json'])
})

describe('@daybook/client alone', () => {
  test('brings neither SQLite nor gRPC nor Fastify, nor any other package than these', async () => {
    const tree = await treeOf(service, '@daybook/client')
    expect([...tree].sort()).toEqual(['@daybook/core', '@noble/hashes', '@standard-schema/spec', 'croner', 'fp-ts', 'io-ts', 'undici', 'ws'])
  })

  test('teeth: the tree of the server has them', async () => {
    const tree = await treeOf(onServer, '@daybook/adapters')
    for (const name of ['better-sqlite3', '@grpc/grpc-js', 'fastify', '@daybook/client']) expect([...tree]).toContain(name)
  })

  test('teeth: a module that it does not declare is not found beside it', async () => {
    const { code, output } = await runExample(service, `await import('fastify')`)
    expect(code).not.toBe(0)
    expect(output).toContain('fastify')
  })

  describe('with a server that is installed elsewhere', () => {
    let server: Started
    beforeAll(async () => {
      server = await startServer(onServer, token)
    })
    afterAll(() => server.stop())

    test('the examples of its README run: a service, and a worker', async () => {
      const [enqueues = '', works = '', ...more] = await examplesOf(readme('client'))
      const env = { DAYBOOK_URL: server.url, DAYBOOK_TOKEN: token }
      expect(await ran(service, enqueues, env)).toContain('pending')
      expect(await ran(service, works, env)).toContain('ada@example.org')
      for (const each of more) await ran(service, each, env)
    })
  })

  test('its types are complete: the examples type-check without any other package', async () => {
    expect(await typeErrors(service, await examplesOf(readme('client')))).toBe('')
  })
})

test('@daybook/testing: the example of its README runs with node:test, and the client does not bring the kit', async () => {
  const folder = join(scratch, 'tests')
  await install(folder, ['@daybook/testing'], tarballs)
  const [example = ''] = await examplesOf(readme('testing'))
  expect(await ran(folder, example)).toMatch(/pass 1\b/)
  const broken = await runExample(folder, example.replace('await queue.advance(60_000)', ''))
  expect(broken.code).not.toBe(0)
  expect(broken.output).toContain('advance the clock by 60000 ms')
  expect([...(await treeOf(service, '@daybook/client'))]).not.toContain('@daybook/testing')
})

test('a queue inside a program: the examples of the README of @daybook/adapters run and type-check, and a second run finds the first one\'s task', async () => {
  const [embedded = ''] = await examplesOf(readme('adapters'))
  expect(await ran(onServer, embedded)).toContain('sent to ada@example.org')
  expect(await ran(onServer, embedded.replace('console.log(', 'console.log((await client.history(id)).length, '))).toMatch(/^3 .*sent to ada@example.org/s)
  expect(await typeErrors(onServer, [embedded])).toBe('')
})

/** What the compiler says about modules in the folder. `@types/node` is all that it gets beside what is installed. */
const typeErrors = async (folder: string, modules: ReadonlyArray<string>): Promise<string> => {
  const require = createRequire(import.meta.url)
  const typeRoots = dirname(dirname(require.resolve('@types/node/package.json')))
  await Promise.all(modules.map((code, index) => writeFile(join(folder, `typed-${index}.mts`), code)))
  const compilerOptions = { module: 'NodeNext', target: 'ES2022', lib: ['ES2023'], strict: true, noEmit: true, skipLibCheck: true, types: ['node'], typeRoots: [typeRoots] }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['typed-*.mts'] }))
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  return (await runIn(folder, [tsc, '-p', '.'])).output
}
