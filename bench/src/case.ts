/** A benchmark: one figure or a few, measured in a process of its own. */

/** Name of a figure → its value. */
export type Figures = Readonly<Record<string, number>>

export interface Case {
  readonly name: string
  /** What is measured, for the table. */
  readonly what: string
  /** Figure → [what it must reach, whether more or less is better]. */
  readonly goals: Readonly<Record<string, readonly ['≥' | '≤', number]>>
  /** The peers' best durable figure on the same load, and whose it is: see `peers.ts`. */
  readonly peer?: string
  /** Run only when it is named: it takes long. */
  readonly onlyNamed?: boolean
  /** `scale` in (0, 1]: 1 for the real size, less for a quick look. */
  readonly run: (folder: string, scale: number) => Promise<Figures>
}

/** At least `least`, so that a quick look still measures something. */
export const scaled = (count: number, scale: number, least = 1_000): number => Math.max(Math.min(count, least), Math.round(count * scale))
