/** Reports the result of each test to the process that runs vitest. Vitest's own JSON report does not tell whether a failure was a time-out. */
import { writeFileSync } from 'node:fs'
import type { Reporter, TestModule } from 'vitest/node'

/** The environment variable with the report's file. */
export const reportVariable = 'DAYBOOK_MUTANTS_REPORT'

export interface FileReport {
  readonly file: string
  readonly passed: number
  readonly failed: ReadonlyArray<{ readonly title: string; readonly messages: ReadonlyArray<string> }>
  /** Why the file failed as a whole, for example because it did not load. */
  readonly problems: ReadonlyArray<string>
}

export interface Report {
  readonly files: ReadonlyArray<FileReport>
  /** Errors outside of any test. */
  readonly unhandled: ReadonlyArray<string>
}

const messagesOf = (errors: ReadonlyArray<{ readonly message: string }> = []): ReadonlyArray<string> => errors.map(({ message }) => message)

const isLoaded = (module: TestModule): boolean => module.children.size > 0

const fileReport = (module: TestModule): FileReport => ({
  file: module.moduleId,
  passed: [...module.children.allTests('passed')].length,
  failed: [
    ...[...module.children.allTests('failed')].map((test) => ({ title: test.fullName, messages: messagesOf(test.result().errors) })),
    // Errors in the suites' hooks.
    ...[...module.children.allSuites()].map((suite) => ({ title: suite.fullName, messages: messagesOf(suite.errors()) })).filter(({ messages }) => messages.length > 0),
    ...(isLoaded(module) && module.errors().length > 0 ? [{ title: 'its hooks', messages: messagesOf(module.errors()) }] : []),
  ],
  problems: isLoaded(module) ? [] : messagesOf(module.errors()),
})

// Vitest needs it as the default export.
// eslint-disable-next-line no-restricted-syntax
export default class FileReporter implements Reporter {
  onTestRunEnd(modules: ReadonlyArray<TestModule>, unhandled: ReadonlyArray<{ readonly message: string }>): void {
    const report: Report = { files: modules.map(fileReport), unhandled: messagesOf(unhandled) }
    writeFileSync(process.env[reportVariable] as string, JSON.stringify(report))
  }
}
