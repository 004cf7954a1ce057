import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'
import { shownInLine, shownJson } from '@pitboss/contracts/acting-characters'
import colors from 'picocolors'
import { humanLine } from './human-line.ts'
import { parseLogRecord } from './log-record.ts'

const paint = [colors.cyan, colors.magenta, colors.green, colors.yellow, colors.blue]
const nameCharacters = 16
/** Time in which a warning or an error that is said again by the same process is only counted, in ms. */
const sameWithinMs = 5000

export type LogOutput = {
  /** Passes on what a child writes, line by line. */
  attach(name: string, stream: Readable): void
  /** One line that `name` wrote. */
  line(name: string, line: string): void
  /** One line of the runner itself. */
  say(message: string, fields?: Readonly<Record<string, unknown>>): void
}

/**
 * JSON lines as they are, or lines for a person: one for each happening, while `keep` gets all of them as
 * JSON. `nowMs` is any clock that never goes back.
 */
export function createLogOutput(
  options:
    | { format: 'json'; write: (line: string) => void }
    | { format: 'pretty'; write: (line: string) => void; keep: (line: string) => void; nowMs: () => number },
): LogOutput {
  const keep = options.format === 'json' ? options.write : options.keep
  const show = options.format === 'json' ? null : createShow(options)
  const json = (service: string, msg: string, fields: object) =>
    shownJson({ level: 'info', time: new Date().toISOString(), service, ...fields, msg })
  const pass = (label: string, name: string, line: string) => {
    keep(line.startsWith('{') ? line : json(name, 'process.said', { line }))
    show?.(label, line)
  }
  let attached = 0
  return {
    attach(name, stream) {
      const color = paint[attached++ % paint.length] ?? colors.cyan
      const label = color(name.padEnd(nameCharacters))
      createInterface({ input: stream }).on('line', (line) => pass(label, name, line))
    },
    line: (name, line) => pass(colors.dim(name.padEnd(nameCharacters)), name, line.trimEnd()),
    say(message, fields = {}) {
      const line = json('stack', message, fields)
      keep(line)
      show?.(colors.bold('stack'.padEnd(nameCharacters)), line)
    },
  }
}

/** Writes what a person should see of each line. */
function createShow({ write, nowMs }: { write: (line: string) => void; nowMs: () => number }) {
  const said = new Map<string, { atMs: number; more: number }>()
  return (label: string, line: string) => {
    const record = parseLogRecord(line)
    if (record === null) {
      // A process's own words; what it tells the runner in JSON is not for people.
      if (!line.startsWith('{'))
        write(`${' '.repeat(8)} ${label} ${shownInLine(stripVTControlCharacters(line))}`)
      return
    }
    const shown = humanLine(label, record)
    if (shown === null) return
    if (record.level === 'info') return write(shown)
    const key = `${label} ${record.msg}`
    const before = said.get(key)
    if (before !== undefined && nowMs() - before.atMs < sameWithinMs) {
      before.more += 1
      return
    }
    said.set(key, { atMs: nowMs(), more: 0 })
    write(
      before === undefined || before.more === 0
        ? shown
        : `${shown} ${colors.dim(`(and ${before.more} more)`)}`,
    )
  }
}
