export { type EndedRequest, noRoute, requestFields, RequestLog, type RequestLogChoice, requestLogChoices } from './request-log.js'
export { watchRequests } from './watch-requests.js'
