import { Meter } from '@daybook/adapters/http'
import { openMemoryStore } from '@daybook/adapters/memory'
import { observedStore } from '@daybook/adapters/store'
import { expect, test } from 'vitest'

const event = (id: string) => ({ id, type: 'Happened', data: '{}', metadata: '{}' })

test('appends are counted and timed by outcome, and the store answers as without that', async () => {
  const meter = new Meter()
  const store = observedStore(openMemoryStore(), [meter.append])
  expect(await store.append('s', [event('1')], 'no_stream')()).toMatchObject({ right: { revision: 0 } })
  expect(await store.append('s', [event('2')], 0)()).toMatchObject({ right: { revision: 1 } })
  expect(await store.append('s', [event('3')], 0)()).toMatchObject({ left: { _tag: 'WrongExpectedRevision' } })
  const counts = Object.fromEntries([...meter.appends].map(([outcome, { count }]) => [outcome, count]))
  expect(counts).toEqual({ ok: 2, conflict: 1, unknown: 0, unavailable: 0, 'too-large': 0 })
  expect(meter.appends.get('ok')!.sum).toBeGreaterThan(0)
  await store.close()
})
