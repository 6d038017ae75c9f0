/** The examples of all operations. A test plays them and records the answers: see CONTRIBUTING.md. */
import type { Examples, RecordedAnswer } from './example.js'
import { queueExamples } from './queues.js'
import recordedAnswers from './recorded.json' with { type: 'json' }
import { reviewExamples } from './reviews.js'
import { serverExamples } from './server.js'
import { taskExamples } from './tasks.js'
import { workExamples } from './work.js'

export const examples: Examples = { ...taskExamples, ...workExamples, ...reviewExamples, ...queueExamples, ...serverExamples }

/** By operation: what a server answered to each of its examples, in their order. */
export const recorded: Readonly<Record<string, ReadonlyArray<RecordedAnswer>>> = recordedAnswers

export type { Examples, RecordedAnswer, RequestExample } from './example.js'
