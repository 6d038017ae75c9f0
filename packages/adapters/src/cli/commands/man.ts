/** `daybook man`: manual pages, generated from the declarations of the commands. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Command } from 'commander'
import { errorText } from '../../error-text.js'
import { Cli, examples } from '../cli.js'
import { CliError, UsageError } from '../exit-codes.js'
import { markdownOf } from '../manual/markdown.js'
import { type Page, pageOf } from '../manual/page.js'
import { pageName, roffOf } from '../manual/roff.js'
import { didYouMean } from '../suggest/nearest.js'

interface Options {
  readonly write?: string
  readonly markdown?: boolean
}

/** The pages of the whole program, and its version. */
const readPages = async (cli: Cli): Promise<{ readonly root: Page; readonly version: string }> => {
  let text = ''
  const { treeFor } = await import('../program.js')
  const tree = await treeFor(new Cli({ ...cli.io, out: (said) => void (text += said) }), [])
  const said = (): string => {
    const now = text
    text = ''
    return now
  }
  return { root: pageOf(tree, said), version: tree.version() ?? '' }
}

const write = async (folder: string, pages: ReadonlyArray<readonly [string, string]>): Promise<void> => {
  try {
    await mkdir(folder, { recursive: true })
    for (const [name, text] of pages) await writeFile(join(folder, `${name}.1`), text)
  } catch (error) {
    throw new CliError(`the pages cannot be written: ${errorText(error)}`)
  }
}

export const manCommand = (cli: Cli): Command =>
  new Command('man')
    .description('pages of the manual, for man')
    .argument('[command]', 'of this command', '')
    .option('--write <folder>', 'write all pages there, as daybook.1, daybook-enqueue.1 …')
    .option('--markdown', 'the reference of all commands as one Markdown text')
    .addHelpText('after', examples(
      'daybook man enqueue | man -l -',
      'daybook man --write ~/.local/share/man/man1     # then: man daybook-enqueue',
    ))
    .action(cli.local<Options, [string]>(async (_, { write: folder, markdown = false }, __, name) => {
      const { root, version } = await readPages(cli)
      if (markdown) return cli.io.out(markdownOf(root))
      const all = [root, ...root.commands]
      if (folder !== undefined) return write(folder, all.map((page) => [pageName(page), roffOf(page, version, root.options)] as const))
      const page = all.find(({ path }) => path === name)
      if (page === undefined) throw new UsageError(`there is no command ${JSON.stringify(name)}${didYouMean(name, root.commands.map(({ path }) => path))}`)
      cli.io.out(roffOf(page, version, root.options))
    }))
