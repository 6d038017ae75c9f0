/** `1 task`, `2 tasks`. */
export const plural = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`

/** `the first event is`, `the first 2 events are`. */
export const theFirst = (count: number, one: string): string => (count === 1 ? `the first ${one} is` : `the first ${count} ${one}s are`)
