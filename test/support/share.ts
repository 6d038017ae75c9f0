import * as fc from 'fast-check'

/** A share from 0 to 1. Not `fc.double`, which draws all floating point numbers alike, and most of these are close to 0. */
export const share = fc.integer({ min: 0, max: 100 }).map((percent) => percent / 100)
