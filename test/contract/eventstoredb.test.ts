/**
 * Against a real node when `EVENTSTOREDB_URL` names one, else against the protocol server: always against something,
 * and it says against what.
 */
import { afterAll } from 'vitest'
import { openEventStoreDb } from '@daybook/adapters/eventstoredb'
import { eventStoreDbUrl } from '../support/eventstoredb/node.js'
import { eventStoreContract } from './event-store-contract.js'

const node = await eventStoreDbUrl()
afterAll(node.close)

eventStoreContract(`eventstoredb, ${node.what}`, async () => openEventStoreDb({ url: node.url }), { numRuns: 30 })
