import { z } from 'zod'

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
  minimum: z.number().optional(),
})

const depthMax = 12
const ulid = '01jd3v8x5q7r2m4n6p8s0t1w3y'
const uuidText = '0193a5c4-9d3e-7a2b-8c1d-4e5f60718293'
const instantText = '2026-11-20T09:30:00.000Z'

/** Usual values by field name. A value counts only where the field's schema takes a text or a number. */
const byName: Readonly<Record<string, unknown>> = {
  session_id: `ses_${ulid}`,
  round_id: `rnd_${ulid}`,
  transaction_id: 'bet-2026-11-20-0001',
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
  payout: '19.80',
  balance_after: '90.00',
  min_stake: '0.10',
  max_stake: '100.00',
  max_payout: '10000.00',
  multiplier: '1.9800',
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
  server_seed: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  server_seed_hash: 'b1b2d3a4c5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f90',
  client_seed: 'lucky-7',
  nonce: 7,
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
  name: 'Ada',
  timezone: 'Europe/Malta',
  language: 'en',
  country: 'MT',
  return_url: 'https://casino.example.com/lobby',
  url: 'https://casino.example.com/hooks/pitboss',
  secret: 'whsec_…',
  launch_url: 'https://play.example.com/play/dice#token=eyJhbGciOi…',
  signature: 'eyJhbGciOi…',
  path: '/v1/sessions',
  status: 200,
  description: 'Ledger',
  group_by: 'day,game',
  cursor: 'eyJ2IjoxfQ…',
  next_cursor: null,
  code: '123456',
  totp: '123456',
}

/**
 * Makes an example that fits a schema: the usual value of a field's name where its type and pattern take it,
 * else the schema's own first value.
 */
export function exampleOf(schema: JsonSchema, name = '', depth = 0): unknown {
  const node = nodeSchema.parse(schema)
  if (depth > depthMax) return null
  if (node.example !== undefined) return node.example
  if (node.const !== undefined) return node.const
  if (node.enum !== undefined) return node.enum[0]
  const types = Array.isArray(node.type) ? node.type.map((type) => ({ ...schema, type })) : undefined
  const variants = node.anyOf ?? node.oneOf ?? types
  if (variants !== undefined) return exampleOfVariants(variants, name, depth)
  if (node.type === 'object') {
    const fields = Object.entries(node.properties ?? {})
    return Object.fromEntries(fields.map(([field, inner]) => [field, exampleOf(inner, field, depth + 1)]))
  }
  if (node.type === 'array') return node.items === undefined ? [] : [exampleOf(node.items, name, depth + 1)]
  return exampleOfScalar(schema, name)
}

function exampleOfVariants(variants: readonly JsonSchema[], name: string, depth: number): unknown {
  const known = byName[name]
  const nullable = variants.some((variant) => variant.type === 'null')
  if (known === null && nullable) return null
  const variant = variants.find(({ type }) => type !== 'null') ?? {}
  return exampleOf(variant, name, depth + 1)
}

function exampleOfScalar(schema: JsonSchema, name: string): unknown {
  const known = byName[name]
  if (typeof known === schema.type || (typeof known === 'number' && schema.type === 'integer')) {
    if (typeof known !== 'string' || matches(schema.pattern, known)) return known
  }
  switch (schema.type) {
    case 'integer':
    case 'number':
      return schema.default ?? schema.minimum ?? 1
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

/** Texts by pattern or format, tried in turn. */
const texts = [...Object.values(byName).filter((value) => typeof value === 'string'), uuidText, `evt_${ulid}`]

function exampleOfText(schema: JsonSchema, name: string): string {
  if (schema.format === 'date-time' || name === 'from' || name === 'to' || /_(at|until)$/.test(name)) {
    return instantText
  }
  if (schema.format === 'uuid') return uuidText
  if (schema.format === 'email') return 'ada@example.com'
  if (schema.format === 'uri') return 'https://casino.example.com/'
  if (schema.pattern === undefined) return 'text'
  return texts.find((text) => matches(schema.pattern, text)) ?? 'text'
}

function matches(pattern: unknown, text: string): boolean {
  return typeof pattern !== 'string' || new RegExp(pattern).test(text)
}
