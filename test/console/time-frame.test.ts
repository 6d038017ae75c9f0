/** CON-8: which stretch of time the slider covers, and where things stand in it. */
import { bucketOf, frameOf, frameSizes, placeIn, rangeOf, stepOf } from '@daybook/console/internal'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

const hour = 3_600_000
const day = 24 * hour
const present = Date.UTC(2026, 0, 31)
const asked = { size: 'day', first: present - 10 * day, present, moments: [], held: undefined } as const

describe('CON-8: the frame', () => {
  test('of the present is the last hours, and begins with the log if that is younger', () => {
    expect(frameOf(asked)).toEqual({ from: present - day, to: present })
    expect(frameOf({ ...asked, first: present - 3 * hour })).toEqual({ from: present - 3 * hour, to: present })
    expect(frameOf({ ...asked, size: 'all' })).toEqual({ from: present - 10 * day, to: present })
    expect(frameOf({ ...asked, first: present })).toEqual({ from: present - 10_000, to: present })
    expect(frameOf({ ...asked, first: undefined })).toEqual({ from: present - day, to: present })
  })

  test('of an earlier moment lies around it, and stays while one moves within it', () => {
    const earlier = frameOf({ ...asked, moments: [present - 5 * day] })
    expect(earlier).toEqual({ from: present - 5.5 * day, to: present - 4.5 * day })
    expect(frameOf({ ...asked, moments: [present - 5.4 * day], held: earlier })).toBe(earlier)
    expect(frameOf({ ...asked, moments: [present - 6 * day], held: earlier })).toEqual({ from: present - 6.5 * day, to: present - 5.5 * day })
    // Of another length it does not stay, and within the last hours it ends with the present.
    expect(frameOf({ ...asked, size: 'hour', moments: [present - 5 * day], held: earlier })).toEqual({ from: present - 5 * day - hour / 2, to: present - 5 * day + hour / 2 })
    expect(frameOf({ ...asked, moments: [present - hour], held: earlier }).to).toBe(present)
  })

  test('whatever is shown lies in it, and the end of the slider is its end', () => {
    const moments = fc.array(fc.integer({ min: 0, max: 40 * day }), { maxLength: 2 })
    fc.assert(fc.property(fc.constantFrom(...(Object.keys(frameSizes) as ReadonlyArray<keyof typeof frameSizes>)), fc.option(fc.integer({ min: 0, max: 40 * day }), { nil: undefined }), moments, moments, (size, age, ages, agesBefore) => {
      const frameAt = (of: ReadonlyArray<number>, held: Parameters<typeof frameOf>[0]['held']) => frameOf({ size, first: age === undefined ? undefined : present - age, present, moments: of.map((each) => present - each), held })
      const frame = frameAt(ages, frameAt(agesBefore, undefined))
      for (const each of ages) {
        expect(frame.from).toBeLessThanOrEqual(present - each)
        expect(frame.to).toBeGreaterThanOrEqual(present - each)
      }
      expect(frame.to).toBeLessThanOrEqual(present)
      const { min, max, step } = rangeOf(frame)
      expect(max).toBe(frame.to)
      expect((max - min) % step).toBe(0)
      expect(min).toBeLessThanOrEqual(frame.from)
      expect((max - min) / step).toBeLessThanOrEqual(1_441)
      const { x, width } = placeIn(frame, present - 2 * hour, present - hour)
      expect(x >= 0 && width >= 0 && x + width <= 1 + 1e-9).toBe(true)
    }))
  })

  test('is as fine as its length allows, and its picture has at most some hundred bars', () => {
    const of = (length: number) => ({ from: present - length, to: present })
    expect([10_000, hour, 6 * hour, day, 7 * day, 30 * day].map((length) => stepOf(of(length)) / 1_000)).toEqual([1, 5, 15, 60, 600, 1_800])
    expect([hour, day, 7 * day, 30 * day, 90 * day, 365 * day, 4_000 * day].map((length) => bucketOf(of(length)))).toEqual(['15', '15', '120', '360', 'day', 'week', 'month'])
  })
})
