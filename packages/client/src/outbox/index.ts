/** A transactional outbox in PostgreSQL: `createOutbox`. */
export type { Connection, Connections, Sql } from './database.js'
export { type Backlog, createOutbox, type Outbox, type Outboxed, type OutboxOptions } from './outbox.js'
export type { Relay, RelayEvent, RelayOptions, RelayStats } from './relay.js'
