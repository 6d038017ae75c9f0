/** The Python client and worker, by their own tests, against real servers. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { goesWithout, python } from '../support/needs.js'

const folder = fileURLToPath(new URL('../../clients/python', import.meta.url))
/** Without writing compiled files into the sources. */
const run = (...args: ReadonlyArray<string>) => spawnSync('python3', ['-B', ...args], { cwd: folder, encoding: 'utf8' })

describe.skipIf(goesWithout(python))('clients/python', () => {
  test('it is sound Python, without a warning', () => {
    const { status, stderr } = run('-W', 'error', '-c', `import pathlib; compile(pathlib.Path('daybook.py').read_text('utf-8'), 'daybook.py', 'exec')`)
    expect(stderr).toBe('')
    expect(status).toBe(0)
  })

  test('it needs the standard library alone', () => {
    const { stdout } = run('-c', `import ast, sys
for node in ast.walk(ast.parse(open('daybook.py', encoding='utf-8').read())):
    for name in [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module] if isinstance(node, ast.ImportFrom) else []:
        if name.split('.')[0] not in sys.stdlib_module_names: print(name)`)
    expect(stdout).toBe('')
  })

  test('its tests pass', () => {
    const { status, stderr } = run('-m', 'unittest', '-v')
    expect(status, stderr).toBe(0)
    expect(stderr).toMatch(/Ran \d{2,} tests/)
  }, 600_000)

  test('teeth: a broken client is noticed', () => {
    const broken = `import daybook, unittest, test_daybook
daybook.Client._once = lambda *_: {'results': []}
unittest.main(module=test_daybook, argv=['x', 'DaybookTest.test_errors_are_typed'])`
    expect(run('-c', broken).status).not.toBe(0)
  })
})
