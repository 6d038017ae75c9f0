/** Saves a file on the computer of whoever looks. */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { ApiProblem } from '../api/request.js'

export const saveFile = (name: string, parts: ReadonlyArray<string>, type: string): void => {
  const url = URL.createObjectURL(new Blob([...parts], { type }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}

export interface SaveButtonProps {
  /** Fetches and saves. `progress` tells how far it is. */
  readonly save: (progress: (text: string) => void, signal: AbortSignal) => Promise<void>
  readonly children: ComponentChildren
}

/** Nothing changes on the server, so it asks nothing. Pressed again while it works, it stops. */
export const SaveButton = ({ save, children }: SaveButtonProps) => {
  const [said, setSaid] = useState<string | undefined>(undefined)
  const [problem, setProblem] = useState<string | undefined>(undefined)
  const running = useRef<AbortController | undefined>(undefined)
  useEffect(() => () => running.current?.abort(), [])
  const press = async (): Promise<void> => {
    if (running.current !== undefined) return running.current.abort()
    const controller = new AbortController()
    running.current = controller
    setProblem(undefined)
    setSaid('…')
    try {
      await save(setSaid, controller.signal)
    } catch (error) {
      if (!controller.signal.aborted) setProblem(error instanceof ApiProblem ? error.message : String(error))
    }
    running.current = undefined
    setSaid(undefined)
  }
  return (
    <>
      <button type="button" aria-busy={said !== undefined} onClick={() => void press()}>{said === undefined ? children : <>{said} Stop</>}</button>
      {problem !== undefined && <span role="alert" class="failed">{problem}</span>}
    </>
  )
}
