/** The page of a server without queues: what would fill it, and how; or a demo queue after a dialog. */
import { go, queueLink } from '../../address/address.js'
import { request } from '../../api/request.js'
import { serverNow } from '../../api/server-time.js'
import { may } from '../../api/session.js'
import { makeDemo } from '../../demo/make-demo.js'
import { type Action, ActionButton } from '../../parts/action.js'
import { Empty } from '../../parts/empty.js'

const payload = '{"to":"ada@example.org"}'

export const FirstRun = () => (may.seeAll.value ? <NoQueues /> : <NoIsolatedQueues />)

const NoIsolatedQueues = () => (
  <Empty title="No queues for this token">
    <p>A token for tenants sees queues whose tenants are isolated. Whoever runs the server makes one with <code>npx daybook settings set --queue NAME tenants=isolated</code>, before its first task.</p>
  </Empty>
)

const NoQueues = () => (
  <Empty title="No queues yet">
    <p>A queue comes into being with its first task:</p>
    <pre><code>npx daybook enqueue mail --payload '{payload}'</code></pre>
    <p>and an agent works on it:</p>
    <pre><code>npx daybook work --types mail -- ./examples/agent.sh</code></pre>
    {may.enqueue.value && may.work.value && may.operate.value && (
      <>
        <p>Or look around first, with data that is made up, in a queue of its own:</p>
        <p><ActionButton primary action={demo}>Make demo data …</ActionButton></p>
      </>
    )}
  </Empty>
)

const demo = (): Action => ({
  title: 'Make demo data',
  does: <p>A queue <code>demo</code> with about forty tasks of a small agency: some are done, some wait for others, two kinds fail, and a breaker opens. It is made by this page, through the same API as everybody's, and touches no other queue. Its log stays, as every log does; the queue can be deleted when its tasks are cancelled.</p>,
  verb: 'Make it',
  reason: 'none',
  run: async ({ progress }) => {
    await makeDemo({ send: async (method, path, body) => (await request(method, path, body === undefined ? {} : { body })).value, now: serverNow(), progress })
    go(queueLink('demo', 'tasks'))
    return { said: 'The queue demo is ready.', queue: 'demo' }
  },
})
