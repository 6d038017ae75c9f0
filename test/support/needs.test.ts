import { expect, test, vi } from 'vitest'
import { goesWithout, type Need } from './needs.js'

const there: Need = { name: 'strace', probe: ['true'], advice: 'install it' }
const missing: Need = { ...there, probe: ['no-such-program'] }
const failing: Need = { ...there, probe: ['false'] }

test('a test that needs a program fails if the program is missing, and is skipped only on request', () => {
  const said = vi.spyOn(console, 'warn').mockImplementation(() => undefined)
  expect(goesWithout(there, {})).toBe(false)
  for (const need of [missing, failing]) {
    expect(() => goesWithout(need, {})).toThrow('these tests need strace: install it')
    expect(() => goesWithout(need, { DAYBOOK_TEST_WITHOUT: 'mount' })).toThrow('need strace')
    expect(said).not.toHaveBeenCalled()
    expect(goesWithout(need, { DAYBOOK_TEST_WITHOUT: 'mount,strace' })).toBe(true)
    expect(said).toHaveBeenCalledOnce()
    said.mockClear()
  }
  said.mockRestore()
})
