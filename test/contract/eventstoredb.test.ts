/**
 * Runs against the real node that `EVENTSTOREDB_URL` names, or else against the protocol server, and prints
 * which.
 */
import { afterAll } from 'vitest'
import { openEventStoreDb } from '@daybook/adapters/eventstoredb'
import { eventStoreDbUrl } from '../support/eventstoredb/node.js'
import { eventStoreContract } from './event-store-contract.js'

const node = await eventStoreDbUrl()
afterAll(node.close)

eventStoreContract(`eventstoredb, ${node.what}`, async () => openEventStoreDb({ url: node.url }), { numRuns: 30 })
