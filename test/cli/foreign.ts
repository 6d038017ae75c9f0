/** Events that another program may have left in a log, and that this version of Daybook would not write. */
import { openSqliteStore } from '@daybook/adapters/sqlite'
import * as E from 'fp-ts/lib/Either.js'

const lease = { task: 'a', agent: 'x', token: 1 }

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
