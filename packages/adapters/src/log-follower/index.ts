/** Following the log of a queue, from a checkpoint. */
export { forEachQueue } from './each-queue.js'
export { followLog, isLost, type LogFollower, type Problem, type RetryMs, Stopped, type Tools } from './follow-log.js'
