export { type OnEvent } from './past-state.js'
export { type PastLimits, pastLimitsDefault, PastStates } from './past-states.js'
export { contentsFrom, pastView } from './past-view.js'
