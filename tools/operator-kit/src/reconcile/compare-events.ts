import { createHash } from 'node:crypto'
import type { LocalEvent } from './local-events.ts'
import type { Manifest, ManifestHour } from './operator-api.ts'

const hourMs = 60 * 60 * 1000

type ComparedHour = {
  readonly hour: string
  readonly recorded: number
  readonly local: number
  /**
   * The signed hash could be proven from the list alone (`manifest`), or the hour's events were read
   * (`events`).
   */
  readonly proven_by: 'manifest' | 'events'
  /** Recorded and not in the list. */
  readonly missing: readonly string[]
  /** In the list and not recorded. */
  readonly extra: readonly string[]
}
export type Comparison = {
  readonly complete: boolean
  readonly recorded: number
  readonly local: number
  readonly missing: number
  readonly extra: number
  readonly hours: readonly ComparedHour[]
}

/**
 * Compares a list with a manifest, hour by hour. An hour whose hash comes out of the list, in its own order
 * or in that of the ids, is proven; the events of every other hour are read, checked against the manifest and
 * compared one by one.
 * @throws Error when the events do not fit the manifest
 */
export async function compareEvents(
  manifest: Pick<Manifest, 'from' | 'to' | 'hours'>,
  list: readonly LocalEvent[],
  readIds: (from: string, to: string) => Promise<readonly string[]>,
): Promise<Comparison> {
  const fromMs = Date.parse(manifest.from)
  const toMs = Date.parse(manifest.to)
  const inWindow = list.filter(({ atMs }) => atMs >= fromMs && atMs <= toMs)
  const recordedHours = new Map(manifest.hours.map((hour) => [Date.parse(hour.hour), hour]))
  const localHours = new Map<number, LocalEvent[]>()
  for (const event of inWindow) {
    const hour = event.atMs - (event.atMs % hourMs)
    const others = localHours.get(hour)
    if (others === undefined) localHours.set(hour, [event])
    else others.push(event)
  }
  const starts = [...new Set([...recordedHours.keys(), ...localHours.keys()])].toSorted((a, b) => a - b)

  const differing = starts.filter((start) => !isProven(recordedHours.get(start), localHours.get(start) ?? []))
  const read = new Map<number, readonly string[]>()
  for (const start of differing) {
    const expected = recordedHours.get(start)
    if (expected === undefined) {
      read.set(start, [])
      continue
    }
    const from = new Date(Math.max(start, fromMs)).toISOString()
    const ids = await readIds(from, new Date(Math.min(start + hourMs - 1, toMs)).toISOString())
    if (hashOf(ids) !== expected.ids_sha256) {
      throw new Error(
        `the events of ${expected.hour} do not fit the manifest: ${ids.length} of ${expected.count}`,
      )
    }
    read.set(start, ids)
  }

  // An event may stand in the list under the hour of its id, which can be the one beside that of its
  // creation.
  const listed = new Set(list.map(({ id }) => id))
  const recordedIds = new Set([...read.values()].flat())
  const hours = starts.map((start): ComparedHour => {
    const local = localHours.get(start) ?? []
    const ids = read.get(start)
    return {
      hour: new Date(start).toISOString(),
      recorded: recordedHours.get(start)?.count ?? 0,
      local: local.length,
      proven_by: ids === undefined ? 'manifest' : 'events',
      missing: (ids ?? []).filter((id) => !listed.has(id)),
      extra: ids === undefined ? [] : local.map(({ id }) => id).filter((id) => !recordedIds.has(id)),
    }
  })
  const sum = (of: (hour: ComparedHour) => number) => hours.reduce((total, hour) => total + of(hour), 0)
  const missing = sum((hour) => hour.missing.length)
  const extra = sum((hour) => hour.extra.length)
  return {
    complete: missing + extra === 0,
    recorded: sum(({ recorded }) => recorded),
    local: inWindow.length,
    missing,
    extra,
    hours,
  }
}

function isProven(expected: ManifestHour | undefined, local: readonly LocalEvent[]): boolean {
  if (expected === undefined || expected.count !== local.length) return false
  const ids = local.map(({ id }) => id)
  return hashOf(ids) === expected.ids_sha256 || hashOf(ids.toSorted()) === expected.ids_sha256
}

function hashOf(ids: readonly string[]): string {
  const hash = createHash('sha256')
  for (const id of ids) hash.update(`${id}\n`)
  return hash.digest('hex')
}
