/** Long work of many callers on one thread: one piece of all of it in each turn of the event loop, so that other requests are answered in between. */

let last: Promise<void> = Promise.resolve()

/** To be awaited before each piece. Resolves in a turn of the event loop that no other caller gets. */
export const ownTurn = (): Promise<void> => (last = last.then(() => new Promise((resolve) => setImmediate(resolve))))
