import { createHmac } from 'node:crypto'

/** Response header in which a test receiver may echo the signature that it computed. Source: ours. */
export const computedSignatureHeader = 'x-webhook-computed-signature'

/** Names the mistake that gives a receiver's signature; null for an unknown one. `secrets`: newest first. */
export function signatureHint(attempt: {
  computed: string
  body: string
  timestamp: string
  secrets: readonly string[]
  oldSecrets: readonly string[]
}): string | null {
  const { computed, body, timestamp, secrets, oldSecrets } = attempt
  const given = computed.trim().replace(/^v1=/, '')
  if (given === '' || given.length > 256) return null
  const rotated = 'old secret: it is signed with a secret that has been rotated out'
  const candidates = [
    ...secrets.flatMap((secret) => mistakesWith(secret, body, timestamp)),
    ...oldSecrets.map((secret) => [rotated, hex(secret, `${timestamp}.${body}`)] as const),
  ]
  return candidates.find(([, signature]) => signature === given)?.[0] ?? null
}

/** Hints with the signatures that show them. */
function mistakesWith(secret: string, body: string, timestamp: string): (readonly [string, string])[] {
  const iso = new Date(Number(timestamp) * 1000).toISOString()
  const right = `${timestamp}.${body}`
  const digest = createHmac('sha256', secret).update(right).digest()
  const base64 = digest.toString('base64')
  const signed = (hint: string, message: string) => [hint, hex(secret, message)] as const
  return [
    signed(
      'the signature is right: compare it with each value after v1=, or look at the time tolerance',
      right,
    ),
    ['upper case: the signature is lower-case hex', hex(secret, right).toUpperCase()],
    ...[base64, base64.replace(/=+$/, ''), digest.toString('base64url')].map(
      (signature) => ['base64: the signature is lower-case hex', signature] as const,
    ),
    signed('missing dot: the signed text is timestamp, a dot, body', `${timestamp}${body}`),
    signed('missing timestamp: the signed text is timestamp, a dot, body', body),
    signed('milliseconds: the timestamp is the header as it came, in seconds', `${timestamp}000.${body}`),
    signed('ISO time: the timestamp is the header as it came', `${iso}.${body}`),
    signed('trimmed newline: the body is hashed byte for byte as it came', `${timestamp}.${body.trimEnd()}`),
    signed('added newline: the body is hashed byte for byte as it came', `${timestamp}.${body}\n`),
    signed('added newline: the body is hashed byte for byte as it came', `${timestamp}.${body}\r\n`),
    ['secret without whsec_: the key is the whole secret string', hex(secret.replace(/^whsec_/, ''), right)],
    ...reserialised(body).map((text) =>
      signed('re-serialised JSON: hash the raw body, parse it afterwards', `${timestamp}.${text}`),
    ),
  ]
}

function reserialised(body: string): string[] {
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch {
    return []
  }
  const forms = [value, sorted(value)].flatMap((form) => [
    JSON.stringify(form),
    JSON.stringify(form, null, 2),
    JSON.stringify(form, null, 4),
    JSON.stringify(form, null, '\t'),
    spaced(form),
  ])
  const variants = forms.flatMap((text) => [text, asciiOnly(text), text.replaceAll('/', '\\/')])
  return [...new Set(variants)].filter((text) => text !== body)
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, field]) => [key, sorted(field)]),
  )
}

/** The form of Python's json.dumps: a space after each comma and colon. */
function spaced(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spaced).join(', ')}]`
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const fields = Object.entries(value).map(([key, field]) => `${JSON.stringify(key)}: ${spaced(field)}`)
  return `{${fields.join(', ')}}`
}

function asciiOnly(text: string): string {
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  return text.replace(/[\u0080-\uffff]/g, escaped)
}

const hex = (secret: string, message: string) => createHmac('sha256', secret).update(message).digest('hex')
