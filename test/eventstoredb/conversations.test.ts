/**
 * The point of this file: what the unmodified client says and hears, step by step, is the same with
 * this server as it was with a real EventStoreDB 23.10.8. The recordings and the tool that plays
 * them lie beside the project, in `../shared`.
 */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { EventStoreServer, type ServerOptions } from '../support/eventstoredb/server.js'
import { runProgram } from '../stores/child.js'

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url))
const tool = at('../../../shared/tools/esdb-conversations')
const recordings = at('../../../shared/data/eventstoredb')
/** Below a node_modules of this package, so that the tool finds the client. */
const nodeModules = at('../node_modules')

const recorded = (): ReadonlyArray<string> =>
  readdirSync(recordings).filter((name) => name.endsWith('.jsonl')).map((name) => name.slice(0, -'.jsonl'.length))

const lines = (file: string): ReadonlyArray<unknown> =>
  readFileSync(file, 'utf8').trim().split('\n').map((line) => JSON.parse(line) as unknown)

describe('conversations recorded with a real EventStoreDB', () => {
  let folder: string
  const servers: Array<EventStoreServer> = []

  beforeAll(() => {
    for (const [what, path] of [['the tool that plays them', tool], ['the recordings', recordings]] as const) {
      if (!existsSync(path)) throw new Error(`missing: ${path}, ${what}. It belongs beside the project's folder.`)
    }
    mkdirSync(join(nodeModules, '.tmp'), { recursive: true })
    folder = mkdtempSync(join(nodeModules, '.tmp', 'conversations-'))
    for (const name of readdirSync(tool).filter((file) => file.endsWith('.mjs'))) cpSync(join(tool, name), join(folder, name))
  })
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.close()))
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
  })

  /** Plays these scenarios, with a server of their own: some look at the whole log. */
  const play = async (names: ReadonlyArray<string>, options: ServerOptions = {}): Promise<void> => {
    const server = await EventStoreServer.start(options)
    servers.push(server)
    const scenarios = join(folder, `scenarios-of-${String(names[0])}.mjs`)
    writeFileSync(scenarios, [
      "import { scenarios as all } from './scenarios.mjs'",
      `export const scenarios = Object.fromEntries(${JSON.stringify(names)}.map((name) => [name, all[name]]))`,
    ].join('\n'))
    const played = runProgram(process.execPath, [
      join(folder, 'converse.mjs'), '--url', server.url, '--scenarios', scenarios, '--out', join(folder, 'out'),
    ])
    expect(await played.ended).toBe(0)
  }

  const slow = ['subscribe-to-stream', 'subscribe-to-all', 'subscribe-and-delete']

  test('are the same with this server, step by step', async () => {
    const names = recorded()
    await Promise.all([play(names.filter((name) => !slow.includes(name))), ...slow.map((name) => play([name]))])
    let steps = 0
    for (const name of names) {
      const expected = lines(join(recordings, `${name}.jsonl`))
      expect(lines(join(folder, 'out', `${name}.jsonl`)), name).toEqual(expected)
      steps += expected.length
    }
    expect(steps).toBeGreaterThanOrEqual(268)
  })

  test('teeth: a server with another limit is told apart', async () => {
    await play(['append-sizes'], { limits: { appendBytesMax: 2_000_000 } })
    const played = lines(join(folder, 'out', 'append-sizes.jsonl'))
    expect(played).not.toEqual(lines(join(recordings, 'append-sizes.jsonl')))
  })
})
