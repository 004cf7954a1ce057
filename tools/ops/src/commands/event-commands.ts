import { setTimeout as delay } from 'node:timers/promises'
import { opsRepublishRound } from '@pitboss/contracts/calls/rounds'
import { opsRepublishMovements } from '@pitboss/contracts/calls/wallet-ops'
import type { Command } from 'commander'
import { findMissingEvents, type MissingEvent, notRecorded } from '../missing-events.ts'
import { onRun, type OpsRun, withChangeFlags, withCommonFlags } from '../ops-run.ts'
import { textTable } from '../output.ts'
import { readInstant } from '../read-flags.ts'

/** Events of the last minute may still be on their way. */
const settledAfterMs = 60_000
const recordedWithinMs = 30_000
const askEveryMs = 250
const idsAtOnce = 500

/** `event audit|republish`: ends without a recorded event. Source: docs/contract.md, section 10. */
export function eventCommands(program: Command): void {
  const noun = program.command('event').description('recorded events of every operator')
  const auditVerb = withWindow(
    withCommonFlags(
      noun.command('audit').description('ended rounds and movements of which no event is recorded'),
    ),
  )
  onRun(auditVerb, async (run, flags) => {
    const { from, to, rounds, missing } = await audit(run, flags)
    const missing_of = countsOf(missing)
    run.show(
      { from, to, rounds, missing_of, missing: missing.map(withoutId) },
      tableOf(
        `${rounds} rounds created ${from} to ${to} looked at, ${missing.length} events missing (rounds ${missing_of.rounds}, wallet-bridge ${missing_of['wallet-bridge']})`,
        missing.map(withoutId),
      ),
    )
  })
  const republishVerb = withWindow(
    withChangeFlags(
      noun.command('republish').description('makes the events that are missing from the records'),
    ),
  )
  onRun(republishVerb, async (run, flags) => {
    const { from, to, rounds, missing } = await audit(run, flags)
    if (missing.length > 0) {
      await run.confirm(`Tell ${missing.length} events again?`)
      await republish(run, missing)
      await run.audit('event.republish', null, { from, to, events: missing.length })
    }
    const waiting = run.order.dryRun ? missing : await awaitRecorded(run, missing)
    const recorded = missing.length - waiting.length
    run.show(
      { from, to, rounds, events: missing, recorded },
      tableOf(
        `${rounds} rounds created ${from} to ${to} looked at, ${missing.length} events were missing, ${recorded} of them are recorded now`,
        missing,
      ),
    )
  })
}

function withWindow(command: Command) {
  return command
    .requiredOption('--from <time>', 'rounds created at this time or later', readInstant)
    .option('--to <time>', 'rounds created at this time or earlier; a minute ago unless given', readInstant)
}

/** Looks at every round of the window, a page at a time. */
async function audit({ bus, follow }: OpsRun, flags: { from: string; to?: string | undefined }) {
  const { from, to = new Date(Date.now() - settledAfterMs).toISOString() } = flags
  return follow(null, async (progress) => ({
    ...{ from, to },
    ...(await findMissingEvents(bus, { from, to }, ({ rounds, missing }) =>
      progress.tell(rounds, `${rounds} rounds, ${missing.length} missing`),
    )),
  }))
}

/** Orders each service to tell its events once more, a round at a time. */
async function republish({ bus, order, follow }: OpsRun, missing: readonly MissingEvent[]): Promise<void> {
  const byRound = [...Map.groupBy(missing, ({ round_id }) => round_id)]
  await follow(byRound.length, async (progress) => {
    for (const [index, [roundId, events]] of byRound.entries()) {
      const ids = events.flatMap(({ service, event_id }) => (service === 'wallet-bridge' ? [event_id] : []))
      if (ids.length < events.length) await bus.call(opsRepublishRound, { order, roundId })
      for (let start = 0; start < ids.length; start += idsAtOnce) {
        const eventIds = ids.slice(start, start + idsAtOnce)
        await bus.call(opsRepublishMovements, { order, roundId, eventIds })
      }
      progress.tell(index + 1, `${index + 1} of ${byRound.length} rounds`)
    }
  })
}

/** Waits until webhooks has recorded the events. @returns those that it has not recorded by then */
async function awaitRecorded(
  { bus }: OpsRun,
  events: readonly MissingEvent[],
): Promise<readonly MissingEvent[]> {
  const until = performance.now() + recordedWithinMs
  let waiting = await notRecorded(bus, events)
  while (waiting.length > 0 && performance.now() < until) {
    await delay(askEveryMs)
    waiting = await notRecorded(bus, waiting)
  }
  return waiting
}

function countsOf(missing: readonly MissingEvent[]) {
  const count = (service: MissingEvent['service']) => missing.filter((one) => one.service === service).length
  return { rounds: count('rounds'), 'wallet-bridge': count('wallet-bridge') }
}

function withoutId({ event_id: _, ...one }: MissingEvent) {
  return one
}

function tableOf(verdict: string, rows: Parameters<typeof textTable>[0]): string {
  return rows.length === 0 ? verdict : `${verdict}\n\n${textTable(rows)}`
}
