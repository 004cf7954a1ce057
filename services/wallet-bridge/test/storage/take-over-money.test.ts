import { append } from '@pitboss/storage/journal/journal'
import { openTestDatabase } from '@pitboss/testing/open-test-database'
import t from 'tap'
import { documentOf, initialState } from '../../src/records/new-movement.ts'
import { advanceMovement, nextAction } from '../../src/rules/advance-movement.ts'
import type { MovementDocument } from '../../src/storage/movement-document.ts'
import { moneyOf, moneyStream } from '../../src/storage/round-money.ts'
import { takeOverMoney } from '../../src/storage/open-money.ts'
import { newScope, specOf } from '../fixtures/bridge.ts'
import { testJournal } from '../fixtures/test-money.ts'

const min = 60_000
const scaleMs = (ms: number) => ms
const journal = testJournal(await openTestDatabase(t))
const soon = () => journal.steadyMs() + 10_000

/** A stake whose wallet is being called by the instance `o`, or whose call that one has adopted. */
async function stakeInCall({ callers }: { callers: readonly [string, ...string[]] }) {
  const at = new Date()
  const begun = { kind: 'call-begun', at, token: 'call_1', leaseMs: 10 * min } as const
  const { state } = advanceMovement(initialState('BET', at), begun, scaleMs)
  const document = documentOf({ scope: newScope(), spec: specOf({}), reference: 'txn_1', state })
  const stream = moneyStream(document)
  for (const [after, o] of callers.entries()) {
    const facts = [after === 0 ? { base: document } : { adopted: true as const }] as const
    const writer = { ...journal, nextWriter: async () => ({ o, q: 1 }), instance: () => o }
    const { kind } = await append(writer, stream, after, { facts }, soon())
    if (kind !== 'appended') throw new Error(kind)
  }
  return { stream, id: document.transactionId }
}

/** Takes the stream over, where these instances have ended. @returns the stake as its owner has it */
async function takeOver({ stream, id }: { stream: string; id: string }, ended: readonly string[]) {
  let owned: readonly MovementDocument[] = []
  const unfinished = { own: (movements: readonly MovementDocument[]) => void (owned = movements) }
  const instances = { readExited: async (among: readonly string[]) => among.filter((o) => ended.includes(o)) }
  await takeOverMoney({ journal, unfinished, instances }, stream)
  const stake = owned.find(({ transactionId }) => transactionId === id)
  if (stake === undefined) throw new Error('the stake was not taken over')
  const stored = moneyOf(await journal.store.readEntries(stream)).get(id)
  t.strictSame(stored?.call, stake.call, 'every process sees the same')
  return stake
}

t.test('a stake is tried again at once when the process that called its wallet has ended', async (t) => {
  const stake = await takeOver(await stakeInCall({ callers: ['ins_killed'] }), ['ins_killed'])
  const now = new Date()
  t.equal(nextAction(stake, now, scaleMs), 'call-lost')
  t.ok(stake.dueAt !== null && stake.dueAt <= now)
  const lost = advanceMovement(stake, { kind: 'call-lost', at: now }, scaleMs)
  t.match(lost, { kind: 'applied', state: { status: 'PENDING', call: null, tries: 1, unknownTries: 1 } })
  t.strictSame(
    lost.state.dueAt,
    new Date(stake.createdAt.getTime() + 2000),
    'by the schedule of its tries, as after any call without an answer',
  )
})

t.test('the call of a process that may only stand still is waited for', async (t) => {
  const stake = await takeOver(await stakeInCall({ callers: ['ins_silent'] }), [])
  t.equal(nextAction(stake, new Date(), scaleMs), 'wait')
  t.ok(stake.dueAt !== null && stake.dueAt.getTime() > Date.now() + 9 * min)
})

t.test('it is waited for, too, when the process that took its round over has ended', async (t) => {
  const stake = await takeOver(await stakeInCall({ callers: ['ins_silent', 'ins_killed'] }), ['ins_killed'])
  t.equal(nextAction(stake, new Date(), scaleMs), 'wait')
})
