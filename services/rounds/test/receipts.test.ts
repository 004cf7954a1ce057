import { roundReceipt } from '@pitboss/contracts/calls/dashboard'
import { sendReceipt } from '@pitboss/contracts/endpoints/play'
import type { ReceiptBody, ServedPage } from '@pitboss/contracts/objects/receipt'
import type { Session } from '@pitboss/contracts/objects/session'
import { receiptHash } from '@pitboss/fairness/receipt'
import { roundLine, roundLineVersion } from '@pitboss/fairness/round-line'
import { parseKeyring } from '@pitboss/storage/keyring'
import { createSecretBox } from '@pitboss/storage/stored-secrets'
import { Registry } from 'prom-client'
import t from 'tap'
import { receiptBinding, receiptPurpose } from '../src/wings/receipts/storage/receipts-store.ts'
import { act, codeOf, masterKeys, type Rig, safeTile, startRig } from './fixtures/rounds-rig.ts'

type Shown = Partial<Omit<ReceiptBody, 'hash'>>

function receiptOf(roundId: string, shown: Shown): ReceiptBody {
  const body = { build: 'dice-1.js', language: 'en', text_version: roundLineVersion, text: '', ...shown }
  const { build, language, text_version: textVersion, text } = body
  return { ...body, hash: receiptHash({ roundId, build, language, textVersion, text }) }
}
const ours = { page: 'dice' }
async function send(
  rig: Rig,
  session: Session,
  round_id: string,
  body: ReceiptBody,
  added: ServedPage | null = ours,
) {
  const request = {
    caller: rig.playerOf(session),
    params: { round_id },
    query: {},
    body,
    ...(added === null ? {} : { added }),
  }
  return (await rig.bus.call(sendReceipt.call, request)).body
}
const sealedOf = async (rig: Rig, roundId: string) =>
  (await rig.bus.call(roundReceipt, { caller: rig.caller(), roundId })).receipt

t.test('what a page showed is sealed beside the round, once, and one that differs is an alarm', async (t) => {
  const registry = new Registry()
  const rig = await startRig(t, { registry })
  const session = await rig.openSession()
  const played = async () => {
    const round = await rig.play(session)
    return { round, line: roundLine(round) ?? '' }
  }
  const { round, line } = await played()
  const { round_id } = round
  t.equal(await sealedOf(rig, round_id), null, 'without a receipt, and nothing else')
  const body = receiptOf(round_id, { text: line })
  const kept = await send(rig, session, round_id, body)
  t.match(kept, { round_id, hash: body.hash })
  t.strictSame(await send(rig, session, round_id, body), kept, 'its repeat')
  t.match(await sealedOf(rig, round_id), { ...body, state: 'AGREES', reason: null, expected: line })
  const other = receiptOf(round_id, { text: 'You won everything.' })
  t.equal(await codeOf(send(rig, session, round_id, other)), 'CONFLICT', 'the first counts')

  const second = await played()
  const lie = receiptOf(second.round.round_id, { text: 'Rolled 1.00. You won 9,999.00 USD at 9999.00×' })
  await send(rig, session, second.round.round_id, lie)
  t.match(await sealedOf(rig, second.round.round_id), {
    state: 'DIFFERS',
    reason: 'text',
    text: lie.text,
    expected: second.line,
  })

  for (const [reason, shown] of [
    ['language', { language: 'de', text: 'Gewürfelt' }],
    ['text_version', { text_version: roundLineVersion + 1, text: 'Rolled!' }],
  ] as const) {
    const third = await played()
    await send(rig, session, third.round.round_id, receiptOf(third.round.round_id, shown))
    t.match(await sealedOf(rig, third.round.round_id), { state: 'UNCHECKED', reason, expected: null })
  }
  const counted = await registry.getSingleMetricAsString('pitboss_rounds_receipts_total')
  for (const line of ['{state="AGREES"} 1', '{state="DIFFERS"} 1', '{state="UNCHECKED"} 2'])
    t.match(counted, line)
  const [stored] = await rig.storage.db.collection('receipts').find({}).toArray()
  t.notMatch(JSON.stringify(stored), 'Rolled', 'sealed in the database')
})

t.test('a sentence that agrees is checked only for a page that is served for its game', async (t) => {
  const rig = await startRig(t)
  const session = await rig.openSession()
  const judged = async (added: ServedPage | null, text?: string) => {
    const round = await rig.play(session)
    const body = receiptOf(round.round_id, { text: text ?? roundLine(round) ?? '' })
    await send(rig, session, round.round_id, body, added)
    const { state, reason, expected } = (await sealedOf(rig, round.round_id)) ?? {}
    return { state, reason, isSame: expected === body.text }
  }
  const agrees = { state: 'AGREES', reason: null, isSame: true }
  t.strictSame(await judged({ page: 'dice' }), agrees)
  t.strictSame(await judged({ page: 'index' }), agrees, 'the page of games without one of their own')
  const other = { state: 'UNCHECKED', reason: 'build', isSame: true }
  t.strictSame(await judged({ page: null }), other, 'a build that is not served')
  t.strictSame(await judged({ page: 'mines' }), other, 'the page of another game')
  t.strictSame(await judged(null), other, 'a gateway of an earlier release, which tells no page')
  const lie = { state: 'DIFFERS', reason: 'text', isSame: false }
  t.strictSame(await judged({ page: null }, 'You won it all.'), lie, 'no name of a build silences the alarm')
})

t.test('a receipt of an earlier release has no reason', async (t) => {
  const rig = await startRig(t)
  const { round_id } = await rig.play(await rig.openSession())
  const shown = receiptOf(round_id, { text: 'Rolled' })
  const earlier = { state: 'DIFFERS', received_at: '2026-11-25T10:00:00.000Z', ...shown, expected: 'Spun' }
  const document = { _id: round_id, scope: `${rig.scope.operatorId}/${rig.scope.environment}` }
  const secretBox = createSecretBox(parseKeyring(masterKeys), receiptPurpose)
  const sealed = secretBox.seal(JSON.stringify(earlier), receiptBinding(document))
  const receipts = rig.storage.db.collection<{
    _id: string
    scope: string
    receivedAt: Date
    sealed: string
  }>('receipts')
  await receipts.insertOne({ ...document, receivedAt: new Date(earlier.received_at), sealed })
  t.strictSame(await sealedOf(rig, round_id), { ...earlier, reason: null })
})

t.test('a receipt belongs to a settled round of its player', async (t) => {
  const rig = await startRig(t)
  const mines = await rig.openSession({ game: 'mines' })
  const open = await rig.play(mines)
  const early = receiptOf(open.round_id, { text: 'won' })
  t.equal(await codeOf(send(rig, mines, open.round_id, early)), 'ROUND_IN_PROGRESS')
  await act(rig, mines, open.round_id, await safeTile(rig, open.round_id))
  const dice = await rig.openSession()
  const round = await rig.play(dice)
  const body = receiptOf(round.round_id, { text: roundLine(round) ?? '' })
  t.equal(await codeOf(send(rig, await rig.openSession(), round.round_id, body)), 'ROUND_NOT_FOUND')
  const forged = { ...body, hash: '0'.repeat(64) }
  t.equal(await codeOf(send(rig, dice, round.round_id, forged)), 'VALIDATION_ERROR')
  rig.wallet.next({ kind: 'refuse', code: 'INSUFFICIENT_FUNDS' })
  t.equal(await codeOf(rig.play(dice, { transaction_id: 'refused' })), 'INSUFFICIENT_FUNDS')
  const failed = await rig.storage.db.collection<{ _id: string }>('rounds').findOne({ status: 'FAILED' })
  const id = failed?._id ?? ''
  t.equal(await codeOf(send(rig, dice, id, receiptOf(id, { text: 'won' }))), 'CONFLICT')
})
