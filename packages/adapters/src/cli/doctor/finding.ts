/** The result of one check of the doctor. */
export interface Finding {
  /** `note`: worth knowing, but harmless. `unread`: could not be checked. */
  readonly level: 'good' | 'note' | 'unread' | 'bad'
  readonly about: string
  readonly says: string
}

export type Tell = (what: string) => void
