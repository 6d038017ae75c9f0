/** Reports alerts: the log. */
export { logAlerts } from './alert-log.js'
