export { type EndedRequest, noRoute, probes, requestFields, RequestLog, type RequestLogChoice, requestLogChoices } from './request-log.js'
export { routeOf, waitMsOf, watchRequests } from './watch-requests.js'
