import { writeFile } from 'node:fs/promises'
import type { Bus } from '@pitboss/bus/connect-bus'
import { shownJson } from '@pitboss/contracts/acting-characters'
import { csvField } from '@pitboss/contracts/csv-field'
import { opsLiftReturnAlarm, opsListReturnAlarms, opsListReturns } from '@pitboss/contracts/calls/rounds'
import type { OpsReturnStream, ReturnAlarm } from '@pitboss/contracts/objects/returns'
import { readOperator } from '../account-flags.ts'
import { drawReturns } from '@pitboss/fairness/returns/draw-returns'
import { historyOf } from '@pitboss/fairness/returns/lay-out-return'
import { type Command, Option } from 'commander'
import { pagesOf } from '../pages-of.ts'
import { onRun, withChangeFlags, withCommonFlags } from '../ops-run.ts'
import { textTable } from '../output.ts'

const pageMax = 50
/** Pages of one list: half a million streams. */
const pagesMax = 10_000
const drawnMax = 12

type Where = { operator?: string; environment: 'SANDBOX' | 'LIVE' }

/**
 * `rtp list|show|alarms|lift|export`: the watch of returns to players. Source: docs/contract.md, section 10.
 */
export function rtpCommands(program: Command): void {
  const noun = program.command('rtp').description('returns to players, under watch')

  const list = ofSomebody(noun.command('list').description('every bet and every draw that is watched'))
  onRun(list, async ({ bus, show }, flags) => {
    const streams = await readStreams(bus, flags)
    show(streams, textTable(streams.map(rowOf)))
  })

  const one = ofSomebody(
    noun.command('show <game>').description('the bets of a game, with their bands'),
  ).option('--svg <file>', 'writes the picture of the bets with most trials')
  onRun(one, async ({ bus, show, note }, game: string, flags) => {
    const streams = (await readStreams(bus, flags, game)).toSorted((a, b) => b.trials - a.trials)
    if (flags.svg !== undefined) {
      const pictured = streams.filter(({ expected }) => expected !== null).slice(0, drawnMax)
      await writeFile(flags.svg, drawReturns(pictured.map(historyOf)))
      note(`${flags.svg}: ${pictured.length} bets`)
    }
    show(streams, streams.length === 0 ? `${game} has no watched rounds` : streams.map(sentenceOf).join('\n'))
  })

  const alarms = withCommonFlags(noun.command('alarms').description('what was ruled out, newest first'))
  onRun(alarms, async ({ bus, show }) => {
    const found = await readAlarms(bus)
    show(found, textTable(found.map(alarmRow)))
  })

  const lift = withChangeFlags(
    noun.command('lift <alarm>').description('its stream begins anew, and the game comes back'),
  ).option('--keep-down', 'leaves the game down')
  onRun(lift, async ({ bus, order, show, confirm }, alarmId: string, flags) => {
    await confirm(`Lift ${alarmId}?`)
    const keepDown = flags.keepDown === true
    const { alarm, brought_back } = await bus.call(opsLiftReturnAlarm, { order, alarmId, keepDown })
    const game = brought_back ? `${alarm.stream.game} is back` : `${alarm.stream.game} is left as it is`
    show({ alarm, brought_back }, `${alarm.alarm_id} ${alarm.status}: ${game}`)
  })

  const written = ofSomebody(
    noun.command('export').description('records as JSON lines, alarms first, or streams as CSV'),
  ).addOption(new Option('--format <format>').choices(['jsonl', 'csv'] as const).default('jsonl'))
  onRun(written, async ({ bus, print }, flags) => {
    const streams = await readStreams(bus, flags)
    print(flags.format === 'csv' ? csvOf(streams) : lines([...(await readAlarms(bus)), ...streams]))
  })
}

function ofSomebody(command: Command): Command {
  return withCommonFlags(command)
    .option('--operator <op>', 'of one account; without it of the whole installation', readOperator)
    .addOption(new Option('--environment <which>').choices(['SANDBOX', 'LIVE'] as const).default('LIVE'))
}

async function readStreams(
  bus: Bus,
  { operator: operatorId, environment }: Where,
  game?: string,
): Promise<OpsReturnStream[]> {
  const where = {
    environment,
    ...(operatorId === undefined ? {} : { operatorId }),
    ...(game === undefined ? {} : { game }),
  }
  return readAll((after) => bus.call(opsListReturns, { ...where, after, limit: pageMax }))
}

async function readAlarms(bus: Bus): Promise<ReturnAlarm[]> {
  const found = await readAll((after) => bus.call(opsListReturnAlarms, { after, limit: pageMax }))
  return found.toSorted((a, b) => (a.raised_at < b.raised_at ? 1 : -1))
}

async function readAll<Row>(
  read: (after: string | null) => Promise<{ data: Row[]; next: string | null }>,
): Promise<Row[]> {
  const rows: Row[] = []
  let pages = 0
  for await (const page of pagesOf(read)) {
    pages += 1
    if (pages > pagesMax) throw new Error('the list does not end')
    rows.push(...page)
  }
  return rows
}

function rowOf({
  game,
  game_version,
  currency,
  shape,
  trials,
  expected,
  seen,
  low,
  high,
  evidence,
  alarm,
}: OpsReturnStream) {
  return {
    game,
    version: game_version,
    currency,
    shape,
    trials,
    expected,
    seen,
    low,
    high,
    evidence,
    alarm: alarm?.at ?? null,
  }
}

function alarmRow({ alarm_id, status, raised_at, rule, score, threshold, stream }: ReturnAlarm) {
  const { operator_id, environment, currency, game, shape, alarm } = stream
  return {
    ...{ alarm_id, status, raised_at, game, shape, environment, currency, operator_id, rule },
    ...{ trials: alarm?.trials ?? null, score, threshold },
  }
}

function sentenceOf(stream: OpsReturnStream): string {
  const { shape, trials, expected, seen, low, high, alarm, evidence } = stream
  const mark = alarm === null ? 'ok   ' : 'ALARM'
  const share = (text: string | null) => (text === null ? '-' : `${(Number(text) * 100).toFixed(2)} %`)
  const band =
    expected === null
      ? 'equally likely parts'
      : `return ${share(expected)}, seen ${share(seen)}, not ruled out ${share(low)} to ${share(high)}; would notice a 1-point error within ${stream.point_noticed_within ?? 'endless'} trials`
  const since = alarm === null ? '' : `; alarm after ${alarm.trials} trials, ${alarm.at}`
  return `${mark} ${shape}${stream.currency === null ? '' : ` ${stream.currency}`}: ${trials} trials, ${band}; evidence ${evidence} of an alarm${since}`
}

const lines = (rows: readonly unknown[]) => rows.map((row) => `${shownJson(row)}\n`).join('')

function csvOf(streams: readonly OpsReturnStream[]): string {
  const rows = streams.map(({ points: _points, alarm, ...stream }) => ({
    ...stream,
    alarm_at: alarm?.at ?? null,
    alarm_trials: alarm?.trials ?? null,
  }))
  const columns = Object.keys(rows[0] ?? {})
  const cell = (value: string | number | null) => csvField(String(value ?? ''))
  const texts = rows.map((row) => Object.values(row).map(cell).join(','))
  return [columns.join(','), ...texts].map((line) => `${line}\n`).join('')
}
