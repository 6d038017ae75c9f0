/** One thing that the doctor has looked at. */
export interface Finding {
  /** `note` is worth knowing and harms nothing. */
  readonly level: 'good' | 'note' | 'bad'
  readonly about: string
  readonly says: string
}

export type Tell = (what: string) => void
