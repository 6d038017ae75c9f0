/** Telling of alerts: the log. */
export { type AlertLine, startAlertLog } from './alert-log.js'
