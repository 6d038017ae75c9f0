/** What keys do to the screen of `daybook top`. */
import { depthOf, type QueueFigures } from './figures.js'

const orders = ['depth', 'wait', 'arrivals', 'name'] as const
export type Order = (typeof orders)[number]

export interface TopState {
  /** A queue's name; `undefined` for the first on the screen. */
  readonly selected: string | undefined
  readonly order: Order
  readonly isPaused: boolean
  readonly view: 'queues' | 'queue' | 'help'
  readonly isEnded: boolean
}

export const firstState: TopState = { selected: undefined, order: 'depth', isPaused: false, view: 'queues', isEnded: false }

const most = (figure: (queue: QueueFigures) => number) => (a: QueueFigures, b: QueueFigures): number => figure(b) - figure(a)
const comparisons: Readonly<Record<Order, (a: QueueFigures, b: QueueFigures) => number>> = {
  depth: most(depthOf),
  wait: most(({ oldestWaitSeconds }) => oldestWaitSeconds),
  arrivals: most(({ arrivals }) => arrivals.perMinute ?? 0),
  name: () => 0,
}

/** In the order of the screen; equal queues by name. */
export const inOrder = (queues: ReadonlyArray<QueueFigures>, order: Order): ReadonlyArray<QueueFigures> =>
  [...queues].sort((a, b) => comparisons[order](a, b) || (a.name < b.name ? -1 : 1))

/** The index of the selected queue; 0 if it does not exist. */
export const selectedIndex = (queues: ReadonlyArray<QueueFigures>, { selected }: Pick<TopState, 'selected'>): number => Math.max(0, queues.findIndex(({ name }) => name === selected))

/** The queue whose details the screen shows; `undefined` without queues. */
export const selectedQueue = (queues: ReadonlyArray<QueueFigures>, state: Pick<TopState, 'selected' | 'order'>): QueueFigures | undefined => {
  const sorted = inOrder(queues, state.order)
  return sorted[selectedIndex(sorted, state)]
}

const moved = (state: TopState, queues: ReadonlyArray<QueueFigures>, by: number): TopState => {
  const sorted = inOrder(queues, state.order)
  const to = Math.min(sorted.length - 1, Math.max(0, selectedIndex(sorted, state) + by))
  return { ...state, selected: sorted[to]?.name }
}

/** Handles a key by its name in Node's `keypress` event. Other keys do nothing. */
export const press = (state: TopState, key: string, queues: ReadonlyArray<QueueFigures>): TopState => {
  if (key === 'q' || key === 'ctrl-c') return { ...state, isEnded: true }
  if (state.view === 'help') return { ...state, view: 'queues' }
  switch (key) {
    case 'up':
    case 'k':
      return moved(state, queues, -1)
    case 'down':
    case 'j':
      return moved(state, queues, 1)
    case 'return':
    case 'enter':
      return { ...moved(state, queues, 0), view: 'queue' }
    case 'escape':
    case 'left':
    case 'backspace':
      return { ...state, view: 'queues' }
    case 'space':
      return { ...state, isPaused: !state.isPaused }
    case 's':
      return { ...state, order: orders[(orders.indexOf(state.order) + 1) % orders.length] as Order }
    case '?':
    case 'h':
      return { ...state, view: 'help' }
    default:
      return state
  }
}
