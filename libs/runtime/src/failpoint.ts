import { badConfigExitCode } from './load-config.ts'

type Armed = { readonly atHit: number; hits: number }

/** Read at the first failpoint reached, once per process; null until then. */
let armed: ReadonlyMap<string, Armed> | null = null

/**
 * A named place where a crash test may kill this process. Armed by `PITBOSS_FAILPOINTS=name=kill[@n],…` (at
 * the n-th time, default the first); does nothing in production and otherwise. A process that dies here gets
 * SIGKILL: nothing is flushed or closed.
 */
export async function failpoint(name: string): Promise<void> {
  armed ??= readFailpoints()
  if (armed.size === 0) return
  const point = armed.get(name)
  if (point === undefined) return
  point.hits += 1
  if (point.hits !== point.atHit) return
  process.kill(process.pid, 'SIGKILL')
  await new Promise(() => undefined)
}

/** @throws RangeError for text that is not `name=kill[@n]`, comma separated. */
export function parseFailpoints(text: string): ReadonlyMap<string, Armed> {
  const entries = text.split(',').filter((part) => part !== '')
  return new Map(
    entries.map((part) => {
      const match = /^([a-z][a-z0-9.-]{0,63})=kill(?:@([1-9][0-9]{0,5}))?$/.exec(part.trim())
      if (match === null) throw new RangeError('must be name=kill or name=kill@n, comma separated')
      return [match[1] ?? '', { atHit: Number(match[2] ?? 1), hits: 0 }] as const
    }),
  )
}

function readFailpoints(): ReadonlyMap<string, Armed> {
  const text = process.env.PITBOSS_FAILPOINTS ?? ''
  if (process.env.NODE_ENV === 'production') {
    if (text !== '') refuse('is refused when NODE_ENV=production')
    return new Map()
  }
  try {
    return parseFailpoints(text)
  } catch {
    return refuse('must be name=kill or name=kill@n, comma separated')
  }
}

function refuse(problem: string): never {
  process.stderr.write(`Bad configuration.\nPITBOSS_FAILPOINTS: ${problem}\n`)
  process.exit(badConfigExitCode)
}
