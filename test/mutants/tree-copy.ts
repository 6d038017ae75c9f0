/** A copy of the built repository in a scratch folder: plants go there, and never into the tree that people work in. */
import { existsSync } from 'node:fs'
import { cp, mkdir, readdir, readlink, realpath, symlink } from 'node:fs/promises'
import { basename, join, relative } from 'node:path'

/** What no test needs. */
const leftOut = new Set(['.git', '.tools', join('.ci', 'out'), 'bench', 'data'])

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

/** The same dependencies, and for the packages of the repository itself those of the copy: links between them are relative. */
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
