import { Command } from 'commander'
import type { SettingsPatch } from '@daybook/core'
import { type Cli, examples } from '../cli.js'
import { UsageError } from '../exit-codes.js'
import { didYouMeanSetting, flatten, patchOf, readPatch } from '../setting-paths.js'
import { clean, cleanLines } from '../text.js'

const getting = (cli: Cli): Command =>
  new Command('get')
    .description('all settings of the queue, or one')
    .argument('[key]', 'a setting like defaults.timeout, or a part like breakers')
    .addHelpText('after', examples('daybook settings get', 'daybook settings get breakers', 'daybook settings get defaults.timeout --json'))
    .action(cli.connected<object, [string | undefined]>(async ({ printer, client }, _, key) => {
      const settings = await client.settings.get()
      const shown = flatten(settings).filter(([path]) => key === undefined || path === key || path.startsWith(`${key}.`))
      if (key !== undefined && shown.length === 0) throw new UsageError(`there is no setting ${key}: daybook settings get shows all${didYouMeanSetting(key)}`)
      const part = key === undefined ? settings : shown.length === 1 && shown[0]?.[0] === key ? shown[0][1] : Object.fromEntries(shown)
      printer.answer(part, () => printer.pairs(shown.map(([path, value]) => [clean(path), cleanLines(typeof value === 'string' ? value : JSON.stringify(value))])))
    }))

const setting = (cli: Cli): Command =>
  new Command('set')
    .description('change settings of the queue; all others stay as they are')
    .argument('[assignments...]', 'like defaults.timeout=600; null removes a breaker override')
    .option('-f, --file <file>', 'YAML: any part of the settings, or a circuit-breakers.yaml as it is')
    .addHelpText('after', examples(
      'daybook settings set decisionReport=optional defaults.maxRetries=5',
      'daybook settings set deduplicate=key   # content, key or off: what makes a new task the duplicate of one that is there',
      'daybook settings set breakers.overrides.ops-security.failureThreshold=3',
      'daybook settings set breakers.overrides.ops-security=null',
      'daybook settings set policy=score     # age and urgency may outweigh priority',
      'daybook settings set assignment.tenants.gold=3   # three leases for each of the others',
      'daybook settings set --file .loki/config/circuit-breakers.yaml',
    ))
    .action(cli.connected<{ readonly file?: string }, [ReadonlyArray<string>]>(async ({ printer, client }, { file }, assignments) => {
      if ((file === undefined) === (assignments.length === 0)) throw new UsageError('give key=value, or --file')
      const patch: SettingsPatch = file === undefined ? patchOf(assignments) : await readPatch(file)
      const settings = await client.settings.patch(patch)
      printer.answer(settings, () => printer.pairs(flatten(patch).map(([path, value]) => [path, JSON.stringify(value)])))
    }))

export const settingsCommand = (cli: Cli): Command =>
  new Command('settings').description('settings of the queue: retries, leases, breakers, reports').addCommand(getting(cli), { isDefault: true }).addCommand(setting(cli))
