import { greenRuns } from './green-runs.ts'
import type { Jurisdiction } from './jurisdictions.ts'

/** A test: its file, and its name in that file. */
export type ClauseTest = { readonly file: string; readonly name: string }

/** One clause of a regulator: what it asks for, where that is enforced, and the tests that show it. */
export type Clause = {
  readonly jurisdiction: Exclude<Jurisdiction, 'NONE'>
  readonly clause: string
  /** What it asks for, in our words. */
  readonly asks: string
  readonly source: string
  /** How we meet it. */
  readonly means: string
  /** Files of this repository. */
  readonly enforcedAt: readonly string[]
  readonly tests: readonly ClauseTest[]
}

const commission = 'https://www.gamblingcommission.gov.uk'
const changesOf2025 = 'https://harrishagan.com/category/responsible-gambling'

const rounds = 'services/rounds/test/jurisdictions.test.ts'
const table = 'web/test/create-table.test.ts'
const caps = 'services/rounds/test/stake-caps.test.ts'
const limits = 'services/rounds/test/player-limits.test.ts'

/** Every clause that is enforced and tested. A clause without an enforcing place or a test has no row. */
export const clauses: readonly Clause[] = [
  {
    jurisdiction: 'UK',
    clause: 'RTS 14G',
    asks: 'At least five seconds pass from one start of a game to the next.',
    source: changesOf2025,
    means:
      'The service refuses an earlier stake, on every replica, in all games and sessions of the player. The page counts down.',
    enforcedAt: [
      'services/rounds/src/wings/protection/actions/enforce-start-interval.ts',
      'services/rounds/src/wings/protection/storage/paces-store.ts',
    ],
    tests: [
      { file: rounds, name: 'a stake that comes too early moves nothing, and its id is as good as new' },
      { file: rounds, name: 'a start holds back the player in every game and session with the rule' },
      { file: rounds, name: 'of starts at once on two replicas one is accepted' },
      { file: rounds, name: 'a start outlives the process that accepted it' },
      { file: table, name: 'a bet that comes too early is held back as long as the service says' },
    ],
  },
  {
    jurisdiction: 'UK',
    clause: 'RTS 8A',
    asks: 'The customer commits to each game cycle individually.',
    source: `${commission}/manual/remote-gambling-and-software-technical-standards/rts-8-autoplay-functionality`,
    means: 'There is no auto-play: one press sends one stake, and none follows by itself.',
    enforcedAt: ['web/src/play/create-table.ts'],
    tests: [{ file: table, name: 'one press places one bet, and the next waits until the result was shown' }],
  },
  {
    jurisdiction: 'UK',
    clause: 'RTS 14E',
    asks: 'The customer cannot shorten the time until the result is shown.',
    source: changesOf2025,
    means: 'There is no turbo and no stop: nothing on the page ends the showing of a result.',
    enforcedAt: ['web/src/play/create-table.ts'],
    tests: [{ file: table, name: 'one press places one bet, and the next waits until the result was shown' }],
  },
  {
    jurisdiction: 'UK',
    clause: 'RTS, changes of January 2025',
    asks: 'Elapsed time and net spend of the session are in view.',
    source: changesOf2025,
    means:
      'The service counts both from its own records. The page shows them from its first view on, after a reload, too.',
    enforcedAt: [
      'services/rounds/src/wings/protection/records/present-protection.ts',
      'web/src/play/session-figures.tsx',
    ],
    tests: [{ file: rounds, name: 'time and net spend of the session are in view' }],
  },
  {
    jurisdiction: 'UK',
    clause: 'RTS 12',
    asks: 'Limits that a customer sets are held, a lower one at once and a higher one after 24 hours.',
    source: `${commission}/standards/remote-gambling-and-software-technical-standards`,
    means:
      'The operator sets limits of loss, stake and time for a player. The service holds each stake against them, on every replica, in all games and sessions.',
    enforcedAt: [
      'services/rounds/src/wings/protection/actions/player-limits.ts',
      'services/rounds/src/wings/protection/rules/player-limits.ts',
    ],
    tests: [
      {
        file: limits,
        name: 'a stake beyond a limit is refused in every game and session, and leaves nothing',
      },
      { file: limits, name: 'of stakes at once on two replicas no more are taken than the limit allows' },
      { file: limits, name: 'limits are lowered at once and raised after a day' },
      { file: limits, name: 'a limit of time refuses stakes and free bets once it is used up' },
    ],
  },
  {
    jurisdiction: 'UK',
    clause: 'RTS 13',
    asks: 'A customer is reminded of the time spent.',
    source: `${commission}/standards/remote-gambling-and-software-technical-standards`,
    means:
      'Every 30 minutes, or as the session says, the page asks whether to go on or to stop. The service takes no new stake before the answer.',
    enforcedAt: ['services/rounds/src/rules/live-rules.ts', 'web/src/play/reality-check.tsx'],
    tests: [
      { file: rounds, name: 'a reality check holds new stakes until the player goes on or stops' },
      { file: table, name: 'a reality check interrupts play until the player goes on or stops' },
    ],
  },
  {
    jurisdiction: 'UK',
    clause: 'Operating Licence Conditions Regulations 2007, 5(2)',
    asks: 'In an online slots game no more than £2 is staked in a game cycle by somebody under 25, and no more than £5 by others.',
    source: 'https://www.legislation.gov.uk/uksi/2025/215/made',
    means:
      'The operator opens a session with `stake_cap`: `slots`, or `slots-25-over` for a player of 25 years or more. The service refuses a greater stake, a free bet too, before anything moves.',
    enforcedAt: ['libs/contracts/src/jurisdictions.ts', 'services/rounds/src/rules/limits.ts'],
    tests: [
      { file: caps, name: 'a stake above the cap of its session is refused by name, and leaves nothing' },
      { file: caps, name: 'a cap holds a free bet, too, and a session without one is not held' },
      { file: caps, name: 'a cap is only taken where the jurisdiction has it, in its currency' },
    ],
  },
  {
    jurisdiction: 'ON',
    clause: 'AGCO, A 1b',
    asks: 'The player can recall the last ten rounds.',
    source: 'https://www.agco.ca',
    means: "The page lists the player's last rounds of the game, of every session, each with its proof.",
    enforcedAt: ['services/rounds/src/actions/player-page.ts', 'web/src/play/history.tsx'],
    tests: [{ file: rounds, name: 'the last rounds can be recalled from another session' }],
  },
]

/** The name of a test among all tests. */
export function keyOfTest({ file, name }: ClauseTest): string {
  return `${file}: ${name}`
}

/** The time at which a test last passed, ISO 8601; null for one that has not been run. */
export function greenRunOf(test: ClauseTest): string | null {
  return greenRuns[keyOfTest(test)] ?? null
}
