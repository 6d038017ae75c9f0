/** Counts function calls, which are a measure of cost that is the same on every machine. */
import { Session } from 'node:inspector/promises'

/** Number of function calls in this process while `run` runs, libraries included. */
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
