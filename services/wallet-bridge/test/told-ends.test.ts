import { opsMovementEvents, opsRepublishMovements } from '@pitboss/contracts/calls/wallet-ops'
import type { MovementSpec } from '@pitboss/contracts/calls/wallet'
import { newId } from '@pitboss/runtime/new-id'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { reversalOf, specOf, startBridge, startSuite } from './fixtures/bridge.ts'
import { openWallet } from './fixtures/open-wallet.ts'

const suite = await startSuite(t)
const bridge = await startBridge(suite.environment({ timeScale: 60 }))
t.teardown(() => bridge.stop())
const { wallet, client } = await openWallet(t, suite.bus)

const operated = (change: Partial<MovementSpec> = {}) => specOf({ driver: 'operator', ...change })
const winOf = (stake: MovementSpec, change: Partial<MovementSpec> = {}): MovementSpec => ({
  ...stake,
  ...{ type: 'WIN', transactionId: newId('win'), roundClosed: true },
  ...change,
})

/** Waits until the movement has ended. */
const ended = (transactionId: string) =>
  waitFor(async () => (await client.show(transactionId))?.movement.status !== 'PENDING')

/** Each lets a round end in its way and answers its id, and the number of events that its movements have. */
const ways: Readonly<Record<string, () => Promise<{ roundId: string; count: number }>>> = {
  async 'a stake that was taken, and its win'() {
    const stake = specOf()
    await client.place(stake)
    await client.place(winOf(stake, { amount: '19.80' }))
    return { roundId: stake.roundId, count: 2 }
  },
  async 'a loss of which the wallet is not told'() {
    const stake = specOf()
    await client.place(stake)
    await client.place(winOf(stake, { amount: '0.00', callWallet: false }))
    return { roundId: stake.roundId, count: 1 }
  },
  async 'a stake that was refused'() {
    const stake = specOf({ amount: '100000.00' })
    await client.place(stake)
    return { roundId: stake.roundId, count: 1 }
  },
  async 'a stake that was refunded'() {
    const stake = operated()
    await client.place(stake)
    await client.place(reversalOf(stake, 'REFUND'))
    return { roundId: stake.roundId, count: 2 }
  },
  async 'a stake that was rolled back'() {
    const stake = operated()
    await client.place(stake)
    await client.place(reversalOf(stake, 'ROLLBACK'))
    return { roundId: stake.roundId, count: 2 }
  },
  async 'a win that was rolled back'() {
    const stake = operated()
    await client.place(stake)
    const win = winOf(stake, { amount: '5.00', roundClosed: false })
    await client.place(win)
    await client.place(reversalOf(win, 'ROLLBACK'))
    return { roundId: stake.roundId, count: 3 }
  },
  async 'a stake that was voided before it came'() {
    const stake = specOf()
    await client.void(stake)
    return { roundId: stake.roundId, count: 1 }
  },
  async 'a rollback that overtook its stake'() {
    const stake = operated()
    await client.place(reversalOf(stake, 'ROLLBACK'), stake)
    return { roundId: stake.roundId, count: 1 }
  },
  async 'a stake without an answer, rolled back by the service'() {
    const stake = specOf({ playerId: 'silent' })
    await wallet.setFaults([{ operation: 'debit', player_id: 'silent', kind: 'drop', apply: true, count: 9 }])
    await client.place(stake)
    await ended(stake.transactionId)
    await wallet.clearFaults()
    return { roundId: stake.roundId, count: 1 }
  },
  async 'a stake that found its tombstone'() {
    const stake = specOf({ playerId: 'tombstone' })
    const code = 'TRANSACTION_ROLLED_BACK'
    await wallet.setFaults([{ operation: 'debit', player_id: 'tombstone', kind: 'refuse', code, count: 1 }])
    await client.place(stake)
    await wallet.clearFaults()
    return { roundId: stake.roundId, count: 1 }
  },
}

for (const [name, happen] of Object.entries(ways)) {
  await t.test(name, async (t) => {
    const { roundId, count } = await happen()
    const original = await waitFor(() => {
      const found = suite.events.filter(({ data }) => data.round_id === roundId)
      return found.length >= count ? found : null
    })
    const { data } = await suite.bus.call(opsMovementEvents, { roundId })
    const key = ({ id, type, about }: { id: string; type: string; about: unknown }) =>
      [id, type, about].join(' ')
    t.strictSame(
      data.map(({ event_id: id, type, transaction_id: about }) => key({ id, type, about })).toSorted(),
      original.map(({ id, type, data }) => key({ id, type, about: data.transaction_id })).toSorted(),
      'its records call for the events that were told',
    )

    const order = { by: 'tester', reason: null, dryRun: false }
    const eventIds = data.map(({ event_id }) => event_id)
    const again = { order, roundId, eventIds: [...eventIds, newId('evt')] }
    // An original that is still in its outbox is not put there a second time.
    await waitFor(async () => {
      const answered = await suite.bus.call(opsRepublishMovements, again)
      t.strictSame(answered.event_ids, eventIds)
      return eventIds.every(isToldTwice)
    })
    for (const { id, created_at, ...told } of suite.events.filter(({ data }) => data.round_id === roundId)) {
      const { created_at: at, ...first } = original.find((one) => one.id === id) ?? { created_at: '' }
      t.strictSame({ id, ...told }, first, 'the same under the same id')
      t.ok(
        Math.abs(Date.parse(created_at) - Date.parse(at)) < 1000,
        `told at ${at}, and again as at ${created_at}`,
      )
    }
  })
}

/** A subscriber hears an event that the stream drops as a double. */
function isToldTwice(eventId: string): boolean {
  return suite.events.filter(({ id }) => id === eventId).length > 1
}
