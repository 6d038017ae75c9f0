/**
 * The point of this file: every step of the unmodified client has the same result with this server
 * as with a real EventStoreDB 23.10.8 (`conversations/README.md`).
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { EventStoreServer, type ServerOptions } from '../support/eventstoredb/server.js'
import { runProgram } from '../stores/child.js'

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url))
const player = at('./conversations/converse.mjs')
const recordings = at('./conversations/recorded')

const names = readdirSync(recordings).map((name) => name.slice(0, -'.jsonl'.length))

const lines = (file: string): ReadonlyArray<unknown> =>
  readFileSync(file, 'utf8').trim().split('\n').map((line) => JSON.parse(line) as unknown)

describe('conversations recorded with a real EventStoreDB', () => {
  let out: string
  const servers: Array<EventStoreServer> = []

  beforeAll(() => {
    out = mkdtempSync(join(tmpdir(), 'daybook-conversations-'))
  })
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.close()))
    rmSync(out, { recursive: true, force: true })
  })

  /** Plays these scenarios with a new server, because some read the whole log. */
  const play = async (chosen: ReadonlyArray<string>, options: ServerOptions = {}): Promise<void> => {
    const server = await EventStoreServer.start(options)
    servers.push(server)
    const played = runProgram(process.execPath, [player, '--url', server.url, '--only', chosen.join(), '--out', out, '--recorded', recordings])
    expect(await played.ended).toBe(0)
  }

  const slow = ['subscribe-to-stream', 'subscribe-to-all', 'subscribe-and-delete']

  test('are the same with this server, step by step', async () => {
    await Promise.all([play(names.filter((name) => !slow.includes(name))), ...slow.map((name) => play([name]))])
    let steps = 0
    for (const name of names) {
      const expected = lines(join(recordings, `${name}.jsonl`))
      expect(lines(join(out, `${name}.jsonl`)), name).toEqual(expected)
      steps += expected.length
    }
    expect(steps).toBeGreaterThanOrEqual(268)
  })

  test('teeth: a server with another limit is caught', async () => {
    await play(['append-sizes'], { limits: { appendBytesMax: 2_000_000 } })
    const played = lines(join(out, 'append-sizes.jsonl'))
    expect(played).not.toEqual(lines(join(recordings, 'append-sizes.jsonl')))
  })
})
