/** What to say at a start without the file of the keys of erasable tasks. */
import { headOf } from '@daybook/core'
import type { Daybook } from '../daybook-types.js'

/**
 * Warns for each queue that is erasable and has had tasks. The file is made anew with the next key, so nobody would notice that it was lost until
 * tasks have become dead letters.
 *
 * @param file the missing file.
 */
export const warnOfMissingKeys = async (daybook: Daybook, file: string, warn: (message: string) => void): Promise<void> => {
  for (const engine of daybook.queues()) {
    const isMissed = await engine.read((state) => headOf(state).settings.erasable && headOf(state).lastNumber > 0)
    if (isMissed._tag === 'Right' && isMissed.right.value) {
      warn(`queue ${engine.name} is erasable, and the file with the keys of its tasks, ${file}, is not there: if it was lost, stop now and restore it. Unfinished tasks without their keys become dead letters when they are claimed, and a file that is restored later has no keys of tasks that were enqueued meanwhile`)
    }
  }
}
