/**
 * Secrets within texts, by their shapes. Cost: O(length). To keep it so, only the last part of a pattern is unbounded. It takes everything that
 * matches and cannot fail, so nothing is searched twice.
 */
import { isSecretName, isStrongName } from './secret-names.js'

/** The text that replaces a secret. */
export const redactedText = '[redacted]'

/** Tokens with a prefix of their own. The prefix does not follow a letter, a digit or `_`. */
const prefixed = [
  // Daybook's own
  String.raw`dbk_[\w-]{16}[\w-]*`,
  // JSON Web Tokens
  String.raw`eyJ[\w-]{8,4096}\.[\w.-]*`,
  // AWS key ids
  '(?:AKIA|ASIA|AROA|AIDA|ABIA|ACCA|AGPA|ANPA|ANVA|AIPA)[A-Z0-9]{16}',
  // GitHub, GitLab, Atlassian
  'gh[pousr]_[A-Za-z0-9]{16}[A-Za-z0-9]*',
  'github_pat_[A-Za-z0-9]{16}[A-Za-z0-9_]*',
  String.raw`gl(?:pat|ptt|dt|rt|cbt|agent|soat|ft|imt|oas|ffct)-[\w-]{16}[\w.-]*`,
  String.raw`GR1348941[\w-]{16}[\w-]*`,
  String.raw`ATATT3x[\w-]{16}[\w=-]*`,
  // Slack, Discord, Telegram
  String.raw`xox[a-z]-[\w-]{8}[\w-]*`,
  String.raw`xoxe\.xox[bp]-[\w-]{8}[\w-]*`,
  String.raw`xapp-\d-[\w-]{8}[\w-]*`,
  String.raw`hooks\.slack\.com/(?:services|workflows|triggers)/[\w/-]{8}[\w/-]*`,
  String.raw`discord(?:app)?\.com/api/webhooks/[\w/-]{8}[\w/-]*`,
  String.raw`[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27}[\w-]*`,
  String.raw`\d{8,10}:AA[\w-]{33}`,
  // Stripe, Square, Shopify
  '(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{8}[A-Za-z0-9]*',
  'whsec_[A-Za-z0-9+/]{16}[A-Za-z0-9+/=]*',
  String.raw`sq0[a-z]{3}-[\w-]{22}[\w-]*`,
  'shp(?:at|ca|pa|ss)_[0-9A-Fa-f]{32}',
  // OpenAI, Anthropic and others of their kind
  String.raw`sk-[\w-]{16}[\w-]*`,
  'gsk_[A-Za-z0-9]{20}[A-Za-z0-9]*',
  'xai-[A-Za-z0-9]{20}[A-Za-z0-9]*',
  'pplx-[A-Za-z0-9]{20}[A-Za-z0-9]*',
  'r8_[A-Za-z0-9]{20}[A-Za-z0-9]*',
  'hf_[A-Za-z0-9]{20}[A-Za-z0-9]*',
  // Google
  String.raw`AIza[\w-]{30}[\w-]*`,
  String.raw`ya29\.[\w-]{16}[\w.-]*`,
  String.raw`GOCSPX-[\w-]{16}[\w-]*`,
  String.raw`1//0[\w-]{20}[\w-]*`,
  // Package registries
  'npm_[A-Za-z0-9]{30}[A-Za-z0-9]*',
  String.raw`pypi-AgEI[\w-]{16}[\w-]*`,
  String.raw`dckr_pat_[\w-]{16}[\w-]*`,
  'rubygems_[0-9a-f]{32}[0-9a-f]*',
  // Mail and telephony
  String.raw`SG\.[\w-]{16,64}\.[\w-]{16}[\w-]*`,
  'key-[0-9a-f]{32}',
  'SK[0-9a-f]{32}',
  // Infrastructure
  'do[opr]_v1_[0-9a-f]{32}[0-9a-f]*',
  String.raw`hv[sbr]\.[\w-]{20}[\w-]*`,
  'dapi[0-9a-f]{32}[0-9a-f-]*',
  String.raw`gl(?:sa|c)_[\w+/=-]{16}[\w+/=-]*`,
  'lin_api_[A-Za-z0-9]{20}[A-Za-z0-9]*',
  'ntn_[A-Za-z0-9]{30}[A-Za-z0-9]*',
  'sbp_[0-9a-f]{32}[0-9a-f]*',
  String.raw`dp\.(?:pt|st|ct|sa|scim|audit)\.[\w-]{20}[\w.-]*`,
  'NRAK-[A-Z0-9]{20}[A-Z0-9]*',
  'PMAK-[0-9a-f]{20}[0-9a-f-]*',
  'AGE-SECRET-KEY-1[A-Z0-9]{20}[A-Z0-9]*',
]

/** All patterns. A test checks what must hold for each. */
export const shapes = {
  pemStart: /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-----/g,
  prefixed: new RegExp(`(?<![A-Za-z0-9_])(?:${prefixed.join('|')})`, 'g'),
  /** `https://user:password@host`, also without a user. Then a password with `/`, `?` or `#`. Then a long user alone, which is a token. */
  userInfo: new RegExp(
    String.raw`(?<![a-z0-9+.-])([a-z][a-z0-9+.-]{0,31}:\/\/)(?:` +
      [
        String.raw`[^\s/?#:@"'<>]{0,256}:[^\s/?#"'<>]{1,1024}@`,
        String.raw`[^\s/?#:@"'<>]{0,256}:(?!\d{1,5}(?:[/?#]|$))[^\s"'<>]{1,256}?@`,
        String.raw`[^\s/?#:@"'<>]{20,256}@`,
      ].join('|') +
      ')',
    'gi',
  ),
  /** The name of a header, up to its value. */
  header: /(?<![\w-])((?:proxy-)?authorization|(?:set-)?cookie)(\\{0,3}["']?[ \t]{0,8}:[ \t]{0,8}\\{0,3}["']?)(?=[^\s"'\\])/gi,
  /** `curl -u user:password` and `--user user:password`, up to the password. A number is the id of a user, as in `docker run -u 1000:1000`. */
  account: /(?<![\w-])(?:-[uU](?:[ \t]{1,8}|(?=\\{0,3}["']))|--(?:proxy-)?user[ \t=]{1,8})(?:\\{0,3}["'])?(?!\d{1,10}:)[^\s:/"'\\]{1,128}:(?=[^\s"'\\])/g,
  password: /[^\s"'\\]*/y,
  quotedPassword: /[^\r\n"'\\]*/y,
  /** A session's id under its short name. Oracle's `sid=ORCL` is the name of a database. */
  session: /(?<![\w-])((?:connect\.)?sid\\{0,3}["']?[ \t]{0,8}[=:][ \t]{0,8}\\{0,3}["']?)([\w.%~+/=-]{16}[\w.%~+/=-]*)/gi,
  bearer: /(?<![A-Za-z0-9_])(bearer[ \t]{1,8})([\w.~+/-]{6}[\w.~+/=-]*)/gi,
  basic: /(?<![A-Za-z0-9_])(basic[ \t]{1,8})([A-Za-z0-9+/]{8}[A-Za-z0-9+/=]*)/gi,
  /** 40 characters of base64: perhaps an AWS secret key. */
  forty: /(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/]{40}(?![A-Za-z0-9+/=_-])/g,
  /** The beginning of `name=value`, `name: value`, `"name": "value"` with or without escaped quotes, and `--name value`. */
  named: /(?<![\w.-])(?:([\w.-]{1,128})\\{0,3}["']?[ \t]{0,8}(?:={1,3}>?|:=?)[ \t]{0,8}|(--?[A-Za-z][\w.-]{0,127})[ \t]{1,8})/g,
  quoted: /(\\{0,3})(["'])/y,
  bare: /[^\s,;&"'<>()[\]{}\\]*/y,
  element: /<([\w:.-]{1,128})>([^<]*)/g,
} as const satisfies Readonly<Record<string, RegExp>>

/** The text without its secrets: `redacted` for a text. */
export const redactedIn = (text: string): string => {
  if (text.length < shortest) return text
  return withoutNamed(
    withoutHeaders(withoutAccounts(withoutKeys(text)).replace(shapes.userInfo, (_, scheme: string) => `${scheme}${redactedText}@`))
      .replace(shapes.bearer, (all: string, scheme: string, token: string) => (looksMade(token) ? `${scheme}${redactedText}` : all))
      .replace(shapes.session, (all: string, name: string, id: string) => (looksMade(id) ? `${name}${redactedText}` : all))
      .replace(shapes.basic, (all: string, scheme: string, token: string) => (looksEncoded(token) ? `${scheme}${redactedText}` : all))
      .replace(shapes.prefixed, (found) => (/[0-9]|[a-z][A-Z]|[A-Z]{8}/.test(found) ? redactedText : found)),
  )
    .replace(shapes.element, (all: string, name: string) => (isSecretName(name) ? `<${name}>${redactedText}` : all))
    .replace(shapes.forty, (found) => (looksRandom(found) ? redactedText : found))
}
/** `pwd=a` is the shortest text with a secret. */
const shortest = 5

/** Private keys from their first line to their last, or to the end of the text. */
const withoutKeys = (text: string): string => {
  if (!text.includes('-----BEGIN ')) return text
  const parts: Array<string> = []
  let from = 0
  for (const { index } of text.matchAll(shapes.pemStart)) {
    if (index < from) continue
    parts.push(text.slice(from, index), redactedText)
    const lastLine = text.indexOf('-----END ', index)
    const end = lastLine < 0 ? -1 : text.indexOf('-----', lastLine + 9)
    from = end < 0 ? text.length : end + 5
  }
  return parts.join('') + text.slice(from)
}

/** The password of each `-u user:password`, to the quote that closes it, or to the next white space. */
const withoutAccounts = (text: string): string => {
  const parts: Array<string> = []
  let from = 0
  for (const { 0: start, index } of text.matchAll(shapes.account)) {
    if (index < from) continue
    const at = index + start.length
    parts.push(text.slice(from, at), redactedText)
    from = at + taken(/["']/.test(start) ? shapes.quotedPassword : shapes.password, text, at).length
  }
  return parts.length === 0 ? text : parts.join('') + text.slice(from)
}

/** Each header to the end of its line, or to the end of the text in which it is quoted. */
const withoutHeaders = (text: string): string => {
  const parts: Array<string> = []
  let from = 0
  for (const { 0: start, index } of text.matchAll(shapes.header)) {
    if (index < from) continue
    const at = index + start.length
    parts.push(text.slice(from, at), redactedText)
    const [, escape = '', quote] = /(\\?)(["'])[^"']*$/.exec(start) ?? /(\\?)(["'])$/.exec(text.slice(Math.max(0, index - 2), index)) ?? []
    from = headerEnd(text, at, quote, escape !== '')
  }
  return parts.length === 0 ? text : parts.join('') + text.slice(from)
}

/**
 * `quote`: the one in which the header is. `isEscaped`: with a backslash, because the whole text is a quotation. Without a quote around it, the header ends
 * at any, unless that begins a value within it: `Cookie: theme="a b"; sid=1`.
 */
const headerEnd = (text: string, at: number, quote: string | undefined, isEscaped: boolean): number => {
  for (let end = at; end < text.length; end++) {
    const char = text.charAt(end)
    if (char === quote || char === '\r' || char === '\n') return end
    if (char === '\\') {
      if (quote === undefined || isEscaped) return end
      end++
    } else if (quote === undefined && (char === '"' || char === "'")) {
      const close = text[end - 1] === '=' ? text.indexOf(char, end + 1) : -1
      if (close < 0 || /[\r\n]/.test(text.slice(end, close))) return end
      end = close
    }
  }
  return text.length
}

/** Values under names of secrets. The value of any other name may contain names, so the search goes on right after the name. */
const withoutNamed = (text: string): string => {
  const parts: Array<string> = []
  let from = 0
  for (const found of text.matchAll(shapes.named)) {
    const [start, name, option] = found
    const at = found.index + start.length
    if (found.index < from || !isSecretName(name ?? option ?? '')) continue
    const value = valueAt(text, at)
    const isWord = !value.isQuoted && start.includes(':') && !isStrongName(name ?? '') && !looksMade(value.text)
    if (isWord || isPlain.test(value.text)) continue
    parts.push(text.slice(from, value.from), redactedText)
    from = value.from + value.text.length
  }
  return parts.length === 0 ? text : parts.join('') + text.slice(from)
}

/** Not a secret: an empty or literal value, another option, or a part that was redacted before. */
const isPlain = /^(?:true|false|null|undefined|none|nil|-.*|)$|^\[redacted\]$/i

interface Value {
  readonly from: number
  readonly text: string
  readonly isQuoted: boolean
}

const valueAt = (text: string, at: number): Value => {
  if (text.startsWith(redactedText, at)) return { from: at, text: redactedText, isQuoted: false }
  shapes.quoted.lastIndex = at
  const [open = '', escapes = '', quote] = shapes.quoted.exec(text) ?? []
  const from = at + open.length
  if (open === '') return { from, text: taken(shapes.bare, text, from), isQuoted: false }
  let end = from
  // The quote itself may be escaped, when the whole text is a quotation. Then the closing quote is escaped as well.
  while (end < text.length && text[end] !== quote) end += escapes === '' && text[end] === '\\' ? 2 : 1
  end = Math.min(end, text.length)
  while (escapes !== '' && end > from && text[end - 1] === '\\') end--
  return { from, text: text.slice(from, end), isQuoted: true }
}

const taken = (pattern: RegExp, text: string, at: number): string => {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0] ?? ''
}

/** Whether the text cannot be a word of a language. */
const looksMade = (text: string): boolean => text.length >= 32 || /[0-9_~+/=]|[a-z][A-Z]/.test(text)
/** Whether the text may be base64 of `user:password`, and is no word. */
const looksEncoded = (text: string): boolean => text.length % 4 === 0 && /[0-9+/=]|[a-z][A-Z]/.test(text)

/** Random characters change between capitals, small letters and digits more often than at every third place. Paths, hex and names do not. */
const looksRandom = (text: string): boolean => {
  if (/^(?:[0-9a-f]*|[0-9A-F]*)$/.test(text) || !/[A-Z]/.test(text) || !/[a-z]/.test(text)) return false
  let changes = 0
  for (let i = 1; i < text.length; i++) if (kindOf(text.charCodeAt(i)) !== kindOf(text.charCodeAt(i - 1))) changes++
  return changes >= 14
}
const kindOf = (code: number): number => (code >= 97 ? 3 : code >= 65 ? 2 : code >= 48 && code <= 57 ? 1 : 0)
