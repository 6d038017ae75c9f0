/** A defect to plant: one change of the sources that at least one of the named tests must notice. */
export interface Plant {
  /** The defect in words. Unique. */
  readonly title: string
  /** The source file, from the root of the repository. */
  readonly file: string
  /** Text that occurs in the file exactly once. Short and distinctive, so that it survives changes around it. */
  readonly find: string
  readonly replace: string
  /** Test files that must catch it, from the root. */
  readonly killedBy: ReadonlyArray<string>
  /** Run only tests with this in their titles, for files that take long. */
  readonly named?: string
}
