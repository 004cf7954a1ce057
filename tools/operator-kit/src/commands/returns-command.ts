import { writeFile } from 'node:fs/promises'
import { shownInLine, shownJson } from '@pitboss/contracts/acting-characters'
import { drawReturns } from '@pitboss/fairness/returns/draw-returns'
import pc from 'picocolors'
import { type WatchedReturns, watchRounds } from '../returns/watch-rounds.ts'
import { readLines } from '../shared/read-lines.ts'

const unreadableExitCode = 2
const namedMax = 20
const drawnMax = 6

export type ReturnsOptions = { readonly events: string; readonly svg?: string; readonly json: boolean }

/**
 * Judges the returns to players, and the draws, of all finished rounds in a list of events or rounds.
 * Source: docs/rtp-watch.md.
 * @returns the exit code: 0 nothing is wrong, 1 an alarm or a round that does not verify, 2 no round was read
 */
export async function returnsCommand({ events, svg, json }: ReturnsOptions): Promise<number> {
  const watched = await watchRounds(readLines(events))
  if (watched.rounds === 0) {
    process.stderr.write(
      `${events} has no finished round: give events, or what \`pitboss listen --save\` wrote\n`,
    )
    return unreadableExitCode
  }
  if (svg !== undefined) await writeFile(svg, drawReturns(mostPlayed(watched.histories)))
  process.stdout.write(json ? `${shownJson(reportOf(watched), 2)}\n` : textOf(watched))
  return isWell(watched) ? 0 : 1
}

/** The bets with most trials; draws have no picture. */
const mostPlayed = (histories: WatchedReturns['histories']) =>
  histories.filter((history) => (history.at(-1)?.rtp ?? null) !== null).slice(0, drawnMax)

const isWell = ({ alarms, unverified }: WatchedReturns) => alarms === 0 && unverified.length === 0

function reportOf({ rounds, unverified, histories, alarms }: WatchedReturns) {
  const streams = histories.flatMap((history) => history.slice(-1))
  return { rounds, alarms, unverified, streams }
}

function textOf(watched: WatchedReturns): string {
  const { rounds, unverified, histories, alarms } = watched
  const lines = histories.flatMap((history) => {
    const [last] = history.slice(-1)
    if (last === undefined) return []
    const { game, shape, trials, rtp, seen, low, high, pointNoticedWithin, alarmedAt } = last
    const mark = alarmedAt === null ? pc.green('✓') : pc.red('✗')
    const alarm = alarmedAt === null ? '' : pc.red(`  ALARM after ${alarmedAt}`)
    const band =
      rtp === null
        ? 'equally likely parts'
        : `return ${share(rtp)}, seen ${share(seen)}, not ruled out ${share(low)} to ${share(high)}; 1 point shows within ${pointNoticedWithin}`
    return [`${mark} ${shownInLine(`${game}, ${shape}`)}  ${trials} trials  ${band}${alarm}`]
  })
  const named = unverified.slice(0, namedMax).map((id) => `${pc.red('✗')} ${shownInLine(id)} does not verify`)
  const verdict = `${rounds} rounds, ${alarms} alarms, ${unverified.length} that do not verify.`
  return `${[...lines, ...named, isWell(watched) ? pc.green(verdict) : pc.red(verdict)].join('\n')}\n`
}

function share(value: number | null): string {
  return value === null ? '-' : `${(value * 100).toFixed(2)} %`
}
