/** Asks the server again and again, and draws the answers until the user quits. */
import { setTimeout as delay } from 'node:timers/promises'
import { errorText } from '../../error-text.js'
import type { Io } from '../io.js'
import type { Figures } from './figures.js'
import type { Style } from '../drawing/canvas.js'
import { frameOf, type Screen } from './frame.js'
import { firstState, press, selectedQueue, type TopState } from './state.js'
import type { LiveTerminal } from './terminal.js'

interface Live {
  readonly io: Io
  readonly terminal: LiveTerminal
  readonly style: Style
  readonly url: string
  readonly everyMs: number
  /** The queue that is selected first. */
  readonly selected: string | undefined
  readonly look: (state: TopState) => Promise<Figures>
}

/** The longest timer. A longer one would end at once. */
const timerMsMax = 2 ** 31 - 1

/** Resolves when the user quits, or at a signal, also while a question is not answered. The terminal is restored in any case. */
export const liveTop = async ({ io, terminal, style, url, everyMs, selected, look }: Live): Promise<void> => {
  let state: TopState = { ...firstState, selected }
  let figures: Figures | undefined
  let problem: string | undefined
  const quit = new AbortController()
  const ended = new Promise<void>((resolve) => quit.signal.addEventListener('abort', () => resolve(), { once: true }))
  /** Ends the pause between two samples, or leaves it out. */
  let wake = new AbortController()
  const draw = (): void => {
    const screen: Screen = { url, everyMs, state, figures, problem }
    terminal.draw(frameOf(style, screen, terminal.size()))
  }
  const forget = io.onSignal(() => {
    quit.abort()
    wake.abort()
  })
  terminal.onResize(draw)
  terminal.onKey((key) => {
    const before = state
    const queues = figures?.queues ?? []
    state = press(state, key, queues)
    if (state === before) return
    if (state.isEnded) quit.abort()
    const isOther = selectedQueue(queues, state) !== selectedQueue(queues, before)
    if (state.isEnded || isOther || state.isPaused !== before.isPaused) wake.abort()
    draw()
  })
  try {
    draw()
    while (!quit.signal.aborted) {
      wake = new AbortController()
      // Even while it is paused, if another queue is selected.
      const looked = look(state).then(
        (found) => {
          figures = found
          problem = undefined
        },
        (error: unknown) => {
          problem = errorText(error)
        },
      )
      await Promise.race([looked, ended])
      if (quit.signal.aborted) return
      draw()
      await delay(state.isPaused ? timerMsMax : Math.min(everyMs, timerMsMax), undefined, { signal: wake.signal }).catch(() => undefined)
    }
  } finally {
    forget()
    terminal.close()
  }
}
