/** Filters for readers of the whole log. */
import type { LogEvent } from './log-event.js'

export type EventFilter = (event: LogEvent) => boolean

/** Everything except the server's internal streams. */
export const everything: EventFilter = ({ stream }) =>
  !(stream === '$epoch-information'
    || (stream.startsWith('$persistentsubscription-$all::') && /-(?:checkpoint|parked)$/.test(stream)))

/** Regular expressions of .NET begin with their flags; those of JavaScript end with them. */
const expression = (source: string): RegExp => {
  const flags = /^\(\?([ims]+)\)/.exec(source)
  return flags === null ? new RegExp(source) : new RegExp(source.slice(flags[0].length), flags[1])
}

export interface FilterExpression {
  readonly of: 'stream' | 'type'
  readonly regex: string
  readonly prefixes: ReadonlyArray<string>
}

/** @throws for an invalid expression. */
export const filterOf = ({ of, regex, prefixes }: FilterExpression): EventFilter => {
  if (regex !== '') {
    const wanted = expression(regex)
    return (event) => everything(event) && wanted.test(event[of])
  }
  return (event) => everything(event) && prefixes.some((prefix) => event[of].startsWith(prefix))
}
