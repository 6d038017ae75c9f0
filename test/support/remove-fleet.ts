/** At the end of a run: removes the folder that the test files of the console share (`test/console/seeded-folder.ts`). */
import { rmSync } from 'node:fs'
import type { TestProject } from 'vitest/node'

export const teardown = async (): Promise<void> => {
  for (const folder of [fleetFolder, `${fleetFolder}-made`]) rmSync(folder, { recursive: true, force: true })
}

let fleetFolder = ''
export const setup = ({ config }: TestProject): void => {
  fleetFolder = config.env['FLEET_FOLDER'] as string
}
