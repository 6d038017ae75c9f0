/** A defect to plant: one change of the sources that at least one of the named tests must notice. */
export interface Plant {
  /** What is wrong then, in words. Unique. */
  readonly title: string
  /** The source file, from the root of the repository. */
  readonly file: string
  /** Text that occurs in it exactly once. Short and distinctive, so that it outlives changes around it. */
  readonly find: string
  readonly replace: string
  /** Test files that are to catch it, from the root. */
  readonly killedBy: ReadonlyArray<string>
  /** Only tests with this in their titles, in files that take long. */
  readonly named?: string
  /** A test that times out is how this one is noticed. For all others a time-out is no proof: a slow machine has them, too. */
  readonly hangs?: true
}
