/** How long the event loop was held up. */
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks'
import { Gauge, type Registry } from 'prom-client'

/** The least time that a shown part covers, in milliseconds. */
const leastMs = 60_000

/** The delays since a time, which is by `performance.now()`. */
interface Part {
  readonly delays: IntervalHistogram
  since: number
}

/**
 * The delays of the last one or two minutes, or of more if nobody asked. What `prom-client` shows is reset by each reader: of two readers, each would see
 * only the delays since the other one's last look.
 */
export class LoopDelays {
  private older: Part
  private newer: Part

  constructor(private readonly now: () => number = () => performance.now()) {
    this.older = this.begin()
    this.newer = this.begin()
  }

  /** The delays that are shown now. */
  read(): IntervalHistogram {
    const at = this.now()
    if (at - this.newer.since >= leastMs) {
      const { older } = this
      this.older = this.newer
      older.delays.reset()
      older.since = at
      this.newer = older
    }
    return this.older.delays
  }

  private begin(): Part {
    const delays = monitorEventLoopDelay()
    delays.enable()
    return { delays, since: this.now() }
  }
}

const figures: ReadonlyArray<readonly [name: string, help: string, of: (delays: IntervalHistogram) => number]> = [
  ['min', 'The least delay of the event loop in the last one to two minutes.', ({ min }) => min],
  ['max', 'The highest delay of the event loop in the last one to two minutes.', ({ max }) => max],
  ['mean', 'The mean delay of the event loop in the last one to two minutes.', ({ mean }) => mean],
  ['stddev', 'The standard deviation of the delays of the event loop in the last one to two minutes.', ({ stddev }) => stddev],
  ['p50', 'The 50th percentile of the delays of the event loop in the last one to two minutes.', (delays) => delays.percentile(50)],
  ['p90', 'The 90th percentile of the delays of the event loop in the last one to two minutes.', (delays) => delays.percentile(90)],
  ['p99', 'The 99th percentile of the delays of the event loop in the last one to two minutes.', (delays) => delays.percentile(99)],
]

/** Replaces the gauges of `prom-client` by gauges of the same names that readers do not reset. */
export const addLoopDelays = (registry: Registry): void => {
  const delays = new LoopDelays()
  for (const [name, help, of] of figures) {
    const full = `daybook_nodejs_eventloop_lag_${name}_seconds`
    registry.removeSingleMetric(full)
    new Gauge({
      name: full,
      help,
      registers: [registry],
      collect() {
        this.set(of(delays.read()) / 1e9)
      },
    })
  }
}
