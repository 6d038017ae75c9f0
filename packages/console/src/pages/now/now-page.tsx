/** The first page: all queues, the most urgent first. */
import type { QueueList, QueueSummary } from '@daybook/client'
import { useRef, useState } from 'preact/hooks'
import { momentShown } from '../../address/address.js'
import { useQuestion, useQueue } from '../../api/use-query.js'
import { Loaded } from '../../parts/loaded.js'
import { FirstRun } from './first-run.js'
import { byNeed } from './need.js'
import { QueueCard } from './queue-card.js'

const queuesMs = 3_000

export const NowPage = () => {
  const shown = useQuestion<Pick<QueueList, 'queues'> & Partial<QueueList>>({ path: '/api/queues', everyMs: queuesMs })
  return (
    <>
      <h1>Now</h1>
      <Loaded shown={shown} lines={6}>
        {({ queues, refused = [] }) => (
          <>
            {refused.map(({ queue, reason }) => <p key={queue} class="banner" role="status">The queue <strong>{queue}</strong> cannot be read: {reason}</p>)}
            {queues.length > 0 ? <Queues queues={queues} /> : refused.length === 0 && <FirstRun />}
          </>
        )}
      </Loaded>
    </>
  )
}

const Queues = ({ queues }: { readonly queues: ReadonlyArray<QueueSummary> }) => {
  const [needs, setNeeds] = useState<Readonly<Record<string, number>>>({})
  const isPointedAt = useRef(false)
  const order = useRef<ReadonlyArray<string>>([])
  const names = queues.map(({ name }) => name)
  const isKnown = order.current.length === names.length && names.every((name) => order.current.includes(name))
  // Nothing moves under the pointer.
  if (!isKnown || !isPointedAt.current) order.current = byNeed(names, needs)
  const byName = new Map(queues.map((queue) => [queue.name, queue]))
  const onNeed = (queue: string, need: number): void => setNeeds((before) => (before[queue] === need ? before : { ...before, [queue]: need }))
  return (
    <div class="queues" onPointerEnter={() => (isPointedAt.current = true)} onPointerLeave={() => (isPointedAt.current = false)}>
      {order.current.map((name) => {
        const queue = byName.get(name)
        if (queue === undefined) return null
        return momentShown.value === undefined ? <QueueCard key={name} queue={queue} onNeed={onNeed} /> : <PastCard key={name} name={name} onNeed={onNeed} />
      })}
    </div>
  )
}

/** The list of queues is the present one. For a past moment, each queue is queried separately. */
const PastCard = ({ name, onNeed }: { readonly name: string; readonly onNeed: (queue: string, need: number) => void }) => {
  const shown = useQueue<QueueSummary>(name, [])
  return <Loaded shown={shown}>{(queue) => <QueueCard queue={queue} onNeed={onNeed} />}</Loaded>
}
