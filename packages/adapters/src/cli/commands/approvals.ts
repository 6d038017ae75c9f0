/** `daybook approvals`: what waits for a guardian. */
import { Command } from 'commander'
import { plural } from '@daybook/core/common'
import type { Approval } from '../../client/index.js'
import { type Cli, examples } from '../cli.js'
import type { Printer } from '../printer.js'
import { clean, clock, since } from '../text.js'

/** What an approval would lead to. */
const askedFor = ({ kind, parent, tasks }: Approval): string => {
  if (kind === 'dead-letter') return `send the dead letter ${parent} back`
  return tasks.map(({ type, phase, ticketId, discovery }) => [type, phase, discovery === undefined ? undefined : `for ${discovery}`, ticketId === undefined ? undefined : `on ${ticketId}`].filter((part) => part !== undefined).join(' ')).join('; ')
}
const causes: Readonly<Record<Approval['cause'], string>> = {
  'other-ticket': 'it is about another ticket',
  'too-many-generations': 'its chain of spawned tasks is long',
  'signature-repeated': 'validation failed the same way again and again',
  'rounds-exhausted': 'the budget of fixes is used up',
  'retries-exhausted': 'a task of the chain was given up after all its retries',
  'attempts-exhausted': 'a task of the chain was given up after all its attempts',
  'not-retryable': 'a task of the chain failed for good',
  imported: 'a task of the chain was imported as a dead letter',
}

const listing = (cli: Cli): Command =>
  new Command('list')
    .description('all that waits, the oldest first')
    .addHelpText('after', examples('daybook approvals list'))
    .action(cli.connected(async ({ printer, client }) => {
      const approvals = await client.approvals.list()
      printer.answer({ approvals }, () =>
        printer.table(
          ['ID', { head: 'KIND', leaveOut: 3 }, { head: 'SINCE', leaveOut: 4 }, { head: 'TASK', min: 8, leaveOut: 2 }, { head: 'WHY', min: 12, leaveOut: 1 }, { head: 'IF APPROVED', min: 12 }],
          approvals.map((approval) => [approval.id, approval.kind, since(approval.at), clean(approval.parent, 40), causes[approval.cause], clean(askedFor(approval), 100)]),
          'nothing waits for a guardian',
        ))
    }))

const show = (cli: Cli): Command =>
  new Command('show')
    .description('what waits, what would be done, and the chain of tasks that led to it')
    .argument('<id>', 'its id')
    .addHelpText('after', examples('daybook approvals show 3f9a1c27-b04e-8d1e-a77c-9f10aa55c0de'))
    .action(cli.connected<object, [string]>(async ({ printer, client }, _, id) => {
      const approval = await client.approvals.get(id)
      printer.answer(approval, () => {
        const { kind, cause, parent, root, at, rounds, error, tasks, chain } = approval
        printer.line(`${approval.id}: ${causes[cause]}`)
        printer.line(`${kind}, since ${clock(at)}, caused by ${clean(parent)}${parent === root ? '' : `, in the chain that ${clean(root)} began`}`)
        if (rounds !== undefined) printer.line(`${plural(rounds, 'round')}; the failure: ${clean(error ?? '', 500)}`)
        printer.line()
        printer.line(`if approved: ${clean(askedFor(approval), 200)}`)
        for (const { id: task, description } of tasks) if (description !== undefined) printer.line(`  ${clean(task)}: ${clean(description, 500)}`)
        printer.line()
        printer.table(
          ['TASK', { head: 'TYPE', leaveOut: 3 }, { head: 'PHASE', leaveOut: 2 }, 'STATUS', { head: 'LAST ERROR', min: 10, leaveOut: 1 }],
          chain.map((task) => [clean(task.id, 40), clean(task.type, 30), task.phase ?? '', task.status, clean(task.lastError ?? '', 80)]),
          'no task of the chain is known any more',
        )
      })
    }))

const deciding = (cli: Cli, verb: 'approve' | 'refuse', description: string): Command =>
  new Command(verb)
    .description(description)
    .argument('<id>', 'its id: see the list')
    .requiredOption('--reason <text>', 'why; it stands in the log for good')
    .addHelpText('after', examples(`daybook approvals ${verb} 3f9a1c27-b04e-8d1e-a77c-9f10aa55c0de --reason "looked at it"`))
    .action(cli.connected<{ readonly reason: string }, [string]>(async ({ printer, client }, { reason }, id) => {
      if (verb === 'refuse') {
        await client.approvals.refuse(id, reason)
        return printer.answer({ id, refused: true }, () => printer.line(`${id} refused: nothing is enqueued`))
      }
      const answer = await client.approvals.approve(id, reason)
      printer.answer({ id, ...answer }, () => told(printer, id, answer))
    }))

const told = (printer: Printer, id: string, { spawned, retried }: { readonly spawned: ReadonlyArray<string>; readonly retried: ReadonlyArray<string> }): void => {
  if (spawned.length > 0) printer.line(`${id} approved: enqueued ${clean(spawned.join(', '))}`)
  else printer.line(retried.length > 0 ? `${id} approved: ${clean(retried.join(', '))} sent back` : `${id} approved: its task is no dead letter any more`)
}

export const approvalsCommand = (cli: Cli): Command =>
  new Command('approvals')
    .description('what waits for a guardian: discoveries about other tickets, and chains of fixes that were halted')
    .addCommand(listing(cli), { isDefault: true })
    .addCommand(show(cli))
    .addCommand(deciding(cli, 'approve', 'let it happen: enqueue its tasks, or send its dead letter back; a halted chain is counted from zero again'))
    .addCommand(deciding(cli, 'refuse', 'decide against it: nothing is enqueued'))
