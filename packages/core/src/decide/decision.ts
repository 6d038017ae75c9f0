/** What every command is decided by, and what it comes to. */
import type * as E from 'fp-ts/lib/Either.js'
import type { CommandOf, CommandType, Envelope } from '../model/commands.js'
import type { QueueEvent } from '../model/events.js'
import type { Rejection } from '../model/rejections.js'
import type { Tables } from '../state/tables.js'

/** All events of a command, to be appended together, or the reason why there are none (INV-16). */
export type Decision = E.Either<Rejection, ReadonlyArray<QueueEvent>>

/** Decides commands of one type. Changes nothing. */
export type Decider<T extends CommandType> = (command: CommandOf<T>, tables: Tables, envelope: Envelope) => Decision
