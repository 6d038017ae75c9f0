/** EV-07 to the letter: `kill -9` of a real server, again and again, while tasks are enqueued and erased. */
import { afterAll, expect, test } from 'vitest'
import { runSeed } from '../support/seed.js'
import { KilledServer } from './killed-server.js'

const killsMin = 8
const killed = new KilledServer(runSeed)
afterAll(() => killed.remove())

test('EV-07, INV-19: kills during erasures: what was acknowledged as erased is gone for ever, what was not erased can be read, and each erasure is whole or not begun', async () => {
  // What the kills interrupt depends on chance and on the machine, so they go on until there was enough of everything.
  const enough = (): boolean => killed.before > 1 && killed.after > 2 && killed.erased.size > 50
  for (let i = 1; i <= killsMin || (!enough() && i <= 10 * killsMin); i++) await killed.runAndKill()
  await killed.checkAll()
  expect(enough(), JSON.stringify([killed.before, killed.after, killed.erased.size])).toBe(true)
}, 900_000)
