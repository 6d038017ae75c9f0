/** The parts of examples in OpenAPI's form: parameters, bodies and answers, each under the example's key. */
import type { Examples, RecordedAnswer } from './examples/index.js'
import type { JsonSchema } from './json-schema.js'

export interface Shown {
  /** `One task` → `oneTask`. */
  readonly key: string
  readonly title: string
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
  readonly body: unknown
  readonly answer: RecordedAnswer
}

/** The examples of an operation for which an answer was recorded. */
export const shownExamples = (operation: string, examples: Examples, recorded: Readonly<Record<string, ReadonlyArray<RecordedAnswer>>>): ReadonlyArray<Shown> =>
  (examples[operation] ?? []).flatMap(({ title, body }, i) => {
    const answer = recorded[operation]?.[i]
    if (answer === undefined) return []
    const [path = '', query = ''] = answer.path.split('?')
    return [{ key: keyOf(title), title, params: paramsOf(operation.split(' ')[1] ?? '', path), query: Object.fromEntries(new URLSearchParams(query)), body, answer }]
  })

const keyOf = (title: string): string =>
  title
    .split(/[^A-Za-z0-9]+/)
    .map((word, i) => (i === 0 ? word.toLowerCase() : word.slice(0, 1).toUpperCase() + word.slice(1)))
    .join('')

const paramsOf = (template: string, path: string): Readonly<Record<string, string>> => {
  const names = template.split('/')
  return Object.fromEntries(path.split('/').flatMap((part, i) => (names[i]?.startsWith('{') === true ? [[names[i].slice(1, -1), decodeURIComponent(part)]] : [])))
}

/** The examples that give this parameter. */
export const pathExamples = (shown: ReadonlyArray<Shown>, valueOf: (each: Shown) => unknown): JsonSchema =>
  Object.fromEntries(shown.flatMap((each) => (valueOf(each) === undefined ? [] : [[each.key, { summary: each.title, value: valueOf(each) }]])))

export const requestExamples = (shown: ReadonlyArray<Shown>): JsonSchema =>
  Object.fromEntries(shown.flatMap(({ key, title, body }) => (body === undefined ? [] : [[key, { summary: title, value: body }]])))
