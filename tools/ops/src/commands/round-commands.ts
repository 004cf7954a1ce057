import { opsMovementFacts, opsMovementsOfRound } from '@pitboss/contracts/calls/wallet-ops'
import { opsResolveOwed, opsShowRound } from '@pitboss/contracts/calls/rounds'
import { opsEventsOfRound } from '@pitboss/contracts/calls/webhooks'
import { explain } from '@pitboss/contracts/explain'
import { verifyRound } from '@pitboss/fairness/verify-round'
import { type Command, Option } from 'commander'
import { needsReason, onRun, withChangeFlags, withCommonFlags } from '../ops-run.ts'
import { textTable } from '../output.ts'
import { whyText } from '../why-text.ts'
import { addOrphans, addReopened } from './restored-rounds.ts'

type Moment = { at: string; what: string }

/**
 * `round show`: the dossier of a round in one time line, docs/contract.md, section 10; `round why`,
 * `round orphans`, `round reopened` and `round resolve` are ours.
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
  const why = withCommonFlags(
    noun.command('why <id>').description('how it stands, and why it is not over yet'),
  )
  onRun(why, async ({ bus, show }, roundId: string) => {
    const [{ round }, movements] = await Promise.all([
      bus.call(opsShowRound, { roundId }),
      bus.call(opsMovementFacts, { roundId }),
    ])
    const sentences = explain({ kind: 'round', round, movements: movements.data }, new Date())
    show({ round, waiting_for: sentences }, whyText(`${round.round_id}  ${round.status}`, sentences))
  })
  const resolve = withChangeFlags(
    noun
      .command('resolve <id>')
      .description("end what a round owes and wallet-bridge refuses for good, by a person's word"),
  )
    .requiredOption('--movement <id>', 'the transaction id of the win, refund or rollback')
    .addOption(new Option('--as <end>').choices(['success', 'failed'] as const).makeOptionMandatory())
  needsReason(resolve)
  onRun(resolve, async ({ bus, order, show, confirm }, roundId: string, flags) => {
    await confirm(`End ${flags.movement} as ${flags.as}? Nobody will ask for it again.`)
    const asked = { order, roundId, transactionId: flags.movement, as: flags.as }
    const ended = await bus.call(opsResolveOwed, asked)
    show(ended, `${ended.round_id}: ${ended.status}`)
  })
  addOrphans(noun)
  addReopened(noun)
}
