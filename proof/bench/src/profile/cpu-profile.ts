import { readFileSync } from 'node:fs'
import { z } from 'zod'

/** What `node --cpu-prof` writes, as far as it is read here; times in microseconds. */
const profileSchema = z.object({
  nodes: z.array(
    z.object({
      id: z.number(),
      callFrame: z.object({ functionName: z.string(), url: z.string(), lineNumber: z.number() }),
      children: z.array(z.number()).default([]),
    }),
  ),
  samples: z.array(z.number()),
  timeDeltas: z.array(z.number()),
})

/** Where a process spent its time, in microseconds; `(idle)` is left out. */
export type CpuProfile = {
  busyUs: number
  /** Self time by function with its place, the most first. */
  functions: readonly (readonly [string, number])[]
  /** Self time by package or folder, the most first. */
  packages: readonly (readonly [string, number])[]
}

/**
 * Reads a profile and adds up self times.
 * @param since leaves out what was sampled in the first so many microseconds: the start of the process
 */
export function readCpuProfile(path: string, since: number): CpuProfile {
  const { nodes, samples, timeDeltas } = profileSchema.parse(JSON.parse(readFileSync(path, 'utf8')))
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]))
  const functions = new Map<string, number>()
  const packages = new Map<string, number>()
  let atUs = 0
  let busyUs = 0
  for (const [index, id] of samples.entries()) {
    const us = timeDeltas[index] ?? 0
    atUs += us
    const frame = frames.get(id)
    if (frame === undefined || atUs < since || frame.functionName === '(idle)') continue
    busyUs += us
    const place = placeOf(frame.url)
    add(functions, `${frame.functionName || '(anonymous)'} ${place}:${frame.lineNumber + 1}`, us)
    add(packages, packageOf(frame.url, frame.functionName), us)
  }
  return { busyUs, functions: sorted(functions), packages: sorted(packages) }
}

function add(sums: Map<string, number>, name: string, us: number): void {
  sums.set(name, (sums.get(name) ?? 0) + us)
}

function sorted(sums: ReadonlyMap<string, number>): [string, number][] {
  return [...sums].sort(([, a], [, b]) => b - a)
}

/** The path from the last `node_modules` or from the project's root on. */
function placeOf(url: string): string {
  const path = url.replace(/^file:\/\//, '')
  const inner = path.split('/node_modules/').at(-1) ?? path
  return inner === path ? path.split('/').slice(-4).join('/') : inner
}

function packageOf(url: string, functionName: string): string {
  if (url === '') return functionName === '(garbage collector)' ? functionName : '(native)'
  if (url.startsWith('node:')) return url.split('/').slice(0, 2).join('/')
  const inner = url.split('/node_modules/')
  if (inner.length === 1) return /\/((?:libs|services|tools)\/[^/]+)/.exec(url)?.[1] ?? url
  const [first = '', second = ''] = (inner.at(-1) ?? '').split('/')
  return first.startsWith('@') ? `${first}/${second}` : first
}
