/**
 * Random numbers by key: the same key gives the same numbers, whatever was drawn for other keys. So a task has the same arrival, duration and
 * failures under every policy, and a change of one stream leaves the others as they are.
 */
export type Random = () => number

/** Numbers in [0, 1) from sfc32, a generator with 128 bits of state. The state begins as the key. */
export const randomOf = (k1: number, k2 = 0, k3 = 0, k4 = 0): Random => {
  let [a, b, c, counter] = [k1 | 0, k2 | 0, k3 | 0, k4 | 0]
  const next = (): number => {
    const sum = (a + b + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = ((c << 21) | (c >>> 11)) + sum | 0
    return (sum >>> 0) / 2 ** 32
  }
  // The first numbers of similar keys are alike, so they are skipped.
  for (let i = 0; i < 15; i++) next()
  return next
}

/** A name as part of a key (FNV-1a). */
export const keyOf = (name: string): number => {
  let hash = 0x811c9dc5
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193)
  return hash
}

export const exponential = (random: Random, mean: number): number => -mean * Math.log(1 - random())

/** Normal distribution with mean 0 and variance 1 (Box and Muller). */
const normal = (random: Random): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())

/** The 99th percentile of the normal distribution. */
const normal99 = 2.3263478740408408

export const lognormal = (random: Random, p50: number, p99: number): number =>
  p50 * Math.exp((Math.log(p99 / p50) / normal99) * normal(random))

/** One of the choices, by weight. */
export const choose = <A>(random: Random, choices: ReadonlyArray<readonly [A, number]>): A => {
  let left = random() * choices.reduce((sum, [, weight]) => sum + weight, 0)
  for (const [choice, weight] of choices) {
    left -= weight
    if (left < 0) return choice
  }
  return (choices[choices.length - 1] as readonly [A, number])[0]
}
