/** A button whose dialog needs an answer of the server first: a dry run, for example. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { ApiProblem } from '../api/request.js'
import { type Action, offer } from './action.js'

export interface AskingButtonProps {
  readonly action: () => Promise<Action>
  readonly children: ComponentChildren
  readonly primary?: boolean
  /** Whether it can be pressed from outside, by a key of the page: `document.getElementById`. */
  readonly id?: string
}

export const AskingButton = ({ action, children, primary = false, id }: AskingButtonProps) => {
  const [isAsking, setAsking] = useState(false)
  const [problem, setProblem] = useState<string | undefined>(undefined)
  const press = async (): Promise<void> => {
    if (isAsking) return
    setAsking(true)
    setProblem(undefined)
    try {
      offer(await action())
    } catch (error) {
      setProblem(error instanceof ApiProblem ? error.message : String(error))
    }
    setAsking(false)
  }
  return (
    <>
      <button type="button" id={id} class={primary ? 'primary' : undefined} aria-busy={isAsking} onClick={() => void press()}>{children}</button>
      {problem !== undefined && <span role="alert" class="failed">{problem}</span>}
    </>
  )
}
