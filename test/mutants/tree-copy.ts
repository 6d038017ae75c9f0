/** A copy of the built repository in a scratch folder. Defects are planted there, and never in the working tree. */
import { existsSync } from 'node:fs'
import { cp, mkdir, readdir, readlink, realpath, symlink } from 'node:fs/promises'
import { basename, join, relative } from 'node:path'

/** Folders that no test needs, and the bundled program, which does not have the defect. Without the bundle, `daybook` runs the modules. */
const leftOut = new Set(['.git', '.tools', join('.ci', 'out'), 'bench', 'data', join('packages', 'adapters', 'dist', 'program')])

export const copyTree = async (root: string, to: string): Promise<void> => {
  await cp(root, to, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => !leftOut.has(relative(root, path)) && basename(path) !== 'node_modules',
  })
  for (const folder of ['.', 'test', ...(await readdir(join(root, 'packages'))).map((name) => join('packages', name))]) {
    await linkModules(join(root, folder, 'node_modules'), join(to, folder, 'node_modules'))
  }
}

/** Links the same dependencies, but the repository's own packages to those of the copy: links between them are relative. */
const linkModules = async (from: string, to: string): Promise<void> => {
  if (!existsSync(from)) return
  await mkdir(to, { recursive: true })
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    if (entry.isSymbolicLink()) await symlink(await readlink(source), target)
    else if (entry.name === '.pnpm') await symlink(await realpath(source), target)
    else if (entry.isDirectory() && entry.name.startsWith('@')) await linkModules(source, target)
  }
}
