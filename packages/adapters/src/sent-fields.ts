/** A task's optional fields in the HTTP API, where times are ISO 8601 texts. They follow from the table of fields. */
import type { SentFields } from '@daybook/client/internal'
import { copierOf, isTimeField, quote, type ShownField, type ShownFields, shownFields, unrolled } from '@daybook/core'
import { isoOf } from './iso-time.js'

const copyShown = copierOf(shownFields)
const shownTimes = shownFields.filter((name) => isTimeField(name))

export const sentFields = (task: ShownFields): SentFields => {
  const shown: { -readonly [K in keyof ShownFields]: ShownFields[K] } = {}
  copyShown(task, shown)
  const fields: Partial<Record<ShownField, unknown>> = shown
  for (const name of shownTimes) {
    const ms = task[name]
    if (ms !== undefined) fields[name] = isoOf(ms)
  }
  return fields as SentFields
}

/** The JSON text of the fields, to be appended to other members: `,"ticketId":"T-1"`. */
export const sentText: (task: ShownFields) => string = unrolled(
  shownFields,
  "task, text = ''",
  (name) => `if (task.${name} !== undefined) text += ',"${name}":' + ${isTimeField(name) ? 'time' : 'print'}(task.${name})`,
  'return text',
  {
    time: (ms: number): string => `"${isoOf(ms)}"`,
    print: (value: unknown): string => (typeof value === 'string' ? quote(value) : JSON.stringify(value)),
  },
)
