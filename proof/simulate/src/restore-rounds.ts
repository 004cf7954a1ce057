import { heldNonces } from '@pitboss/chaos/check/held-nonces'
import { ServiceError } from '@pitboss/errors/service-error'
import { handler } from '@pitboss/bus/serve-calls'
import { showStakeStanding } from '@pitboss/contracts/calls/rounds'
import { readStakeStanding } from '@pitboss/rounds/actions/read-rounds'
import { healOrphan, type Healing, listOrphans, skipNonces } from '@pitboss/rounds/actions/repair-lost-rounds'
import { createWalletClient } from '@pitboss/rounds/clients/wallet'
import { sequenceOf } from '@pitboss/rounds/storage/round-document'
import { sampleAuditEntry } from '@pitboss/testing/sample-audit-entry'
import { z } from 'zod'
import { BrokenInvariant } from './check-steps.ts'
import { isExpected } from './is-expected.ts'
import type { Machine } from './machine.ts'
import { runRounds } from './run-rounds.ts'
import { scope, type World } from './world.ts'

const againAfterMs = 500
const orderWithinMs = 5000
const toldEvent = z.object({
  type: z.string(),
  data: z.looseObject({
    round_id: z.string().optional(),
    fairness: z.object({ nonce: z.int() }).optional(),
  }),
})
const startedRound = z.object({
  ...{ round_id: z.string(), player_id: z.string(), game: z.string() },
  ...{ currency: z.string(), nonce: z.int() },
})

/**
 * The work of operations after the rounds were set back to an earlier state: `ops round orphans --heal`, by
 * the real action. Source: docs/runbook.md, "A restored backup".
 */
export async function healRounds(machine: Machine, world: World): Promise<void> {
  const { movements, stream, bus, bridges, newId, newUuid, onError } = world
  const { running, rounds, lost } = runRounds(machine, world)
  await running.start()
  const context: Healing = {
    lost,
    wallet: createWalletClient({ bus: bus.busOf(machine) }),
    audit: { entry: () => sampleAuditEntry(), store: () => Promise.resolve() },
    clock: { now: machine.now },
    newId,
    newUuid,
  }
  const stakes = () => [...movements.table.values()].filter(({ type }) => type === 'BET')
  const inTheEnd = async (work: () => Promise<unknown>): Promise<void> => {
    for (;;) {
      try {
        await work()
        return
      } catch (error) {
        // A win of the lost round is owed or paid: a person decides.
        if (error instanceof ServiceError && error.code === 'CONFLICT') return
        if (!isExpected(error)) return onError(error)
        await machine.wait(againAfterMs)
      }
    }
  }
  // Rounds answers wallet-bridge again while it is being healed.
  bus.serve(machine, [
    handler(showStakeStanding, async (asked) => ({
      standing: await readStakeStanding({ rounds }, asked),
    })),
  ])
  while (stakes().some(({ status }) => status === 'PENDING')) {
    // It may die at it, and is ordered once more then.
    const work = inTheEnd(async () => bridges.pick()?.endDoubts())
    await Promise.race([work, machine.wait(orderWithinMs)])
    await machine.wait(againAfterMs)
  }
  const order = { by: 'operations', reason: null, dryRun: false }
  const events = stream.events.map(({ body }) => toldEvent.parse(JSON.parse(body)))
  const toldStarts = events.flatMap(({ type, data }) =>
    type === 'round.started' ? [startedRound.parse({ ...data, nonce: data.fairness?.nonce })] : [],
  )
  await inTheEnd(() => skipNonces(context, { scope, rounds: toldStarts, order }, newId('req')))
  for (const { transactionId, roundId } of stakes()) {
    await inTheEnd(async () => {
      const [orphan] = await listOrphans(context, scope, [transactionId])
      if (orphan === undefined) return
      const own = events.filter(({ data }) => data.round_id === roundId)
      const nonce = own.flatMap(({ data }) => data.fairness?.nonce ?? [])[0] ?? null
      const refund = orphan.stands && !own.some(({ type }) => type === 'round.completed')
      await healOrphan(context, { scope, transactionId, nonce, refund, order }, newId('req'))
    })
  }
  // What it has taken over is taken over from it.
  machine.kill()
}

/**
 * The promises that outlast a rounds database that was set back. What it may lose: rounds that began since
 * (their stakes go back, unless they were told to have ended), what players and operators did since in the
 * rounds that it knows, uses of free bets, and with them the answers that clients had got.
 * @throws BrokenInvariant
 */
export function checkRestored({ rounds, movements, wallet: { ledger }, stream }: World): void {
  const holds = (name: string, is: boolean, what: () => string) => {
    if (!is) throw new BrokenInvariant(`after a restore: ${name}`, what())
  }
  const stands = (id: string) => ledger.byTransactionId.has(id) && !ledger.rollbackOf.has(id)
  const all = [...movements.table.values()]
  const events = stream.events.map(({ body }) => toldEvent.parse(JSON.parse(body)))
  const told = new Set(events.flatMap(({ type, data }) => (type === 'round.started' ? [data.round_id] : [])))
  const ended = new Set(
    events.flatMap(({ type, data }) => (type === 'round.completed' ? [data.round_id] : [])),
  )
  const known = new Set(
    [...rounds.table.values()].flatMap(({ round }) => round.stakes.map(({ transactionId }) => transactionId)),
  )
  for (const [roundId, own] of Map.groupBy(all, (movement) => movement.roundId)) {
    const standing = (type: string) => own.filter((one) => one.type === type && stands(one.transactionId))
    const show = () =>
      own.map(({ type, transactionId, status }) => `${type} ${transactionId} ${status}`).join(', ')
    const isGame = own[0]?.driver === 'game'
    holds('a game round is paid once', !isGame || standing('WIN').length <= 1, show)
    holds('a game round takes one stake', !isGame || standing('BET').length <= 1, show)
    for (const { transactionId, status } of standing('BET')) {
      // A win of nothing may have been paid without a call.
      const isPaid = own.some((one) => one.type === 'WIN' && one.status === 'SUCCESS')
      const isOver = status === 'REFUNDED' || ended.has(roundId) || isPaid
      holds('a stake has its round, or went back', known.has(transactionId) || isOver, show)
    }
    for (const { operation, status, transactionId } of own.filter(({ type }) => type === 'WIN')) {
      const isPaid = status === 'SUCCESS' && (operation === null || stands(transactionId))
      holds('a win that was asked for is paid', isPaid || status === 'ROLLED_BACK', show)
    }
  }
  const given = new Map(
    [...rounds.table.values()].map(({ round }) => [`${sequenceOf(round)} ${round.nonce}`, round.id]),
  )
  const staked = new Set(all.flatMap(({ roundId, type }) => (type === 'BET' ? [roundId] : [])))
  const lost = new Map(
    [...rounds.lost].map(([id, round]) => [id, { sequence: sequenceOf(round), nonce: round.nonce }]),
  )
  const held = heldNonces(lost, { isTold: (id) => told.has(id), hasStake: (id) => staked.has(id) })
  for (const [id, { sequence, nonce }] of held) {
    const other = given.get(`${sequence} ${nonce}`)
    // An intent that had been taken back is there again: it never gets a stake. The round itself may be, too,
    // whose claims were inserted since.
    const isFree = other === undefined || other <= id
    holds('a lost nonce is given to no later round', isFree, () => `${id} and ${other}`)
  }
  for (const { round } of rounds.table.values()) {
    const isOwed = round.driver === 'game' && round.status === 'SETTLED' && (round.payout ?? 0n) > 0n
    const isPaid = round.wins.some(({ transactionId }) => stands(transactionId))
    holds('a round that won is paid', !isOwed || isPaid, () => `${round.id} won ${round.payout}`)
  }
}
