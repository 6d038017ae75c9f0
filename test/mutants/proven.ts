/** Tests that are known to pass, from the report of a run of all tests (`--reporter=json` of vitest) on the same sources. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Plant } from './plant.js'

interface JsonReport {
  readonly testResults: ReadonlyArray<{
    readonly name: string
    readonly status: string
    readonly assertionResults: ReadonlyArray<{ readonly fullName: string; readonly status: string }>
  }>
}

/**
 * Whether all test files of a plant are in the report without a failure, and a test with the plant's name passed.
 * @throws if there is no such report
 */
export const provenBy = (reportFile: string, root: string): ((plant: Plant) => boolean) => {
  const { testResults } = JSON.parse(readFileSync(reportFile, 'utf8')) as JsonReport
  const files = new Map(testResults.map((file) => [file.name, file]))
  return ({ killedBy, named = '' }) => {
    const found = killedBy.map((file) => files.get(join(root, file)))
    return (
      found.every((file) => file?.status === 'passed') &&
      found.some((file) => file?.assertionResults.some(({ fullName, status }) => status === 'passed' && fullName.includes(named)))
    )
  }
}
