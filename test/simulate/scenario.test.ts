/** Scenarios: what is wrong is named by its path. */
import { readScenario } from '@daybook/projections/simulate'
import { limitsMax } from '@daybook/core'
import { expect, test } from 'vitest'

const stream = { type: 'work', arrivals: { perHour: 10 }, duration: '1m' }
const agents = [{ name: 'all', count: 1 }]

const problems = (value: unknown): ReadonlyArray<string> => {
  const checked = readScenario(value)
  return checked._tag === 'Right' ? [] : checked.left.map(({ path, message }) => `${path} ${message}`)
}
const withStream = (more: object) => problems({ streams: [{ ...stream, ...more }], agents })
const withAgents = (more: object) => problems({ streams: [stream], agents: [{ ...agents[0], ...more }] })

test('SIM: the least scenario is a stream and agents', () => {
  expect(problems({ streams: [stream], agents })).toEqual([])
  expect(problems({})).toEqual(['streams is required: a list', 'agents is required: a list'])
  expect(problems({ streams: [], agents: [] })).toEqual(['streams must not be empty', 'agents must not be empty'])
  expect(problems('text')).toEqual(['(body) must be an object, not "text"'])
})

test.each([
  [{ prioritty: 1 }, /^streams\[0\]\.prioritty is not a field here; known: .*priority/],
  [{ duration: '1 minute' }, /^streams\[0\]\.duration must be a length of time/],
  [{ duration: 0 }, /^streams\[0\]\.duration must be a length of time above zero/],
  [{ duration: { p50: '1m' } }, /^streams\[0\]\.duration must be a length of time, or have either exponential/],
  [{ duration: { p50: '1m', p99: '1m' } }, /^streams\[0\]\.duration\.p99 must be more than p50 \(1m\)/],
  [{ duration: { mean: '1m' } }, /^streams\[0\]\.duration\.mean is not a field here/],
  [{ arrivals: {} }, /^streams\[0\]\.arrivals must have perHour, every or bursts/],
  [{ arrivals: { perHour: [1, 2] } }, /^streams\[0\]\.arrivals\.perHour must be one number, or 24 .*, not 2/],
  [{ arrivals: { bursts: [{ at: '1h', tasks: 0, over: '1m' }] } }, /^streams\[0\]\.arrivals\.bursts\[0\]\.tasks must be a whole number/],
  [{ arrivals: { perHour: 900_000 } }, /^streams would bring about 21600000 tasks; a simulation takes at most 1000000/],
  [{ priority: { URGENT: 1 } }, /^streams\[0\]\.priority\.URGENT is no priority/],
  [{ priority: { LOW: 0 } }, /^streams\[0\]\.priority must have a weight above zero/],
  [{ tenant: {} }, /^streams\[0\]\.tenant must have a weight above zero/],
  [{ failures: { probability: 2 } }, /^streams\[0\]\.failures\.probability must be a number from 0 to 1/],
])('SIM: a stream with %o', (more, why) => {
  expect(withStream(more)).toEqual([expect.stringMatching(why)])
})

test('SIM: the number of tasks is counted by the hours in which they come, and without what comes after the end', () => {
  const peak = Array.from({ length: 24 }, (_, hour) => (hour === 23 ? 50_000 : 0))
  expect(withStream({ arrivals: { perHour: peak } })).toEqual([])
  expect(withStream({ arrivals: { perHour: peak.map((_, hour) => (hour > 21 ? 600_000 : 0)) } })).toEqual(['streams would bring about 1200000 tasks; a simulation takes at most 1000000'])
  const burst = (at: string, over: string) => ({ at, tasks: 1_000_000, over })
  expect(withStream({ arrivals: { perHour: 1, bursts: [burst('25h', '1h'), burst('22h', '4h')] } })).toEqual([])
  expect(withStream({ arrivals: { bursts: [burst('23h', '2h'), burst('1h', '0s')] } })).toEqual(['streams would bring about 1500000 tasks; a simulation takes at most 1000000'])
})

test.each([
  [{ count: 0 }, /^agents\[0\]\.count must be a whole number/],
  [{ shifts: [{ from: '8h', to: '25h' }] }, /^agents\[0\]\.shifts\[0\]\.to must be at most 24h/],
  [{ shifts: [{ from: '8h', to: '8h' }] }, /^agents\[0\]\.shifts\[0\]\.to must be after 8h/],
  [{ shifts: [] }, /^agents\[0\]\.shifts must not be empty: without it they work the whole day/],
  [{ restart: '1m' }, /^agents\[0\]\.restart needs crashesPerDay/],
  [{ count: 10_000, crashesPerDay: 1_000, restart: '1s' }, /^agents would begin their work about 10010000 times, after crashes and with their shifts; a simulation takes at most 1000000/],
])('SIM: agents with %o', (more, why) => {
  expect(withAgents(more)).toEqual([expect.stringMatching(why)])
})

test('SIM: other mistakes', () => {
  const seconds = Array.from({ length: 101 }, (_, i) => ({ from: i, to: i + 1 }))
  expect(withAgents({ count: 10_000, shifts: seconds })).toEqual([expect.stringMatching(/^agents would begin their work about 1010000 times/)])
  expect(problems({ streams: [stream, stream], agents })).toEqual(['streams[1].name is "work", as that of streams[0]: give it another'])
  expect(problems({ streams: [stream], agents: [...agents, ...agents] })).toEqual(['agents[1].name is "all", as that of agents[0]: give it another'])
  expect(problems({ streams: [stream], agents, duration: '60d' })).toEqual(['duration must be at most 31d'])
  expect(problems({ streams: [stream], agents, settings: { policy: 'fifo' } })).toEqual(['settings.policy must be one of priority, score, not "fifo"'])
  expect(problems({ streams: [stream], agents, settings: { capacity: { agents: 3 } } })).toEqual([expect.stringMatching(/^settings\.capacity\.agents is not a field here/)])
  expect(problems({ streams: [stream], agents, outages: [{ types: ['work'], from: '2h', to: '1h' }] })).toEqual(['outages[0].to must be after 2h'])
  expect(problems({ streams: [stream], agents, limits: { 'type:work': {}, mail: { concurrency: 1 } } })).toEqual(['limits.type:work must have concurrency or rate'])
  const keys = Array.from({ length: limitsMax + 1 }, (_, i) => [`key-${i}`, { concurrency: 1 }])
  expect(problems({ streams: [stream], agents, limits: Object.fromEntries(keys) })).toEqual([`limits must be at most ${limitsMax}`])
  expect(problems({ streams: [stream], agents, limits: { 'type:work': { concurency: 3 } } })).toEqual([expect.stringMatching(/^limits\.type:work\.concurency is not a field here/)])
})
