/** One thing that the doctor has looked at. */
export interface Finding {
  /** `note` is worth knowing and harms nothing; `unread` could not be looked at, so nobody knows. */
  readonly level: 'good' | 'note' | 'unread' | 'bad'
  readonly about: string
  readonly says: string
}

export type Tell = (what: string) => void
