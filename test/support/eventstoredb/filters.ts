/** What a reader of the whole log may see, and what it asked for. */
import type { LogEvent } from './log-event.js'

export type EventFilter = (event: LogEvent) => boolean

/** Everything but the server's own bookkeeping. */
export const everything: EventFilter = ({ stream }) =>
  !(stream === '$epoch-information'
    || (stream.startsWith('$persistentsubscription-$all::') && /-(?:checkpoint|parked)$/.test(stream)))

/** .NET's expressions begin with flags where JavaScript's end with them. */
const expression = (source: string): RegExp => {
  const flags = /^\(\?([ims]+)\)/.exec(source)
  return flags === null ? new RegExp(source) : new RegExp(source.slice(flags[0].length), flags[1])
}

export interface FilterExpression {
  readonly of: 'stream' | 'type'
  readonly regex: string
  readonly prefixes: ReadonlyArray<string>
}

/** Throws for an expression that is none. */
export const filterOf = ({ of, regex, prefixes }: FilterExpression): EventFilter => {
  if (regex !== '') {
    const wanted = expression(regex)
    return (event) => everything(event) && wanted.test(event[of])
  }
  return (event) => everything(event) && prefixes.some((prefix) => event[of].startsWith(prefix))
}
