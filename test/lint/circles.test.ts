/** The folders of a package use one another in one direction. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { circlesOf, type Sources } from './circles.js'

const packages = fileURLToPath(new URL('../../packages/', import.meta.url))

const sourcesOf = (name: string): Sources => {
  const src = join(packages, name, 'src')
  const files = readdirSync(src, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
  return new Map(files.map((file) => join(file.parentPath, file.name)).map((path) => [relative(src, path).split(sep).join('/'), readFileSync(path, 'utf8')]))
}

/** The state asks the gates when a group of ready tasks is opened or closed, and the gates look at the state. */
const together: Readonly<Record<string, ReadonlyArray<string>>> = { core: ['gates', 'ready', 'state'] }

describe('the folders of a package use one another in one direction', () => {
  test.each(readdirSync(packages))('%s', (name) => {
    const sources = sourcesOf(name)
    expect(sources.size).toBeGreaterThan(3)
    expect(circlesOf(sources, together[name])).toEqual([])
  })

  test('and those that are excepted do need each other', () => {
    for (const [name, parts] of Object.entries(together)) {
      for (const part of parts) expect(circlesOf(sourcesOf(name), parts.filter((other) => other !== part)), part).not.toEqual([])
    }
  })
})

describe('teeth: a circle is found', () => {
  const circles = (files: Readonly<Record<string, string>>, ...excepted: ReadonlyArray<string>): ReadonlyArray<string> => circlesOf(new Map(Object.entries(files)), excepted).map((circle) => circle.join(', '))
  const low = "import { b } from './b.js'\nexport const a = b\n"

  test('of two folders, with the imports that make it', () => {
    const files = { 'low/a.ts': "import { c } from '../high/c.js'\nexport const a = c\n", 'high/c.ts': "export { a as c } from '../low/a.js'\n" }
    expect(circles(files)).toEqual(['low/a.ts uses high/c.ts, high/c.ts uses low/a.ts', 'high/c.ts uses low/a.ts, low/a.ts uses high/c.ts'])
    expect(circles(files, 'low', 'high')).toEqual([])
  })

  test('of three, through a late import and a file beside the folders', () => {
    const files = { 'one/a.ts': "import '../two/b.js'\n", 'two/b.tsx': "export const later = () => import('../three.js')\n", 'three.ts': "import * as a from './one/a.js'\nexport const c = a\n" }
    expect(circles(files)).toHaveLength(3)
  })

  test('but not where a folder takes only types, or within a folder', () => {
    expect(circles({ 'low/a.ts': "import { type C } from '../high/c.js'\nexport type A = C\n", 'high/c.ts': "import { a } from '../low/a.js'\nexport type C = typeof a\n" })).toEqual([])
    expect(circles({ 'low/a.ts': "import type { C } from '../high/c.js'\nexport type { C }\n", 'high/c.ts': "export * from '../low/a.js'\n" })).toEqual([])
    expect(circles({ 'low/a.ts': low, 'low/b.ts': low.replace('./b', './a') })).toEqual([])
  })
})
