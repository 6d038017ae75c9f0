/** Systems with one defect each. The checker of the named invariant must catch every one of them. */
import { batchDefects } from './batch-defects.js'
import { claimDefects } from './claim-defects.js'
import type { Defect } from './defect.js'
import { logDefects } from './log-defects.js'
import { taskDefects } from './task-defects.js'

export const defects: ReadonlyArray<Defect> = [...claimDefects, ...logDefects, ...taskDefects, ...batchDefects]
