/** Queues inside a program, without a server: `openEmbedded`. */
export { type Embedded, type EmbeddedOptions, openEmbedded } from './open-embedded.js'
export type { Timers } from '../engine/time/timers.js'
