/** Whether a type matches a pattern: `eng-backend`, `eng-*`, `*`. */
export const matchesType = (pattern: string, type: string): boolean =>
  pattern.endsWith('*') ? type.startsWith(pattern.slice(0, -1)) : pattern === type
