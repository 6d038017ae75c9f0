/** What is a secret and what is not (TQM-BR-002). The secrets are invented, and assembled here, so that no scanner takes them for real ones. */
import { type Json, redacted, redactedIn } from '@daybook/core'
import { shapes } from '@daybook/core/testing'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'

const alphabet = 'aB3dE5gH7jK9mN2pQ4sT6vX8zA1cF0iL'
/** `prefix`, and this many characters that look random. */
const made = (prefix: string, length: number, from = alphabet): string => prefix + Array.from({ length }, (_, i) => from[(i * 7 + prefix.length) % from.length]).join('')
const hex = (prefix: string, length: number): string => made(prefix, length, '3f9a1c7e')
const pem = (kind: string): string => [`-----BEGIN ${kind}-----`, made('MIIE', 60), made('', 64), `-----END ${kind}-----`].join('\n')
const password = 'hunter2-Correct'

/** Texts that are secrets by themselves. */
const byShape: Readonly<Record<string, string>> = {
  'Daybook token': made('dbk_', 43),
  'JSON Web Token': [made('eyJ', 30), made('eyJ', 40), made('', 43)].join('.'),
  'AWS access key id': `AKIA${'Z7Q2'.repeat(4)}`,
  'AWS temporary key id': `ASIA${'Z7Q2'.repeat(4)}`,
  'AWS secret key': 'wJalr4XUt/nFEMI7K7MDENG/bPxRf9iCYzEXAmPq',
  'GitHub token': made('ghp_', 36),
  'GitHub app token': made('ghs_', 36),
  'GitHub fine-grained token': made('github_pat_', 60),
  'GitLab token': made('glpat-', 20),
  'Slack bot token': ['xoxb', '123456789012', '123456789012', made('', 24)].join('-'),
  'Slack app token': ['xapp', '1', 'A0123', hex('', 40)].join('-'),
  'Slack webhook': `hooks.slack.com/services/T0${'1'.repeat(7)}/B0${'1'.repeat(7)}/${made('', 24)}`,
  'Discord bot token': [made('MT', 24), made('G', 5), made('', 38)].join('.'),
  'Telegram bot token': made('123456789:AA', 33),
  'Stripe secret key': made('sk_live_', 24),
  'Stripe test key': made('sk_test_', 24),
  'Stripe restricted key': made('rk_live_', 24),
  'Stripe webhook secret': made('whsec_', 32),
  'OpenAI key': made('sk-', 48),
  'OpenAI project key': made('sk-proj-', 60),
  'Anthropic key': made('sk-ant-api03-', 90),
  'Google API key': made('AIza', 35),
  'Google OAuth token': made('ya29.', 60),
  'Google client secret': made('GOCSPX-', 28),
  'npm token': made('npm_', 36),
  'PyPI token': made('pypi-AgEI', 60),
  'Docker token': made('dckr_pat_', 27),
  'Hugging Face token': made('hf_', 34),
  'SendGrid key': `${made('SG.', 22)}.${made('', 43)}`,
  'Twilio key': hex('SK', 32),
  'Mailgun key': hex('key-', 32),
  'DigitalOcean token': hex('dop_v1_', 64),
  'Vault token': made('hvs.', 24),
  'Databricks token': hex('dapi', 32),
  'Shopify token': hex('shpat_', 32),
  'RSA private key': pem('RSA PRIVATE KEY'),
  'PKCS 8 private key': pem('PRIVATE KEY'),
  'encrypted private key': pem('ENCRYPTED PRIVATE KEY'),
  'OpenSSH private key': pem('OPENSSH PRIVATE KEY'),
  'PGP private key': pem('PGP PRIVATE KEY BLOCK'),
  'private key without an end': pem('EC PRIVATE KEY').slice(0, 90),
}

/** Texts with a secret inside: the text, and what must not be left of it. */
const within: ReadonlyArray<readonly [string, string]> = [
  [`Authorization: Bearer ${made('', 20)}`, made('', 20)],
  [`curl -H "Authorization: token ${password}" https://example.com`, password],
  [`Bearer ${made('', 30)}`, made('', 30)],
  ['Basic dXNlcjpodW50ZXIy', 'dXNlcjpodW50ZXIy'],
  [`Cookie: theme=dark; sid=${made('', 20)}`, made('', 20)],
  [`Set-Cookie: id=${made('', 20)}; HttpOnly`, made('', 20)],
  [`Cookie: theme="a b"; sid=${made('', 20)}`, made('', 20)],
  [`Authorization: Digest username="ann", response="${hex('', 32)}"`, hex('', 32)],
  [JSON.stringify({ log: `Cookie: theme="a b"; sid=${made('', 20)}` }), made('', 20)],
  [JSON.stringify({ log: JSON.stringify({ line: `Cookie: theme='a b'; sid=${made('', 20)}` }) }), made('', 20)],
  [`curl -H 'Authorization: Digest username="ann", response="${hex('', 32)}"' https://example.com`, hex('', 32)],
  [`curl -u ann:${password} https://example.com`, password],
  [`curl -su 'ann:with a space ${password}' https://example.com -u "ann:with a space ${password}"`, `x ${password}`],
  [`curl --user=ann:${password} --proxy-user "ann:${password}" x`, password],
  [JSON.stringify({ log: `curl -u "ann:one ${password}" https://example.com` }), password],
  [`GET /?sid=${made('', 20)} HTTP/1.1`, made('', 20)],
  [`{"sid": "${made('', 20)}"}`, made('', 20)],
  [`connect.sid=s%3A${made('', 30)}`, made('', 30)],
  [`postgres://app:${password}@db:5432/shop`, password],
  [`postgres://app:p/w#${password}@db:5432/shop`, password],
  [`mongodb+srv://app:p@ss${password}@cluster0.example.net/?retryWrites=true`, password],
  [`redis://:${password}@cache:6379/0`, password],
  [`https://${made('', 40)}@github.com/acme/shop.git`, made('', 40)],
  [`https://example.com/v1?page=2&api_key=${made('', 20)}&q=x`, made('', 20)],
  [`https://files.example.com/x?X-Amz-Signature=${hex('', 64)}`, hex('', 64)],
  [`https://acme.blob.core.windows.net/x?sv=2022&sig=${made('', 40)}%3D`, made('', 40)],
  [`Server=db;User Id=sa;Password=${password};Encrypt=true`, password],
  [`DefaultEndpointsProtocol=https;AccountName=acme;AccountKey=${made('', 86)}==`, made('', 86)],
  [`export AWS_SECRET_ACCESS_KEY=${made('', 40)}`, made('', 40)],
  [`PGPASSWORD=${password} psql -h db`, password],
  [`PGPASSWORD='${password} and more' psql -h db`, `${password} and more`],
  [`mysql --password ${password} -h db`, password],
  [`login --api-key=${password}`, password],
  [`{"user":"ann","password":"${password}"}`, password],
  [`{"user":"ann","client_secret": "with \\"quotes\\" ${password}"}`, password],
  [JSON.stringify(JSON.stringify({ password })), password],
  [JSON.stringify(JSON.stringify(JSON.stringify({ apiKey: password }))), password],
  [`password: correcthorse`, 'correcthorse'],
  [`  db_password: ${password}  # from the vault`, password],
  [`const apiKey = '${password}'`, password],
  [`{ :secret_key => "${password}" }`, password],
  [`password := "${password}"`, password],
  [`<settings><password>${password}</password></settings>`, password],
  [`//registry.npmjs.org/:_authToken=${password}`, password],
  [`url: http://a.example/?x=1 then token=${password}`, password],
  [`the key is ${byShape['GitHub token'] ?? ''}, keep it`, byShape['GitHub token'] ?? ''],
  [`first line\n${byShape['RSA private key'] ?? ''}\nlast line`, made('', 64)],
]

/** Names of secrets, in all spellings. */
const names = [
  ...['password', 'Password', 'PASSWORD', 'passwd', 'pwd', 'db_password', 'dbPassword', 'DB_PASSWORD', 'dbpassword', 'user.password', 'passwordHash', 'passphrase', 'password2'],
  ...['secret', 'secrets', 'clientSecret', 'client_secret', 'CLIENT-SECRET', 'secretKey', 'secret_key_base', 'webhookSecret', 'secretId'],
  ...['token', 'accessToken', 'access_token', 'ACCESS_TOKEN', 'accesstoken', 'refreshToken', 'id_token', 'authToken', '_authToken', 'csrfToken', 'x-csrf-token', 'botToken', 'githubToken', 'GITHUB_TOKEN', 'tokens', 'accessTokens'],
  ...['apiKey', 'api_key', 'API_KEY', 'api-key', 'API Key', 'apikey', 'APIKey', 'x-api-key', 'apiKeys', 'OPENAI_API_KEY', 'openaiKey', 'STRIPE_KEY'],
  ...['authorization', 'Authorization', 'proxy-authorization', 'auth', 'basicAuth', 'bearerToken', 'jwt', 'otp'],
  ...['cookie', 'cookies', 'Set-Cookie', 'sessionCookie', 'sessionId', 'session_id', 'sessionid'],
  ...['privateKey', 'private_key', 'PRIVATE KEY', 'privatekey', 'sshKey', 'signingKey', 'encryption_key', 'accessKey', 'access_key_id', 'accountKey', 'sharedAccessKey', 'masterKey'],
  ...['connectionString', 'connection_string', 'ConnectionStrings', 'connectionstring', 'SENTRY_DSN', 'dsn', 'credentials', 'aws_credentials', 'creds', 'seedPhrase', 'mnemonic', 'recoveryCodes', 'dbPass'],
]

/** Values that look like secrets at first sight. */
const harmless: Readonly<Record<string, Json>> = {
  tokenCount: 12, token_count: 12, max_tokens: 4096, maxTokens: 4096, promptTokens: 3, tokens_used: 3, tokens: 512, totalTokens: 3, tokenizer: 'bpe', tokenLimit: 3, tokenType: 'word',
  token_url: 'https://example.com/oauth/token', nextPageToken: 'CAUQAA', continuationToken: 'abc', fencingToken: 7, leaseToken: 8,
  keyboard: 'qwerty', keyword: 'sale', keywords: ['a'], key: 'name', keys: ['name'], primaryKey: 'id', foreign_key: 'user_id', idempotencyKey: 'order-1', publicKey: 'ssh-ed25519 AAAA', sortKey: 'at', monkey: 'see', turkey: 'x',
  authorName: 'Ann', author: 'Ann', authors: ['Ann'], authority: 'city', authorized: true, authorizationUrl: 'https://example.com/authorize',
  passage: 'of time', passed: true, passwordLength: 12, passwordPolicy: 'strong', hasPassword: true, isPasswordSet: true, passwordless: 'yes', compass: 'north', bypass: 'no',
  secretary: 'Bob', secretName: 'db-credentials', hasSecret: false, password: null, token: true,
  cookieConsent: 'given', sessionCount: 3, credentialType: 'oauth', hash: hex('', 64), commit: hex('', 40), signature: hex('', 64), uuid: '018f4e7a-91d4-7cc4-9d1e-3f2a1c7e9a1c',
  text: 'Basic authentication with bearer certificates is not supported', json: 'SyntaxError: Unexpected token < in JSON at position 0', prose: 'The token: it is invalid. The secret of success',
  port: 'http://localhost:8080/path/@scope/pkg', mail: 'mailto:ann@example.com', ssh: 'git@github.com:acme/shop.git', scp: 'ssh://git@github.com/acme/shop.git', time: '12:30:45', ratio: 'a:b@c',
  path: '/srv/packages/adapters/src/http/handle/work.ts:12:3', longName: 'ThisIsAVeryLongClassNameForAnAbstractBean', kebab: 'sk-learn-pipeline-with-many-words', certificate: pem('CERTIFICATE'), pub: pem('PUBLIC KEY'),
  oracle: 'jdbc:oracle:thin:@(SID=ORCL)(sid=warehouse)', docker: 'docker run -u 1000:1000 --user 0:0 x', push: 'git push -u origin main:main', unit: 'date -u 12:30',
  env: 'PATH=/usr/bin:/bin HOME=/root', flag: '--token-count 12 --max-tokens=100', equals: 'password=true', sql: 'primary_key=id', base64: 'iVBORw0KGgoAAAANSUhEUgAA',
}

test.each(Object.entries(byShape))('TQM-BR-002: a %s is redacted by its shape, alone, in a text, as a value and as a key', (_, secret) => {
  expect(redactedIn(secret)).toBe('[redacted]')
  expect(redactedIn(`it is ${secret}\n, and so on`)).toBe(secret.includes('BEGIN') && !secret.includes('END') ? 'it is [redacted]' : 'it is [redacted]\n, and so on')
  expect(redacted({ note: secret, list: [secret, { [secret]: true }] })).toEqual({ note: '[redacted]', list: ['[redacted]', { '[redacted]': true }] })
})

test.each(within)('TQM-BR-002: the secret in %j is redacted', (text, secret) => {
  expect(redactedIn(text)).not.toContain(secret)
  expect(redactedIn(text)).toContain('[redacted]')
  expect(JSON.stringify(redacted({ log: [text] }))).not.toContain(secret)
})

test('TQM-BR-002: the rest of a text with a secret stays', () => {
  expect(redactedIn('connect to postgres://app:x1@db:5432/shop please')).toBe('connect to postgres://[redacted]@db:5432/shop please')
  expect(redactedIn('{"user":"ann","password":"x1","port":1}')).toBe('{"user":"ann","password":"[redacted]","port":1}')
  expect(redactedIn('curl -u ann:x1 https://example.com')).toBe('curl -u ann:[redacted] https://example.com')
  expect(redactedIn('curl -u "ann:x1 and more" https://example.com')).toBe('curl -u "ann:[redacted]" https://example.com')
  expect(redactedIn('curl -H "Authorization: Bearer abc123" https://example.com')).toBe('curl -H "Authorization: [redacted]" https://example.com')
  expect(redactedIn('secret="token=x1 and more" stays')).toBe('secret="[redacted]" stays')
  expect(redactedIn('Cookie: theme="a b"; sid=x1\nHost: a')).toBe('Cookie: [redacted]\nHost: a')
  expect(redactedIn('"Cookie: a=" and "b"')).toBe('"Cookie: [redacted]" and "b"')
  expect(redactedIn('Cookie: a="x1\nHost: "a"')).toBe('Cookie: [redacted]"x1\nHost: "a"')
  expect(redactedIn('https://example.com/?api_key=abc123&q=x')).toBe('https://example.com/?api_key=[redacted]&q=x')
})

test.each(names)('TQM-BR-002: what is called %s is redacted, whatever it is', (name) => {
  for (const value of ['x', 'plain words', ['a', 'b'], { user: 'ann', value: 'x' }]) expect(redacted({ [name]: value })).toEqual({ [name]: '[redacted]' })
  expect(redacted([{ deep: { [name]: 'x', other: 1 } }])).toEqual([{ deep: { [name]: '[redacted]', other: 1 } }])
  expect(redacted({ [name]: null })).toEqual({ [name]: null })
})

test.each(Object.entries(harmless))('TQM-BR-002: %s stays as it is', (name, value) => {
  expect(redacted({ [name]: value })).toEqual({ [name]: value })
})

test('a number that is called like a secret is one, unless it counts tokens', () => {
  expect(redacted({ password: 1234, token: 123456, tokens: 5, accessTokens: 5 })).toEqual({ password: '[redacted]', token: '[redacted]', tokens: 5, accessTokens: 5 })
})

test('two secret keys stay two', () => {
  const keys = [made('ghp_', 36), made('npm_', 36), made('glpat-', 20)]
  expect(redacted(Object.fromEntries(keys.map((key, i) => [key, i])))).toEqual({ '[redacted]': 0, '[redacted] 2': 1, '[redacted] 3': 2 })
})

test('what is nested too deeply is replaced as a whole, and every value has an answer', () => {
  let deep: Json = 'x'
  for (let i = 0; i < 5_000; i++) deep = i % 2 === 0 ? [deep] : { a: deep }
  expect(JSON.stringify(redacted(deep))).toContain('[redacted]')
  fc.assert(fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => void redacted(value as Json)))
})

/** Values with one place in them for a secret. */
const planted = (secret: string): fc.Arbitrary<Json> => {
  const harmlessText = fc.string({ maxLength: 20 }).map((text) => text.replace(/[\\"'<-]/g, ' '))
  const place: fc.Arbitrary<Json> = fc.oneof(
    fc.constant(secret),
    fc.tuple(harmlessText, harmlessText).map(([before, after]) => `${before} ${secret} ${after}`),
    fc.constant({ [secret]: 1 }),
    fc.constantFrom(...names).map((name) => ({ [name]: ['deep', { value: secret }] })),
  )
  const around = (inner: Json): fc.Arbitrary<Json> =>
    fc.oneof(
      fc.tuple(fc.jsonValue({ maxDepth: 1 }), fc.jsonValue({ maxDepth: 1 })).map(([a, b]) => [a as Json, inner, b as Json]),
      fc.tuple(harmlessText, fc.jsonValue({ maxDepth: 1 })).map(([name, other]) => ({ other: other as Json, [`a${name}`]: inner })),
    )
  return fc.nat({ max: 6 }).chain((depth) => Array.from({ length: depth }).reduce<fc.Arbitrary<Json>>((value) => value.chain(around), place))
}

test('TQM-BR-002: no planted secret survives, at any depth, in keys, values and texts', () => {
  const secrets = Object.values(byShape)
  fc.assert(
    fc.property(
      fc.constantFrom(...secrets).chain((secret) => fc.tuple(fc.constant(secret), planted(secret))),
      ([secret, value]) => {
        expect(JSON.stringify(redacted(value))).not.toContain(JSON.stringify(secret).slice(1, -1))
      },
    ),
    { numRuns: 2_000 },
  )
})

test('redacting twice is redacting once', () => {
  for (const [text] of within) expect(redactedIn(redactedIn(text))).toBe(redactedIn(text))
  for (const secret of Object.values(byShape)) expect(redacted(redacted({ secret, [secret]: 1 }))).toEqual(redacted({ secret, [secret]: 1 }))
})

// ----------------------------------------------------------------------------------------------- cost

/**
 * The part of a pattern that could search the same text again and again: an unbounded part before the end, which is tried at each length, or a
 * repeated group with a repeated part inside. `undefined` if there is none; then the cost is O(length).
 */
const slowPart = (source: string): string | undefined => {
  // For each level: whether this alternative, or any, has an unbounded part so far, and whether something is repeated inside.
  const levels = [{ passed: false, any: false, repeats: false }]
  let last: { readonly repeats: boolean } = { repeats: false }
  for (const [token] of source.matchAll(/\\.|\[(?:\\.|[^\]])*\]|\(\?<?[:=!]|[()|]|[*+?]\??|\{\d+(?:,\d*)?\}\??|[^]/g)) {
    const level = levels[levels.length - 1] as (typeof levels)[number]
    if (token.startsWith('(')) {
      if (level.passed) return token
      levels.push({ passed: false, any: false, repeats: false })
    } else if (token === ')') {
      levels.pop()
      const outer = levels[levels.length - 1] as (typeof levels)[number]
      outer.passed ||= level.passed || level.any
      outer.repeats ||= level.repeats
      last = level
    } else if (token === '|') {
      level.any ||= level.passed
      level.passed = false
    } else if (/^[*+{]/.test(token) && token.length + source.length > 1) {
      if (last.repeats) return token
      level.repeats = true
      if (/^[*+]|,\}/.test(token)) level.passed = true
    } else if (!token.startsWith('?')) {
      if (level.passed) return token
      last = { repeats: false }
    }
  }
  return undefined
}

test.each(Object.entries(shapes))('the pattern %s searches no text twice', (_, pattern) => {
  expect(slowPart(pattern.source)).toBeUndefined()
})

test.each([String.raw`\w+=`, '(a+)+', String.raw`(?:\w*|x)y`, '(?:a{1,9}){1,9}', String.raw`x.*y`])('teeth: the pattern %s does, and is found', (source) => {
  expect(slowPart(source)).toBeDefined()
})

test('long texts that begin like secrets, again and again, are read to the end', () => {
  const starts = ['eyJ', 'eyJa.', 'sk-', 'a=', 'token=', 'password="', "secret='", '\\"', '-----BEGIN PRIVATE KEY-----', '://a:', 'http://a:b', 'Basic ', 'Bearer a', '<password>', 'Cookie: ', 'Cookie: a="', '--token ', ' ', '[redacted]', 'aB3/']
  for (const start of starts) expect(typeof redactedIn(start.repeat(50_000))).toBe('string')
})
