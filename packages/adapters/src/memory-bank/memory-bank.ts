/** The port to a memory: what agents found in earlier tasks, for those that work on similar ones (TQM-MEM-001, TQM-MEM-002). */
import type { Memory } from '@daybook/client/internal'

export type { Memory }

/** What to look for: memories of the ticket first, then those whose words fit best. */
export interface RecallRequest {
  readonly ticketId?: string
  readonly description?: string
  readonly type?: string
  readonly limit: number
}

export interface MemoryBank {
  /** For people. */
  readonly name: string
  /** Which memory it is, so that a new or emptied one gets everything again; `undefined` while it has never kept anything. */
  readonly identity: () => Promise<string | undefined>
  /** False if there is certainly nothing to recall. Cheap. */
  readonly mayHaveMemories: () => boolean
  /** Keeps all of them, each once. Rejects with {@link MemoryRefused} if it will never keep them, and with any other error if it may later. */
  readonly remember: (memories: ReadonlyArray<Memory>) => Promise<void>
  /** For each request its memories, the best first. */
  readonly recall: (queue: string, requests: ReadonlyArray<RecallRequest>, signal: AbortSignal) => Promise<ReadonlyArray<ReadonlyArray<Memory>>>
  /** Gives up what is under way, for a server that stops. */
  readonly interrupt: () => void
  readonly close: () => Promise<void>
}

/** The memory cannot take this, now or later. */
export class MemoryRefused extends Error {
  override readonly name = 'MemoryRefused'
}
