import * as E from 'fp-ts/lib/Either.js'
import { DaybookError, type DaybookClient } from '../client/index.js'
import type { ImportTarget } from './send.js'

/** Codes of refusals of single tasks. Any other error stops the import. */
const refusals = new Set(['invalid', 'conflict', 'unknown-dependency', 'dependency-cycle', 'too-large', 'wrong-state'])

/** Makes the client's queue the target of an import. `signal` ends its calls. */
export const importTarget = (client: DaybookClient, signal?: AbortSignal): ImportTarget => {
  const options = signal === undefined ? {} : { signal }
  return {
    statusOf: async (id) => {
      try {
        return (await client.task(id, options)).status
      } catch (error) {
        if (error instanceof DaybookError && error.code === 'not-found') return undefined
        throw error
      }
    },
    take: async (tasks) => {
      try {
        return E.right((await client.importTasks(tasks, options)).results)
      } catch (error) {
        if (error instanceof DaybookError && refusals.has(error.code)) {
          // The detail has the first of them.
          const others = (error.errors ?? []).filter(({ path, message }) => !error.detail.includes(`${path}: ${message}`))
          return E.left([error.detail, ...others.map(({ path, message }) => `${path} ${message}`)].join('; '))
        }
        throw error
      }
    },
  }
}
