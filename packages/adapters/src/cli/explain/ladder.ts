/** The gates between a task and an agent as a ladder: those that it has passed, those that hold it, and what would change that. */
import type { Explanation, Reason, ReasonCode } from '../../client/index.js'
import type { Canvas } from '../drawing/canvas.js'
import { clean, clock, until } from '../text.js'

/** The steps in the order of the gates (core/src/gates/gates.ts); each stands for some of them. */
export const steps = ['state', 'dependencies', 'order', 'time', 'queue', 'breaker', 'pace', 'limits', 'claim', 'skills', 'capacity', 'agent', 'turn'] as const
export type Step = (typeof steps)[number]

const passed: Readonly<Record<Step, string>> = {
  state: 'it is not held, finished or given up',
  dependencies: 'the tasks that it depends on are completed',
  order: 'no task of its ordering key comes first',
  time: 'its time has come, and no callback is missing',
  queue: 'the queue is not paused',
  breaker: 'the breaker of its type lets tasks through',
  pace: 'nobody slows down after a rate limit',
  limits: 'its limits have room',
  claim: 'the claim asks for its type, phase and tenant',
  skills: 'no skill is missing',
  capacity: 'one more agent may work',
  agent: 'this agent is not kept from it',
  turn: 'it is the turn of its tenant',
}

/** `ready` is no gate. */
export const stepOf: Readonly<Record<Exclude<ReasonCode, 'ready'>, Step>> = {
  held: 'state',
  finished: 'state',
  'dead-letter': 'state',
  blocked: 'dependencies',
  ordering: 'order',
  scheduled: 'time',
  waiting: 'time',
  'queue-paused': 'queue',
  unavailable: 'queue',
  'breaker-open': 'breaker',
  'breaker-half-open': 'breaker',
  'slow-down': 'pace',
  'agent-sleeps': 'pace',
  'concurrency-limit': 'limits',
  'rate-limit': 'limits',
  'type-not-claimed': 'claim',
  'phase-not-claimed': 'claim',
  'tenant-not-claimed': 'claim',
  'skills-required': 'skills',
  capacity: 'capacity',
  'agent-full': 'capacity',
  'agents-barred': 'agent',
  'failed-here-lately': 'agent',
  'too-many-barred': 'agent',
  'tenant-turn': 'turn',
}

/** What is only worth knowing while no particular agent asks: which agents it is not for. */
const notes: ReadonlySet<ReasonCode> = new Set(['skills-required', 'agents-barred', 'failed-here-lately'])
/** Gates that only a claim which says who asks, and for what, can find shut. */
const ofClaims: ReadonlySet<Step> = new Set(['claim', 'skills', 'agent'])

/** A reason in a line. */
export const reasonText = ({ code, message, until: end }: Reason): string => `${code}: ${clean(message)}${end === undefined ? '' : `, until ${clock(end)} (${until(end)})`}`

/** What would change it. The queue names a request over HTTP, and people at the command line read the command. */
export const changeText = ({ change }: Reason): string =>
  clean(change).replace(/\b(?:PUT …\/(limits)|POST …\/(callbacks))\/(\S+)/g, (_, limits: string | undefined, _callbacks, key: string) =>
    `daybook ${limits === undefined ? 'callback' : 'limits set'} ${typed(decodeURIComponent(key))}`)

/** A word as a shell reads it. */
const typed = (word: string): string => (/^[\w.:@%+/-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)

/** `isAsked`: whether it is explained for a particular claim. */
export const ladderOf = (canvas: Canvas, { reasons, runnable }: Explanation, isAsked: boolean): ReadonlyArray<string> => {
  const { colors, glyphs, width } = canvas
  const margin = Math.max(...steps.map((step) => step.length)) + 4
  const holds = (reason: Reason): boolean => !runnable && (isAsked || !notes.has(reason.code))
  // What has ended or is under way meets no other gate.
  const isOver = reasons.some((reason) => reason.code !== 'ready' && stepOf[reason.code] === 'state')
  let hasHeld = false
  return steps.flatMap((step) => {
    const here = reasons.filter(({ code }) => code !== 'ready' && stepOf[code] === step)
    const begun = (glyph: string, text: string): ReadonlyArray<string> => wrapped(`${glyph} ${step.padEnd(margin - 2)}${text}`, margin, width)
    if (here.length === 0) {
      if (isOver || (ofClaims.has(step) && !isAsked) || (step === 'turn' && !runnable)) return []
      return begun(glyphs.yes, passed[step]).map(colors.green)
    }
    return here.flatMap((reason) => {
      if (!holds(reason)) return begun(glyphs.mark, reasonText(reason)).map(colors.yellow)
      const isFirst = !hasHeld
      hasHeld = true
      return [
        ...begun(glyphs.no, reasonText(reason)).map(isFirst ? (line) => colors.bold(colors.red(line)) : colors.red),
        ...wrapped(`${' '.repeat(margin)}${glyphs.pointer} to change it: ${changeText(reason)}`, margin + 2, width).map(colors.dim),
      ]
    })
  })
}

/** A text in lines of at most `width`, broken at blanks, the second and later ones behind `margin` blanks. */
const wrapped = (text: string, margin: number, width: number): ReadonlyArray<string> => {
  const lines: Array<string> = []
  let line = text
  while (line.length > width) {
    const at = line.lastIndexOf(' ', width)
    // A word that is longer than the line is cut: no line may be wider than the terminal.
    const end = at > margin ? at : width
    lines.push(line.slice(0, end))
    const rest = line.slice(end).trimStart()
    // With hardly any room beside the margin, text is not worth moving to the right.
    line = `${' '.repeat(Math.min(margin, Math.floor(width / 2)))}${rest}`
  }
  return [...lines, line]
}
