import type { Bus } from '@pitboss/bus/connect-bus'
import {
  opsEndRoundAsTold,
  opsHealOrphan,
  opsOrphanedStakes,
  opsSkipNonces,
  toldEnd,
} from '@pitboss/contracts/calls/rounds'
import { opsListStakes } from '@pitboss/contracts/calls/wallet-ops'
import { opsEventsOfRound, opsRoundsStarted } from '@pitboss/contracts/calls/webhooks'
import type { Scope } from '@pitboss/contracts/caller'
import { ServiceError } from '@pitboss/errors/service-error'
import type { Command } from 'commander'
import { z } from 'zod'
import { accountOf, withAccount } from '../account-flags.ts'
import { needsReason, onRun, withChangeFlags } from '../ops-run.ts'
import { textTable } from '../output.ts'
import { pagesOf } from '../pages-of.ts'
import { readInstant } from '../read-flags.ts'
import { unendedRounds } from '../unended-rounds.ts'
import { writeToldWins } from '../write-told-wins.ts'

type Orphan = {
  /**
   * Null for a lost round of which events know the nonce and whose stake does not stand, or that had none.
   */
  readonly transaction_id: string | null
  readonly round_id: string
  readonly nonce: number | null
  /** Whether the stake stands at the wallet. */
  readonly stands: boolean
  /** Whether an event says that the round has ended: then its stake was played. */
  readonly ended: boolean
  refund: string | null
  /** The code with which this one was refused; the others are healed all the same. */
  refused: string | null
}

type Reopened = {
  readonly round_id: string
  readonly player_id: string
  readonly game: string
  status: string
  readonly end: z.infer<typeof toldEnd>
  refused: string | null
}

const chunk = 100
const eventSchema = z.object({
  type: z.string(),
  data: z
    .object({ fairness: z.object({ nonce: z.int() }) })
    .optional()
    .catch(undefined),
})
const endEvent = z.object({ type: z.literal('round.completed'), data: toldEnd })

/** `round orphans`: stakes without a round, after the database of rounds was restored. docs/runbook.md. */
export function addOrphans(noun: Command): void {
  const orphans = withAccount(
    withChangeFlags(
      noun
        .command('orphans')
        .description('stakes of lost rounds, and lost nonces, after a database was restored'),
    ),
  )
    .requiredOption('--from <time>', 'of the stakes, inclusive', readInstant)
    .requiredOption('--to <time>', 'of the stakes, inclusive', readInstant)
    .option('--heal', 'give back the stakes of rounds that have not ended, and move nonces beyond all', false)
  needsReason(orphans, ({ heal }) => heal === true)
  onRun(orphans, async ({ bus, order, show, confirm }, flags) => {
    const scope = accountOf(flags)
    const window = { scope, from: flags.from, to: flags.to }
    const orphans: Orphan[] = []
    for await (const ids of stakesOf(bus, window)) {
      const { data } = await bus.call(opsOrphanedStakes, { scope, transactionIds: ids })
      for (const one of data) {
        const told = await endOf(bus, one.round_id)
        // What does not stand and is told of by events is listed with them.
        if (one.stands || told.nonce === null) orphans.push({ ...one, ...told, refund: null, refused: null })
      }
    }
    const listed = new Set(orphans.map(({ round_id }) => round_id))
    const looking = { ...order, dryRun: true }
    for await (const started of startedIn(bus, window)) {
      const { data } = await bus.call(opsSkipNonces, { order: looking, scope, rounds: started })
      for (const { round_id, nonce } of data.filter((one) => !listed.has(one.round_id)))
        orphans.push({
          ...{ transaction_id: null, round_id, nonce, stands: false },
          ...{ ended: false, refund: null, refused: null },
        })
    }
    if (flags.heal && orphans.length > 0) {
      const open = orphans.filter(isOwed).length
      await confirm(`Give back ${open} stakes and move ${orphans.length} nonce sequences?`)
      for await (const started of startedIn(bus, window))
        await bus.call(opsSkipNonces, { order, scope, rounds: started })
      // Each that no event tells of takes one nonce more, behind all that are known.
      for (const one of orphans) await orRefused(one, () => heal(one))
    }
    show(orphans, orphans.length === 0 ? 'every stake has its round' : textTable(orphans))

    async function heal(one: Orphan): Promise<void> {
      const { transaction_id: transactionId, nonce } = one
      if (transactionId === null) return
      const asked = { order, scope, transactionId, nonce, refund: isOwed(one) }
      one.refund = (await bus.call(opsHealOrphan, asked)).refund
    }
  })
}

/** A stake that was not played. */
function isOwed({ stands, ended }: Orphan): boolean {
  return stands && !ended
}

/** `round reopened`: rounds that are open again although an event tells their end. docs/runbook.md. */
export function addReopened(noun: Command): void {
  const reopened = withAccount(
    withChangeFlags(
      noun
        .command('reopened')
        .description('rounds that are open although an event tells their end, after a database was restored'),
    ),
  ).option('--heal', 'end them as their events say', false)
  needsReason(reopened, ({ heal }) => heal === true)
  onRun(reopened, async ({ bus, order, show, confirm }, flags) => {
    const scope = accountOf(flags)
    const found: Reopened[] = []
    for await (const { status, ...round } of unendedRounds(bus, scope)) {
      const { data } = await bus.call(opsEventsOfRound, { roundId: round.round_id })
      const [told] = data.flatMap(({ event }) => endEvent.safeParse(event).data ?? [])
      if (told !== undefined) found.push({ ...round, status, end: told.data, refused: null })
    }
    if (flags.heal && found.length > 0) {
      await confirm(`End ${found.length} rounds as their events say?`)
      for (const one of found) await orRefused(one, () => heal(one))
    }
    const rows = found.map(({ end, ...rest }) => ({ ...rest, told: end.status, payout: end.payout }))
    show(found, found.length === 0 ? 'no round is open that has ended' : textTable(rows))

    async function heal(one: Reopened): Promise<void> {
      const { round_id: roundId, game, end } = one
      await writeToldWins(bus, { order, scope, roundId, game })
      one.status = (await bus.call(opsEndRoundAsTold, { order, roundId, end })).status
    }
  })
}

/** Notes a definite refusal at its row; whoever reads the list decides about it. */
async function orRefused(row: { refused: string | null }, act: () => Promise<void>): Promise<void> {
  try {
    await act()
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'CONFLICT') throw error
    row.refused = error.code
  }
}

/** The ids of an account's stakes in a window, a chunk at a time. */
async function* stakesOf(
  bus: Bus,
  window: { scope: Scope; from: string; to: string },
): AsyncGenerator<string[]> {
  const read = (after: string | null) => bus.call(opsListStakes, { ...window, after })
  for await (const ids of pagesOf(read)) {
    for (let at = 0; at < ids.length; at += chunk) yield ids.slice(at, at + chunk)
  }
}

/** The rounds of which events tell that they began in a window, a page at a time. */
async function* startedIn(bus: Bus, window: { scope: Scope; from: string; to: string }) {
  const read = (after: number | null) => bus.call(opsRoundsStarted, { ...window, after })
  for await (const started of pagesOf(read)) if (started.length > 0) yield [...started]
}

/** The nonce of a round by its events, and whether one of them says that it has ended. */
async function endOf(bus: Bus, roundId: string): Promise<{ nonce: number | null; ended: boolean }> {
  const { data } = await bus.call(opsEventsOfRound, { roundId })
  const events = data.map(({ event }) => eventSchema.parse(event))
  const nonce = events.flatMap((event) => event.data?.fairness.nonce ?? [])[0] ?? null
  return { nonce, ended: events.some(({ type }) => type === 'round.completed') }
}
