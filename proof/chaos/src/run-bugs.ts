import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Bug } from '@pitboss/bugs/bugs'
import { type Cleanup, createCleanup } from '@pitboss/bench/harness/cleanup'
import { renderTable } from '@pitboss/bench/harness/table'
import { admitsPlay } from './admit-play.ts'
import { type ChaosOptions, type ChaosReport, runChaos } from './run-chaos.ts'

/** One bug and how the checker met it; `bug` null is the product as it is, which must pass. */
export type Catch = {
  bug: Bug | null
  /**
   * Time from the first client's start to the verdict, over all storms that it took; null when it was not
   * caught.
   */
  afterMs: number | null
  storms: number
  broken: readonly { name: string; violations: number; first: string }[]
}

/** Each bug has this long, in as many storms as it takes. */
const withinMs = 120_000
const stormS = 10
/** Bugs that show only after several kills of one process. */
const longStormS: Partial<Record<Bug, number>> = {
  'storage.done-before-sent': 20,
}
/** Bugs that show only when a process dies at one place: there it kills itself, in each of its lives. */
const failpoints: Partial<Record<Bug, string>> = {
  'webhooks.range-too-far': 'webhooks.posted=kill@100',
}
const options: Omit<ChaosOptions, 'seconds' | 'seed' | 'environment'> = {
  // Two, where a bug needs somebody to meet.
  replicas: 'wallet-bridge=2',
  timeScale: 600,
  faults: true,
  load: { players: 10, drivers: 8 },
  healWithinMs: 32_000,
}

/** Bugs that show only under faults of one kind get more of those, as a minute is short. */
const stresses: Partial<Record<Bug, NonNullable<ChaosOptions['stress']>>> = {
  'rounds.redrawn-after-restart': { favourite: 'rounds' },
  'rounds.win-id-made-anew': { restore: 'rounds' },
  'storage.done-before-sent': { favourite: 'rounds' },
  'wallet-bridge.refusal-always-final': { moods: ['treacherous'] },
  'wallet-bridge.rollback-of-win': { moods: ['lossy', 'failing'] },
  'webhooks.put-aside-forgotten': { receiver: ['500'] },
}

/** Invariants that a slow machine breaks, too, when healing takes too long: alone they convict no bug. */
const lateSigns: ReadonlySet<string> = new Set([
  'life: everything heals and ends',
  'schedule: an event that is always refused holds up no other',
  admitsPlay,
])

/**
 * Runs short storms over a product that errs in one known way each, until the checker says so or the bug's
 * time is over. The first run is of the product without a bug: a checker that always complains catches
 * nothing.
 */
export async function runBugs({
  bugs,
  seed,
  folder,
  cleanup: whole,
  say,
}: {
  bugs: readonly Bug[]
  seed: number
  folder: string
  cleanup: Cleanup
  say: (text: string) => void
}): Promise<Catch[]> {
  const catches: Catch[] = []
  for (const bug of [null, ...bugs]) {
    const one = await meet(bug)
    say(rowOf(one).join('  '))
    catches.push(one)
  }
  return catches

  async function meet(bug: Bug | null): Promise<Catch> {
    let spentMs = 0
    const seconds = (bug === null ? undefined : longStormS[bug]) ?? stormS
    let storms = 0
    do {
      const report = await storm(bug, seed + storms, seconds)
      storms += 1
      spentMs += report.tookMs
      const broken = report.invariants
        .filter(({ violations }) => violations.length > 0)
        .map(({ name, violations: [first = '', ...more] }) => ({ name, violations: 1 + more.length, first }))
      const says = bug === null ? broken : broken.filter(({ name }) => !lateSigns.has(name))
      if (says.length > 0) return { bug, afterMs: spentMs, storms, broken }
    } while (bug !== null && spentMs + seconds * 1000 < withinMs)
    return { bug, afterMs: null, storms, broken: [] }
  }

  async function storm(bug: Bug | null, stormSeed: number, seconds: number): Promise<ChaosReport> {
    const cleanup = createCleanup(whole)
    try {
      const own = join(folder, `${bug ?? 'none'}-${stormSeed}`)
      mkdirSync(own, { recursive: true, mode: 0o755 })
      const environment = bug === null ? {} : { PITBOSS_BUG: bug, PITBOSS_FAILPOINTS: failpoints[bug] ?? '' }
      const stress = (bug === null ? undefined : stresses[bug]) ?? {}
      return await runChaos(
        { ...options, seconds, stress, seed: stormSeed, environment },
        own,
        cleanup,
        () => undefined,
      )
    } finally {
      await cleanup.run()
    }
  }
}

/**
 * Whether the checker is worth its name: it caught every bug, and found nothing wrong with the product
 * without one.
 */
export function allCaught(catches: readonly Catch[]): boolean {
  return catches.every(({ bug, broken }) => (bug === null) === (broken.length === 0))
}

export function renderCatches(catches: readonly Catch[]): string {
  const table = renderTable(['bug', 'caught after', 'by'], catches.map(rowOf))
  const bugs = catches.filter(({ bug }) => bug !== null)
  const caught = bugs.filter(({ afterMs }) => afterMs !== null).length
  return `${table}\n\n${caught} of ${bugs.length} bugs caught.`
}

function rowOf({ bug, afterMs, broken }: Catch): string[] {
  const by = broken.map(({ name, violations }) => `${name} (${violations})`).join('; ')
  if (bug === null) return ['(no bug)', '', by === '' ? 'every invariant held' : `FALSE ALARM: ${by}`]
  return [bug, afterMs === null ? 'MISSED' : `${(afterMs / 1000).toFixed(0)} s`, by]
}
