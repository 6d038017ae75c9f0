/** The parts of a server beside its queues, as far as they have begun: `/readyz` and `/metrics` tell of them. None is closed with the HTTP server. */
import type { Checkpoints } from '../chain/index.js'
import type { QueueFilesStatus } from '../files/index.js'
import type { ReadModels } from '../read-models/index.js'
import type { WebhookStatus } from '../webhooks/index.js'

export interface ServerParts {
  readonly queueFiles: () => ReadonlyArray<QueueFilesStatus>
  readonly webhooks: () => ReadonlyArray<WebhookStatus>
  readonly readModels: () => ReadModels | undefined
  /** Whether there are read models as soon as the server has read its log. */
  readonly keepsReadModels: boolean
  /** The signing of checkpoints. */
  readonly checkpoints: () => Checkpoints | undefined
}
