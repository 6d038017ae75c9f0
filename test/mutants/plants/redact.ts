/** Redaction of secrets. */
import type { Plant } from '../plant.js'

const redact = 'packages/core/src/redact/'
const killedBy = ['test/core/redact.test.ts']

export const redactPlants: ReadonlyArray<Plant> = [
  { title: 'the password of curl -u stays', file: 'packages/core/src/redact/secret-shapes.ts', find: 'withoutAccounts(withoutKeys(text))', replace: 'withoutKeys(text)', killedBy: ['test/core/redact.test.ts'] },
  { title: 'the id of a session under its short name stays', file: 'packages/core/src/redact/secret-shapes.ts', find: '(looksMade(id) ? `${name}', replace: '(looksMade(id) && id.length > 99 ? `${name}', killedBy: ['test/core/redact.test.ts'] },
  { title: 'keys are not looked at for secrets', file: `${redact}redact.ts`, find: 'unique(redactedIn(key), taken)', replace: 'unique(key, taken)', killedBy },
  { title: 'what is under a secret name is only searched', file: `${redact}redact.ts`, find: 'isSecretName(key) && isWorthHiding', replace: 'false && isWorthHiding', killedBy },
  { title: 'two redacted keys become one', file: `${redact}redact.ts`, find: 'while (taken.has(found))', replace: 'while (false)', killedBy },
  { title: 'deep values are passed on', file: `${redact}redact.ts`, find: 'if (depth >= jsonDepthMax) return redactedText', replace: 'if (depth >= jsonDepthMax) return value', killedBy },
  { title: 'a private key without its last line stays', file: `${redact}secret-shapes.ts`, find: 'from = end < 0 ? text.length : end + 5', replace: 'from = end < 0 ? from : end + 5', killedBy },
  { title: 'the value of a name is taken for another name', file: `${redact}secret-shapes.ts`, find: 'if (found.index < from || !isSecretName', replace: 'if (!isSecretName', killedBy },
  { title: 'escaped quotes end no value', file: `${redact}secret-shapes.ts`, find: "end += escapes === '' && text[end] === '\\\\' ? 2 : 1", replace: 'end++', killedBy },
  { title: 'a quoted value within a header ends the header', file: `${redact}secret-shapes.ts`, find: "text[end - 1] === '=' ? text.indexOf(char, end + 1) : -1", replace: 'Number(-1)', killedBy, named: 'is redacted' },
  { title: 'a pattern searches texts again and again', file: `${redact}secret-shapes.ts`, find: '<([\\w:.-]{1,128})>', replace: '<([\\w:.-]+)>', killedBy },
  { title: 'counts of tokens are hidden', file: `${redact}secret-names.ts`, find: "if (last === 'tokens') return words.length === 1 || tokensKinds.has(before)", replace: "if (last === 'tokens') return true", killedBy },
]
