/** Parses the system calls of a program from the output of `strace -f -y -o FILE`. */
export interface Call {
  readonly thread: string
  readonly name: string
  /** The arguments as text. strace adds the path of each descriptor. */
  readonly about: string
  readonly failed: boolean
}

/** The calls in the order in which they ended. An interrupted call has two lines. */
export const callsIn = (trace: string): ReadonlyArray<Call> => {
  const begun = new Map<string, string>()
  return trace.split('\n').flatMap((line) => {
    const [, thread = '', rest = ''] = /^(\d+) +(.*)$/.exec(line) ?? []
    const unfinished = /^(.*) <unfinished \.\.\.>$/.exec(rest)?.[1]
    if (unfinished !== undefined) {
      begun.set(thread, unfinished)
      return []
    }
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(rest)?.[1]
    const whole = resumed === undefined ? rest : `${begun.get(thread) ?? ''}${resumed}`
    const [, name, about, result] = /^(\w+)\((.*)\) += (-?\d+)/.exec(whole) ?? []
    return name === undefined || about === undefined ? [] : [{ thread, name, about, failed: Number(result) < 0 }]
  })
}

export const syncs = 'fsync,fdatasync'
export const writes = 'write,pwrite64,writev,pwritev,ftruncate'
export const names = 'link,linkat,rename,renameat,renameat2'
export const folders = 'mkdir,mkdirat'

const isOf = (list: string, { name }: Call): boolean => list.split(',').includes(name)
export const isSync = (call: Call): boolean => isOf(syncs, call)
export const isWrite = (call: Call): boolean => isOf(writes, call)
/** Whether the call is about the file, as `write(17</dir/file>, "text")` is. */
export const isAbout = (call: Call, path: string): boolean => call.about.includes(`<${path}>`)
/** Whether the call gives a file this path. */
export const isNaming = (call: Call, path: string): boolean => isOf(names, call) && call.about.replace(/, 0$/, '').endsWith(`"${path}"`)
/** Whether the call makes the folder. */
export const isMaking = (call: Call, path: string): boolean => isOf(folders, call) && call.about.includes(`"${path}"`)
