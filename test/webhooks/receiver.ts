/** A receiver of webhooks on this machine. It checks signatures with the library of Standard Webhooks. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'

export const secretOf = (name: string): string => `whsec_${Buffer.from(name.padEnd(32, '.')).toString('base64')}`
export const secret = secretOf('of the tests')

export interface Received {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  readonly body: { readonly type: string; readonly timestamp: string; readonly data: { readonly queue: string; readonly key: string; readonly kind: string; readonly message?: string; readonly revision: number } }
}

export class TestReceiver {
  /** All requests, answered or not. */
  readonly received: Array<Received> = []
  connections = 0
  /** How it answers. Default: 204. */
  answer: (request: Received, response: ServerResponse) => void = (_, response) => void response.writeHead(204).end()

  private constructor(
    private readonly server: ReturnType<typeof createServer>,
    readonly port: number,
  ) {}

  static async start(port = 0): Promise<TestReceiver> {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
    const receiver = new TestReceiver(server, (server.address() as AddressInfo).port)
    server.on('connection', () => receiver.connections++)
    server.on('request', (request: IncomingMessage, response) => {
      response.on('error', () => undefined)
      void textOf(request).then((text) => {
        const received: Received = { path: request.url ?? '', headers: request.headers as Record<string, string>, text, body: JSON.parse(text) as Received['body'] }
        receiver.received.push(received)
        receiver.answer(received, response)
      })
    })
    return receiver
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/hooks/path-that-is-secret`
  }

  /** `+key` for each that was raised, `-key` for each that was cleared. */
  get keys(): ReadonlyArray<string> {
    return this.received.map(({ body: { type, data } }) => `${type === 'alert.raised' ? '+' : '-'}${data.key}`)
  }

  get ids(): ReadonlyArray<string> {
    return this.received.map(({ headers }) => headers['webhook-id'] ?? '')
  }

  stop(): Promise<void> {
    this.server.closeAllConnections()
    return new Promise((resolve) => this.server.close(() => resolve()))
  }
}

/** @throws if the signature is wrong. */
export const verify = ({ text, headers }: Pick<Received, 'text' | 'headers'>, by = secret): void => void new Webhook(by).verify(text, { ...headers })

const textOf = async (request: IncomingMessage): Promise<string> => {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += chunk as string
  return text
}
