/**
 * Turns for those who read long pages for clients, of logs (as streams or over WebSockets) or of tasks: each turn of the event loop reads one page for
 * one of them, so that other requests are answered in between.
 */

let last: Promise<void> = Promise.resolve()

/** To be awaited before each page. Resolves in a turn of the event loop that no other of them gets. */
export const ownTurn = (): Promise<void> => (last = last.then(() => new Promise((resolve) => setImmediate(resolve))))
