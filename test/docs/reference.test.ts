/** docs/reference: the tables of settings, events and errors are those of the code. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { requestFields, requestLogChoices } from '@daybook/adapters/http'
import { eventCodecs, settingsDefault } from '@daybook/core'
import { expect, test } from 'vitest'
import { root } from '../cli/program.js'

/** The rows of a page's last table, cells trimmed. */
const rowsOf = (page: string): ReadonlyArray<ReadonlyArray<string>> =>
  [...readFileSync(join(root, 'docs/reference', page), 'utf8').matchAll(/^\| `([^`]+)` \| (.*?) \| (.+) \|$/gm)].map(([, name = '', second = '', about = '']) => [name, second, about])

const flat = (value: object, path = ''): ReadonlyArray<readonly [string, string]> =>
  Object.entries(value).flatMap(([key, each]: [string, unknown]) => {
    const at = path === '' ? key : `${path}.${key}`
    return typeof each === 'object' && each !== null && Object.keys(each).length > 0 ? flat(each, at) : [[at, `\`${JSON.stringify(each)}\``] as const]
  })

test('docs/reference/settings.md: every setting with its default', () => {
  expect(rowsOf('settings.md').map(([name, value]) => [name, value])).toEqual(flat(settingsDefault))
})

interface Shape {
  readonly _tag?: string
  readonly types?: ReadonlyArray<Shape>
  readonly type?: Shape
  readonly props?: object
}
const membersOf = ({ _tag, types, type, props = {} }: Shape): ReadonlyArray<string> =>
  _tag === 'IntersectionType' ? (types ?? []).flatMap(membersOf) : type !== undefined ? membersOf(type) : Object.keys(props).map((name) => (_tag === 'PartialType' ? `${name}?` : name))

test('docs/reference/events.md: every event with its members', () => {
  const told = new Map(rowsOf('events.md').map(([name = '', members = '']) => [name, [...members.matchAll(/`([^`]+)`/g)].map(([, member]) => member)]))
  expect([...told.keys()]).toEqual(Object.keys(eventCodecs))
  for (const [type, codec] of Object.entries(eventCodecs)) {
    // The fields of a task are told once, in the OpenAPI document.
    if (type === 'TaskEnqueued' || type === 'TaskImported') continue
    expect(told.get(type), type).toEqual(membersOf(codec as Shape))
  }
})

test('docs/reference/errors.md: every code with its status', () => {
  // The table is not a part of any package's interface, so it is read where it stands.
  const source = readFileSync(join(root, 'packages/adapters/src/http/problem.ts'), 'utf8')
  const [, table = ''] = /const kinds = \{([\s\S]*?)\} as const/.exec(source) ?? []
  const codes = [...table.matchAll(/^ {2}'?([\w-]+)'?: \[(\d+),/gm)].map(([, code, status]) => [code, status])
  expect(codes.length).toBeGreaterThan(20)
  expect(rowsOf('errors.md').map(([code, status]) => [code, status])).toEqual(codes)
})

test('every row of docs/reference says something', () => {
  for (const page of ['settings.md', 'events.md', 'errors.md']) for (const [name, , about = ''] of rowsOf(page)) expect(about.length, `${page}: ${name}`).toBeGreaterThan(5)
})

test('docs/reference/log.md: every field of a request, and every choice', () => {
  const page = readFileSync(join(root, 'docs/reference/log.md'), 'utf8')
  const [, choices = '', fields = ''] = page.split(/^\| (?=\| a line for|field \|)/m)
  const named = (table: string): ReadonlyArray<string> => [...table.matchAll(/^\| `(\w+)` \| .{3,}\|$/gm)].map(([, name = '']) => name)
  expect(named(choices)).toEqual(requestLogChoices)
  expect(named(fields)).toEqual(requestFields)
})
