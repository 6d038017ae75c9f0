/** A button whose dialog first needs an answer from the server, for example of a dry run. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { ApiProblem } from '../api/request.js'
import { type Action, offerHere } from './action.js'

export interface AskingButtonProps {
  readonly action: () => Promise<Action>
  readonly children: ComponentChildren
  readonly primary?: boolean
  /** Lets a key of the page press the button, through `document.getElementById`. */
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
      await offerHere(action)
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
