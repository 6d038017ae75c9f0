import { createHash } from 'node:crypto'

/** Leaves room for revision, extension and temporary suffix in a file name of 255 bytes. */
const encodedMax = 160

const encode = (stream: string): string => {
  const encoded = encodeURIComponent(stream).replace(
    /[!'()*~.]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  if (encoded.length <= encodedMax) return encoded
  return `${encoded.slice(0, 80)}-${createHash('sha256').update(stream).digest('hex')}`
}

export const snapshotName = (stream: string, revision: number): string => `${encode(stream)}.${revision}.snapshot`

export interface NamedSnapshot {
  readonly name: string
  readonly revision: number
}

/** The snapshots of this stream among a folder's file names, newest first. */
export const snapshotsOf = (stream: string, names: ReadonlyArray<string>): ReadonlyArray<NamedSnapshot> => {
  const prefix = `${encode(stream)}.`
  return names
    .filter((name) => name.startsWith(prefix))
    .flatMap((name) => {
      const revision = /^(\d{1,15})\.snapshot$/.exec(name.slice(prefix.length))?.[1]
      return revision === undefined ? [] : [{ name, revision: Number(revision) }]
    })
    .sort((a, b) => b.revision - a.revision)
}

/** The name of a file that is being written. It contains the process id of its writer. */
export const unfinishedName = (name: string, pid: number, serial: number): string => `${name}.unfinished-${pid}-${serial}`

/** The process id of the file's writer; `undefined` for any other file. */
export const unfinishedBy = (name: string): number | undefined => {
  const pid = /\.snapshot\.unfinished-(\d+)-\d+$/.exec(name)?.[1]
  return pid === undefined ? undefined : Number(pid)
}

/** The common beginning of the names of all snapshots and files of a stream, from the name of a snapshot; `undefined` for any other file. */
export const streamPartOf = (name: string): string | undefined => /^(.*)\.\d{1,15}\.snapshot$/.exec(name)?.[1]

/** The name of a row file. `id`: the process id of its writer, and a unique part. */
export const rowFileName = (stream: string, id: string): string => `${encode(stream)}.${id}.rows`

/** The row files of this stream among a folder's file names. */
export const rowFilesOf = (stream: string, names: ReadonlyArray<string>): ReadonlyArray<string> => {
  const prefix = `${encode(stream)}.`
  return names.filter((name) => name.startsWith(prefix) && isRowFile(name.slice(prefix.length - 1)))
}

/** Whether this is a row file, of any stream. */
export const isRowFile = (name: string): boolean => /\.\d+-[0-9a-z]+-\d+\.rows$/.test(name)

/** The process id of a row file's writer. */
export const writerOf = (name: string): number => Number.parseInt(name.split('.').at(-2) ?? '', 10)
