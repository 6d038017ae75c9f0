/** The log of the fleet takes seconds to make, so the test files of a run share one: each gets a copy of its data folder. */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type FleetTokens, seedFleet } from './fleet.js'

/** Named by vitest.config.ts, which has the folder removed at the end of the run. */
const shared = process.env['FLEET_FOLDER'] as string
const waitMs = 150_000

export interface SeededFolder {
  readonly dataDir: string
  readonly tokens: FleetTokens
}

/** A data folder of its own for the caller, who removes it. */
export const seededFolder = async (): Promise<SeededFolder> => {
  const tokensFile = join(shared, 'tokens-of-people.json')
  if (isFirst()) {
    const made = `${shared}-made`
    mkdirSync(made)
    const tokens = await seedFleet(made)
    writeFileSync(join(made, 'tokens-of-people.json'), JSON.stringify(tokens))
    rmSync(shared, { recursive: true })
    renameSync(made, shared)
  }
  for (const end = Date.now() + waitMs; !existsSync(tokensFile); await delay(50)) {
    if (Date.now() > end) throw new Error(`another test file did not make the fleet in ${shared}: its error says why`)
  }
  const dataDir = mkdtempSync(join(tmpdir(), 'daybook-console-'))
  cpSync(shared, dataDir, { recursive: true })
  return { dataDir, tokens: JSON.parse(readFileSync(tokensFile, 'utf8')) as FleetTokens }
}

const isFirst = (): boolean => {
  try {
    mkdirSync(shared)
    return true
  } catch {
    return false
  }
}
