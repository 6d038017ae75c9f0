/** A task's optional fields as the HTTP API has them: times are ISO 8601 texts. They follow from the table of fields. */
import type { FieldValue, ShownField, ShownFields, TimeField } from '@daybook/core'

/** The fields that a task is shown with as they were given. */
export type SentFields = { readonly [K in keyof ShownFields]?: K extends TimeField ? string : FieldValue<K & ShownField> }
