import type { Json } from '@daybook/core'

/** A value as text for people, cut to 40 characters. */
export const short = (value: Json): string => {
  const text = JSON.stringify(value)
  return text.length > 40 ? `${text.slice(0, 39)}…` : text
}
