/** A server's store and its archive as one log. */
import { catchError, concat, defer, filter, from as fromPages, mergeMap, type Observable, tap, throwError } from 'rxjs'
import type { Delivered, EventStore } from '../store/index.js'
import { joinedReader, mayBeMoved } from './joined-log.js'
import { SegmentFolder } from './segment-folder.js'

/** Appends and heads go to the store. */
export const joinedStore = (store: EventStore, archive: string): EventStore => {
  const { read, pick, firstOf, ask } = joinedReader(store, new SegmentFolder(archive))

  const subscribe: EventStore['subscribe'] = (stream, from) => {
    let next = Math.max(0, from)
    let isCaughtUp = false
    const isNews = (delivered: Delivered): boolean => {
      if (!('_tag' in delivered)) return true
      const isFirst = !isCaughtUp
      isCaughtUp = true
      return isFirst
    }
    const follow = (first: number): Observable<Delivered> => {
      const own = defer(() => store.subscribe(stream, next))
      const all = next >= first ? own : concat(fromPages(read(stream, { from: next, limit: first - next })), own)
      return all.pipe(
        tap((delivered) => {
          if (!('_tag' in delivered)) next += delivered.length
        }),
        catchError((error: unknown) => (mayBeMoved(error) ? defer(() => ask(stream)).pipe(mergeMap((now) => (now > first ? follow(now) : throwError(() => error)))) : throwError(() => error))),
      )
    }
    return defer(() => firstOf(stream)).pipe(mergeMap(follow), filter(isNews))
  }

  return { ...store, read, pick, subscribe }
}
