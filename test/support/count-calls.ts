/** How often functions are called while something runs: a cost that is the same on every machine. */
import { Session } from 'node:inspector/promises'

/** Function calls of this process until `run` has ended, those of libraries included. */
export const countCalls = async (run: () => Promise<void>): Promise<number> => {
  const session = new Session()
  session.connect()
  try {
    await session.post('Profiler.enable')
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
    await run()
    const { result } = await session.post('Profiler.takePreciseCoverage')
    let calls = 0
    for (const { functions } of result) for (const { ranges } of functions) calls += ranges[0]?.count ?? 0
    return calls
  } finally {
    session.disconnect()
  }
}
