/** Turns for streams of logs: each turn of the event loop reads one page of one of them, so that other requests are answered in between. */

let last: Promise<void> = Promise.resolve()

/** To be awaited before each page. Resolves in a turn of the event loop that no other stream gets. */
export const ownTurn = (): Promise<void> => (last = last.then(() => new Promise((resolve) => setImmediate(resolve))))
