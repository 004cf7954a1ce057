import { once } from 'node:events'
import { createWriteStream, existsSync, renameSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Bus } from '@pitboss/bus/connect-bus'
import { opsErasePlayer, opsPlayerData, playerDataKind } from '@pitboss/contracts/calls/rounds'
import { opsPlayerMovements } from '@pitboss/contracts/calls/wallet-ops'
import { opsEventsOfRound } from '@pitboss/contracts/calls/webhooks'
import type { Scope } from '@pitboss/contracts/caller'
import { operatorHandleOf } from '@pitboss/contracts/primitives'
import { mapBounded } from '@pitboss/runtime/map-bounded'
import type { Command } from 'commander'
import { UsageError } from '../failures.ts'
import { accountOf, withAccount } from '../account-flags.ts'
import { needsReason, onRun, withChangeFlags, withCommonFlags, withOrderFlags } from '../ops-run.ts'
import { pagesOf } from '../pages-of.ts'

type Line = { readonly kind: string } & Readonly<Record<string, unknown>>

const roundsAtOnce = 8

/** `player export|erase`: what is kept of one player. Source: docs/data.md. */
export function playerCommands(program: Command): void {
  const noun = program.command('player').description('what is kept of one player')
  const exportVerb = withAccount(
    withOrderFlags(
      withCommonFlags(
        noun.command('export <player>').description('all of a player as one file of JSON lines'),
      ),
    ),
  ).requiredOption('--out <file>', 'the file to make; it must not be there yet')
  needsReason(exportVerb)
  onRun(exportVerb, async ({ bus, show, follow, audit }, playerId: string, flags) => {
    const scope = accountOf(flags)
    const file = resolve(flags.out)
    if (existsSync(file)) throw new UsageError(`--out: ${file} is there already`)
    const head = {
      kind: 'export',
      player_id: playerId,
      operator_id: operatorHandleOf(scope.operatorId),
      environment: scope.environment,
      exported_at: new Date().toISOString(),
    }
    const { operator_id, environment } = head
    await audit('player.export', playerId, { operator_id, environment })
    const counts: Record<string, number> = {}
    await follow(null, (progress) =>
      writeLines(file, head, linesOf(bus, scope, playerId), (kind) => {
        counts[kind] = (counts[kind] ?? 0) + 1
        progress.tell(0, `${Object.values(counts).reduce((sum, one) => sum + one, 0)} records`)
      }),
    )
    const text = Object.entries(counts).map(([kind, count]) => `${kind} ${count}`)
    show({ file, counts }, `${file}: ${text.join(', ') || 'nothing is kept of this player'}`)
  })

  const eraseVerb = withAccount(
    withChangeFlags(
      noun
        .command('erase <player>')
        .description('take country, language, return url and metadata from sessions that ended a day ago'),
    ),
  )
  needsReason(eraseVerb, ({ dryRun }) => dryRun !== true)
  onRun(eraseVerb, async ({ bus, order, show, confirm }, playerId: string, flags) => {
    const scope = accountOf(flags)
    await confirm(`Erase the details of the sessions of ${playerId}?`)
    const done = await bus.call(opsErasePlayer, { order, scope, playerId })
    const later = done.kept === 0 ? '' : `; ${done.kept} ended less than a day ago or have not ended`
    show(done, `details of ${done.erased} sessions ${order.dryRun ? 'would be' : 'are'} erased${later}`)
  })
}

/** Everything that the services keep of the player, oldest service first; a page in memory at a time. */
async function* linesOf(bus: Bus, scope: Scope, playerId: string): AsyncGenerator<Line> {
  for (const kind of playerDataKind.options) {
    const read = (before: string | null) => bus.call(opsPlayerData, { scope, playerId, kind, before })
    for await (const records of pagesOf(read)) {
      for (const record of records) yield { kind, record }
      if (kind === 'round') yield* eventsOf(bus, records)
    }
  }
  const read = (before: string | null) => bus.call(opsPlayerMovements, { scope, playerId, before })
  for await (const page of pagesOf(read))
    for (const { movement, attempts } of page) yield { kind: 'transaction', record: movement, attempts }
}

async function* eventsOf(bus: Bus, rounds: readonly Record<string, unknown>[]): AsyncGenerator<Line> {
  const told = await mapBounded(rounds, roundsAtOnce, ({ round_id: roundId }) =>
    bus.call(opsEventsOfRound, { roundId: String(roundId) }),
  )
  for (const { data } of told)
    for (const { event, deliveries } of data) yield { kind: 'event', record: event, deliveries }
}

/**
 * Writes beside the file and renames at the end, so that a file is always whole. Only its owner may read it.
 */
async function writeLines(
  file: string,
  head: Line,
  lines: AsyncIterable<Line>,
  tell: (kind: string) => void,
): Promise<void> {
  const partial = `${file}.partial`
  const stream = createWriteStream(partial, { mode: 0o600 })
  const write = async (line: Line) => {
    if (!stream.write(`${JSON.stringify(line)}\n`)) await once(stream, 'drain')
  }
  await once(stream, 'open')
  await write(head)
  for await (const line of lines) {
    await write(line)
    tell(line.kind)
  }
  stream.end()
  await once(stream, 'finish')
  renameSync(partial, file)
}
