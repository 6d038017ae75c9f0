/** @throws RangeError naming the option, its range and what was given. */
export const inRange = (name: string, value: number, min: number, max: number): number => {
  if (!(value >= min && value <= max)) throw new RangeError(`${name} must be from ${min} to ${max}, not ${value}`)
  return value
}

/** The same for what is counted. @throws RangeError, also for a number that is not whole. */
export const wholeInRange = (name: string, value: number, min: number, max: number): number => {
  if (!Number.isInteger(inRange(name, value, min, max))) throw new RangeError(`${name} must be a whole number from ${min} to ${max}, not ${value}`)
  return value
}
