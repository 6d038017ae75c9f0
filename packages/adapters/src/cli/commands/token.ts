/** `daybook token`: who may use the server, and for what. */
import { Command, InvalidArgumentError } from 'commander'
import type { DaybookClient, TokenRole, TokenView } from '../../client/index.js'
import { defined } from '../../defined.js'
import { type Cli, examples } from '../cli.js'
import { CliError, UsageError } from '../exit-codes.js'
import { rate } from './limits.js'
import { tokenRoles } from '../roles.js'
import { didYouMean } from '../suggest/nearest.js'
import { roleWords } from '../suggest/words.js'
import { clean, since, until } from '../text.js'
import { filledList, list, positive, time } from '../values.js'

/** Accepts `a,b` as well as repeated options. */
const roleList = (text: string, before: ReadonlyArray<TokenRole> = []): ReadonlyArray<TokenRole> => {
  const given = list(text)
  for (const each of given) {
    if (!(tokenRoles as ReadonlyArray<string>).includes(each)) throw new InvalidArgumentError(`the roles are ${tokenRoles.join(', ')}${didYouMean(each, tokenRoles, roleWords)}`)
  }
  return [...before, ...(given as ReadonlyArray<TokenRole>)]
}

/** Accepts `30d` and `+30d`, or a time. */
const expiry = (text: string): string => time(/^\d/.test(text) && /[smhd]$/.test(text) ? `+${text}` : text)

const queuesText = ({ queues }: TokenView): string => (queues === undefined ? 'all' : clean(queues.join(', ')))

const tenantsText = ({ tenants }: TokenView): string => (tenants === undefined ? 'all' : clean(tenants.join(', ')))

const stateText = ({ status, expiresAt, revoked }: TokenView): string => {
  if (revoked !== undefined) return `revoked ${since(revoked.at)} by ${clean(revoked.by)}`
  if (status === 'expired') return 'expired'
  return expiresAt === undefined ? 'valid' : `valid, expires ${until(expiresAt)}`
}

const rateText = ({ rate: given }: TokenView): string => (given === undefined ? '' : `${given.perSecond}/s, ${given.burst} at once`)

const creating = (cli: Cli): Command =>
  new Command('create')
    .description('make a token and print it, once')
    .argument('<name>', 'the actor of what it does, in the log')
    .requiredOption('-r, --role <role>', `${tokenRoles.join(', ')}; repeatable`, roleList)
    .option('--queues <queue>', 'the queues that it may use; repeatable; --queue names one; default: all', filledList)
    .option('--tenant <tenant>', 'the tenants whose tasks it may see and change, in queues with tenants=isolated; repeatable; default: all', filledList)
    .option('--rate <n/time>', 'the most requests in a time, on average, on each server: 50/s, 600/m; a bulk request is one', rate)
    .option('--burst <n>', 'the most requests at once; default: those of a second', positive)
    .option('--expires <time>', 'when it ends by itself: 30d, 12h, or a time', expiry)
    .addHelpText('after', `
producer   enqueues, cancels what it enqueued, waits for results
worker     claims tasks and reports on them
operator   dead letters, breakers, limits, schedules, settings, agents; reads everything
guardian   approvals and escalations; reads everything
auditor    reads everything
admin      may do all of this, erase tasks, and make tokens

A token may have several roles. The server keeps only its hash, so nobody can show it again.
${examples(
  'daybook token create build-farm --role worker --queue builds --expires 90d',
  'daybook token create ci --role producer,auditor --queues builds,tests',
  'daybook token create acme-app --role producer --queue jobs --tenant acme',
  'daybook token create web --role producer --rate 50/s --burst 200',
  'export DAYBOOK_TOKEN=$(daybook token create ada --role operator --json | jq -r .token)',
)}`)
    .action(cli.connected<{ readonly role: ReadonlyArray<TokenRole>; readonly queues?: ReadonlyArray<string>; readonly tenant?: ReadonlyArray<string>; readonly expires?: string; readonly rate?: { readonly starts: number; readonly perSeconds: number }; readonly burst?: number }, [string]>(async ({ printer, client, connection: { namedQueue } }, { role, queues: several = [], tenant: tenants, expires, rate: given, burst }, name) => {
      // DAYBOOK_QUEUE is ignored: a limit of a token should be explicit.
      const queues = [...new Set([...(namedQueue === undefined ? [] : [namedQueue]), ...several])]
      if (burst !== undefined && given === undefined) throw new UsageError('--burst goes with --rate')
      const limits = given === undefined ? {} : { rate: { perSecond: given.starts / given.perSeconds, ...defined({ burst }) } }
      const made = await client.tokens.create({ name, roles: role, ...(queues.length === 0 ? {} : { queues }), ...limits, ...defined({ tenants, expiresAt: expires }) })
      printer.answer(made, () => {
        printer.line(made.token)
        printer.note(`token ${clean(made.name)} (${made.roles.join(', ')}; queues: ${queuesText(made)}; ${made.tenants === undefined ? '' : `tenants: ${tenantsText(made)}; `}${stateText(made)}), shown this once; daybook token revoke ${clean(made.name)} ends it`)
      })
    }))

const listing = (cli: Cli): Command =>
  new Command('list')
    .description('all tokens that are valid, with their last use on this server')
    .option('-a, --all', 'also those that have expired or were revoked')
    .addHelpText('after', examples('daybook token list', 'daybook token list --all --json'))
    .action(cli.connected<{ readonly all?: boolean }>(async ({ printer, client }, { all = false }) => {
      const tokens = (await client.tokens.list()).filter(({ status }) => all || status === 'valid')
      const areBound = tokens.some(({ tenants }) => tenants !== undefined)
      printer.answer({ tokens }, () =>
        printer.table(
          [{ head: 'NAME', min: 8 }, 'ROLES', { head: 'QUEUES', min: 6 }, ...(areBound ? ['TENANTS'] : []), { head: 'RATE', leaveOut: 3 }, 'STATE', { head: 'LAST USE', leaveOut: 1 }, { head: 'ID', leaveOut: 2 }],
          tokens.map((token) => [clean(token.name), token.roles.join(', '), queuesText(token), ...(areBound ? [tenantsText(token)] : []), rateText(token), stateText(token), token.lastUsedAt === null ? 'never' : since(token.lastUsedAt), token.id]),
          'no tokens',
        ))
    }))

/** A valid token by its name, or any by its id. @throws CliError if there is none. */
const find = async (client: DaybookClient, given: string): Promise<TokenView> => {
  const tokens = await client.tokens.list()
  const found = tokens.find(({ name, status }) => name === given && status === 'valid') ?? tokens.find(({ id, name }) => id === given || name === given)
  if (found === undefined) throw new CliError(`there is no token ${clean(given)}: daybook token list --all shows them`)
  return found
}

const revoking = (cli: Cli): Command =>
  new Command('revoke')
    .description('end a token at once, on all servers')
    .argument('<name>', 'its name or its id')
    .option('--reason <text>', 'why, for those who ask later')
    .addHelpText('after', examples('daybook token revoke build-farm --reason "the machine was sold"'))
    .action(cli.connected<{ readonly reason?: string }, [string]>(async ({ printer, client }, { reason }, given) => {
      const before = await find(client, given)
      const revoked = await client.tokens.revoke(before.id, reason)
      // The first revocation stays, with its time and its reason.
      printer.answer(revoked, () => printer.line(`${clean(revoked.name)}: ${before.revoked === undefined ? '' : 'it was revoked already; '}${stateText(revoked)}`))
    }))

export const tokenCommand = (cli: Cli): Command =>
  new Command('token')
    .description('who may use the server, and for what: make, list and revoke tokens')
    .addCommand(listing(cli), { isDefault: true })
    .addCommand(creating(cli))
    .addCommand(revoking(cli))
