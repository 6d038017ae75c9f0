import * as fc from 'fast-check'

/** A part of something, from 0 to 1. Not `fc.double`, which gives all floating point numbers alike: most of those are next to 0. */
export const share = fc.integer({ min: 0, max: 100 }).map((percent) => percent / 100)
