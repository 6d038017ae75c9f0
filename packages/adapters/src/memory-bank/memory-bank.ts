/** The port to a memory: what agents found in earlier tasks, for agents that work on similar ones (TQM-MEM-001, TQM-MEM-002). */
import type { Memory } from '@daybook/client/internal'

export type { Memory }

/** A search: memories of the ticket first, then those whose words match best. */
export interface RecallRequest {
  readonly ticketId?: string
  readonly description?: string
  readonly type?: string
  readonly limit: number
}

export interface MemoryBank {
  /** A name for people. */
  readonly name: string
  /** Identifies the memory, so that a new or emptied one gets everything again; `undefined` until it has kept something. */
  readonly identity: () => Promise<string | undefined>
  /** False if there is certainly nothing to recall. Must be cheap. */
  readonly mayHaveMemories: () => boolean
  /** Keeps all of them, each once. Rejects with {@link MemoryRefused} if it will never keep them, and with any other error if it may do so later. */
  readonly remember: (memories: ReadonlyArray<Memory>) => Promise<void>
  /** The memories for each request, the best first. */
  readonly recall: (queue: string, requests: ReadonlyArray<RecallRequest>, signal: AbortSignal) => Promise<ReadonlyArray<ReadonlyArray<Memory>>>
  /** Cancels requests in flight, for a server that stops. */
  readonly interrupt: () => void
  readonly close: () => Promise<void>
}

/** The memory will never accept this. */
export class MemoryRefused extends Error {
  override readonly name = 'MemoryRefused'
}
