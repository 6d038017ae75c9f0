/** A task's optional fields in the HTTP API, where times are ISO 8601 texts. They follow from the table of fields. */
import type { FieldValue, ShownField, ShownFields, TimeField } from '@daybook/core'

/** The fields that are shown as they were given. */
export type SentFields = { readonly [K in keyof ShownFields]?: K extends TimeField ? string : FieldValue<K & ShownField> }
