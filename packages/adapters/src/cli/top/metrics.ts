/** Reads the server's metrics: the counters for the rates, and the gauges of all queues, in one request. */

export interface Metric {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

const unescaped = (text: string): string => text.replace(/\\(.)/g, (_, letter: string) => (letter === 'n' ? '\n' : letter))

/** The lines of Prometheus' text format whose names begin with `daybook_`. */
export const readMetrics = (text: string): ReadonlyArray<Metric> =>
  text.split('\n').flatMap((line) => {
    const [, name, labels = '', value] = /^(daybook_\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
    if (name === undefined || value === undefined) return []
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key = '', text = '']) => [key, unescaped(text)] as const)
    return [{ name, labels: Object.fromEntries(pairs), value: Number(value) }]
  })
