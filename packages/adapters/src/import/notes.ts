import type { Mapped } from './types.js'

/** Collects notes. Equal notes are joined, with all the tasks that they are about. */
export interface Notes {
  readonly note: (file: string, what: string, task?: string) => void
  readonly all: () => ReadonlyArray<Mapped>
}

export const notes = (): Notes => {
  const byWords = new Map<string, { readonly file: string; readonly what: string; readonly tasks: Set<string> }>()
  return {
    note: (file, what, task) => {
      const key = `${file}\n${what}`
      const known = byWords.get(key) ?? { file, what, tasks: new Set() }
      byWords.set(key, known)
      if (task !== undefined) known.tasks.add(task)
    },
    all: () => [...byWords.values()].map(({ file, what, tasks }) => ({ file, what, tasks: [...tasks] })),
  }
}
