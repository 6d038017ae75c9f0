/** What no page may do, written down while it is open: errors, violations of the content security policy, requests to elsewhere. */
import type { Page, Request } from 'playwright-core'

export interface Watched {
  /** What the page did that it must not, in order; one line each. */
  readonly findings: ReadonlyArray<string>
  /** Paths that the page has asked for so far, and how many requests are under way. */
  readonly requests: ReadonlyArray<string>
  readonly underWay: () => number
  /** Begins anew, for the next visit on the same page. */
  readonly forget: () => void
}

const reporter = 'reportPolicyViolation'

/** Call it before the page is loaded. `origin` is the only one that it may ask. */
export const watchPage = async (page: Page, origin: string): Promise<Watched> => {
  const findings: Array<string> = []
  const requests: Array<string> = []
  const open = new Set<Request>()

  page.on('console', (message) => {
    if (message.type() === 'error') findings.push(`console: ${message.text()} (${message.location().url})`)
  })
  page.on('pageerror', (error) => findings.push(`error: ${error.stack ?? error.message}`))
  page.on('crash', () => findings.push('the page crashed'))
  page.on('dialog', (dialog) => {
    findings.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })

  const isElsewhere = (url: string): boolean => {
    const { protocol, host } = new URL(url)
    return protocol !== 'data:' && protocol !== 'blob:' && host !== new URL(origin).host
  }
  page.on('request', (request) => {
    const url = new URL(request.url())
    requests.push(`${request.method()} ${url.pathname}${url.search}`)
    open.add(request)
    if (isElsewhere(request.url())) findings.push(`request to another origin: ${request.url()}`)
  })
  page.on('requestfinished', (request) => void open.delete(request))
  page.on('requestfailed', (request) => void open.delete(request))
  page.on('websocket', (socket) => {
    requests.push(`WS ${new URL(socket.url()).pathname}`)
    if (isElsewhere(socket.url())) findings.push(`WebSocket to another origin: ${socket.url()}`)
  })

  await page.exposeFunction(reporter, (text: string) => void findings.push(`content security policy: ${text}`))
  await page.addInitScript((name) => {
    document.addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI, sourceFile, lineNumber }) => {
      const report = (window as unknown as Record<string, (text: string) => void>)[name]
      report?.(`${effectiveDirective} blocked ${blockedURI} (${sourceFile ?? ''}:${lineNumber})`)
    })
  }, reporter)

  return {
    findings,
    requests,
    underWay: () => open.size,
    forget: () => {
      findings.length = 0
      requests.length = 0
    },
  }
}

/** Fails if the page did what it must not, apart from what a test provokes. */
export const expectQuiet = ({ findings }: Watched, provoked: ReadonlyArray<RegExp> = []): void => {
  const found = findings.filter((text) => !provoked.some((pattern) => pattern.test(text)))
  if (found.length > 0) throw new Error(`the page did what it must not:\n  ${found.join('\n  ')}`)
}
