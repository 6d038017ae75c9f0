/** Plays the examples of the contract against a real server with all its parts. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RecordedAnswer, RequestExample } from '@daybook/adapters/http'
import { serve } from '@daybook/adapters/serve'

export const token = 'dbk_token-of-the-contract-tests'

export interface Playground {
  readonly url: string
  readonly send: (method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>) => Promise<Received>
  readonly close: () => Promise<void>
}

export interface Received {
  readonly status: number
  readonly type: string
  readonly headers: Headers
  readonly text: string
}

export const startPlayground = async (): Promise<Playground> => {
  const dataDir = mkdtempSync(join(tmpdir(), 'daybook-contract-'))
  const server = await serve({ host: '127.0.0.1', port: 0, dataDir, store: { kind: 'sqlite', file: join(dataDir, 'log.db'), sharing: 'exclusive' }, auth: 'tokens', token })
  return {
    url: server.url,
    send: async (method, path, body, headers = {}) => {
      const response = await fetch(new URL(path, server.url), {
        method,
        headers: { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const [type = ''] = (response.headers.get('content-type') ?? '').split(';')
      return { status: response.status, type, headers: response.headers, text: await response.text() }
    },
    close: async () => {
      await server.close()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

export interface Played extends RecordedAnswer {
  readonly headers: Headers
}

/** `queue`: the queue in which it is played, instead of `builds`. */
export const play = async ({ send }: Playground, method: string, example: RequestExample, queue: string): Promise<Played> => {
  const kept = new Map<string, string>()
  const there = <A>(value: A): A => (value === undefined ? value : (JSON.parse(filled(JSON.stringify(value), kept).replaceAll('queues/builds', `queues/${queue}`).replaceAll('queue=builds', `queue=${queue}`).replaceAll('"queue":"builds"', `"queue":"${queue}"`)) as A))
  for (const step of example.before ?? []) {
    const { status, text } = await send(step.method, there(step.path), there(step.body))
    if (status >= 300) throw new Error(`${example.title}: ${step.method} ${step.path} was answered with ${status} ${text}`)
    for (const [name, path] of Object.entries(step.keep ?? {})) kept.set(name, String(memberOf(JSON.parse(text), path)))
  }
  const { status, type, headers, text } = await settled(() => send(method, there(example.path), there(example.body), example.headers))
  const here = text.replaceAll(queue, 'builds')
  return { path: filled(example.path, kept), status, type, headers, body: /^application\/(problem\+)?json$/.test(type) ? JSON.parse(here) : here }
}

/** Memories and read models follow the log some milliseconds later. */
const settled = async (ask: () => Promise<Received>): Promise<Received> => {
  for (let tries = 0; ; tries++) {
    const received = await ask()
    const isEarly = received.text === '{"memories":[]}' || /^.{1,50}"building"/.test(received.text) || received.status === 503
    if (!isEarly || tries === 100) return received
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

const filled = (text: string, kept: ReadonlyMap<string, string>): string => text.replace(/\{\{(\w+)\}\}/g, (_, name: string) => kept.get(name) ?? `nothing kept as ${name}`)

const memberOf = (value: unknown, path: string): unknown => path.split('.').reduce<unknown>((part, key) => (part as Readonly<Record<string, unknown>> | undefined)?.[key], value)
