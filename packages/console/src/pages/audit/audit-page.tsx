/** Who did what: the commands of people and services, by actor, task and period. */
import type { EventPage } from '@daybook/client'
import { useEffect, useState } from 'preact/hooks'
import { address, go, linkTo, momentShown, queueLink, withQuery } from '../../address/address.js'
import { pathOf, type Query } from '../../address/url.js'
import { ApiProblem, mayPass, request, requestLines } from '../../api/request.js'
import { DataTable } from '../../parts/data-table.js'
import { counted, numberText } from '../../parts/format.js'
import { Skeleton } from '../../parts/loaded.js'
import { Moment } from '../../parts/moment.js'
import { type periods, periodShown, type ShownPeriod } from '../../parts/period.js'
import { PeriodChoice } from '../../parts/period-choice.js'
import { ProblemNote } from '../../parts/problem-note.js'
import { SaveButton, saveFile } from '../../parts/save-file.js'
import type { PageParams } from '../page-params.js'
import { csvCell } from '../tasks/export-text.js'
import { type Command, commandsOf, type CommandFilter, csvHeader, csvRow, findCommands, type FoundCommands, isAsked } from './commands.js'

const enough = 100
const hoursDefault: keyof typeof periods = '24'

interface Search {
  readonly path: string
  /** Where to begin: a time, or a revision to go on from. */
  readonly from: string
  readonly query: Partial<Query>
  readonly filter: CommandFilter
}

const searchOf = (queue: string, { from, to, hours }: ShownPeriod): Search => {
  const { actor, task, work, after } = address.value.query
  // The last hours end at the moment that is shown: exactly, and not with a quarter of an hour.
  const moment = hours === undefined && to !== undefined ? { at: to } : momentShown.value
  const filter = { ...(actor === undefined ? {} : { actor }), ...(task === undefined ? {} : { task }), withWork: work === 'shown' }
  return { path: pathOf(['api', 'queues', queue, 'events']), from: after ?? from, query: { actor, task, ...moment }, filter }
}

type State = { readonly key: string; readonly found?: FoundCommands; readonly problem?: ApiProblem }

/** After a failure that may pass, the server is not asked for so long. */
const againMs = 3_000

/** Asked once: what has happened does not change. What may succeed by itself is tried again. `round`: asks once more. */
const useCommands = (search: Search, round: number): State => {
  const key = JSON.stringify([search, round])
  const [state, setState] = useState<State>({ key })
  useEffect(() => {
    const controller = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const { path, from, query, filter } = search
    const read = async (next: string): Promise<EventPage> => (await request<EventPage>('GET', path, { query: { ...query, from: next, limit: '1000' }, signal: controller.signal })).value
    const find = (): void =>
      void findCommands(read, from, enough, filter).then(
        (found) => setState({ key, found }),
        (error: unknown) => {
          if (controller.signal.aborted) return
          const problem = error instanceof ApiProblem ? error : new ApiProblem(0, 'internal', String(error))
          setState({ key, problem })
          if (mayPass(problem)) timer = setTimeout(find, againMs)
        },
      )
    find()
    return () => {
      controller.abort()
      clearTimeout(timer)
    }
    // The key is the search.
  }, [key])
  return state.key === key ? state : { key }
}

export const AuditPage = ({ params: { queue = '' } }: { readonly params: PageParams }) => {
  const period = periodShown(hoursDefault)
  const search = searchOf(queue, period)
  const [round, setRound] = useState(0)
  const { found, problem } = useCommands(search, round)
  return (
    <>
      <h1>Who did what</h1>
      <PeriodChoice shown={period} />
      <Filters filter={search.filter} />
      {problem !== undefined ? <ProblemNote problem={problem} again={() => setRound(round + 1)} /> : found === undefined ? <Skeleton lines={8} /> : (
        <>
          <div class="bar downloads">
            <Said found={found} search={search} />
            <span class="grow" />
            <Export queue={queue} search={search} kind="csv">CSV</Export>
            <Export queue={queue} search={search} kind="ndjson">JSON lines</Export>
          </div>
          <Commands queue={queue} commands={commandsOf(found.events)} />
          {found.next !== null && <p><a class="button" href={withQuery({ after: String(found.next) })}>Go on from event {numberText(found.next)} →</a></p>}
        </>
      )}
    </>
  )
}

const Said = ({ found: { events, next }, search: { filter } }: { readonly found: FoundCommands; readonly search: Search }) => (
  <span class="quiet">
    {counted(commandsOf(events).length, 'command')}, the oldest first.{next !== null && ` There is more after event ${numberText(next - 1)}.`}
    {!filter.withWork && ' What was enqueued, claimed and reported is left out.'}
  </span>
)

const Filters = ({ filter: { actor, task, withWork } }: { readonly filter: CommandFilter }) => {
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    const form = new FormData(event.currentTarget as HTMLFormElement)
    const text = (name: string): string | undefined => {
      const given = String(form.get(name)).trim()
      return given === '' ? undefined : given
    }
    go(withQuery({ actor: text('actor'), task: text('task'), after: undefined }), { stay: true })
  }
  return (
    <div class="bar choices">
      <form key={`${actor} ${task}`} class="bar" onSubmit={submit}>
        <label>Actor <input name="actor" defaultValue={actor} autocomplete="off" spellcheck={false} data-search placeholder="the name of a token" /></label>
        <label>Task <input name="task" defaultValue={task} autocomplete="off" spellcheck={false} placeholder="an id, or #number" /></label>
        <button type="submit">Filter</button>
        {(actor !== undefined || task !== undefined) && <a href={withQuery({ actor: undefined, task: undefined, after: undefined })}>everybody</a>}
      </form>
      <label class="check"><input type="checkbox" checked={withWork} onChange={({ currentTarget: { checked } }) => go(withQuery({ work: checked ? 'shown' : undefined, after: undefined }), { stay: true })} /> with what was enqueued, claimed and reported</label>
    </div>
  )
}

const tasksShown = 3

const Commands = ({ queue, commands }: { readonly queue: string; readonly commands: ReadonlyArray<Command> }) => (
  <DataTable<Command>
    caption="Commands" rows={commands} rowKey={({ revision }) => String(revision)} empty="Nobody did anything of the kind in this period."
    columns={[
      { key: 'at', title: 'When', cell: ({ at }) => <Moment at={at} as="clock" /> },
      { key: 'actor', title: 'Who', cell: ({ actor }) => <a class="name" href={withQuery({ actor, after: undefined })}>{actor}</a> },
      {
        key: 'did', title: 'Did',
        cell: ({ revision, events, subject }) => (
          <>{events.map(([type, count], i) => <span key={type}>{i > 0 && ', '}{i === 0 ? <a href={linkTo(['q', queue, 'log'], { from: String(revision) })}>{type}</a> : type}{count > 1 && ` × ${numberText(count)}`}</span>)}{subject !== undefined && <span class="quiet"> {subject}</span>}</>
        ),
      },
      {
        key: 'tasks', title: 'Tasks',
        cell: ({ tasks }) => (
          <>{tasks.slice(0, tasksShown).map((task) => <div key={task}><a class="name" href={queueLink(queue, 'tasks', task)}>{task}</a></div>)}{tasks.length > tasksShown && <span class="quiet">and {numberText(tasks.length - tasksShown)} more</span>}</>
        ),
      },
      { key: 'reason', title: 'Reason', cell: ({ reason }) => reason },
      { key: 'then', title: 'The queue', cell: ({ revision }) => <a class="quiet small" href={linkTo(['q', queue], { at: undefined, revision: String(revision) })}>as it was then</a> },
    ]}
  />
)

/** Everything that matches, an event a line, read from the log as a stream. */
const Export = ({ queue, search: { path, query, filter, from }, kind, children }: { readonly queue: string; readonly search: Search; readonly kind: 'csv' | 'ndjson'; readonly children: string }) => (
  <SaveButton
    save={async (progress, signal) => {
      const line = (cells: ReadonlyArray<unknown>): string => `${cells.map(csvCell).join(',')}\r\n`
      const parts: Array<string> = kind === 'csv' ? [line(csvHeader)] : []
      let count = 0
      for await (const text of requestLines(path, { query: { ...query, from }, signal })) {
        const event = JSON.parse(text) as EventPage['events'][number]
        if (!isAsked(event, filter)) continue
        parts.push(kind === 'csv' ? line(csvRow(event)) : `${text}\n`)
        if (++count % 1_000 === 0) progress(`${numberText(count)} events …`)
      }
      saveFile(`${queue}-who-did-what.${kind}`, parts, kind === 'csv' ? 'text/csv' : 'application/x-ndjson')
    }}
  >
    {children}
  </SaveButton>
)
