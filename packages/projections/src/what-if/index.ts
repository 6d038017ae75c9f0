/** What a recorded period would have been under other settings. Pure. */
export { picturesOfWhatIf } from './pictures.js'
export { Recorder } from './recorder.js'
export type { Attempt, RecordedAgent, RecordedTask, Recording } from './recording.js'
export { type Version, versions, type WhatIf, whatIf, type WhatIfOptions } from './what-if.js'
