/** The result of one check of the doctor. */
import { errorText } from '../../error-text.js'
export interface Finding {
  /** `note`: worth knowing, but harmless. `unread`: could not be checked. */
  readonly level: 'good' | 'note' | 'unread' | 'bad'
  readonly about: string
  readonly says: string
}

/** What `run` returns. If it fails, the reason becomes a bad finding, and the doctor goes on. */
export const orBad = async <A>(findings: Array<Finding>, about: string, run: () => Promise<A>): Promise<A | undefined> => {
  try {
    return await run()
  } catch (error) {
    findings.push({ level: 'bad', about, says: errorText(error) })
    return undefined
  }
}

export type Tell = (what: string) => void
