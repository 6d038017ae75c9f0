/** `audit prove` and `audit check`: proofs about a log, for people who do not have the log (EV-07). */
import { Command } from 'commander'
import { plural } from '@daybook/core/common'
import { dataDirDefault } from '../../config/serve-options.js'
import { type CheckpointFlags, checkpointsOf, readText, verifierKey } from '../audit/checkpoints.js'
import { addWhere, logAddressOf } from '../audit/options.js'
import { type Cli, examples } from '../cli.js'
import { CliError, exitCodes, UsageError } from '../exit-codes.js'
import { clean } from '../text.js'
import { whole } from '../values.js'

interface ProveFlags extends CheckpointFlags {
  readonly revision?: number
  readonly since?: number
}

export const proveCommand = (cli: Cli): Command =>
  addWhere(new Command('prove').description('a proof that an event is in the log, or that the log begins with an older one, for those who have only its checkpoints'))
    .option('--revision <n>', 'prove that this event is in it', whole)
    .option('--since <events>', 'prove that it begins with the events of the checkpoint of this size', whole)
    .option('--checkpoints <file>', 'signed checkpoints that were kept elsewhere (default: those in the folder of --data)')
    .option('--checkpoint-key <key>', 'the key that verifies them (default: the one in the folder of --data)')
    .addHelpText('after', examples(
      `daybook audit prove --data ${dataDirDefault} --revision 42 > 42.tlog-proof`,
      `daybook audit prove --data ${dataDirDefault} --since 1042 > since-1042`,
      '',
      'About the newest checkpoint. Reads the log up to there. The proof of an event has the event in it, with its data. daybook audit check verifies both.',
    ))
    .action(cli.local<ProveFlags>(async (_, flags, command) => {
      const { revision, since } = flags
      if ((revision === undefined) === (since === undefined)) throw new UsageError('what is to be proven? Give either --revision or --since')
      const address = logAddressOf(flags)
      if (address === undefined) throw new UsageError('give --data or --store: the log is read here')
      const { queue } = cli.connection(command)
      const [{ ProofError, proveConsistency, proveInclusion, withScan }, { streamOf }] = await Promise.all([import('../../chain/index.js'), import('../../engine/index.js')])
      const checkpoints = await checkpointsOf(flags, queue)
      if (checkpoints === undefined) throw new CliError('there are no checkpoints of this queue: a server signs them, every minute')
      try {
        cli.io.out(await withScan(address, streamOf(queue), (scan) => (revision === undefined ? proveConsistency(scan, checkpoints, since ?? 0) : proveInclusion(scan, checkpoints, revision))))
        await cli.io.flushed()
      } catch (error) {
        throw error instanceof ProofError ? new CliError(error.message) : error
      }
      return exitCodes.done
    }))

interface CheckFlags {
  readonly checkpointKey: string
  readonly older?: string
}

export const checkCommand = (cli: Cli): Command =>
  new Command('check')
    .description('verify a proof of daybook audit prove: no log and no server are needed')
    .argument('<file>', 'the proof')
    .requiredOption('--checkpoint-key <key>', 'the public key, from somebody you trust: the word in QUEUE.key, or a file with it')
    .option('--older <file>', 'the checkpoint that you had before, for a proof with --since')
    .addHelpText('after', examples(
      'daybook audit check 42.tlog-proof --checkpoint-key daybook-3f9c2a71/default+1b2c…',
      'daybook audit check since-1042 --checkpoint-key default.key --older my-checkpoint',
      '',
      'Exit code 1 when it does not prove what it says.',
    ))
    .action(cli.local<CheckFlags, [string]>(async (printer, { checkpointKey, older }, _, file) => {
      const { checkProof, ProofError } = await import('../../chain/index.js')
      const signer = await verifierKey(checkpointKey)
      try {
        const proven = checkProof(await readText(file), signer, older === undefined ? undefined : await readText(older))
        printer.answer({ ok: true, ...proven }, () => {
          if (proven.kind === 'consistency') return printer.line(`ok  the log of ${plural(proven.size, 'event')} begins with the ${proven.older} of the older checkpoint`)
          printer.line(`ok  event ${proven.index} of the ${proven.size} that ${signer.name} signed:`)
          for (const line of proven.event.split('\n')) printer.line(`  ${clean(line)}`)
        })
        return exitCodes.done
      } catch (error) {
        if (!(error instanceof ProofError)) throw error
        printer.answer({ ok: false, reason: error.message }, () => printer.line(`NOT PROVEN  ${clean(error.message)}`))
        return exitCodes.refused
      }
    }))
