/** Webhooks: signed messages about alerts. */
export { whyNotPublic } from './addresses.js'
export { testMessage } from './message.js'
export { openPoster, type Outcome, readRetryAfter } from './post.js'
export { type Tuning, type WebhookOptions } from './receiver.js'
export { startWebhooks, type Webhooks, type WebhooksOptions, type WebhookStatus } from './service.js'
export { readSecret, secretPrefix, signatureOf } from './signature.js'
