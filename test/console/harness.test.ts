/** What the tests of the console check a page for, tried on pages that break each of it. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { axeFindings, expectAccessible } from './axe.js'
import { useBrowser, withoutBrowser } from './browser.js'
import { settle } from './settle.js'
import { expectQuiet, type Watched, watchPage } from './watch-page.js'

const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src *; img-src *"
const page = (body: string, head = ''): string => `<!doctype html><html lang="en"><head><title>A page</title>${head}</head><body><main><h1>A page</h1>${body}</main></body></html>`

/** By path. Those under `/scripts` are scripts, the others pages. */
const served: Readonly<Record<string, string>> = {
  '/good': page('<p>Nothing is wrong here.</p>'),
  '/inline-script': page('<script>document.title = "in line"</script>'),
  '/inline-style': page('<p style="color: red">red</p>'),
  '/eval': page('', '<script src="/scripts/eval.js"></script>'),
  '/scripts/eval.js': 'try { eval("1") } catch { document.title = "no eval" }',
  '/logged': page('', '<script src="/scripts/logged.js"></script>'),
  '/scripts/logged.js': 'console.error("something went wrong")',
  '/thrown': page('', '<script src="/scripts/thrown.js"></script>'),
  '/scripts/thrown.js': 'throw new TypeError("it is undefined")',
  '/rejected': page('', '<script src="/scripts/rejected.js"></script>'),
  '/scripts/rejected.js': 'void Promise.reject(new Error("nobody caught it"))',
  '/alert': page('', '<script src="/scripts/alert.js"></script>'),
  '/scripts/alert.js': 'alert("hello")',
  '/slow': page('<p id="shown" aria-busy="true">…</p>', '<script src="/scripts/slow.js" defer></script>'),
  // Two requests one after the other, and then some work.
  '/scripts/slow.js': `
    const shown = document.getElementById('shown')
    fetch('/wait').then(() => fetch('/wait')).then(() => setTimeout(() => { shown.textContent = 'done'; shown.removeAttribute('aria-busy') }, 50))`,
}

let server: Server
let elsewhere: Server
const urlOf = (of: Server): string => `http://127.0.0.1:${(of.address() as AddressInfo).port}`
const listening = (of: Server): Promise<unknown> => new Promise((resolve) => of.listen(0, '127.0.0.1', () => resolve(undefined)))
beforeAll(async () => {
  elsewhere = createServer((_, answer) => answer.writeHead(200, { 'access-control-allow-origin': '*' }).end())
  await listening(elsewhere)
  server = createServer(({ url = '/' }, answer) => {
    const path = url.split('?', 1)[0] as string
    if (path === '/wait') return void setTimeout(() => answer.writeHead(204).end(), 100)
    if (path === '/favicon.ico') return void answer.writeHead(204).end()
    const text = (served[path] ?? page(`<img alt="a dot" src="${urlOf(elsewhere)}/dot.png">`))
    answer.writeHead(200, { 'content-type': path.startsWith('/scripts/') ? 'text/javascript' : 'text/html; charset=utf-8', 'content-security-policy': policy }).end(text)
  })
  await listening(server)
})
afterAll(() => {
  server.close()
  elsewhere.close()
})

describe.skipIf(withoutBrowser)('the checks of pages have teeth', () => {
  const browser = useBrowser()
  let opened: Page
  let watched: Watched
  beforeAll(async () => {
    const context = await browser.newContext()
    opened = await context.newPage()
    watched = await watchPage(opened, urlOf(server))
  })
  const visit = async (path: string, check: () => Promise<void> | void): Promise<void> => {
    watched.forget()
    await opened.goto(urlOf(server) + path)
    await settle(opened, watched)
    await check()
  }

  test('a page without fault has no finding', async () => {
    await visit('/good', async () => {
      expectQuiet(watched)
      await expectAccessible(opened)
    })
  })

  test.each([
    ['/inline-script', /content security policy: script-src/],
    ['/inline-style', /content security policy: style-src/],
    ['/eval', /content security policy: script-src blocked eval/],
    ['/logged', /console: something went wrong/],
    ['/thrown', /error: TypeError: it is undefined/],
    ['/rejected', /error: Error: nobody caught it/],
    ['/alert', /dialog: hello/],
    ['/foreign', /request to another origin: http:\/\/127\.0\.0\.1:\d+\/dot\.png/],
  ])('teeth: %s is found, and passes only if it was provoked', async (path, finding) => {
    await visit(path, () => {
      expect(() => expectQuiet(watched)).toThrow(finding)
      expect(() => expectQuiet(watched, [/something else/])).toThrow(finding)
      expectQuiet(watched, [finding, /^console: .*Content Security Policy/, /^console: Failed to load resource/])
    })
  })

  test('teeth: axe finds an image without a text, a text that is too pale, and a button without a name', async () => {
    await visit('/good', async () => {
      await opened.locator('main').evaluate((main) => {
        const pale = document.createElement('p')
        pale.textContent = 'pale'
        pale.style.color = '#ccc'
        main.append(document.createElement('img'), pale, document.createElement('button'))
      })
      const found = (await axeFindings(opened)).join('\n')
      for (const rule of ['image-alt', 'color-contrast', 'button-name']) expect(found).toContain(rule)
    })
  })

  test('teeth: a page has settled when its last request is answered and nothing is busy, not before', async () => {
    await visit('/slow', async () => {
      expect(await opened.locator('#shown').textContent()).toBe('done')
      expect(watched.requests.filter((request) => request === 'GET /wait')).toHaveLength(2)
    })
  })
})
