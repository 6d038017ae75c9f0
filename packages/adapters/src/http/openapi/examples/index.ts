/** The examples of all operations. A test plays them, and records what is answered: see CONTRIBUTING.md. */
import type { Examples } from './example.js'
import { queueExamples } from './queues.js'
import { reviewExamples } from './reviews.js'
import { serverExamples } from './server.js'
import { taskExamples } from './tasks.js'
import { workExamples } from './work.js'

export const examples: Examples = { ...taskExamples, ...workExamples, ...reviewExamples, ...queueExamples, ...serverExamples }
export type { Examples, RecordedAnswer, RequestExample, Step } from './example.js'
export { recorded } from './recorded.js'
