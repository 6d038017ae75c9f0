/** A queue's messages over WebSockets. */
export { type Message, messagesOf } from './messages.js'
export { notAnUpgrade, serveWebSockets, tooSlow, type WebSocketLimits, type WebSockets } from './server.js'
