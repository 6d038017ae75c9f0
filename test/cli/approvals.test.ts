/** What a guardian does on the command line (TQM-BR-003, TQM-VF-003). */
import { expect, test } from 'vitest'
import { serverOfFile } from './program.js'

const server = serverOfFile()
const on = (q: string, ...args: ReadonlyArray<string>) => server.daybook([...args, '--queue', q])

/** A task that found something about another ticket; returns what the completion printed. */
const discover = async (q: string): Promise<string> => {
  await on(q, 'enqueue', 'eng-api', '--id', 'p', '--payload', '1')
  const { claims: [claimed] } = await server.json<{ claims: ReadonlyArray<{ lease: { token: number } }> }>('claim', '--agent', 'ann', '--queue', q)
  const result = {
    decisionReport: 'x',
    discoveries: [{ type: 'security_issue', details: 'a hole', ticketId: 'T-2' }, { type: 'optimization_opportunity', details: 'cache' }, { type: 'rumour', details: 'x' }],
  }
  return (await on(q, 'complete', 'p', '--agent', 'ann', '--lease', String(claimed?.lease.token), '--result', JSON.stringify(result))).out
}
const waiting = async (q: string) => (await server.json<{ approvals: ReadonlyArray<{ id: string }> }>('approvals', '--queue', q)).approvals

test('TQM-BR-003: a completion says what it spawned, what waits and what was left; approvals lists, shows and approves', async () => {
  const said = await discover('one')
  expect(said).toMatch(/^p completed\nspawned: \S+\nwaits for a guardian: \S+ \(see: daybook approvals\)\n1 discovery only kept/)
  const [{ id } = { id: '' }] = await waiting('one')
  expect((await on('one', 'approvals')).out).toMatch(/it is about another ticket/)
  expect((await on('one', 'approvals', 'show', id)).out).toMatch(/if approved: eng-api ANALYSIS for security_issue on T-2[\s\S]*security_issue: a hole[\s\S]*p\s+eng-api/)
  expect(await on('one', 'approvals', 'approve', id, '--reason', 'worth it')).toMatchObject({ code: 0, out: expect.stringMatching(/approved: enqueued \S+\n/) })
  expect((await on('one', 'approvals')).out).toBe('nothing waits for a guardian\n')
  const again = await on('one', 'approvals', 'approve', id, '--reason', 'again')
  expect([again.code, again.err]).toEqual([1, expect.stringMatching(/not-found/)])
})

test('TQM-BR-003: refused, nothing is enqueued', async () => {
  await discover('two')
  const [{ id } = { id: '' }] = await waiting('two')
  expect(await on('two', 'approvals', 'refuse', id, '--reason', 'not ours')).toMatchObject({ code: 0, out: `${id} refused: nothing is enqueued\n` })
  expect(await waiting('two')).toEqual([])
})
