/** Reads members of an event's content. */
import type { LoggedEvent } from '../projection.js'

/** A member that is a text; `undefined` if there is none. Contents are long, so a content that cannot have the member is not parsed. */
export const contentIn = (logged: LoggedEvent, name: string): string | undefined => {
  const content = logged.content()
  if (content === undefined || !content.includes(`"${name}":`)) return undefined
  const parsed: unknown = JSON.parse(content)
  if (typeof parsed !== 'object' || parsed === null || !(name in parsed)) return undefined
  const value: unknown = (parsed as Readonly<Record<string, unknown>>)[name]
  return typeof value === 'string' ? value : undefined
}
