/** `launcher:` in the config file: the program that the server starts for each task. */
import { type FieldError, integer, Name, Phase, PositiveSeconds, QueueName, TypePattern, validate } from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { type Environment, variableNamedBy } from './environment.js'
import type { Problems } from './settings-file.js'

const Words = t.refinement(t.readonlyArray(t.string), (words) => words.length > 0 && words[0] !== '', 'list of a program and its arguments')
const VariableName = t.refinement(t.string, (name) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name), 'name of an environment variable')

const LauncherChoice = t.intersection(
  [
    t.type({ command: Words }),
    t.partial({
      types: t.readonlyArray(TypePattern),
      phases: t.readonlyArray(Phase),
      skills: t.readonlyArray(Name),
      tenant: Name,
      concurrency: integer(1, 1_000),
      queues: t.readonlyArray(QueueName),
      maxRunSeconds: PositiveSeconds,
      env: t.record(VariableName, t.string),
    }),
  ],
  'launcher',
)
export type LauncherChoice = t.TypeOf<typeof LauncherChoice>

/** In the result, `env` has the values of the variables that the file names with `env:NAME`. */
export const readLauncher = (value: unknown, env: Environment, name: string): E.Either<Problems, LauncherChoice | undefined> => {
  if (value === undefined) return E.right(undefined)
  const checked = E.mapLeft((errors: ReadonlyArray<FieldError>) => errors.map(({ path, message }) => `${name}: ${path} ${message}`))(validate(LauncherChoice, 'launcher')(value))
  if (E.isLeft(checked) || checked.right.env === undefined) return checked
  const problems: Array<string> = []
  const given = Object.entries(checked.right.env).map(([key, text]) => {
    const variable = variableNamedBy(text)
    const found = variable === undefined ? text : env[variable]
    if (!found && variable !== undefined) problems.push(`${name}: launcher.env.${key} names the variable ${variable}, which is not set`)
    return [key, found ?? ''] as const
  })
  return problems.length > 0 ? E.left(problems) : E.right({ ...checked.right, env: Object.fromEntries(given) })
}
