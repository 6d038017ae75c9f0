export { type RunningServer, serve } from './serve.js'
