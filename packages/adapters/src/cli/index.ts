export { run } from './program.js'
export type { Io } from './io.js'
export { exitCodes } from './exit-codes.js'
