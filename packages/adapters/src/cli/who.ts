import { hostname, userInfo } from 'node:os'
import type { Io } from './io.js'

const user = (env: Io['env']): string => {
  if (env.USER) return env.USER
  try {
    return userInfo().username
  } catch {
    return 'somebody'
  }
}

/** The default agent: the same for every command of one user on one machine, so that `complete` fits `claim`. */
export const defaultAgent = (env: Io['env']): string => env.DAYBOOK_AGENT || `${user(env)}@${hostname()}`.slice(0, 128)

/** The default reviewer of a dead letter. */
export const defaultReviewer = (env: Io['env']): string => user(env)
