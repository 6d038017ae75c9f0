/** A benchmark: one or a few figures, measured in a separate process. */

/** Name of a figure → its value. */
export type Figures = Readonly<Record<string, number>>

export interface Case {
  readonly name: string
  /** What the benchmark measures, for the table. */
  readonly what: string
  /** Figure → [direction, goal]: `≥` if more is better, `≤` if less is better. */
  readonly goals: Readonly<Record<string, readonly ['≥' | '≤', number]>>
  /** Name of the peers' figure on the same load: see `peers.ts`. */
  readonly peer?: string
  /** Runs only if it is named, because it takes long. */
  readonly onlyNamed?: boolean
  /** `scale` in (0, 1]: 1 is the real size, less is for a quick run. */
  readonly run: (folder: string, scale: number) => Promise<Figures>
}

/** Scales `count`, but not below `least`, so that a quick run still measures something. */
export const scaled = (count: number, scale: number, least = 1_000): number => Math.max(Math.min(count, least), Math.round(count * scale))
