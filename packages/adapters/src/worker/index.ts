/** The worker of `@daybook/client`, and its source for an engine in the same process. */
export * from '@daybook/client/worker'
export { engineSource } from './engine-source.js'
