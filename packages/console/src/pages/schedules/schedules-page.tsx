/** Schedules: the next run of each, the outcome of its last runs, and pausing it. */
import type { Enqueued, ScheduleView } from '@daybook/client'
import { momentShown, queueLink } from '../../address/address.js'
import { command, revisionOf } from '../../api/command.js'
import { randomKey } from '../../api/request.js'
import { may } from '../../api/session.js'
import { useQueue } from '../../api/use-query.js'
import { type Action, ActionButton } from '../../parts/action.js'
import { Empty } from '../../parts/empty.js'
import { durationText } from '../../parts/format.js'
import { Loaded } from '../../parts/loaded.js'
import { clockTime, Moment } from '../../parts/moment.js'
import { StatusMark } from '../../parts/status.js'
import type { PageParams } from '../page-params.js'

export const SchedulesPage = ({ params: { queue = '' } }: { readonly params: PageParams }) => {
  const shown = useQueue<{ readonly schedules: ReadonlyArray<ScheduleView> }>(queue, ['schedules'], { everyMs: 30_000 })
  return (
    <>
      <h1>Schedules</h1>
      <Loaded shown={shown} lines={6}>
        {({ schedules }) =>
          schedules.length === 0 ? (
            <Empty title="No schedules"><p>A schedule enqueues a task whenever it is due:</p><pre><code>npx daybook schedules set nightly --cron '30 2 * * *' --zone Europe/Berlin --type ops-backup</code></pre></Empty>
          ) : (
            <ul class="stack">{schedules.map((schedule) => <Schedule key={schedule.name} queue={queue} listed={schedule} />)}</ul>
          )
        }
      </Loaded>
    </>
  )
}

const Schedule = ({ queue, listed }: { readonly queue: string; readonly listed: ScheduleView }) => {
  // The list has one next run; this answer has five.
  const { value: schedule = listed } = useQueue<ScheduleView>(queue, ['schedules', listed.name], { everyMs: 30_000 })
  const { name, cron, every, timeZone, missed, overlap, paused, task, next, last } = schedule
  const isNow = momentShown.value === undefined
  return (
    <li class="panel">
      <header class="bar">
        <h2>{name}</h2>
        {paused && <span class="chip" data-status="waiting"><StatusMark status="waiting" />paused</span>}
        <span class="grow" />
        {isNow && may.enqueue.value && <ActionButton action={() => runNow(queue, schedule)}>Run now …</ActionButton>}
        {isNow && may.operate.value && <ActionButton action={() => pauseOrResume(queue, schedule)}>{paused ? 'Resume …' : 'Pause …'}</ActionButton>}
      </header>
      <p>
        {cron !== undefined ? <><code>{cron}</code> in {timeZone}</> : <>every {durationText(every ?? 0)}</>}: <code>{task.type}</code>{task.description !== undefined && <> <span class="quiet">{task.description}</span></>}
      </p>
      <div class="thirds">
        <div>
          <h3>Next</h3>
          {next.length === 0 ? <p class="quiet">{paused ? 'None while it is paused.' : 'None.'}</p> : <ul>{next.map((at) => <li key={at}>{clockTime(Date.parse(at))} <span class="quiet"><Moment at={at} /></span></li>)}</ul>}
        </div>
        <div>
          <h3>Last</h3>
          {last.length === 0 ? <p class="quiet">None yet.</p> : (
            <ul>
              {last.map(({ dueAt, task: id, skipped, since, waits }) => (
                <li key={dueAt}>
                  <Moment at={dueAt} as="clock" />{' '}
                  {id !== undefined && <a href={queueLink(queue, 'tasks', id)}>{id}</a>}
                  {skipped !== undefined && <span class="quiet">left out: {skipped}{since !== undefined && <>, all since <Moment at={since} as="clock" /></>}</span>}
                  {waits === true && <span class="quiet">waits for the run before it</span>}
                </li>
              ))}
            </ul>
          )}
        </div>
        <div>
          <h3>Rules</h3>
          <p class="quiet">Missed while no server ran: {missed === 'once' ? 'the last one is made up for' : missed === 'all' ? 'all are made up for' : 'skipped'}. If the previous run is unfinished: {overlap === 'allow' ? 'both run' : overlap === 'skip' ? 'the new run is left out' : 'the new run waits'}.</p>
        </div>
      </div>
    </li>
  )
}

const pauseOrResume = (queue: string, { name, paused, next }: ScheduleView): Action => ({
  title: `${paused ? 'Resume' : 'Pause'} ${name}`,
  does: paused ? <p>It is due again from now on. Nothing is made up for.</p> : <p>It is not due until it is resumed{next[0] !== undefined && <>: the next run would be <Moment at={next[0]} /></>}. Tasks that it has enqueued stay. The event keeps who paused it.</p>,
  verb: paused ? 'Resume it' : 'Pause it',
  reason: 'none',
  run: async () => ({ said: `${name} ${paused ? 'goes on' : 'is paused'}.`, queue, ...revisionOf(await command('PATCH', queue, ['schedules', name], { paused: !paused })) }),
})

const runNow = (queue: string, { name, task }: ScheduleView): Action => {
  // One id for as long as the dialog is open: if the answer is lost, and the button pressed again, it is the same task.
  const id = `${name}@now-${randomKey().slice(0, 8)}`
  return {
    title: `Run ${name} now`,
    does: <p>Its task of type <code>{task.type}</code> is enqueued once, beside its plan. The next run stays where it is.</p>,
    verb: 'Run it now',
    reason: 'none',
    run: async () => {
      const answer = await command<Enqueued>('POST', queue, ['tasks'], { ...task, id, deduplicate: 'off' })
      return { said: `${name} runs as ${id}.`, queue, ...revisionOf(answer), link: { to: queueLink(queue, 'tasks', id), text: 'the task' } }
    },
  }
}
