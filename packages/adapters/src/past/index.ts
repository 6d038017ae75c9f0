export { openLog } from './open-log.js'
export { type PastLimits, pastLimitsDefault, PastStates } from './past-states.js'
export { pastView } from './past-view.js'
export { revisionAt } from './revision-at.js'
