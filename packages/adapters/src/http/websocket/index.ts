/** A queue's messages over WebSockets. */
export { notAnUpgrade, serveWebSockets, type WebSocketLimits } from './server.js'
