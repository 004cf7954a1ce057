import { eventType } from '@pitboss/contracts/objects/event'
import {
  type Delivery,
  expectAccepted,
  expectRefused,
  type ReceiverUnderTest,
} from './receiver-under-test.ts'
import { httpCases } from '../http-cases.ts'
import { type CertificationCase, defineCase, expect } from '../run-cases.ts'

type Case = CertificationCase<ReceiverUnderTest>

const BURST = 50
const GOOD_LATENCY_MS = 5000
const RAW_HINT = 'Verify the raw bytes of the body, before any JSON parser or trimming touches them.'
const SIGNATURE_HINT =
  'v1= + hex HMAC-SHA256(secret, x-svc-timestamp + "." + raw body); compare in constant time.'
const CLOCK_HINT = 'Refuse when your clock and x-svc-timestamp (Unix seconds) differ by more than 300 s.'

/**
 * Everything that a webhook receiver has to get right, in the order in which it is tried. The events are
 * examples with made-up ids. Source: docs/contract.md, section 7.
 */
export const receiverCases: readonly Case[] = [
  ...httpCases<ReceiverUnderTest>(),
  ...eventType.options.map((type) =>
    accepts(
      `accepts-${type.replaceAll('.', '-')}`,
      `${type} is accepted`,
      'Answer 2xx after storing the event.',
      (_one, r) => r.delivery(type),
    ),
  ),
  accepts(
    'accepts-test',
    'webhook.test is accepted',
    'The dashboard sends it; treat it like an event without meaning.',
    (_one, r) => r.delivery('webhook.test'),
  ),
  accepts(
    'unknown-field',
    'Unknown fields are ignored',
    'Fields may be added without a version.',
    (_one, r) => r.delivery('round.completed', { something_new: { a: [1, null] } }),
  ),
  accepts('unicode', 'Characters beyond ASCII verify', RAW_HINT, (_one, r) =>
    r.delivery('round.completed', { note: 'Zürich ✓ 日本' }),
  ),
  accepts('raw-spaces', 'A body with unusual spacing verifies', RAW_HINT, (one, r) =>
    signed(r, { ...one, body: JSON.stringify(JSON.parse(one.body), null, 2) }),
  ),
  accepts('raw-newline', 'A body that ends with a newline verifies', RAW_HINT, (one, r) =>
    signed(r, { ...one, body: `${one.body}\n` }),
  ),
  accepts('raw-escapes', 'A body with escaped characters verifies', RAW_HINT, (one, r) =>
    signed(r, { ...one, body: one.body.replace('dice', '\\u0064ice') }),
  ),
  accepts(
    'large-body',
    'A body of 32 KiB is accepted',
    'Raise the body limit of your framework.',
    (_one, r) => r.delivery('round.completed', { padding: 'x'.repeat(32 * 1024) }),
  ),
  accepts(
    'two-signatures-first',
    'During a rotation the first of two signatures is enough',
    SIGNATURE_HINT,
    (one, r) => ({ signature: `${one.signature} ${foreign(one, r)}` }),
  ),
  accepts(
    'two-signatures-second',
    'During a rotation the second of two signatures is enough',
    SIGNATURE_HINT,
    (one, r) => ({ signature: `${foreign(one, r)} ${one.signature}` }),
  ),
  accepts(
    'later-scheme',
    'A signature scheme that does not exist yet is skipped',
    'Look for v1= among the values, ignore the others.',
    (one) => ({ signature: `v2=abc ${one.signature}` }),
  ),
  accepts('clock-within', 'A timestamp 280 s in the past is accepted', CLOCK_HINT, shifted(-280)),
  defineCase('delivery', 'duplicate', {
    title: 'The same event delivered again is accepted',
    hint: 'Deliveries are at least once: recognise the id, answer 2xx, do nothing more.',
    async run(receiver) {
      const one = receiver.delivery()
      await expectAccepted(receiver, one)
      await expectAccepted(receiver, { ...one, attempt: 2 })
    },
  }),
  defineCase('delivery', 'duplicate-parallel', {
    title: 'Copies of one event at the same time are all accepted',
    hint: 'A unique index that is hit is success, not a 500.',
    async run(receiver) {
      const one = receiver.delivery()
      await Promise.all(Array.from({ length: 5 }, () => expectAccepted(receiver, one)))
    },
  }),
  defineCase('delivery', 'reordered', {
    title: 'round.completed before round.started is accepted',
    hint: 'Order is not guaranteed; order by created_at when it matters.',
    async run(receiver) {
      await expectAccepted(
        receiver,
        receiver.delivery('round.completed', { created_at: '2026-11-20T09:30:01.000Z' }),
      )
      await expectAccepted(
        receiver,
        receiver.delivery('round.started', { created_at: '2026-11-20T09:30:00.000Z' }),
      )
    },
  }),
  defineCase('delivery', 'burst', {
    title: `${BURST} events at once are accepted, each within ${GOOD_LATENCY_MS / 1000} s`,
    hint: 'Store and answer; do the work afterwards.',
    async run(receiver) {
      const answers = await Promise.all(
        Array.from({ length: BURST }, () => receiver.send(receiver.delivery())),
      )
      expect(
        answers.every(({ httpStatus }) => httpStatus >= 200 && httpStatus < 300),
        'some were not answered 2xx',
      )
      const slowestMs = Math.max(...answers.map(({ latencyMs }) => latencyMs))
      expect(slowestMs <= GOOD_LATENCY_MS, `the slowest took ${slowestMs} ms`)
    },
  }),
  refuses('signature-missing', 'A delivery without a signature is refused', SIGNATURE_HINT, () => ({}), [
    'x-svc-signature',
  ]),
  refuses('timestamp-missing', 'A delivery without a timestamp is refused', CLOCK_HINT, () => ({}), [
    'x-svc-timestamp',
  ]),
  refuses('wrong-secret', 'A delivery signed with another secret is refused', SIGNATURE_HINT, (one, r) => ({
    signature: foreign(one, r),
  })),
  refuses('tampered-body', 'A body that was changed after signing is refused', SIGNATURE_HINT, (one) => ({
    body: one.body.replace('"0.00"', '"9.99"'),
  })),
  refuses('reformatted-body', 'A body that was re-formatted after signing is refused', RAW_HINT, (one) => ({
    body: JSON.stringify(JSON.parse(one.body), null, 1),
  })),
  refuses('other-timestamp', 'A signature made for another timestamp is refused', SIGNATURE_HINT, (one) => ({
    timestamp: String(Number(one.timestamp) - 1),
  })),
  refuses('without-prefix', 'A signature without v1= is refused', SIGNATURE_HINT, (one) => ({
    signature: one.signature.slice('v1='.length),
  })),
  refuses(
    'cut-signature',
    'A signature that was cut short is refused',
    'Check the length before you compare.',
    (one) => ({ signature: one.signature.slice(0, 20) }),
  ),
  refuses('stale', 'A timestamp 310 s in the past is refused', CLOCK_HINT, shifted(-310)),
  refuses('future', 'A timestamp 310 s in the future is refused', CLOCK_HINT, shifted(310)),
]

/** The fields of a fresh delivery that a case changes. */
type Change = (one: Delivery, receiver: ReceiverUnderTest) => Partial<Delivery>

function changed(receiver: ReceiverUnderTest, change: Change): Delivery {
  const one = receiver.delivery()
  return { ...one, ...change(one, receiver) }
}

function accepts(id: string, title: string, hint: string, change: Change): Case {
  const run = (receiver: ReceiverUnderTest) => expectAccepted(receiver, changed(receiver, change))
  return defineCase('accepts', id, { title, hint, run })
}

function refuses(id: string, title: string, hint: string, change: Change, without?: readonly string[]): Case {
  const run = (receiver: ReceiverUnderTest) => expectRefused(receiver, changed(receiver, change), without)
  return defineCase('refuses', id, { title, hint, run })
}

function shifted(seconds: number): Change {
  return (one, r) => signed(r, { ...one, timestamp: String(Number(one.timestamp) + seconds) })
}

function signed(receiver: ReceiverUnderTest, one: Delivery): Delivery {
  return { ...one, signature: `v1=${receiver.sign(one.timestamp, one.body)}` }
}

/** A signature by a secret that is not the endpoint's. */
function foreign({ timestamp, body }: Delivery, receiver: ReceiverUnderTest): string {
  return `v1=${receiver.sign(timestamp, body, 'another secret')}`
}
