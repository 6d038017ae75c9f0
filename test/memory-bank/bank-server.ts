/** A memory behind HTTP that can fail, hang and come back. */
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Kept {
  readonly id: string
  readonly task: string
  readonly goal?: string
  readonly ticketId?: string
}

export class BankServer {
  /** By id. */
  readonly kept = new Map<string, Kept>()
  readonly asked: Array<{ readonly path: string; readonly authorization: string | undefined; readonly body: unknown }> = []
  mode: 'works' | 'fails' | 'hangs' | 'refuses' = 'works'
  /** The id that is refused in mode `refuses`. */
  refused = ''
  private constructor(
    private readonly server: Server,
    readonly port: number,
  ) {}

  static async start(port = 0): Promise<BankServer> {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
    const bank = new BankServer(server, (server.address() as AddressInfo).port)
    server.on('request', (request: IncomingMessage, response) => {
      void bodyOf(request).then((text) => {
        const body = JSON.parse(text) as { readonly memories?: ReadonlyArray<Kept>; readonly requests?: ReadonlyArray<{ readonly ticketId?: string }> }
        const path = request.url ?? ''
        bank.asked.push({ path, authorization: request.headers.authorization, body })
        if (bank.mode === 'hangs') return
        if (bank.mode === 'fails') return void response.writeHead(503).end()
        if (path.endsWith('/memories')) {
          const memories = body.memories ?? []
          if (bank.mode === 'refuses' && memories.some(({ id }) => id === bank.refused)) return void response.writeHead(422).end()
          for (const memory of memories) bank.kept.set(memory.id, memory)
          return void response.writeHead(204).end()
        }
        const all = [...bank.kept.values()]
        response.end(JSON.stringify({ results: (body.requests ?? []).map(({ ticketId }) => all.filter((memory) => memory.ticketId === ticketId)) }))
      })
    })
    return bank
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/v1`
  }

  recalls(): number {
    return this.asked.filter(({ path }) => path.endsWith('/recall')).length
  }

  stop(): Promise<void> {
    this.server.closeAllConnections()
    return new Promise((resolve) => this.server.close(() => resolve()))
  }
}

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += chunk as string
  return text
}
