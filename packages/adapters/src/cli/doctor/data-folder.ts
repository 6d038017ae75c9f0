/** Checks the files of a data folder without which a server does not start, or does not sign. */
import { assertTokens, tokensFileOf } from '../../auth/index.js'
import { checkpointFolderOf, readSigningKey, signedQueues, signingKeyFileOf } from '../../chain/index.js'
import { type Finding, orBad } from './finding.js'

/** Files that are missing are made at the next start. */
export const checkDataFolder = async (dataDir: string): Promise<ReadonlyArray<Finding>> => {
  const findings: Array<Finding> = []
  await orBad(findings, tokensFileOf(dataDir), async () => assertTokens(dataDir))
  const keyFile = signingKeyFileOf(dataDir)
  await orBad(findings, keyFile, async () => {
    if (readSigningKey(keyFile) === undefined) findings.push(...(await missingKey(dataDir, keyFile)))
  })
  return findings
}

/** What a start without the key costs. If the folder of checkpoints cannot be read, another check says so. */
const missingKey = async (dataDir: string, about: string): Promise<ReadonlyArray<Finding>> => {
  const signed = await signedQueues(checkpointFolderOf(dataDir)).catch(() => [])
  if (signed.length === 0) return []
  return [{ level: 'note', about, says: `is missing, and checkpoints of ${signed.join(', ')} were signed: a start makes another key, and signs nothing more of them. Restore it from a backup, unless --checkpoint-key puts it elsewhere` }]
}
