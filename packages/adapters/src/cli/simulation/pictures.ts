/** Pictures that a command writes besides its answer. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { errorText } from '../../error-text.js'
import { CliError } from '../exit-codes.js'

/**
 * Writes each picture as `NAME.svg` into the folder, which is created if necessary.
 *
 * @param pictures SVG texts by name.
 * @returns The files.
 * @throws CliError if they cannot be written.
 */
export const drawPictures = async (pictures: Readonly<Record<string, string>>, folder: string): Promise<ReadonlyArray<string>> => {
  const files = Object.entries(pictures).map(([name, picture]) => ({ file: join(folder, `${name}.svg`), picture }))
  try {
    await mkdir(folder, { recursive: true })
    for (const { file, picture } of files) await writeFile(file, picture)
  } catch (error) {
    throw new CliError(`the pictures cannot be written: ${errorText(error)}`)
  }
  return files.map(({ file }) => file)
}
