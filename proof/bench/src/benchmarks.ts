import { runAccess } from './access/run-access.ts'
import { runAppend } from './append/run-append.ts'
import { dashboardParts, runDashboard } from './dashboard/run-dashboard.ts'
import { runEngines } from './engines/run-engines.ts'
import { runFloor } from './floor/run-floor.ts'
import type { Cleanup } from './harness/cleanup.ts'
import type { Measured } from './harness/measured.ts'
import type { PairPlan } from './harness/run-pairs.ts'
import { runIdle } from './idle/run-idle.ts'
import { runKeepUp } from './play/run-keep-up.ts'
import { peerParts, runPeers } from './peers/run-peers.ts'
import { runPlay } from './play/run-play.ts'
import { runProfile } from './profile/run-profile.ts'
import { runRecovery } from './recovery/run-recovery.ts'
import { runRead } from './read/run-read.ts'
import { runRound } from './round/run-round.ts'
import { runSettlement, settlementParts } from './settlement/run-settlement.ts'
import { runSoak } from './soak/run-soak.ts'
import { runStrangers, strangerParts } from './strangers/run-strangers.ts'
import { runWebhooks, webhookParts } from './webhooks/run-webhooks.ts'

type BenchOptions = {
  seconds: number
  pairs: number
  history: number
  /** Names of the benchmark's own parts; none means all. */
  parts: readonly string[]
  events: number
  deliveries: number
  pending: number
  rounds: number
  /** Rounds that are open beside "recovery". */
  unfinished: number
  account: string | undefined
  /** Of "soak". */
  minutes: number
  rate: number
  /** Seconds that a turn of "floor" is warmed. */
  warm: number
  /** Another build, a git ref; only for benchmarks that say `ownBase`. */
  base: string | undefined
}

type Benchmark = {
  name: string
  title: string
  /** One or two lines for `--help`. */
  about: string
  /** Names that `--part` takes. */
  parts?: readonly string[]
  /** Takes `--base` itself, instead of the comparison of two builds. */
  ownBase?: true
  run(options: BenchOptions, cleanup: Cleanup, say: (text: string) => void): Promise<Measured>
}

const concurrencies = [1, 32]
const warmUpShare = 0.7
/** Five operations at two concurrencies: shorter stretches and fewer turns keep the whole within minutes. */
const enginesShare = 0.5
const enginesPairsMax = 3
/** Each turn is warmed for a minute, so few and long ones. */
const floorShare = 4
const floorTurnsMax = 3
const keepUpShare = 100
const idleShare = 10
const steadyShare = 10
/** Two comparisons, three parts. */
const accessPairsMax = 3
const guesses = 20_000
/** Movements arrive one by one, by a few and by many. */
const settlementConcurrencies = [1, 8, 32]
/** Long enough for the time-outs, the breaker and the retries of a wallet that hangs. */
const neighboursShare = 5
const neighboursTurnsMax = 3

export const benchmarks: readonly Benchmark[] = [
  {
    name: 'read',
    title: 'Authenticated read of one session, product against fastify + NATS request + findOne',
    about:
      'GET /v1/sessions/{id} through gateway, NATS, service and database, against the bare loop of the same parts.',
    run: (options, cleanup, say) => runRead(planOf(options), cleanup, say),
  },
  {
    name: 'round',
    title: 'A round of dice, product against one process doing the same writes, calls and publishes',
    about:
      'POST /v1/game/rounds with a wallet that answers at once, against a bare script with the same durable writes.',
    run: (options, cleanup, say) => runRound(planOf(options), cleanup, say),
  },
  {
    name: 'floor',
    title: 'A round of dice, product against the least that does the same',
    about:
      'Processor time per round beside a bare journal, log and sender, turn by turn, at 32 callers and at one; with --base REF a third side.',
    ownBase: true,
    run({ seconds, pairs, warm, base }, cleanup, say) {
      const plan = {
        warmMs: warm * 1000,
        durationMs: seconds * floorShare * 1000,
        turns: Math.min(pairs, floorTurnsMax),
        base,
      }
      return runFloor(plan, cleanup, say)
    },
  },
  {
    name: 'append',
    title: 'Entries of a journal, each with a claim, by one process',
    about: 'Appends per second at 1, 8, 32 and 128 at once, and what the engine spends on each.',
    run({ seconds }, cleanup, say) {
      const { durationMs, warmUpMs } = planOf({ seconds, pairs: 1 })
      return runAppend({ durationMs, warmUpMs }, cleanup, say)
    },
  },
  {
    name: 'idle',
    title: 'A product of which nobody asks anything',
    about:
      'Database commands by service and collection, and processor time by process, per second, over 10 times S seconds; with --base REF of both builds.',
    ownBase: true,
    run: ({ seconds, base }, cleanup, say) =>
      runIdle({ durationMs: seconds * idleShare * 1000, base }, cleanup, say),
  },
  {
    name: 'play',
    title: 'Rounds of each game with a wallet that answers at once, and as the history grows',
    about: 'Whole rounds per second at 1, 8 and 32 at once; dice with 10^3 rounds behind it up to --history.',
    run: ({ seconds, history }, cleanup, say) => runPlay({ seconds, historyMax: history }, cleanup, say),
  },
  {
    name: 'keep-up',
    title: 'Deliveries beside 16 players in a closed loop',
    about:
      'Rounds per second, new play that was refused, and how late deliveries got, over 100 times S seconds.',
    run: ({ seconds }, cleanup, say) => runKeepUp(seconds * keepUpShare, cleanup, say),
  },
  {
    name: 'soak',
    title: 'Dice at a steady rate, minute after minute',
    about:
      '--rate rounds a second for --minutes: what a round costs, memory, backlogs, and whether they grow.',
    run: ({ minutes, rate }, cleanup, say) => runSoak({ minutes, perSecond: rate }, cleanup, say),
  },
  {
    name: 'access',
    title: 'Access: a cached token against fastify hello, logins, and an unknown key against a wrong secret',
    about: "Requests with a cached token, argon2id logins, 20,000 refused guesses with Welch's t.",
    run({ seconds, pairs }, cleanup, say) {
      const plan = planOf({ seconds, pairs: Math.min(pairs, accessPairsMax) })
      return runAccess(plan, guesses, cleanup, say)
    },
  },
  {
    name: 'engines',
    title: 'The embedded database: MongoDB driver and gateway against the bare SQL functions',
    about: 'Insert, find, fenced update, page and transaction; start times; CPU and memory at rest.',
    run({ seconds, pairs }, cleanup, say) {
      const plan = planOf({
        seconds: seconds * enginesShare,
        pairs: Math.min(pairs, enginesPairsMax),
      })
      return runEngines(plan, cleanup, say)
    },
  },
  {
    name: 'webhooks',
    title: 'Webhooks: from the stream to the receivers',
    about: `Parts ${webhookParts.join(', ')}: 200 and 600 events/s for ten times S seconds each and what a backlog reaches; receivers that hang beside healthy ones, of other accounts and of the same; a rewind; claims beside many stored deliveries.`,
    parts: webhookParts,
    run({ seconds, parts, events, deliveries }, cleanup, say) {
      const steadySeconds = Math.ceil(seconds * steadyShare)
      const chosen = chooseParts(webhookParts, parts)
      return runWebhooks({ parts: chosen, steadySeconds, events, deliveries }, cleanup, say)
    },
  },
  {
    name: 'settlement',
    title: 'Settlement: movements, the backlog of a wallet that was down, and a neighbour whose wallet hangs',
    about: `Parts ${settlementParts.join(', ')}: stakes and wins against a bare script at 1, 8 and 32 at once; --pending credits once their wallet answers; one operator's p99 while another's wallet hangs.`,
    parts: settlementParts,
    run(options, cleanup, say) {
      const plan = {
        parts: chooseParts(settlementParts, options.parts),
        pairs: { ...planOf(options), concurrencies: settlementConcurrencies },
        pending: options.pending,
        steadySeconds: Math.ceil(options.seconds * neighboursShare),
        turns: Math.min(options.pairs, neighboursTurnsMax),
      }
      return runSettlement(plan, cleanup, say)
    },
  },
  {
    name: 'peers',
    title: 'Beside what others use: a ledger on MongoDB, a sender of webhooks on Redis',
    about: `Parts ${peerParts.join(', ')}: movements beside entries of medici at 1, 8 and 32 at once; deliveries of a backlog beside BullMQ.`,
    parts: peerParts,
    run(options, cleanup, say) {
      const plan = { ...planOf(options), concurrencies: settlementConcurrencies }
      return runPeers({ parts: chooseParts(peerParts, options.parts), plan }, cleanup, say)
    },
  },
  {
    name: 'dashboard',
    title: 'The dashboard of an account with many rounds behind it',
    about: `Parts ${dashboardParts.join(', ')}: each list with each filter, first view, clicks and a followed list in Chromium, 2,000 open tails; judges times and memory. --rounds are stored first.`,
    parts: dashboardParts,
    run: ({ rounds, parts, account }, cleanup, say) =>
      runDashboard({ rounds, parts: chooseParts(dashboardParts, parts), account }, cleanup, say),
  },
  {
    name: 'profile',
    title: 'Where each service spends its processor time while 32 players play dice',
    about: 'Ten hottest packages and functions of each service by self time, over 10 times S seconds.',
    run: ({ seconds }, cleanup, say) => runProfile(seconds * steadyShare * 1000, cleanup, say),
  },
  {
    name: 'recovery',
    title: 'From the SIGKILL of a service until play goes on',
    about:
      'Each service in turn, --pairs times, beside 40 players and --unfinished open rounds: ready, one plays, all play, boards go on.',
    run: ({ pairs, unfinished }, cleanup, say) => runRecovery({ turns: pairs, unfinished }, cleanup, say),
  },
  {
    name: 'strangers',
    title: 'Strangers: a healthy tenant beside those who hold or waste what they can',
    about: `Parts ${strangerParts.join(', ')}: reads, rounds and deliveries of one tenant, alone and beside each; judges the p99 (at most twice) and that nothing is refused.`,
    parts: strangerParts,
    run(options, cleanup, say) {
      const plan = {
        parts: chooseParts(strangerParts, options.parts),
        seconds: Math.ceil(options.seconds * neighboursShare),
        turns: Math.min(options.pairs, neighboursTurnsMax),
      }
      return runStrangers(plan, cleanup, say)
    },
  },
]

export function usage(): string {
  const lines = benchmarks.map(({ name, about }) => `  ${name.padEnd(10)} ${about}`)
  return `Usage: npm run --silent bench -- <name> [--seconds S] [options]

${lines.join('\n')}

  --seconds S   how long each measured stretch lasts (default 3)
  --pairs N     how often product and floor take turns (default 5)
  --history N   rounds behind it at the end of "play", 1000 to 1000000 (default 100000)
  --part NAME   one part of "webhooks", "settlement", "strangers" or "dashboard", several times for several (default all)
  --events N    events that "webhooks" rewinds, 1000 to 1000000 (default 10000)
  --deliveries N  deliveries that "webhooks" stores, 2000 to 2000000 (default 20000)
  --pending N   credits that wait for their wallet in "settlement", 100 to 10000 (default 2000)
  --rounds N    rounds behind "dashboard", 1000 to 1000000 (default 1000000)
  --unfinished N  rounds that are open beside "recovery", 0 to 100000 (default 0)
  --minutes N   how long "soak" plays, 1 to 10000 (default 60)
  --rate N      rounds a second of "soak", 1 to 1000 (default 100)
  --account FOLDER  keeps the account of "dashboard" there and measures one that is there already
  --base REF    compares this build with that of a git ref instead (read, access, round, webhooks): processor time
                per request and service, in at least 10 turns; for "floor" a third side
  --warm S      how long each turn of "floor" is warmed before it is measured (default 60)
  --callers N   callers of that comparison at once, 1 to 256 (default 8)
  --replicas N  replicas of each service but auth in that comparison, 1 to 8 (default 1)

Starts what it needs on free ports in a folder of its own, prints a table, writes JSON to proof/bench/results/ and leaves nothing running.
What the figures mean: docs/benchmarks.md.
`
}

function chooseParts<Part extends string>(all: readonly Part[], names: readonly string[]): Part[] {
  return all.filter((part) => names.length === 0 || names.includes(part))
}

function planOf({ seconds, pairs }: Pick<BenchOptions, 'seconds' | 'pairs'>): PairPlan {
  return { pairs, durationMs: seconds * 1000, warmUpMs: seconds * 1000 * warmUpShare, concurrencies }
}
