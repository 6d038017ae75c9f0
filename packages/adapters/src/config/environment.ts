/** Values of the config file that are in an environment variable, so that secrets need not be in the file. */

export type Environment = Readonly<Record<string, string | undefined>>

/** The name in `env:NAME`. `undefined` for any other value. */
export const variableNamedBy = (value: unknown): string | undefined => (typeof value === 'string' && value.startsWith('env:') ? value.slice('env:'.length) : undefined)
