/** Where a command is among the others. */
import type { Command } from 'commander'

/** The names from the program's own on: `daybook`, `dlq`, `retry`. */
export const namesOf = (command: Command): ReadonlyArray<string> => [...(command.parent === null ? [] : namesOf(command.parent)), command.name()]

/** What is typed after the program's name: `dlq retry`. Empty for the program itself. */
export const pathOf = (command: Command): string => namesOf(command).slice(1).join(' ')
