import { createSweepRounds } from '@pitboss/rounds/actions/recover-round'
import type { StoredRound } from '@pitboss/rounds/storage/round-document'
import type { RoundsStore } from '@pitboss/rounds/storage/rounds-store'
import t from 'tap'
import { createTimeline, type Timeline } from '../src/timeline.ts'

/** A due round, of which the sweep asks for nothing but its tenant and its time. */
type Due = { readonly scope: string; dueMs: number; looks: number }
type FindDue = RoundsStore['findDue']

const owedRounds = 24_000
const pauseMs = 500
const lookMs = 2000
const untilMs = 15 * 60_000

/** Rounds by their stand-ins: the sweep hands on what it has found. */
const stored = new Map<StoredRound, Due>()

/**
 * Sweeps on virtual time while one tenant owes very many rounds, each of which uses up its 2 s. Another
 * tenant's round becomes due a minute later.
 * @returns the time after which that round was looked at, and the looks at the others
 */
async function run(findOf: (rounds: readonly Due[], timeline: Timeline) => FindDue) {
  const timeline = createTimeline()
  const startMs = timeline.nowMs()
  const rounds: Due[] = Array.from({ length: owedRounds }, () => ({ scope: 'a', dueMs: startMs, looks: 0 }))
  const crashedAtMs = startMs + 60_000
  const crashed: Due = { scope: 'b', dueMs: crashedAtMs, looks: 0 }
  rounds.push(crashed)
  let lookedAtMs: number | null = null
  async function recover(one: StoredRound): Promise<boolean> {
    const due = stored.get(one)
    if (due === undefined) throw new Error('the sweep works on a round that it has not found')
    due.looks += 1
    due.dueMs = timeline.nowMs() + 60_000
    if (due === crashed) lookedAtMs ??= timeline.nowMs()
    await timeline.wait(lookMs)
    return true
  }
  const context = { rounds: { findDue: findOf(rounds, timeline) }, clock: { now: () => timeline.now() } }
  const sweep = createSweepRounds(context, recover, () => 0)
  const stopping = new AbortController()
  timeline.after(0, () => undefined)
  const loop = (async () => {
    while (!stopping.signal.aborted) await timeline.wait((await sweep(stopping.signal)) ?? pauseMs)
  })()
  while (lookedAtMs === null && timeline.nowMs() < startMs + untilMs && (await timeline.step()));
  stopping.abort()
  while (await timeline.step());
  await loop
  const others = rounds.filter(({ looks, scope }) => scope === 'a' && looks > 0).length
  return { afterMs: lookedAtMs === null ? null : lookedAtMs - crashedAtMs, others }
}

const asStored = (due: Due): StoredRound => {
  const one = Object.create(null)
  stored.set(one, due)
  return one
}

/** As the store does: a page for each tenant. */
function inPages(rounds: readonly Due[], timeline: Timeline): FindDue {
  return async (_now, { roundsMax }) => {
    const due = rounds.filter(({ dueMs }) => dueMs <= timeline.nowMs())
    const scopes = [...new Set(due.map(({ scope }) => scope))]
    const share = Math.floor(roundsMax / Math.max(1, scopes.length))
    const pages = scopes.map((scope) => due.filter((one) => one.scope === scope).slice(0, share))
    const mayHaveMore = pages.some(({ length }) => length === share)
    return { pages: pages.map((page) => page.map(asStored)), sweptTo: '', mayHaveMore }
  }
}

/** One page of all tenants' rounds, longest due first. */
function inOnePage(rounds: readonly Due[], timeline: Timeline): FindDue {
  return async (_now, { roundsMax }) => {
    const due = rounds.filter(({ dueMs }) => dueMs <= timeline.nowMs()).toSorted((a, b) => a.dueMs - b.dueMs)
    return { pages: [due.slice(0, roundsMax).map(asStored)], sweptTo: '', mayHaveMore: true }
  }
}

t.test("a tenant that owes 24,000 rounds delays another's crashed round by less than a minute", async (t) => {
  const { afterMs, others } = await run(inPages)
  t.ok(afterMs !== null && afterMs <= 60_000, `looked at after ${String(afterMs)} ms`)
  t.ok(others >= 900, `meanwhile ${others} of the others were looked at`)
})

t.test('the count would show a sweep in which the longest due come first', async (t) => {
  const { afterMs } = await run(inOnePage)
  t.ok(afterMs === null || afterMs > 60_000, `looked at after ${String(afterMs)} ms`)
})
