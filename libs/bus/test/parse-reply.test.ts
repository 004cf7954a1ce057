import { defineCall } from '@pitboss/contracts/call'
import t from 'tap'
import { z } from 'zod'
import { opsCreateOperator } from '@pitboss/contracts/calls/auth-ops'
import { parseReply, parseRequest } from '../src/parse-reply.ts'

const call = defineCall('rounds.v1.test.read', {
  token: { none: 'a test' },
  request: z.strictObject({}),
  reply: z.strictObject({
    outcome: z.discriminatedUnion('kind', [
      z.strictObject({ kind: z.literal('won'), payout: z.string() }),
      z.strictObject({ kind: z.literal('lost') }),
    ]),
    rows: z.array(z.strictObject({ id: z.string() })),
    free: z.record(z.string(), z.json()),
  }),
})
const known = { outcome: { kind: 'won', payout: '1.98' }, rows: [{ id: 'a' }, { id: 'b' }], free: { x: 1 } }

const read = (reply: unknown) => parseReply(call, new TextEncoder().encode(JSON.stringify(reply)))

t.test('a reply as this build knows it comes as it is', async (t) => {
  t.strictSame(read(known), known)
})

t.test('fields that only a newer build knows are left out, at every depth', async (t) => {
  const newer = {
    outcome: { kind: 'won', payout: '1.98', tax: '0.10' },
    rows: [{ id: 'a' }, { id: 'b', colour: { of: 'the sky' }, size: 3 }],
    free: { x: 1 },
    trace: null,
  }
  t.strictSame(read(newer), known)
})

t.test('all else that does not fit is INTERNAL_ERROR and names the field', async (t) => {
  const wrong: [string, unknown, RegExp][] = [
    ['a kind that this build does not know', { ...known, outcome: { kind: 'draw' } }, /outcome/],
    ['a field that is missing', { ...known, rows: [{}] }, /rows\[0\]\.id/],
    ['unknown and missing at once', { ...known, rows: [{ name: 'a' }] }, /rows\[0\]\.id/],
    ['another type', { ...known, rows: null }, /rows/],
  ]
  for (const [what, reply, message] of wrong)
    t.throws(() => read(reply), { code: 'INTERNAL_ERROR', cause: { message } }, what)
  const noJson = () => parseReply(call, new TextEncoder().encode('{'))
  t.throws(noJson, { code: 'INTERNAL_ERROR', cause: { message: /not JSON/ } })
})

t.test('a request that does not fit is refused in words', async (t) => {
  const order = { by: 'ann', reason: null, dryRun: false }
  const owner = { email: 'owner@casino.example', password: null }
  const known = { order, name: 'Casino', ...owner, plan: 'free', approved: false, currencies: null }
  const readRequest = (request: unknown) =>
    parseRequest(opsCreateOperator, new TextEncoder().encode(JSON.stringify(request)))
  t.strictSame(readRequest(known), known)
  const unseen = 'must not have control characters or marks of direction'
  const wrong: [object, string, string][] = [
    [{ name: '' }, 'name', 'must not be empty'],
    [{ name: 'a\u001b[31m' }, 'name', unseen],
    [{ name: 'a\u202eb' }, 'name', unseen],
    [{ name: 'x'.repeat(129) }, 'name', 'must have at most 128 characters'],
    [{ approved: 'yes' }, 'approved', 'must be true or false'],
    [{ order: { ...order, by: 7 } }, 'order.by', 'must be text'],
    [
      { order: { ...order, dry_run: true } },
      'order.dry_run',
      'is not a known field: did you mean dryRun? there are by, reason, dryRun',
    ],
  ]
  for (const [field, path, message] of wrong)
    t.throws(
      () => readRequest({ ...known, ...field }),
      { code: 'VALIDATION_ERROR', message: `${path}: ${message}`, details: [{ path, message }] },
      JSON.stringify(field),
    )
})
