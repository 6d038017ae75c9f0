/** The console's files as the server sends them to browsers, with their headers. All other answers are unchanged. */
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { request } from 'node:http'
import { readConsole, consolePages } from '@daybook/adapters/http'
import { openTokens } from '@daybook/adapters/auth'
import { isRight } from 'fp-ts/lib/Either.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { adminToken, startTestServer, type TestServer } from './support.js'

const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
const site = readConsole()
let server: TestServer
beforeAll(async () => {
  server = await startTestServer({ console: site })
})
afterAll(() => server.stop())

interface Got {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: Buffer
}

/** `fetch` decompresses by itself. */
const get = (path: string, headers: Readonly<Record<string, string>> = {}, { method = 'GET', from = server } = {}): Promise<Got> =>
  new Promise((resolve, reject) => {
    const sent = request(`${from.http.url}${path}`, { method, headers }, (response) => {
      const chunks: Array<Buffer> = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk)).on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) })).on('error', reject)
    })
    sent.on('error', reject).end()
  })

const assetNames = (): ReadonlyArray<string> => [...site.assets.keys()]

describe('CON-1: every address of the console answers its page, to browsers', () => {
  test.each(['/', '/q/builds', '/q/builds/tasks', '/q/a%2Fb/tasks/t%201', '/q/builds/tasks?q=status:pending'])('%s', async (path) => {
    const { status, headers, body } = await get(path, html)
    expect(status).toBe(200)
    expect(headers).toMatchObject({ 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache' })
    expect(body.toString()).toContain('<div id="app">')
  })

  test('the page runs what is of this server, as the strict policy says, and names files that are there', async () => {
    const { headers, body } = await get('/', html)
    expect(headers['content-security-policy']).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
    )
    expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer', 'cross-origin-resource-policy': 'same-origin', 'cross-origin-opener-policy': 'same-origin', 'x-frame-options': 'DENY' })
    const page = body.toString()
    const named = [...page.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path = '']) => path)
    expect(named).toHaveLength(2)
    for (const path of named) expect((await get(path)).status, path).toBe(200)
    expect(page).not.toMatch(/https?:\/\/(?!www\.w3\.org)|<style|style=|<script(?! type="module" src="\/)|\son\w+=/)
  })

  test('programs get a problem there, as before', async () => {
    for (const [path, accept] of [['/', '*/*'], ['/', 'application/json'], ['/q/builds/tasks', '*/*']] as const) {
      const { status, headers, body } = await get(path, { accept })
      expect(status).toBe(404)
      expect(headers['content-type']).toContain('application/problem+json')
      expect(JSON.parse(body.toString())).toMatchObject({ code: 'not-found' })
    }
  })

  test('what is no address of the console stays a problem, also for browsers', async () => {
    for (const path of ['/api', '/api/nowhere', '/api/queues/a/nowhere', '/nowhere', '/q', '/assets', '/assets/none.js', '/assets/..%2Findex.html', '/assets/%2e%2e/index.html', '/index.html']) {
      const { status, headers, body } = await get(path, html)
      expect(status, path).toBe(404)
      expect(headers['content-type'], path).toContain('application/problem+json')
      expect(JSON.parse(body.toString()), path).toMatchObject({ code: 'not-found' })
    }
    expect((await get('/', html, { method: 'POST' })).status).toBe(404)
  })
})

describe('CON-2: files are cached by their hash, and come compressed', () => {
  test('for ever, since another content has another name', async () => {
    expect(assetNames().length).toBeGreaterThan(2)
    for (const name of assetNames()) {
      expect(name).toMatch(/^[a-z-]+\.[A-Z0-9]{8}\.(?:js|css)$/)
      const { status, headers } = await get(`/assets/${name}`)
      expect(status).toBe(200)
      expect(headers).toMatchObject({ 'cache-control': 'public, max-age=31536000, immutable', 'content-type': name.endsWith('.js') ? 'text/javascript; charset=utf-8' : 'text/css; charset=utf-8' })
    }
  })

  test('as the browser accepts it, with the same content', async () => {
    for (const path of ['/', ...assetNames().map((name) => `/assets/${name}`)]) {
      const plain = await get(path, html)
      const brotli = await get(path, { ...html, 'accept-encoding': 'gzip, deflate, br, zstd' })
      const gzip = await get(path, { ...html, 'accept-encoding': 'gzip;q=1.0, br;q=0' })
      expect([plain, brotli, gzip].map(({ headers }) => headers['content-encoding'])).toEqual([undefined, 'br', 'gzip'])
      expect(brotliDecompressSync(brotli.body).equals(plain.body)).toBe(true)
      expect(gunzipSync(gzip.body).equals(plain.body)).toBe(true)
      expect(String(plain.headers.vary)).toContain('accept-encoding')
    }
  })

  test('what a browser has is not sent again', async () => {
    for (const path of ['/', `/assets/${assetNames()[0]}`]) {
      const { headers } = await get(path, html)
      const etag = String(headers.etag)
      expect(etag).toMatch(/^"[\w-]+"$/)
      for (const known of [etag, `W/${etag}`, `"other", ${etag}`]) expect(await get(path, { ...html, 'if-none-match': known }), known).toMatchObject({ status: 304, body: Buffer.alloc(0) })
      expect((await get(path, { ...html, 'if-none-match': '"other"' })).status).toBe(200)
    }
  })

  test('HEAD has the headers and no body', async () => {
    expect(await get('/', html, { method: 'HEAD' })).toMatchObject({ status: 200, body: Buffer.alloc(0), headers: { 'content-type': 'text/html; charset=utf-8' } })
  })
})

describe('SEC-1: the console has no private routes', () => {
  test('beside the contract, the server has the pages and their files, and without the console it has the contract alone', async () => {
    const { paths } = (await server.get('/api/openapi.json')).body
    const served = server.http.routes.filter(({ method }) => method !== 'HEAD').map(({ method, path }) => `${method} ${path}`)
    const contract = Object.entries<object>(paths).flatMap(([path, item]) => Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`))
    expect(served.filter((route) => !contract.includes(route)).sort()).toEqual([...consolePages, '/assets/*'].map((path) => `GET ${path}`).sort())
    const without = await startTestServer()
    try {
      expect((await get('/', html, { from: without })).status).toBe(404)
      expect(without.http.routes.map(({ path }) => path)).not.toContain('/')
    } finally {
      await without.stop()
    }
  })

  test('its files are the same with any token, and with none', async () => {
    for (const path of ['/', `/assets/${assetNames()[0]}`]) {
      const bodies = await Promise.all([{}, { authorization: `Bearer ${adminToken}` }, { authorization: 'Bearer wrong' }].map((headers) => get(path, { ...html, ...headers })))
      expect(new Set(bodies.map(({ status }) => status))).toEqual(new Set([200]))
      expect(new Set(bodies.map(({ body }) => body.toString())).size).toBe(1)
    }
  })

  test('without tokens, a page from elsewhere and a rebound name get nothing', async () => {
    const open = await startTestServer({ tokens: 'off', console: site })
    try {
      expect((await get('/', html, { from: open })).status).toBe(200)
      for (const headers of [{ origin: 'https://evil.example' }, { host: 'evil.example' }]) expect((await get('/', { ...html, ...headers }, { from: open })).status).toBe(403)
    } finally {
      await open.stop()
    }
  })
})

describe('SEC-1: GET /api/me tells a token what it is for', () => {
  test('the admin, a token with limits, and a server without tokens', async () => {
    let clock = Date.UTC(2026, 0, 1)
    const { tokens } = openTokens({ dir: 'memory', adminToken, now: () => clock })
    const made = await tokens.create({ name: 'night', roles: ['worker', 'auditor'], queues: ['a', 'b'], rate: { perSecond: 50, burst: 100 }, expiresAt: clock + 60_000 }, { actor: 'admin' })
    if (!isRight(made)) throw new Error(made.left.detail)
    const own = await startTestServer({ tokens })
    const open = await startTestServer({ tokens: 'off' })
    try {
      expect((await own.get('/api/me')).body).toEqual({ name: 'admin', roles: ['admin'], auth: 'tokens' })
      const as = { headers: { authorization: `Bearer ${made.right.token}` } }
      expect((await own.get('/api/me', as)).body).toEqual({ name: 'night', roles: ['worker', 'auditor'], auth: 'tokens', queues: ['a', 'b'], rate: { perSecond: 50, burst: 100 }, expiresAt: '2026-01-01T00:01:00.000Z' })
      clock += 60_001
      expect(await own.get('/api/me', as)).toMatchObject({ status: 401, body: { detail: expect.stringContaining('expired') as string } })
      expect((await open.get('/api/me')).body).toEqual({ name: 'anonymous', roles: ['admin'], auth: 'off' })
    } finally {
      await own.stop()
      await open.stop()
      await tokens.close()
    }
  })
})
