import { setTimeout as delay } from 'node:timers/promises'
import { type Scope, scopeKey } from '@pitboss/contracts/caller'
import { mapBounded } from '@pitboss/runtime/map-bounded'
import { ownerOf } from '@pitboss/storage/journal/owner-of'
import { type LogEndNote, type Notification, notifyWorkers } from '../clients/notify-workers.ts'
import type { EndpointSummary, TakenEndpoint } from '../storage/endpoint-store.ts'
import type { EndpointRun, RunContext } from './endpoint-run.ts'
import type { Recorded } from './record-events.ts'
import { abandonRun, noteLogEnd, notifyRun, runEndpoint, stopRun } from './run-endpoint.ts'

/** A worker without a beat looks again this soon. */
const notAliveMs = 50
/** All endpoints and logs are compared with the database so often. */
const scanEveryMs = 5000
const pageSize = 500
const takesAtOnce = 16
const endsAtOnce = 8
/** Accounts whose logs are looked at in one step of a scan. */
const endsPerStep = 50
/** Time for attempts to end when the process has to stop, of the ten seconds that it has. */
const stopWithinMs = 7000

export type ShareContext = RunContext & {
  readonly heartbeat: { self(): string | null; others(): readonly string[] }
  /** Rises with each new connection to the broker. */
  readonly connection: () => number
}

export class Share {
  readonly runs = new Map<string, EndpointRun>()
  readonly byScope = new Map<string, { readonly scope: Scope; readonly runs: Map<string, EndpointRun> }>()
  /** Endpoints that no live process has, as they were last found. */
  readonly untaken = new Map<string, EndpointSummary>()
  /** Endpoints to be read and compared, beside those of the next page. */
  readonly wanted = new Set<string>()
  /** Instances that are alive and take no more endpoints. */
  readonly leaving = new Set<string>()
  /** Where the next page of the scan under way begins; null when all pages are read. */
  pageAfter: string | null = ''
  scopesLeft: readonly Scope[] = []
  scannedAtMs = performance.now()
  scannedConnection = 0
  /** Whether all endpoints are to be compared as soon as can be. */
  isHurried = true
}

/** Compares notified endpoints and the next page of all. @returns ms until there is more, if soon */
export async function scanEndpoints(c: ShareContext, share: Share, stopping: AbortSignal) {
  if (c.heartbeat.self() === null) return notAliveMs
  const ids = [...share.wanted]
  share.wanted.clear()
  if (ids.length > 0) await compareEndpoints(c, share, await c.endpoints.summaries(ids), stopping)
  // A scan is due by time, and after a new connection to the broker: a notification may have been lost.
  const isDue =
    performance.now() - share.scannedAtMs >= scanEveryMs || c.connection() !== share.scannedConnection
  if (isDue && share.scopesLeft.length === 0 && share.pageAfter === null) {
    share.scannedAtMs = performance.now()
    share.scannedConnection = c.connection()
    share.pageAfter = ''
    share.scopesLeft = [...share.byScope.values()].map(({ scope }) => scope)
  }
  if (share.pageAfter !== null) {
    const page = await c.endpoints.page(share.pageAfter, pageSize)
    share.pageAfter = page.length < pageSize ? null : (page.at(-1)?._id ?? null)
    if (share.pageAfter === null) share.isHurried = false
    await compareEndpoints(c, share, page, stopping)
  }
  const scopes = share.scopesLeft.slice(0, endsPerStep)
  share.scopesLeft = share.scopesLeft.slice(endsPerStep)
  await mapBounded(scopes, endsAtOnce, async (scope) =>
    noteEnds(share, [{ ...scope, seq: await c.events.endOf(scope) }]),
  )
  if (share.isHurried || share.wanted.size > 0) return 0
}

/** Compares what is stored of endpoints with what this process runs; takes what is its own. */
async function compareEndpoints(
  c: ShareContext,
  share: Share,
  found: readonly EndpointSummary[],
  stopping: AbortSignal,
): Promise<void> {
  const self = c.heartbeat.self()
  if (self === null) return
  const others = c.heartbeat.others()
  const takers = [self, ...others].filter((instance) => !share.leaving.has(instance))
  const free: string[] = []
  for (const endpoint of found) {
    const { _id, leaseOwner } = endpoint
    const running = share.runs.get(_id)
    const isTaken = running !== undefined || [self, ...others].includes(leaseOwner ?? '')
    if (isTaken) share.untaken.delete(_id)
    else share.untaken.set(_id, endpoint)
    const isOwn = ownerOf(_id, takers) === self
    if (running !== undefined) {
      if (!isOwn) stopRun(running)
      else if (endpoint.wakes !== running.view.countRead()) notifyRun(running)
    } else if (isOwn && !others.includes(leaseOwner ?? '')) free.push(_id)
  }
  await mapBounded(free, takesAtOnce, async (id) => {
    if (stopping.aborted || c.heartbeat.self() === null) return
    const taken = await c.endpoints.take(id, self, others)
    if (taken !== null) runTaken(c, share, taken)
  })
}

function runTaken(c: ShareContext, share: Share, taken: TakenEndpoint): void {
  const { _id: id } = taken.endpoint
  const run = runEndpoint(c, taken)
  const { scope } = run
  const known = share.byScope.get(scopeKey(scope)) ?? { scope, runs: new Map() }
  share.byScope.set(scopeKey(scope), known)
  known.runs.set(id, run)
  share.runs.set(id, run)
  share.untaken.delete(id)
  void run.done.then((isReleased) => {
    share.runs.delete(id)
    known.runs.delete(id)
    if (known.runs.size === 0) share.byScope.delete(scopeKey(scope))
    // Its next worker takes it now. After a failure the next scan is soon enough.
    if (isReleased) notifyWorkers(c, { ids: [id] })
  })
}

function noteEnds({ byScope }: Share, ends: readonly LogEndNote[]): void {
  for (const end of ends) {
    for (const run of byScope.get(scopeKey(end))?.runs.values() ?? []) noteLogEnd(run, end.seq)
  }
}

/** Takes a notification over. @returns whether there are endpoints to be compared */
export function noteNotification(share: Share, { ids, ends, leaving }: Notification): boolean {
  for (const instance of leaving) share.leaving.add(instance)
  for (const id of ids) {
    const running = share.runs.get(id)
    if (running !== undefined) notifyRun(running)
    else share.wanted.add(id)
  }
  noteEnds(share, ends)
  return share.wanted.size > 0
}

/** Compares all endpoints again: another set of instances is alive. */
export function noteInstances({ heartbeat }: ShareContext, share: Share): void {
  const others = heartbeat.others()
  for (const instance of share.leaving) if (!others.includes(instance)) share.leaving.delete(instance)
  share.pageAfter = ''
  share.isHurried = true
}

/** Stops all that this process runs, since it may act under its leases no more. */
export function dropEndpoints({ logger }: ShareContext, { runs }: Share, event: string): void {
  if (runs.size === 0) return
  logger.error({ endpoints: runs.size }, event)
  for (const run of runs.values()) stopRun(run)
}

export async function leaveEndpoints(c: ShareContext, { runs }: Share): Promise<void> {
  const self = c.heartbeat.self()
  if (self !== null) notifyWorkers(c, { leaving: [self] })
  for (const run of runs.values()) stopRun(run)
  const left = Promise.all([...runs.values()].map(({ done }) => done))
  await Promise.race([left, delay(stopWithinMs, undefined, { ref: false })])
  for (const run of runs.values()) abandonRun(run)
  if (runs.size > 0) c.logger.warn({ endpoints: runs.size }, 'worker.attempts-abandoned')
}

/** Notes recorded events, so that workers here and in other processes deliver them. */
export function noteRecorded(c: ShareContext, share: Share, { recorded, known, read }: Recorded): void {
  c.tail.put(recorded)
  for (const { endpoints, atMs } of read)
    for (const endpoint of endpoints) share.runs.get(endpoint._id)?.view.see(endpoint, atMs)
  const ends = endsOf([...recorded, ...known.values()])
  noteEnds(share, ends)
  // While no other process runs endpoints, nobody waits for it.
  if (c.heartbeat.self() === null || c.heartbeat.others().length > 0) notifyWorkers(c, { ends })
}

/** The greatest number of each account. */
export function endsOf(events: readonly { readonly scope: Scope; readonly seq: number }[]): LogEndNote[] {
  const ends = new Map<string, LogEndNote>()
  for (const { scope, seq } of events) {
    const key = scopeKey(scope)
    ends.set(key, { ...scope, seq: Math.max(seq, ends.get(key)?.seq ?? 0) })
  }
  return [...ends.values()]
}
