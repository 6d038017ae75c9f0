export { type HttpLimits, httpLimitsDefault } from './limits.js'
export { startHttpServer, type HttpServer, type HttpServerOptions } from './server.js'
export { readTasks } from './read-tasks.js'
export { inexactNumbers } from '../read-json.js'
