/** `audit what-if`: a recorded period under other settings. */
import { lengthText } from '@daybook/projections/charts'
import { picturesOfWhatIf, Recorder, type Recording, versions, type WhatIf, whatIf } from '@daybook/projections/what-if'
import { Command, InvalidArgumentError } from 'commander'
import { plural } from '@daybook/core/common'
import { dataDirDefault } from '../../config/serve-options.js'
import { readTime } from '../../time.js'
import { addWhere, audited, revisionOrTime, type Where } from '../audit/options.js'
import { decodedOf } from '../audit/replayed.js'
import type { AuditSource } from '../audit/source.js'
import { type Cli, examples } from '../cli.js'
import { CliError, UsageError } from '../exit-codes.js'
import type { Printer } from '../printer.js'
import type { Progress } from '../progress.js'
import { drawPictures } from '../simulation/pictures.js'
import { comparison, metText, says, tenantText } from '../simulation/report.js'
import { clean, clock } from '../text.js'
import { positive, seedNumber } from '../values.js'

interface Flags extends Where {
  readonly from?: number | string
  readonly to?: number | string
  readonly set?: ReadonlyArray<string>
  readonly settings?: string
  readonly agents?: number
  readonly seed?: number
  readonly svg?: string
}

export const whatIfCommand = (cli: Cli): Command =>
  addWhere(new Command('what-if').description('what a recorded period would have been under other settings, or with other agents'))
    .option('--from <moment>', 'the period begins with this revision or time (default: the first event)', revisionOrTime)
    .option('--to <moment>', 'and ends with it (default: the last event)', revisionOrTime)
    .option('--set <key=value>', 'a setting, as in daybook settings set; repeatable', (text, before: ReadonlyArray<string> = []) => [...before, text])
    .option('--settings <file>', 'YAML: any part of the settings, as in daybook settings set --file')
    .option('--agents <n>', 'instead of the recorded agents: this many, which take everything, all the time', agentCount)
    .option('--seed <number>', 'for what was not recorded: other chances (default: 1)', seedNumber)
    .option('--svg <folder>', 'also draw pictures there: waiting tasks, waits, deadlines')
    .addHelpText('after', examples(
      'daybook audit what-if --from 2026-07-01T08:00:00Z --to 2026-07-01T20:00:00Z --set policy=score',
      'daybook audit what-if --set capacity.maxConcurrentAgents=30 --set assignment.tenants.beta=2 --svg pictures',
      `daybook audit what-if --data ${dataDirDefault} --agents 12 --json | jq .figures.changed.all.waits`,
      'daybook audit what-if                    # nothing changed: how far the model is from what happened',
      '',
      'The recorded tasks come again, each attempt takes as long and ends as it did, agents are there when they were, and people do what they did. The',
      'code that decides in a server decides, in virtual time. First with the recorded settings: what differs from the record is the error of the model.',
      'docs/what-if.md tells what the model leaves out. The log is read from its first event on.',
    ))
    .action(audited<Flags>(cli, async (source, printer, { from, to, set, settings, agents, seed, svg }, progress) => {
      if (settings !== undefined && set !== undefined) throw new UsageError('give --set or --settings, not both')
      // Loaded only here, because other audits start sooner without YAML.
      const { patchOf, readPatch } = await import('../setting-paths.js')
      const patch = settings !== undefined ? await readPatch(settings) : patchOf(set ?? [])
      const recording = await record(source, from, to, progress)
      progress('running the model')
      const result = whatIf(recording, { patch, ...(agents === undefined ? {} : { agents }), ...(seed === undefined ? {} : { seed }) })
      const pictures = svg === undefined ? [] : await drawPictures(picturesOfWhatIf(source.queue, result), svg)
      printer.answer(shown(result), () => print(printer, source.queue, result))
      if (pictures.length > 0) printer.note(`pictures: ${pictures.join(', ')}`)
    }))

/** As many as a simulation takes. */
const agentsMax = 10_000
const agentCount = (text: string): number => {
  const count = positive(text)
  if (count > agentsMax) throw new InvalidArgumentError(`at most ${agentsMax} agents are possible`)
  return count
}

/** Milliseconds of a time that was checked before. */
const msOf = (time: string): number => readTime(time) ?? Number.NaN

const record = async (source: AuditSource, from: number | string = 0, to: number | string | undefined, progress: Progress): Promise<Recording> => {
  const recorder = new Recorder(source.queue)
  const begins = typeof from === 'number' ? ({ revision }: { readonly revision: number }) => revision >= from : (event: { readonly at: string }) => msOf(event.at) >= msOf(from)
  let hasBegun = false
  let last = Number.NEGATIVE_INFINITY
  for await (const event of source.events({}, to === undefined ? undefined : typeof to === 'number' ? { revision: to } : { at: to })) {
    progress(`reading the log: revision ${event.revision}`)
    if (!hasBegun && begins(event)) {
      recorder.begin(typeof from === 'string' ? msOf(from) : msOf(event.at))
      hasBegun = true
    }
    recorder.take(decodedOf(event), event.type)
    last = msOf(event.at)
  }
  if (!hasBegun) throw new CliError(noEvents(source.queue, last, to !== undefined))
  return recorder.end(typeof to === 'string' ? msOf(to) + 1 : last + 1)
}

/** `last`: when the last event before the period was, in milliseconds. */
const noEvents = (queue: string, last: number, hasEnd: boolean): string => {
  if (Number.isFinite(last)) return `there are no events in this period: the last one before is of ${new Date(last).toISOString()}`
  return hasEnd ? `queue ${queue} has no events up to the end of this period` : `queue ${queue} has no events: --queue names another, and daybook queues lists them`
}

const shown = ({ from, until, ...rest }: WhatIf): object => ({ from: new Date(from).toISOString(), until: new Date(until).toISOString(), ...rest })

const titles = { recorded: 'AS RECORDED', model: 'MODEL OF IT', changed: 'CHANGED' } as const

const print = (printer: Printer, queue: string, { from, until, tasks, agents, notes, figures, isChanged }: WhatIf): void => {
  const columns = isChanged ? versions : versions.slice(0, 2)
  const all = columns.map((version) => figures[version])
  printer.line(`${clean(queue)}: ${clock(new Date(from).toISOString())}, ${lengthText((until - from) / 1_000)}, ${plural(tasks, 'task')}, ${plural(agents.recorded, 'agent')}${agents.changed === agents.recorded ? '' : `, changed: ${agents.changed}`}`)
  for (const note of notes) printer.line(`note: ${clean(note)}`)
  printer.line()
  printer.table(['', ...columns.map((version) => titles[version])], comparison(all))
  const heads = [...columns.flatMap((version) => [`P95 ${titles[version]}`]), ...columns.map((version) => `MET ${titles[version]}`)]
  printer.line('\nWaits by priority, from the arrival to the first claim, and deadlines met')
  const priorities = [...new Set(all.flatMap(({ byPriority }) => byPriority.map(({ priority }) => priority)))]
  printer.table(['PRIORITY', ...heads], priorities.map((priority) => {
    const groups = all.map(({ byPriority }) => byPriority.find((group) => group.priority === priority))
    return [String(priority), ...groups.map((group) => (group === undefined ? '' : lengthText(group.waits.p95))), ...groups.map((group) => (group === undefined ? '' : metText(group)))]
  }))
  printer.line('\nWaits by tenant')
  const tenants = [...new Set(all.flatMap(({ byTenant }) => byTenant.map(({ tenant }) => tenant)))]
  printer.table(['TENANT', ...heads], tenants.map((tenant) => {
    const groups = all.map(({ byTenant }) => byTenant.find((group) => group.tenant === tenant))
    return [tenantText(tenant), ...groups.map((group) => (group === undefined ? '' : lengthText(group.waits.p95))), ...groups.map((group) => (group === undefined ? '' : metText(group)))]
  }))
  for (const version of columns) {
    printer.line(`\n${titles[version]}:`)
    for (const line of says(figures[version])) printer.line(`- ${line}`)
  }
}
