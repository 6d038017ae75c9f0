/** Names of fields, variables and options whose values are secrets. */

/** Words that make a name secret wherever they are in it, unless a harmless word ends the name. */
const secretWords = new Set(
  ('password passwords passwd pwd passphrase passcode secret secrets credential credentials creds authorization cookie cookies ' +
    'sessionid jwt dsn mnemonic otp totp connectionstring connstr apikeys accesskeyid xsrf csrf').split(' '),
)
/** Names without word separation end like this: `dbpassword`, `accesstoken`. */
const secretEndings = ['password', 'passwd', 'passphrase', 'secret', 'credentials', 'token', 'apikey', 'privatekey', 'secretkey', 'accesskey', 'signingkey', 'encryptionkey', 'connectionstring', 'cookie']
/** Pairs of words that count as one. */
const secretPairs = [
  'access key', 'secret key', 'private key', 'api key', 'api keys', 'secret id', 'session id', 'connection string', 'connection strings', 'conn str',
  'seed phrase', 'recovery phrase', 'recovery code', 'recovery codes', 'backup codes', 'x amz signature', 'x goog signature',
]
/** `key` after one of these words is a secret. After others it is the name of a thing: `primaryKey`, `idempotency_key`, `publicKey`. */
const keyKinds = new Set(
  ('api access secret private signing encryption encrypt decryption master service role account ssh gpg pgp auth client shared admin root webhook deploy hmac aes rsa ' +
    'ssl tls session license subscription sas jwt openai anthropic stripe github gitlab aws azure gcp google sendgrid twilio mailgun datadog').split(' '),
)
/** `tokens` alone or after one of these words are secrets; otherwise they are counts. */
const tokensKinds = new Set('access auth api refresh bearer session csrf user bot device oauth personal secret login service'.split(' '))
/** After one of these words a token is that of a text, a page or a lease. */
const harmlessTokens = new Set(
  ('page next continuation previous prev sync cancel cancellation fencing lease stop start end bos eos pad mask special unexpected invalid max min num per ' +
    'current first last input output prompt completion').split(' '),
)
/** A name with such an ending says something about the secret, and is not the secret itself. */
const harmlessEnds = new Set(
  ('count counts limit limits length len size min max budget usage used type kind policy ttl expiry expires expiration expired at in age url uri endpoint name ' +
    'names field header file path ref enabled required rotation version status error errors strategy provider manager format algorithm label consent banner ' +
    'bucket ring stream offset position index per second seconds minutes hours days issue issues rate').split(' '),
)

/** `apiKey`, `API_KEY`, `x-api-key` → `api`, `key`. A number at the end of a word is left out. */
const wordsOf = (name: string): ReadonlyArray<string> =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]/)
    .filter((word) => word !== '')

/** Whether the value under this name is a secret. Cost: O(length). */
export const isSecretName = (name: string): boolean => {
  const words = wordsOf(name)
  const last = words[words.length - 1]
  if (last === undefined) return false
  const text = ` ${words.join(' ')} `
  if (secretPairs.some((pair) => text.includes(` ${pair} `))) return !harmlessEnds.has(last)
  const before = words[words.length - 2] ?? ''
  if (last === 'key' || last === 'keys') return keyKinds.has(before)
  if (last === 'tokens') return words.length === 1 || tokensKinds.has(before)
  if (last === 'token') return !harmlessTokens.has(before)
  // The id of a credential is not secret, except in the pairs above.
  if (last === 'id' && words.length > 1) return false
  if (harmlessEnds.has(last) && words.length > 1) return false
  if (last === 'auth' || last === 'pass' || last === 'sig') return true
  return words.some(isSecretWord) || (words[0] === 'token' && words.length > 1)
}

const isSecretWord = (word: string): boolean =>
  secretWords.has(word) || secretEndings.some((end) => word.endsWith(end) && word !== 'token') || (word.startsWith('password') && word !== 'passwordless')

/** Names whose values in prose, after a colon, may also be plain words: `password: hunter`. Values of other names must look like a secret. */
export const isStrongName = (name: string): boolean => wordsOf(name).some((word) => /^(?:pass(?:word|wd|phrase|code)s?|pwd)$/.test(word) || word.endsWith('password'))
