import type { Bus } from '@pitboss/bus/connect-bus'
import { opsMovementsOfRound } from '@pitboss/contracts/calls/wallet-ops'
import { opsHealOrphan, opsOrphanedStakes, opsShowRound } from '@pitboss/contracts/calls/rounds'
import { opsReconcileOurs } from '@pitboss/contracts/calls/wallet'
import { opsEventsOfRound } from '@pitboss/contracts/calls/webhooks'
import { operatorIdOf } from '@pitboss/contracts/primitives'
import { verifyRound } from '@pitboss/fairness/verify-round'
import { type Command, Option } from 'commander'
import { z } from 'zod'
import { UsageError } from '../failures.ts'
import { onRun, withChangeFlags, withCommonFlags } from '../ops-run.ts'
import { textTable } from '../output.ts'
import { readInstant } from '../read-flags.ts'

type Moment = { at: string; what: string }

/**
 * `round show`: the dossier of a round in one time line, docs/contract.md, section 10; `round orphans` is
 * ours.
 */
export function roundCommands(program: Command): void {
  const noun = program.command('round').description('rounds of every operator')
  const show = withCommonFlags(
    noun.command('show <id>').description('round, movements, attempts, events, deliveries and verification'),
  )
  onRun(show, async ({ bus, show }, roundId: string) => {
    const [{ operator_id, round, history }, movements, events] = await Promise.all([
      bus.call(opsShowRound, { roundId }),
      bus.call(opsMovementsOfRound, { roundId }),
      bus.call(opsEventsOfRound, { roundId }),
    ])
    const verification = round.completed_at === null ? null : verifyRound(round)
    const timeline: Moment[] = [
      ...history,
      ...movements.data.flatMap(({ movement, attempts }) => [
        {
          at: movement.created_at,
          what: `${movement.type} ${movement.transaction_id} of ${movement.amount} ${movement.currency} intended`,
        },
        ...attempts.map((attempt) => ({
          at: attempt.sent_at,
          what: `${attempt.operation} of ${movement.transaction_id}: ${attempt.http_status ?? attempt.error ?? 'no answer'} ${attempt.wallet_code ?? ''} → ${attempt.classification}`,
        })),
      ]),
      ...events.data.flatMap(({ event, deliveries }) => [
        { at: String(event.created_at), what: `event ${String(event.type)} ${String(event.id)}` },
        ...deliveries.flatMap(({ delivery_id, status, last_attempt }) =>
          last_attempt === null
            ? []
            : [
                {
                  at: last_attempt.sent_at,
                  what: `delivery ${delivery_id} ${status}, attempt ${last_attempt.attempt}`,
                },
              ],
        ),
      ]),
    ].toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
    const dossier = {
      operator_id,
      round,
      movements: movements.data,
      attempts: movements.data.flatMap(({ movement: { transaction_id }, attempts }) =>
        attempts.map((attempt) => ({ transaction_id, ...attempt })),
      ),
      events: events.data,
      deliveries: events.data.flatMap(({ deliveries }) => deliveries),
      verification,
      timeline,
    }
    const verdict =
      verification === null ? 'not over yet' : verification.valid ? 'verified' : 'DOES NOT VERIFY'
    show(
      dossier,
      `${round.round_id}  ${round.game}  ${round.status}  stake ${round.stake} ${round.currency}  payout ${round.payout ?? '-'}  ${verdict}\n\n${textTable(timeline)}`,
    )
  })
  const orphans = withChangeFlags(
    noun
      .command('orphans')
      .description('stakes that stand at the wallet without a round, after a database was restored'),
  )
    .requiredOption('--operator <operator>', 'op_… handle or uuid')
    .addOption(
      new Option('--environment <environment>').choices(['TEST', 'LIVE'] as const).default('LIVE' as const),
    )
    .requiredOption('--from <time>', 'of the stakes, inclusive', readInstant)
    .requiredOption('--to <time>', 'of the stakes, inclusive', readInstant)
    .option('--heal', 'give back the stakes of rounds that have not ended, and move nonces beyond all', false)
  onRun(orphans, async ({ bus, order, show, confirm }, flags) => {
    const operatorId = operatorIdOf(flags.operator)
    if (operatorId === null) throw new UsageError('--operator must be an op_… handle or a uuid')
    if (flags.heal && order.reason === null)
      throw new UsageError('--reason is needed: it goes into the audit log')
    const environment = flags.environment === 'LIVE' ? 'LIVE' : 'SANDBOX'
    const scope = { operatorId, environment } as const
    const orphans: Orphan[] = []
    for await (const ids of stakesOf(bus, { scope, from: flags.from, to: flags.to })) {
      const { data } = await bus.call(opsOrphanedStakes, { scope, transactionIds: ids })
      for (const one of data) orphans.push({ ...one, ...(await endOf(bus, one.round_id)), refund: null })
    }
    if (flags.heal && orphans.length > 0) {
      const open = orphans.filter(({ ended }) => !ended).length
      await confirm(`Give back ${open} stakes and move ${orphans.length} nonce sequences?`)
      for (const one of orphans) await heal(one)
    }
    show(orphans, orphans.length === 0 ? 'every stake has its round' : textTable(orphans))

    async function heal(one: Orphan): Promise<void> {
      const { transaction_id: transactionId, nonce, ended } = one
      const asked = { order, scope, transactionId, nonce, refund: !ended }
      one.refund = (await bus.call(opsHealOrphan, asked)).refund
    }
  })
}

type Orphan = {
  readonly transaction_id: string
  readonly round_id: string
  readonly nonce: number | null
  /** Whether an event says that the round has ended: then its stake was played. */
  readonly ended: boolean
  refund: string | null
}

const chunk = 100
const eventSchema = z.object({
  type: z.string(),
  data: z
    .object({ fairness: z.object({ nonce: z.int() }) })
    .optional()
    .catch(undefined),
})

/** The ids of an account's stakes in a window, a chunk at a time. */
async function* stakesOf(
  bus: Bus,
  window: { scope: { operatorId: string; environment: 'SANDBOX' | 'LIVE' }; from: string; to: string },
): AsyncGenerator<string[]> {
  let after: string | null = null
  do {
    const page: z.infer<(typeof opsReconcileOurs)['reply']> = await bus.call(opsReconcileOurs, {
      ...window,
      after,
    })
    const ids = page.rows.filter(({ type }) => type === 'BET').map(({ transaction_id }) => transaction_id)
    for (let at = 0; at < ids.length; at += chunk) yield ids.slice(at, at + chunk)
    after = page.next
  } while (after !== null)
}

/** The nonce of a round by its events, and whether one of them says that it has ended. */
async function endOf(bus: Bus, roundId: string): Promise<{ nonce: number | null; ended: boolean }> {
  const { data } = await bus.call(opsEventsOfRound, { roundId })
  const events = data.map(({ event }) => eventSchema.parse(event))
  const nonce = events.flatMap((event) => event.data?.fairness.nonce ?? [])[0] ?? null
  return { nonce, ended: events.some(({ type }) => type === 'round.completed') }
}
