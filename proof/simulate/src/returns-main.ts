import { parseArgs } from 'node:util'
import { alarmAt, noticedWithin } from '@pitboss/fairness/returns/evidence'
import { errorBudget } from '@pitboss/fairness/returns/return-watch'
import { countAlarms } from './returns/count-alarms.ts'
import { isSameInstallation } from './returns/is-same-installation.ts'
import { watchedBet, watchInstallation } from './returns/watch-installation.ts'

const usage = `Usage: npm run --silent returns -- [--installations N] [--rounds N] [--wrong N]

  --installations N   how many fair installations (default 1000)
  --rounds N          rounds of each (default 1000000)
  --wrong N           how many installations with each error (default 40)
  --long N            rounds of the three that are also stopped in the middle and gone on with (default 10000000)

Simulates installations whose returns are watched after each round: how often a fair one raises an alarm, and after how many
rounds an error is noticed. Exit code 1 when fair ones raise more alarms than the error budget allows, an error stays unseen, or
the quick count that makes so many rounds possible differs from the code of the service in one digit of the first installation.
`
const { values } = parseArgs({
  options: {
    help: { type: 'boolean', short: 'h', default: false },
    installations: { type: 'string', default: '1000' },
    rounds: { type: 'string', default: '1000000' },
    wrong: { type: 'string', default: '40' },
    long: { type: 'string', default: '10000000' },
  },
})
const counts = [values.installations, values.rounds, values.wrong, values.long].map(Number)
const [installations = 0, rounds = 0, wrong = 0, long = 0] = counts
const readable = counts.every((count) => Number.isSafeInteger(count) && Number(count) > 0)
if (values.help || !readable) {
  process.stdout.write(usage)
  process.exit(values.help ? 0 : 2)
}
process.exitCode =
  countsAsTheService(rounds) && main(installations, rounds, wrong) && survivesRestart(long) ? 0 : 1

/** Prints whether the quick count of an installation is that of the service. */
function countsAsTheService(rounds: number): boolean {
  const isSame = isSameInstallation(watchInstallation(rounds, 1), countAlarms(rounds, 1))
  say(
    `the first installation by the code of the service: ${isSame ? 'the same to the last digit' : 'DIFFERENT'}`,
  )
  return isSame
}

/**
 * Prints what long installations come to, whole and gone on with from what was stored; false when that
 * differs.
 */
function survivesRestart(rounds: number): boolean {
  return [0, -0.5, 0.5].every((points) => {
    const whole = watchInstallation(rounds, 7, { points, pushed: 0 })
    const halves = watchInstallation(rounds, 7, { points, pushed: 0 }, Math.floor(rounds / 2))
    const isSame = whole.streams === halves.streams && whole.firstAt === halves.firstAt
    const verdict = whole.firstAt === null ? 'no alarm' : `alarm after ${whole.firstAt} rounds`
    say(
      `${points} points, ${rounds} rounds: ${verdict}; stored and gone on with in the middle: ${isSame ? 'the same to the last digit' : 'DIFFERENT'}`,
    )
    return isSame
  })
}

function main(installations: number, rounds: number, wrong: number): boolean {
  const everyMs = 5000
  let saidAt = performance.now()
  let alarmed = 0
  for (let seed = 1; seed <= installations; seed++) {
    if (countAlarms(rounds, seed, undefined, true).alarms > 0) alarmed += 1
    if (performance.now() - saidAt < everyMs) continue
    saidAt = performance.now()
    process.stderr.write(`${seed} of ${installations} fair installations, ${alarmed} with an alarm\n`)
  }
  const allowed = allowedAlarms(installations)
  say(
    `fair: ${alarmed} of ${installations} installations of ${rounds} rounds raised an alarm; the budget is ${errorBudget}, so up to ${allowed} are within chance`,
  )
  const seen = [-0.5, 0.5].map((points) => sayNoticed(points, wrong))
  return alarmed <= allowed && seen.every((all) => all)
}

/** Prints when an error of the first bet was noticed; false when it was not each time. */
function sayNoticed(points: number, wrong: number): boolean {
  const { chance, rtp, every, budget } = watchedBet
  // The bet is not the first that is met, so its part of the error budget is smaller.
  const position = countAlarms(every, 1).streams[0]?.position ?? 0
  const expected = noticedWithin(chance, chance * (1 + points / 100 / rtp), alarmAt(position, budget))
  const bets: number[] = []
  for (let seed = 1; seed <= wrong; seed++) {
    const { firstAt } = countAlarms(4 * expected * every, seed, { points, pushed: 0 }, true)
    if (firstAt !== null) bets.push(Math.ceil(firstAt / every))
  }
  const sorted = bets.toSorted((a, b) => a - b)
  const median = sorted[Math.floor(sorted.length / 2)]
  say(
    `${points > 0 ? '+' : ''}${points} points: ${bets.length} of ${wrong} noticed within ${4 * expected} bets; median ${median}, last ${sorted.at(-1)}, expected ${expected}`,
  )
  return bets.length === wrong
}

/** The budget's mean and three standard deviations. */
function allowedAlarms(installations: number): number {
  const mean = installations * errorBudget
  return Math.ceil(mean + 3 * Math.sqrt(mean * (1 - errorBudget)))
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
