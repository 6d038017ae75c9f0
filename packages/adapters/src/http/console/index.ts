/** The web console: static files, served from memory. */
export { type ConsoleSite, readConsole } from './site.js'
export { consolePages, serveConsole } from './serve-console.js'
