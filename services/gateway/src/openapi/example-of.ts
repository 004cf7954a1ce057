import { z } from 'zod'
import { exampleRound, usualFields } from './usual-fields.ts'

/** JSON Schema as zod writes it. */
export type JsonSchema = { readonly [key: string]: unknown }

const nodeSchema = z.looseObject({
  type: z.union([z.string(), z.array(z.string())]).optional(),
  const: z.unknown().optional(),
  enum: z.array(z.unknown()).optional(),
  default: z.unknown().optional(),
  example: z.unknown().optional(),
  anyOf: z.array(z.record(z.string(), z.unknown())).optional(),
  oneOf: z.array(z.record(z.string(), z.unknown())).optional(),
  properties: z.record(z.string(), z.record(z.string(), z.unknown())).optional(),
  items: z.record(z.string(), z.unknown()).optional(),
  required: z.array(z.string()).optional(),
})

const depthMax = 12
const ulid = '01jd3v8x5q7r2m4n6p8s0t1w3y'
const uuidText = '0193a5c4-9d3e-7a2b-8c1d-4e5f60718293'
const instantText = '2026-11-20T09:30:00.000Z'

/** Usual values by field name. A value counts only where the field's schema takes a text or a number. */
const cursorText = 'eyJ2IjoxfQ…'
const byName: Readonly<Record<string, unknown>> = {
  session_id: `ses_${ulid}`,
  round_id: `rnd_${ulid}`,
  transaction_id: 'bet-2026-11-20-0001',
  client_transaction_id: 'play-2026-11-20-0001',
  reference_transaction_id: 'bet-2026-11-20-0001',
  wallet_transaction_id: 'W-778812',
  reference: `txn_${ulid}`,
  event_id: `evt_${ulid}`,
  webhook_id: `whe_${ulid}`,
  delivery_id: `dlv_${ulid}`,
  replay_id: `rpl_${ulid}`,
  brand_id: `brd_${ulid}`,
  brand: `brd_${ulid}`,
  grant_id: `frb_${ulid}`,
  stop_id: `stp_${ulid}`,
  user_id: `usr_${ulid}`,
  view_id: `viw_${ulid}`,
  flag_id: `flg_${ulid}`,
  approval_id: `apr_${ulid}`,
  page: '/rounds',
  query: 'status=FAILED&range=24h',
  request_id: `req_${ulid}`,
  operator_id: 'op_0193a5c49d3e7a2b8c1d4e5f60718293',
  player_id: 'player-1',
  game: 'dice',
  slug: 'dice',
  game_id: uuidText,
  wallet_round_id: uuidText,
  wallet_game_id: uuidText,
  currency: 'EUR',
  amount: '10.00',
  stake: '10.00',
  payout: exampleRound.payout,
  balance_after: '90.00',
  min_stake: '0.10',
  max_stake: '100.00',
  max_payout: '10000.00',
  multiplier: exampleRound.multiplier,
  next_multiplier: '1.0312',
  rtp: '0.9900',
  rtp_at_min_stake: '0.9076',
  stream_id: `rst_${ulid}`,
  game_version: '1',
  shape: 'chance 99/200',
  trials: 1200,
  expected: '0.990000',
  seen: '0.986700',
  low: '0.902400',
  high: '1.071900',
  point_noticed_within: 308533,
  evidence: '0.1200',
  rounds: 12,
  players: 3,
  stakes: '120.00',
  payouts: '97.50',
  refunds: '0.00',
  adjustments: '0.00',
  ggr: '22.50',
  day: '2026-11-20',
  ...exampleRound.fairness,
  tile: 3,
  api_key: 'ck_test_4fQm2Lr8TzXw6Yb1Nc9Kd3Vh',
  api_secret: 'cs_test_…',
  access_token: 'eyJhbGciOiJFZERTQSIsImtpZCI6Imsx…',
  expires_in: 3600,
  email: 'ada@example.com',
  password: 'a long passphrase',
  current_password: 'a long passphrase',
  new_password: 'a longer passphrase',
  ip_allowlist: '203.0.113.0/24',
  name: 'Ada Lovelace',
  timezone: 'Europe/Malta',
  language: 'en',
  country: 'MT',
  return_url: 'https://casino.example.com/lobby',
  url: 'https://casino.example.com/hooks/pitboss',
  secret: 'whsec_…',
  launch_url: 'https://play.example.com/play/dice#token=eyJhbGciOi…',
  signature: 'eyJhbGciOi…',
  path: '/v1/sessions',
  status: 'ok',
  id: 'op_0193a5c49d3e7a2b8c1d4e5f60718293',
  token: 'inv_…',
  end_reason: 'draw',
  invite_url: 'https://api.example.com/dashboard/invitation#token=inv_…',
  otpauth_url: 'otpauth://totp/Pitboss:ada%40example.com?secret=JBSWY3DPEHPK3PXP&issuer=Pitboss',
  recovery_codes: 'k7m2-9qrx',
  certification_id: `crt_${ulid}`,
  reconciliation_id: `rcn_${ulid}`,
  blocked_player_id: 'certification-blocked',
  unknown_player_id: 'certification-unknown',
  client_address: '203.0.113.7',
  hash: '1494aacc50b3b6c6146c00dfe20805f1a8e9f0f4aaf01da4bd3df0a558d59280',
  ids_sha256: '7b3d979ca8330a94fa7e9e1b466d8b99e0bcdea1ec90596c0dcc8d7ef6b4300c',
  clause: 'RTS 14G',
  asks: 'At least five seconds from the start of one game to the next.',
  source: 'Remote gambling and software technical standards',
  means: 'A start that comes too early is refused.',
  file: 'services/rounds/test/jurisdictions.test.ts',
  reason: 'the player asked for it',
  description: 'Ledger',
  group_by: 'day,game',
  cursor: cursorText,
  next_cursor: null,
  code: '123456',
  totp: '123456',
}

/** Shown in the answer that makes them, and never again. */
const shownOnce = new Set(['secret', 'api_secret', 'invite_url'])

/**
 * Makes an example that fits a schema: fields that belong together by the kind of their object, else the
 * usual value of a field's name where its type and pattern take it, else the schema's own first value.
 * @param name of the field that it is for
 * @param isFirst whether it is an answer that shows a secret
 */
export function exampleOf(schema: JsonSchema, name = '', isFirst = false): unknown {
  return exampleOfNode(schema, { name, depth: 0, isFirst })
}

type Place = { readonly name: string; readonly depth: number; readonly isFirst: boolean }

function exampleOfNode(schema: JsonSchema, place: Place): unknown {
  const node = nodeSchema.parse(schema)
  if (place.depth > depthMax) return null
  if (node.example !== undefined) return node.example
  if (node.const !== undefined) return node.const
  if (node.enum !== undefined) return node.enum[0]
  const types = Array.isArray(node.type) ? node.type.map((type) => ({ ...schema, type })) : undefined
  const variants = node.anyOf ?? node.oneOf ?? types
  if (variants !== undefined) return exampleOfVariants(variants, place)
  if (node.type === 'object') return exampleOfObject(node.properties ?? {}, node.required ?? [], place)
  if (node.type === 'array')
    return node.items === undefined ? [] : [exampleOfNode(node.items, { ...place, depth: place.depth + 1 })]
  return exampleOfScalar(schema, place.name)
}

function exampleOfObject(
  properties: Readonly<Record<string, JsonSchema>>,
  required: readonly string[],
  { depth, isFirst }: Place,
): unknown {
  const kind = usualFields.find(({ marks }) => marks.every((mark) => mark in properties))
  const usual = new Map(Object.entries(kind?.fields ?? {}))
  const shown = Object.entries(properties).filter(
    ([name]) => required.includes(name) || isFirst || !shownOnce.has(name),
  )
  const fields = shown.map(([name, inner]) => {
    const value = usual.has(name)
      ? usual.get(name)
      : exampleOfNode(inner, { name, depth: depth + 1, isFirst })
    return [name, value] as const
  })
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined))
}

function exampleOfVariants(variants: readonly JsonSchema[], place: Place): unknown {
  const known = byName[place.name]
  const nullable = variants.some((variant) => variant.type === 'null')
  if (known === null && nullable) return null
  const variant = variants.find(({ type }) => type !== 'null') ?? {}
  return exampleOfNode(variant, { ...place, depth: place.depth + 1 })
}

function exampleOfScalar(schema: JsonSchema, name: string): unknown {
  const known = byName[name]
  if (typeof known === schema.type || (typeof known === 'number' && schema.type === 'integer')) {
    if (typeof known !== 'string' || matches(schema.pattern, known)) return known
  }
  switch (schema.type) {
    case 'integer':
    case 'number':
      return schema.default ?? schema.minimum
    case 'boolean':
      return schema.default ?? false
    case 'null':
      return null
    case 'string':
      return exampleOfText(schema, name)
    default:
      return {}
  }
}

/** What stands for a text of which nobody has said how it usually looks; in no published example. */
export const noUsualText = 'text'

/** Texts by pattern or format, tried in turn. */
const texts = [...Object.values(byName).filter((value) => typeof value === 'string'), uuidText, `evt_${ulid}`]

function exampleOfText(schema: JsonSchema, name: string): string {
  if (
    schema.format === 'date-time' ||
    name === 'from' ||
    name === 'to' ||
    /(^|_)(at|until|since)$/.test(name)
  ) {
    return instantText
  }
  if (name === 'next_cursor') return cursorText
  if (schema.format === 'uuid') return uuidText
  if (schema.format === 'email') return 'ada@example.com'
  if (schema.format === 'uri') return 'https://casino.example.com/'
  if (schema.pattern === undefined) return noUsualText
  return texts.find((text) => matches(schema.pattern, text)) ?? noUsualText
}

function matches(pattern: unknown, text: string): boolean {
  return typeof pattern !== 'string' || new RegExp(pattern).test(text)
}
