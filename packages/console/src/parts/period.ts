/** Periods of reports. */

const quarterMs = 900_000

/** From so many hours ago on: a whole quarter of an hour, so that the question stays the same for as long. */
export const sinceHours = (hours: number): { readonly from: string } => ({ from: new Date(Math.floor((Date.now() - hours * 3_600_000) / quarterMs) * quarterMs).toISOString() })
