/** Asks the server again and again, and draws the answers until the user quits. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Io } from '../io.js'
import type { Figures } from './figures.js'
import type { Style } from '../drawing/canvas.js'
import { frameOf, type Screen } from './frame.js'
import { firstState, press, type TopState } from './state.js'
import type { LiveTerminal } from './terminal.js'

interface Live {
  readonly io: Io
  readonly terminal: LiveTerminal
  readonly style: Style
  readonly url: string
  readonly everyMs: number
  /** The queue that is selected first. */
  readonly selected: string | undefined
  readonly look: (selected: string | undefined) => Promise<Figures>
}

/** Resolves when the user quits, or at a signal. The terminal is restored in any case. */
export const liveTop = async ({ io, terminal, style, url, everyMs, selected, look }: Live): Promise<void> => {
  let state: TopState = { ...firstState, selected }
  let figures: Figures | undefined
  let problem: string | undefined
  const quit = new AbortController()
  /** Ends the pause between two samples. */
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
    state = press(state, key, figures?.queues ?? [])
    if (state === before) return
    if (state.isEnded) quit.abort()
    if (state.isEnded || state.selected !== before.selected || state.isPaused !== before.isPaused) wake.abort()
    draw()
  })
  try {
    draw()
    while (!quit.signal.aborted) {
      // Even while it is paused, if another queue is selected.
      await look(state.selected).then(
        (found) => {
          figures = found
          problem = undefined
        },
        (error: unknown) => {
          problem = error instanceof Error ? error.message : String(error)
        },
      )
      if (quit.signal.aborted) return
      draw()
      wake = new AbortController()
      await delay(state.isPaused ? 2 ** 31 - 1 : everyMs, undefined, { signal: wake.signal }).catch(() => undefined)
    }
  } finally {
    forget()
    terminal.close()
  }
}
