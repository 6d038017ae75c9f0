/** @throws RangeError naming the option, its range and what was given. */
export const inRange = (name: string, value: number, min: number, max: number): number => {
  if (!(value >= min && value <= max)) throw new RangeError(`${name} must be from ${min} to ${max}, not ${value}`)
  return value
}
