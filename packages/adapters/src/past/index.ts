export { openLog } from '../open-log.js'
export { type OnEvent, type PastLimits, pastLimitsDefault, PastStates, type Steps } from './past-states.js'
export { contentsFrom, pastView } from './past-view.js'
export { revisionAt } from './revision-at.js'
