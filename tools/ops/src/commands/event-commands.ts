import { opsRoundsBetween } from '@pitboss/contracts/calls/rounds'
import { opsMovementsOfRound } from '@pitboss/contracts/calls/wallet-ops'
import { opsEventsOfRound } from '@pitboss/contracts/calls/webhooks'
import { mapBounded } from '@pitboss/runtime/map-bounded'
import type { Command } from 'commander'
import type { z } from 'zod'
import { type MissingEvent, missingEvents } from '../missing-events.ts'
import { onRun, type OpsRun, withCommonFlags } from '../ops-run.ts'
import { textTable } from '../output.ts'
import { readInstant } from '../read-flags.ts'

const pageSize = 500
const askedAtOnce = 8
/** Events of the last minute may still be on their way. */
const settledAfterMs = 60_000

/** `event audit`: facts without a recorded event. Source: docs/contract.md, section 10. */
export function eventCommands(program: Command): void {
  const noun = program.command('event').description('recorded events of every operator')
  const verb = withCommonFlags(
    noun.command('audit').description('ended rounds and movements of which no event is recorded'),
  )
    .requiredOption('--from <time>', 'rounds created at this time or later', readInstant)
    .option('--to <time>', 'rounds created at this time or earlier; a minute ago unless given', readInstant)
  onRun(verb, async (run, flags) => {
    const to = flags.to ?? new Date(Date.now() - settledAfterMs).toISOString()
    const { rounds, missing } = await audit(run, flags.from, to)
    const count = (service: MissingEvent['service']) =>
      missing.filter((event) => event.service === service).length
    const counts = { rounds: count('rounds'), 'wallet-bridge': count('wallet-bridge') }
    const verdict = `${rounds} rounds looked at, ${missing.length} events missing (rounds ${counts.rounds}, wallet-bridge ${counts['wallet-bridge']})`
    run.show(
      { from: flags.from, to, rounds, missing_of: counts, missing },
      missing.length === 0 ? verdict : `${verdict}\n\n${textTable(missing)}`,
    )
  })
}

/** Looks at every round of the window, a page at a time. */
async function audit(
  { bus, follow }: OpsRun,
  from: string,
  to: string,
): Promise<{ rounds: number; missing: MissingEvent[] }> {
  return follow(null, async (progress) => {
    const missing: MissingEvent[] = []
    let rounds = 0
    let after: string | null = null
    for (;;) {
      const page: z.infer<typeof opsRoundsBetween.reply> = await bus.call(opsRoundsBetween, {
        from,
        to,
        after,
        limit: pageSize,
      })
      const { data } = page
      const found = await mapBounded(data, askedAtOnce, async ({ round_id: roundId, status }) => {
        const [movements, events] = await Promise.all([
          bus.call(opsMovementsOfRound, { roundId }),
          bus.call(opsEventsOfRound, { roundId }),
        ])
        return missingEvents({
          roundId,
          status,
          movements: movements.data.map(({ movement }) => movement),
          events: events.data.map(({ event }) => event),
        })
      })
      rounds += data.length
      missing.push(...found.flat())
      progress.tell(rounds, `${rounds} rounds, ${missing.length} missing`)
      const last: string | undefined = data.at(-1)?.round_id
      if (data.length < pageSize || last === undefined) return { rounds, missing }
      after = last
    }
  })
}
