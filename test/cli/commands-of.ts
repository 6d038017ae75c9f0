/** Commands about one queue of a server. */
import type { Ended, Server } from './program.js'

export interface Task { readonly id: string; readonly status: string; readonly type: string; readonly priority: number }
interface Claims { readonly claims: ReadonlyArray<{ readonly task: Task; readonly lease: { readonly token: number } }> }

export const commandsOf = (server: Server) => {
  let last = 0
  return {
    /** The name of a new queue, so that tests do not see each other's tasks. */
    queue: (): string => `q${++last}`,
    enqueue: (q: string, ...args: ReadonlyArray<string>) => server.json<Task & { readonly duplicate: boolean }>('enqueue', '--queue', q, ...args),
    claim: async (q: string, ...args: ReadonlyArray<string>) => {
      const { claims } = await server.json<Claims>('claim', '--queue', q, ...args)
      return claims.map(({ task, lease }) => ({ id: task.id, lease: String(lease.token) }))
    },
    list: async (q: string, ...args: ReadonlyArray<string>) => (await server.json<{ readonly tasks: ReadonlyArray<Task> }>('list', '--queue', q, ...args)).tasks,
    in_: (q: string, ...args: ReadonlyArray<string>): Promise<Ended> => server.daybook([...args, '--queue', q]),
  }
}
