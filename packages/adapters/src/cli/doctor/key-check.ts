/** Whether the keys of erasable tasks are there. */
import { plural } from '@daybook/core/common'
import { errorText } from '../../error-text.js'
import { encryptedIn, readKeys } from '../../task-keys/index.js'
import type { Finding } from './finding.js'

export class KeyCheck {
  private readonly keys: ReturnType<typeof readKeys>
  private problem: string | undefined
  /** Number of contents of the present queue whose key was never in the file. The record of an erased key is in it. */
  private missing = 0

  constructor(private readonly file: string) {
    this.keys = readKeys(file)
  }

  event(data: string): void {
    const keyId = encryptedIn(data)?.keyId
    if (keyId === undefined || this.problem !== undefined) return
    try {
      if (this.keys.find(keyId) === undefined) this.missing++
    } catch (error) {
      this.problem = errorText(error)
    }
  }

  /** What was found since the last call. */
  findings(queue: string): ReadonlyArray<Finding> {
    const { missing, problem, file } = this
    this.missing = 0
    const about = `queue ${queue}`
    if (problem !== undefined) return [{ level: 'bad', about, says: problem }]
    if (missing === 0) return []
    const contents = missing === 1 ? 'the content of 1 event' : `the contents of ${plural(missing, 'event')}`
    return [{ level: 'bad', about, says: `${contents} cannot be read, because the key is not in ${file}: restore that file from a backup. Unfinished tasks without their keys become dead letters` }]
  }

  close(): void {
    this.keys.close()
  }
}
