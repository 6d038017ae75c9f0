/** Periods of reports. */

const quarterMs = 900_000

/** A period that began `hours` ago, rounded to a quarter of an hour, so that the request stays the same for that long. */
export const sinceHours = (hours: number): { readonly from: string } => ({ from: new Date(Math.floor((Date.now() - hours * 3_600_000) / quarterMs) * quarterMs).toISOString() })
