import { openMemoryStore } from '@daybook/adapters/memory'
import { eventStoreContract } from './event-store-contract.js'

eventStoreContract('memory', async () => openMemoryStore())
