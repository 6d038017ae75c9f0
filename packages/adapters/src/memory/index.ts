export { openMemoryStore, type MemoryStoreOptions } from './memory-store.js'
