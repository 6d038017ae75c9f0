/** The events of a task. The server sends the newest; older ones are fetched when somebody wants to see them. */
import { useState } from 'preact/hooks'
import { momentShown } from '../../address/address.js'
import { pathOf } from '../../address/url.js'
import { ApiProblem, request } from '../../api/request.js'
import { useQueue } from '../../api/use-query.js'
import { type HistoryPage, joined, type OlderEvents } from './older-events.js'

export interface History extends HistoryPage {
  readonly isAsking: boolean
  readonly problem: string | undefined
  /** Fetches the next older events. */
  readonly fetchOlder: () => Promise<void>
}

/** `undefined` until the first answer has come. */
export const useHistory = (queue: string, id: string): History | undefined => {
  const segments = ['tasks', id, 'history']
  const moment = momentShown.value
  const of = JSON.stringify([queue, id, moment])
  const { value: newest, revision } = useQueue<HistoryPage>(queue, segments, { exact: true })
  const [older, setOlder] = useState<(OlderEvents & { readonly of: string }) | undefined>(undefined)
  const [asking, setAsking] = useState<string | undefined>(undefined)
  const [failed, setFailed] = useState<{ readonly of: string; readonly why: string } | undefined>(undefined)
  if (newest === undefined) return undefined
  const { events, next } = joined(newest, older?.of === of ? older : undefined)
  const fetchOlder = async (): Promise<void> => {
    if (next === null || asking === of) return
    setAsking(of)
    setFailed(undefined)
    try {
      const { value } = await request<HistoryPage>('GET', pathOf(['api', 'queues', queue, ...segments]), { query: { ...moment, before: String(next) }, exact: true })
      setOlder({ of, events: [...value.events, ...events], next: value.next, upTo: revision ?? -1 })
    } catch (error) {
      setFailed({ of, why: error instanceof ApiProblem ? error.message : String(error) })
    }
    setAsking(undefined)
  }
  return { events, next, isAsking: asking === of, problem: failed?.of === of ? failed.why : undefined, fetchOlder }
}
