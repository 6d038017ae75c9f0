/** The tasks that a blocked task waits for, and those that these wait for. */
import { type DaybookClient, DaybookError, type Explanation } from '../../client/index.js'
import type { Canvas } from '../drawing/canvas.js'
import { type TreeNode, treeLines } from '../drawing/tree.js'
import { paintStatus } from '../printer.js'
import { clean } from '../text.js'

/** Of the tree: more would not be looked at, and each is a question to the server. */
const depthMax = 4
const nodesMax = 30

export interface Blocker {
  readonly id: string
  readonly status: string
  /** `undefined` where it was not looked further. */
  readonly waitsFor: ReadonlyArray<Blocker> | undefined
}

const directOf = ({ reasons }: Explanation): ReadonlyArray<{ readonly id: string; readonly status: string }> => reasons.flatMap(({ blockedBy = [] }) => blockedBy)

/** Asks the server about each of them, from the nearest on. */
export const readBlockers = async (client: Pick<DaybookClient, 'explain'>, explanation: Explanation): Promise<ReadonlyArray<Blocker>> => {
  let left = nodesMax
  const below = async (of: Explanation, depth: number): Promise<ReadonlyArray<Blocker> | undefined> => {
    const direct = directOf(of)
    if (direct.length === 0) return []
    if (depth === 0) return undefined
    const found: Array<Blocker> = []
    for (const { id, status } of direct) {
      if (left-- <= 0) return [...found, { id, status, waitsFor: undefined }]
      // It may be gone by now.
      const next = await client.explain(id).catch((error: unknown) => {
        if (error instanceof DaybookError && error.status === 404) return undefined
        throw error
      })
      found.push({ id, status, waitsFor: next === undefined ? [] : await below(next, depth - 1) })
    }
    return found
  }
  return (await below(explanation, depthMax)) ?? []
}

/** Empty if it waits for nothing. */
export const blockersOf = (canvas: Canvas, id: string, blockers: ReadonlyArray<Blocker>): ReadonlyArray<string> => {
  const nodeOf = ({ id: name, status, waitsFor }: Blocker): TreeNode => ({
    text: `${clean(name, 80)} (${status})${waitsFor === undefined ? ', which waits for others' : ''}`,
    paint: (text) => paintStatusIn(canvas, text, status),
    children: (waitsFor ?? []).map(nodeOf),
  })
  return blockers.length === 0 ? [] : treeLines(canvas, { text: `${clean(id, 80)} waits for`, paint: canvas.colors.bold, children: blockers.map(nodeOf) })
}

const paintStatusIn = ({ colors }: Canvas, text: string, status: string): string => text.replace(`(${status})`, `(${paintStatus(colors, status)})`)
