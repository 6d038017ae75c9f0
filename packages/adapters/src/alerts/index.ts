/** Reports alerts: the log. */
export { type AlertLine, logAlerts } from './alert-log.js'
