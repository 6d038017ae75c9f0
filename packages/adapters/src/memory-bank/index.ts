/** Memories: what was found in earlier tasks comes with later ones. */
export { openHttpBank } from './http-bank.js'
export { type Memory, type MemoryBank, MemoryRefused, type RecallRequest } from './memory-bank.js'
export { type MemoryOptions, type MemoryService, type MemoryStatus, type Recalled, startMemory } from './service.js'
export { openSqliteBank } from './sqlite-bank.js'
