/** Pseudo-random numbers (mulberry32): the same seed gives the same numbers. */
export type Random = () => number

export const randomOf = (seed: number): Random => {
  let a = seed >>> 0
  return () => {
    a = (a + 0x6d2b79f5) >>> 0
    let t = a
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

export const below = (random: Random, n: number): number => Math.floor(random() * n)
export const oneOf = <A>(random: Random, choices: ReadonlyArray<A>): A => choices[below(random, choices.length)] as A
