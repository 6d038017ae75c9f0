import type { Engine } from './engine.js'

/** What the parts of an engine share. The engine owns it, and hands itself to those parts that need most of it. */
export type Parts = Pick<
  Engine,
  | 'name' | 'log' | 'live' | 'clock' | 'durable' | 'mailbox' | 'waiting' | 'inFlight' | 'turns' | 'limits' | 'contentStore'
  | 'availability' | 'grace' | 'readOnly' | 'withholding' | 'isClosing' | 'warn' | 'enterPrepared'
>
