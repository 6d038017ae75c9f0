/** A tree of lines, as `tree` draws one. */
import { type Canvas, fit } from './canvas.js'
import type { Cell } from '../table.js'

export interface TreeNode {
  readonly text: string
  readonly paint?: (text: string) => string
  readonly children: ReadonlyArray<TreeNode>
}

/** The node itself, and what hangs below it. */
export const treeLines = (canvas: Canvas, { text, paint = String, children }: TreeNode): ReadonlyArray<string> => [
  fit({ text, paint }, canvas.width),
  ...below(canvas, children, ''),
]

const below = (canvas: Canvas, nodes: ReadonlyArray<TreeNode>, before: string): ReadonlyArray<string> =>
  nodes.flatMap(({ text, paint = String, children }, i) => {
    const { branch, last, line, wall } = canvas.glyphs
    const isLast = i === nodes.length - 1
    const lead = `${before}${isLast ? last : branch}${line} `
    // The lead is not painted: it belongs to the tree.
    const cell: Cell = { text: `${lead}${text}`, paint: (whole) => `${whole.slice(0, lead.length)}${paint(whole.slice(lead.length))}` }
    return [fit(cell, canvas.width), ...below(canvas, children, `${before}${isLast ? ' ' : wall}  `)]
  })
