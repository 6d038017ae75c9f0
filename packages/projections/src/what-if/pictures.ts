/** The pictures of a what-if, by file name. */
import { timeChart } from '../charts/index.js'
import { bandsOf, deadlines, type Run, waits } from '../simulate/pictures.js'
import { type Version, versions, type WhatIf } from './what-if.js'

const names: Readonly<Record<Version, string>> = { recorded: 'as recorded', model: 'model of it', changed: 'changed' }

/** `of`: the subject, for the subtitles. */
export const picturesOfWhatIf = (of: string, { figures }: WhatIf): Readonly<Record<string, string>> => {
  const runs: ReadonlyArray<Run> = versions.map((version) => ({ name: names[version], isMain: version === 'changed', figures: figures[version] }))
  const waiting = versions.map((version) => {
    const { series } = figures[version]
    const bands = series.waitingByTenant.map(({ tenant, tasks }) => ({ name: tenant ?? 'no tenant', values: tasks }))
    return [`waiting-${version}`, timeChart({ title: 'Waiting tasks by tenant', subtitle: `${of}, ${names[version]}`, unit: 'tasks', pieceSeconds: series.pieceSeconds, bands: bandsOf(bands) })] as const
  })
  return { ...Object.fromEntries(waiting), waits: waits(of, runs), deadlines: deadlines(of, runs) }
}
