import type { Bus } from '@pitboss/bus/connect-bus'
import { opsCertainMovements, opsShowRound, type StakeStanding } from '@pitboss/contracts/calls/rounds'
import {
  type CertainMovement,
  opsHealMovements,
  opsMovementFacts,
  opsResolveMovement,
  opsStakesInDoubt,
} from '@pitboss/contracts/calls/wallet-ops'
import { opsEventsOfRound, showLoggedStake } from '@pitboss/contracts/calls/webhooks'
import { ServiceError } from '@pitboss/errors/service-error'
import { mapBounded } from '@pitboss/runtime/map-bounded'
import type { Command } from 'commander'
import { z } from 'zod'
import { accountOf, withAccount } from '../account-flags.ts'
import { needsReason, onRun, withChangeFlags } from '../ops-run.ts'
import { textTable } from '../output.ts'
import { pagesOf } from '../pages-of.ts'
import { readInstant } from '../read-flags.ts'
import { writeToldWins } from '../write-told-wins.ts'

/** Rounds that are asked about at once. */
const atOnce = 16

type Row = {
  readonly transaction_id: string
  readonly round_id: string
  readonly type: string
  /**
   * `lost`: rounds knows it and wallet-bridge does not. `in doubt`: it is pending, and rounds does not know
   * what became of it.
   */
  readonly state: 'lost' | 'in doubt'
  /** Whether an event tells that the wallet took or paid it. */
  readonly told: boolean
  /** `waits`: the events of that time are not all there, so the operator's ledger has to say. */
  healed: 'written' | 'success' | 'failed' | 'waits' | null
}
type Doubt = { readonly row: Row; readonly reference: string; readonly standing: StakeStanding }
type LostRound = { readonly movements: readonly CertainMovement[]; readonly lost: readonly Row[] }

const toldMovement = z.object({
  type: z.string(),
  created_at: z.iso.datetime(),
  data: z.object({ transaction_id: z.string(), reference: z.string() }),
})
type Told = ReadonlyMap<string, { readonly type: string; readonly reference: string; readonly at: string }>

/**
 * `movement restored`: movements that wallet-bridge has lost, and stakes that are in doubt, after databases
 * were restored. Source: docs/runbook.md, "A restored backup".
 */
export function addRestoredMovements(noun: Command): void {
  const restored = withAccount(
    withChangeFlags(
      noun
        .command('restored')
        .description('movements that a restored database lacks, and stakes that are in doubt'),
    ),
  )
    .requiredOption('--from <time>', 'rounds that were open then, or ended later', readInstant)
    .option('--heal', 'write what is lost, and end each stake as events tell', false)
  needsReason(restored, ({ heal }) => heal === true)
  onRun(restored, async ({ bus, order, show, confirm }, flags) => {
    const scope = accountOf(flags)
    const looking = { ...order, dryRun: true }
    const rounds: LostRound[] = []
    const pages = pagesOf((after: string | null) =>
      bus.call(opsCertainMovements, { scope, from: flags.from, after }),
    )
    for await (const page of pages) {
      const played = page.filter((round) => round.movements.length > 0)
      const found = await mapBounded(played, atOnce, async ({ round_id, movements }): Promise<LostRound> => {
        const asked = movements.map((one) => ({ ...one, told: null }))
        const { data } = await bus.call(opsHealMovements, { order: looking, scope, movements: asked })
        const told: Told = data.length === 0 ? new Map() : await toldOf(bus, round_id)
        return { movements, lost: data.map((id) => lostRow(id, round_id, movements, told)) }
      })
      rounds.push(...found.filter(({ lost }) => lost.length > 0))
    }
    const doubts: Doubt[] = []
    for await (const page of pagesOf((after: string | null) =>
      bus.call(opsStakesInDoubt, { scope, after }),
    )) {
      const found = await mapBounded(page, atOnce, async (stake): Promise<Doubt> => {
        const { transaction_id, round_id, reference, asked_at: since } = stake
        const asked = { scope, roundId: round_id, transactionId: transaction_id, since }
        const { standing } = await bus.call(showLoggedStake, asked)
        const row = { transaction_id, round_id, type: 'BET', told: standing === 'taken', healed: null }
        return { row: { ...row, state: 'in doubt' }, reference, standing }
      })
      doubts.push(...found)
    }
    const rows = [...rounds.flatMap(({ lost }) => lost), ...doubts.map(({ row }) => row)]
    if (flags.heal && rows.length > 0) {
      const lost = rows.length - doubts.length
      await confirm(`Write ${lost} movements and end ${doubts.length} stakes as events tell?`)
      await mapBounded(rounds, atOnce, write)
      for (const { row, reference, standing } of doubts) {
        const as = endsAs[standing]
        // Before the stake: its round pays the win as soon as that is taken.
        if (as === 'success') await writeWins(row.round_id)
        if (as !== 'waits') await bus.call(opsResolveMovement, { order, reference, as })
        row.healed = as
      }
    }
    show(rows, rows.length === 0 ? 'nothing is lost, and no stake is in doubt' : textTable(rows))

    /** Writes what events tell of the wins of a round that has lost them, too. */
    async function writeWins(roundId: string): Promise<void> {
      const { data: known } = await bus.call(opsMovementFacts, { roundId })
      const [movement] = known.map((facts) => facts.movement)
      const round = await bus.call(opsShowRound, { roundId }).catch((error: unknown) => {
        if (error instanceof ServiceError && error.code === 'ROUND_NOT_FOUND') return null
        throw error
      })
      // A round that the operator's server drives is that server's to end.
      if (movement === undefined || round?.round.driver !== 'game') return
      await writeToldWins(bus, { order, scope, roundId, game: movement.game })
    }

    async function write({ movements, lost }: LostRound): Promise<void> {
      const told = await toldOf(bus, lost[0]?.round_id ?? '')
      const asked = movements.map((one) => {
        const event = told.get(one.spec.transactionId)
        return { ...one, told: event === undefined ? null : { reference: event.reference, at: event.at } }
      })
      await bus.call(opsHealMovements, { order, scope, movements: asked })
      for (const row of lost) row.healed = 'written'
    }
  })
}

/** How a stake in doubt ends, by what events say of it. */
const endsAs = { taken: 'success', 'not-taken': 'failed', unknown: 'waits' } as const

function lostRow(id: string, round_id: string, movements: readonly CertainMovement[], told: Told): Row {
  const type = movements.find(({ spec }) => spec.transactionId === id)?.spec.type ?? ''
  return { transaction_id: id, round_id, type, state: 'lost', told: told.has(id), healed: null }
}

/** The events of a round's movements, by their ids. */
async function toldOf(bus: Bus, roundId: string): Promise<Told> {
  const { data } = await bus.call(opsEventsOfRound, { roundId })
  return new Map(
    data.flatMap(({ event }) => {
      const read = toldMovement.safeParse(event).data
      if (read === undefined || !read.type.startsWith('transaction.')) return []
      const { transaction_id, reference } = read.data
      return [[transaction_id, { type: read.type, reference, at: read.created_at }] as const]
    }),
  )
}
