import type { Mapped } from './types.js'

/** Collects what is to be said, the same words once with all the tasks they are about. */
export interface Notes {
  readonly note: (file: string, what: string, task?: string) => void
  readonly all: () => ReadonlyArray<Mapped>
}

export const notes = (): Notes => {
  const byWords = new Map<string, { readonly file: string; readonly what: string; readonly tasks: Array<string> }>()
  return {
    note: (file, what, task) => {
      const key = `${file}\n${what}`
      const known = byWords.get(key) ?? { file, what, tasks: [] }
      byWords.set(key, known)
      if (task !== undefined) known.tasks.push(task)
    },
    all: () => [...byWords.values()],
  }
}
