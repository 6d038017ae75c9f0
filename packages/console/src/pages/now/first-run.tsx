/** Nothing there yet: what would fill this page, and how. */
import { Empty } from '../../parts/empty.js'

export const FirstRun = () => (
  <Empty title="No queues yet">
    <p>A queue comes into being with its first task:</p>
    <pre><code>npx daybook enqueue mail --payload '{'{"to":"ada@example.org"}'}'</code></pre>
    <p>and an agent works on it:</p>
    <pre><code>npx daybook work --types mail -- ./examples/agent.sh</code></pre>
  </Empty>
)
