/** Why something is not shown, and what to do next. */
import type { ApiProblem } from '../api/request.js'

const advice: Readonly<Record<string, string>> = {
  unreachable: 'It is tried again automatically. Is the server running?',
  forbidden: 'Another token may: log out and give that one.',
  'not-found': 'It may be gone, or the address may be wrong.',
  'too-many-requests': 'This token may be used less often. It is tried again automatically.',
  overloaded: 'It is tried again automatically.',
  unavailable: 'It is tried again automatically.',
  disabled: 'A setting, or how the server was started, switches it off.',
  internal: "The server's log has more under the correlation id.",
}

/** Of a command that somebody has sent. A command is never sent again by itself. */
const adviceOfCommand: Readonly<Record<string, string>> = {
  unreachable: 'Whether it was done is not known. It is not sent again by itself: look, or press again.',
  'too-many-requests': 'This token may be used less often. It was not done: press again in a while.',
  overloaded: 'It was not done: press again in a while.',
  unavailable: 'It is not sent again by itself: press again in a while.',
}

export interface ProblemNoteProps {
  readonly problem: ApiProblem
  readonly again?: () => void
  readonly isOfCommand?: boolean
}

export const ProblemNote = ({ problem, again, isOfCommand = false }: ProblemNoteProps) => (
  <div class="problem" role="alert">
    <p>
      <strong>{problem.message}</strong> <code>{problem.code}</code>
    </p>
    {problem.errors.length > 0 && <ul>{problem.errors.map(({ path, message }) => <li key={path}><code>{path}</code> {message}</li>)}</ul>}
    <p class="quiet">
      {(isOfCommand ? adviceOfCommand[problem.code] : undefined) ?? advice[problem.code] ?? 'Change what was asked for, or try again.'}
      {problem.correlationId !== undefined && <> Correlation id: <code>{problem.correlationId}</code>.</>}
    </p>
    {again !== undefined && <button type="button" onClick={again}>Try again</button>}
  </div>
)
