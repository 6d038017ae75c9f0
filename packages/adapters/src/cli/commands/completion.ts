/** `daybook completion`: scripts that let a shell complete command lines. */
import { Argument, Command } from 'commander'
import { type Cli, examples } from '../cli.js'
import { wantedAt } from '../completion/candidates.js'
import { completionScripts, type Shell } from '../completion/scripts.js'
import { valuesOf } from '../completion/values.js'
import { clean } from '../text.js'

/** Called by the scripts at each tab. Arguments: the words so far; the last is the one at the cursor. */
const wordsCommand = (cli: Cli): Command =>
  new Command('words')
    .description('the words that may stand at the cursor')
    .argument('[words...]', 'the command line so far, without the name of the program')
    .option('--joined', 'the shell takes --option=value apart')
    .addHelpText('after', examples("daybook completion words -- list --sta"))
    .action(cli.local<{ readonly joined?: boolean }, [ReadonlyArray<string>]>(async (_, { joined = false }, __, words) => {
      const { treeFor } = await import('../program.js')
      const { candidates, kind, before, partial, given } = wantedAt(await treeFor(cli, words), words.length === 0 ? [''] : words)
      const values = kind === undefined ? [] : await valuesOf(kind, given, cli.io.env)
      const found = [...candidates, ...values.map((word) => ({ word, about: '' }))].filter(({ word }) => word.startsWith(partial))
      // If the shell has split `--queue=x`, only the part after the sign is replaced.
      const kept = joined ? before.slice(before.lastIndexOf('=') + 1) : before
      cli.io.out(`${kind === 'files' ? 'files' : '-'}\n${found.map(({ word, about = '' }) => `${kept}${word}\t${clean(about, 100)}\n`).join('')}`)
    }))

export const completionCommand = (cli: Cli): Command =>
  new Command('completion')
    .description('complete commands, options, choices, queues and types with the tab key: prints a script for your shell')
    .addArgument(new Argument('<shell>', 'yours').choices(Object.keys(completionScripts)))
    .addHelpText('after', examples(
      'daybook completion bash > ~/.local/share/bash-completion/completions/daybook',
      'daybook completion zsh > ~/.zfunc/_daybook       # with fpath+=(~/.zfunc) before compinit in ~/.zshrc',
      'daybook completion fish > ~/.config/fish/completions/daybook.fish',
      '',
      'The script asks the program at each tab, and the program asks the server for queues, types, schedules and agents: for at most 0.7 s, and in silence.',
    ))
    .action(cli.local<object, [Shell]>(async (_, __, ___, shell) => {
      cli.io.out(completionScripts[shell])
    }))
    .addCommand(wordsCommand(cli), { hidden: true })
