/** Requests to a thread: each gets its own answer, or an error. */
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'

type Request = { readonly kind: 'release' | 'throw' | 'uncloneable' | 'crash' | 'exit' } | { readonly kind: 'hold'; readonly text: string }
interface Requests {
  readonly size: number
  readonly ask: (request: Request) => Promise<unknown>
}
interface Options {
  readonly onEnd: () => void
  readonly unanswered: (problem: string | undefined) => string
}

const url = import.meta.resolve('@daybook/adapters/engine').replace('/engine/index.js', '/threads/requests.js')
const { ThreadRequests } = (await import(url)) as { readonly ThreadRequests: new (worker: Worker, options: Options) => Requests }

const program = `
  import { parentPort } from 'node:worker_threads'
  import { answerRequests } from ${JSON.stringify(url)}
  const held = []
  answerRequests(parentPort, (request) => {
    switch (request.kind) {
      case 'hold': return new Promise((resolve) => held.push(() => resolve(request.text)))
      case 'release': return held.reverse().forEach((release) => release())
      case 'throw': throw Object.assign(new Error('no room'), { code: 'ENOSPC' })
      case 'uncloneable': return () => undefined
      case 'crash': setImmediate(() => { throw new Error('it crashed') }); return new Promise(() => undefined)
      case 'exit': process.exit()
    }
  })
`

const start = (onEnd: () => void = () => undefined): Requests =>
  new ThreadRequests(new Worker(new URL(`data:text/javascript,${encodeURIComponent(program)}`)), { onEnd, unanswered: (problem = 'it was stopped') => `no answer: ${problem}` })

test('each request gets its own answer, whatever the order of the answers', async () => {
  const requests = start()
  const answers: Array<unknown> = []
  const asked = ['a', 'b', 'c'].map(async (text) => {
    const answer = await requests.ask({ kind: 'hold', text })
    answers.push(answer)
    return answer
  })
  expect(requests.size).toBe(3)
  await requests.ask({ kind: 'release' })
  expect(await Promise.all(asked)).toEqual(['a', 'b', 'c'])
  expect(answers).toEqual(['c', 'b', 'a'])
  expect(requests.size).toBe(0)
  await expect(requests.ask({ kind: 'exit' })).rejects.toThrow('no answer: it was stopped')
})

test('an error has its text and code, an answer that cannot be sent is an error, and the thread goes on', async () => {
  const requests = start()
  await expect(requests.ask({ kind: 'throw' })).rejects.toMatchObject({ message: 'no room', code: 'ENOSPC' })
  await expect(requests.ask({ kind: 'uncloneable' })).rejects.toThrow(/could not be cloned/)
  await requests.ask({ kind: 'release' })
  await expect(requests.ask({ kind: 'exit' })).rejects.toThrow()
})

test('all requests without an answer are rejected when the thread ends, and its owner knows before they do', async () => {
  const order: Array<string> = []
  const requests = start(() => order.push('ended'))
  const held = requests.ask({ kind: 'hold', text: 'a' }).catch((error: Error) => order.push(error.message))
  await requests.ask({ kind: 'crash' }).catch((error: Error) => order.push(error.message))
  await held
  expect(order).toEqual(['ended', 'no answer: it crashed', 'no answer: it crashed'])
  expect(requests.size).toBe(0)
})
