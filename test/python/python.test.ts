/** The Python client and worker, by their own tests, against real servers. */
import { execFile, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { goesWithout, python } from '../support/needs.js'

const folder = fileURLToPath(new URL('../../clients/python', import.meta.url))
/** Without writing compiled files into the sources. */
const run = (...args: ReadonlyArray<string>) => spawnSync('python3', ['-B', ...args], { cwd: folder, encoding: 'utf8' })

/** Most of its tests wait for the end of a lease or for a timer, so several processes run them side by side, each with its own server. */
const processes = 4
const everyNth = `import sys, unittest, test_daybook
def tests_in(suite):
    for each in suite:
        if isinstance(each, unittest.TestSuite): yield from tests_in(each)
        else: yield each
tests = list(tests_in(unittest.defaultTestLoader.loadTestsFromModule(test_daybook)))
some = unittest.TestSuite(tests[int(sys.argv[1])::${processes}])
sys.exit(not unittest.TextTestRunner(verbosity=2).run(some).wasSuccessful())`
/** Resolves to the error of a run that fails, and to what it printed. */
const runSome = (first: number): Promise<readonly [error: Error | null, printed: string]> =>
  new Promise((resolve) => execFile('python3', ['-B', '-c', everyNth, `${first}`], { cwd: folder }, (error, _, stderr) => resolve([error, stderr])))

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

  test('its tests pass', async () => {
    for (const [error, printed] of await Promise.all(Array.from({ length: processes }, (_, first) => runSome(first)))) {
      expect(error, printed).toBeNull()
      expect(printed).toMatch(/Ran \d{2,} tests/)
    }
  }, 600_000)

  test('teeth: a broken client is noticed', () => {
    const broken = `import daybook, unittest, test_daybook
daybook.Client._once = lambda *_: {'results': []}
unittest.main(module=test_daybook, argv=['x', 'DaybookTest.test_errors_are_typed'])`
    expect(run('-c', broken).status).not.toBe(0)
  })
})
