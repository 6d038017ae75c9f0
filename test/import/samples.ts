/** Real folders of queue files beside the checkout; the small sample of the examples where they are missing. */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = new URL('../../', import.meta.url)
export const realSamples = new URL('../shared/data/loki/', root)
export const hasRealSamples = existsSync(realSamples)

/** For titles: a test that ran on less than it should says so. */
export const samplesUsed = hasRealSamples ? 'three real folders' : 'the small sample in examples/data, the real folders not being here'

export const folder = (name: string): string => fileURLToPath(hasRealSamples ? new URL(name, realSamples) : new URL('examples/data/queue', root))
