/** docs/tokens.md says what each role may do. It is a second declaration, by hand, of what the table of routes declares. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { roles } from '@daybook/adapters/auth'
import { expect, test } from 'vitest'
import { root } from '../cli/program.js'
import { type Body, startTestServer } from '../http/support.js'

test('SEC-1: docs/tokens.md has every route, with the roles that may call it, and what it does for a token of a tenant', async () => {
  const page = await readFile(join(root, 'docs/tokens.md'), 'utf8')
  const [, table = ''] = page.split('## What each role may do')
  const said = [...table.matchAll(/^\| `([A-Z]+ \S+)` \|(.*)\|$/gm)].map(([, route = '', cells = '']) => {
    const marks = cells.split('|').map((cell) => cell.trim())
    expect(marks, route).toHaveLength(roles.length + 1)
    const isOpen = marks.every((mark) => mark === 'open')
    const forTenants = marks[roles.length] === '' ? 'refused' : (marks[roles.length] ?? '')
    return [route.replace('…', '/api/queues/{queue}'), isOpen ? ['anyone'] : roles.filter((_, i) => marks[i] === '✓'), forTenants] as const
  })
  const server = await startTestServer()
  try {
    const { paths } = (await server.get('/api/openapi.json')).body
    const declared = Object.entries<Body>(paths).flatMap(([path, item]) =>
      Object.entries<Body>(item).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, [...operation['x-daybook-roles']].sort(), operation['x-daybook-tenants']] as const),
    )
    const sorted = said.map(([route, allowed, forTenants]) => [route, [...allowed].sort(), forTenants] as const)
    expect(sorted).toEqual(declared)
  } finally {
    await server.stop()
  }
})

test('every role is explained', async () => {
  const page = await readFile(join(root, 'docs/tokens.md'), 'utf8')
  for (const role of roles) expect(page).toMatch(new RegExp(`^ +\\| \`${role}\` \\|.+\\|.+\\|$`, 'm'))
})
