/** Events that another program may have left in a log, and that this version of Daybook would not write. */
import { openSqliteStore } from '@daybook/adapters/sqlite'
import * as E from 'fp-ts/lib/Either.js'

const lease = { task: 'a', agent: 'x', token: 1 }

/** An event of a server whose clock was so many seconds ahead. */
export const appendLater = async (file: string, seconds: number): Promise<void> => {
  const store = await openSqliteStore({ file })
  const at = new Date(Date.now() + seconds * 1_000).toISOString()
  const event = { id: crypto.randomUUID(), type: 'QueueConfigured', data: '{"patch":{"maxAttempts":7}}', metadata: JSON.stringify({ schemaVersion: 1, at, actor: 'fast' }) }
  const appended = await store.append('taskqueue-default', [event], 'any')()
  await store.close()
  if (E.isLeft(appended)) throw new Error(JSON.stringify(appended.left))
}

export const appendForeign = async (file: string): Promise<void> => {
  const store = await openSqliteStore({ file })
  const at = new Date().toISOString()
  const event = (type: string, data: object, schemaVersion = 1) => ({
    id: crypto.randomUUID(), type, data: JSON.stringify(data), metadata: JSON.stringify({ schemaVersion, at, actor: 'foreign' }),
  })
  const appended = await store.append('taskqueue-default', [
    event('Tickled', { task: 'a' }),
    event('Claimed', { ...lease, expiresAt: 0 }, 9),
    event('Completed', { task: 7 }),
    event('Completed', { task: 'nobody', agent: 'x', token: 5 }),
  ], 'any')()
  await store.close()
  if (E.isLeft(appended)) throw new Error(JSON.stringify(appended.left))
}
