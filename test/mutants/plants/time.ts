/** Time: when leases end, which clock is trusted, and timers of any length. */
import type { Plant } from '../plant.js'

const at = (file: string): string => `packages/adapters/src/engine/${file}`
const reports = ['test/engine/reports.test.ts']
const clocks = ['test/engine/clock.test.ts']

export const timePlants: ReadonlyArray<Plant> = [
  // Reports count by their arrival.
  {
    title: 'leases end although a command that arrived before their end is waiting',
    file: at('time/lease-grace.ts'),
    find: 'Math.min(now - this.delayMs, oldest)',
    replace: 'now - this.delayMs',
    killedBy: reports,
  },
  {
    title: 'the mailbox gives the arrival of its newest command as that of its oldest',
    file: at('append/mailbox.ts'),
    find: 'return this.items[0]?.arrivedAt',
    replace: 'return this.items[this.items.length - 1]?.arrivedAt',
    killedBy: reports,
  },
  {
    title: 'leases end at a start before anybody can report',
    file: at('time/lease-grace.ts'),
    find: '    this.until = monotonic() + graceMs\n',
    replace: '    this.until = monotonic()\n',
    killedBy: reports,
  },
  {
    title: 'leases end as soon as the store can write again',
    file: at('append/recovery.ts'),
    find: "if (error._tag === 'Unavailable' || error._tag === 'OutcomeUnknown') this.parts.grace.begin",
    replace: "if (error._tag === 'OutcomeUnknown') this.parts.grace.begin",
    killedBy: reports,
  },
  {
    title: 'leases end as soon as the clock is right again',
    file: at('decider.ts'),
    find: 'if (this.wasRefused && !isRefused) grace.begin()',
    replace: 'void grace',
    killedBy: reports,
    named: 'the clock of this server is refused',
  },
  {
    title: 'leases end as soon as a process that stood still goes on',
    file: at('time/lease-grace.ts'),
    find: 'late > lateMs && firstEnd > this.hadBy',
    replace: 'late > lateMs && firstEnd > now',
    killedBy: reports,
  },
  {
    title: 'grace has no end: it begins anew for the same lease',
    file: at('time/lease-grace.ts'),
    find: 'late > lateMs && firstEnd > this.hadBy',
    replace: 'late > lateMs',
    killedBy: reports,
  },
  {
    title: 'leases of a shared queue end at once',
    file: at('time/lease-grace.ts'),
    find: 'this.isShared && this.graceMs > 0 ? othersMs : 0',
    replace: '0',
    killedBy: reports,
  },
  {
    title: 'delays wait for reports as leases do',
    file: at('decider.ts'),
    find: 'return this.otherDue() <= now ||',
    replace: 'return this.otherDue() <= this.leasesUntil(now) ||',
    killedBy: reports,
  },
  {
    title: 'a tick ends all leases that are over, whatever waits',
    file: 'packages/core/src/decide/tick.ts',
    find: 'Math.min(at, leasesUntil ?? at)',
    replace: 'at',
    killedBy: reports,
  },
  // Clocks.
  {
    title: 'while the clock is behind the last event, time stands still',
    file: at('time/queue-clock.ts'),
    find: 'Math.floor(this.time + monotonic - this.seenAt)',
    replace: 'this.time',
    killedBy: clocks,
  },
  {
    title: "another server's time is not taken over",
    file: at('time/queue-clock.ts'),
    find: '    if (time <= this.expectedAt(monotonic)) return\n',
    replace: '    if (time > this.expectedAt(monotonic)) return\n',
    killedBy: clocks,
  },
  {
    title: 'each append sets the time back to that of its event',
    file: at('time/queue-clock.ts'),
    find: '    if (time <= this.expectedAt(monotonic)) return\n',
    replace: '',
    killedBy: clocks,
  },
  {
    title: 'a clock that jumps ahead is believed',
    file: at('time/checked-clock.ts'),
    find: 'if (jumped > this.jumpMsMax) return',
    replace: 'if (jumped > Number.POSITIVE_INFINITY) return',
    killedBy: clocks,
  },
  {
    title: 'sleep excuses a jump again and again',
    file: at('time/checked-clock.ts'),
    find: '      this.slept = slept\n',
    replace: '',
    killedBy: clocks,
  },
  {
    title: 'a machine that slept is taken for one whose clock jumped',
    file: at('time/checked-clock.ts'),
    find: 'const asleep = Math.max(0, slept - this.slept)',
    replace: 'const asleep = 0 * slept',
    killedBy: clocks,
  },
  {
    title: 'a clock that is corrected after it was set back counts as a jump',
    file: at('time/checked-clock.ts'),
    find: 'if (offset > this.offsetMost) this.offsetMost = offset',
    replace: 'this.offsetMost = offset',
    killedBy: clocks,
  },
  {
    title: "the store's time stands still when nothing is heard of it",
    file: at('time/checked-clock.ts'),
    find: 'store.time + monotonic - store.heardAt',
    replace: 'store.time',
    killedBy: clocks,
  },
  {
    title: 'a clock ahead of the store is believed',
    file: at('time/checked-clock.ts'),
    find: 'if (wall - theirs > this.jumpMsMax) return',
    replace: 'if (theirs - wall > this.jumpMsMax) return',
    killedBy: clocks,
  },
  {
    title: "EventStoreDB's time is not heard",
    file: 'packages/adapters/src/eventstoredb/read-call.ts',
    find: "  call.on('metadata', connection.heard)\n",
    replace: '',
    killedBy: ['test/contract/eventstoredb.test.ts'],
  },
  {
    title: 'each queue has its own checked clock: one opened late misses the jump',
    file: at('daybook.ts'),
    find: '        this.options,\n        this.clock,\n',
    replace: '        this.options,\n',
    killedBy: clocks,
  },
  {
    title: 'a refused clock is read again only when a command arrives',
    file: at('decider.ts'),
    find: 'clock.refusal === undefined ? forgotten : now + readClockAgainMs',
    replace: 'forgotten',
    killedBy: clocks,
  },
  {
    title: 'a timer beyond 2^31 ms rings at once',
    file: 'packages/client/src/transport/long-timer.ts',
    find: 'left > timerMsMax ? setTimeout(() => wait(left - timerMsMax), timerMsMax) : setTimeout(ring, left)',
    replace: 'setTimeout(ring, left)',
    killedBy: clocks,
  },
  {
    // Not 0: virtual time would stand still, and the test would time out.
    title: 'an alarm for a distant time rings each millisecond, and for ever',
    file: at('time/alarm.ts'),
    find: 'Math.min(Math.max(at - this.clock.now(), 0) + 1, sleepMsMax)',
    replace: '1',
    killedBy: clocks,
    named: 'more than 2^31 ms',
  },
]
