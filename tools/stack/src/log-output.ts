import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import colors from 'picocolors'
import { z } from 'zod'

const logLine = z.looseObject({ level: z.string(), time: z.string(), msg: z.string().default('') })
const hidden = new Set(['level', 'time', 'msg', 'service', 'pid'])
const paint = [colors.cyan, colors.magenta, colors.green, colors.yellow, colors.blue]
const prefixCharacters = 16

export type LogOutput = {
  /** Passes on what a child writes, line by line. */
  attach(name: string, stream: Readable): void
  /** One line that `name` wrote. */
  line(name: string, line: string): void
  /** One line of the runner itself. */
  say(message: string, fields?: Readonly<Record<string, unknown>>): void
}

/** Prefixed readable lines, or JSON lines as they are. */
export function createLogOutput(format: 'pretty' | 'json', write: (line: string) => void): LogOutput {
  let attached = 0
  const json = (service: string, msg: string, fields: object) =>
    write(JSON.stringify({ level: 'info', time: new Date().toISOString(), service, ...fields, msg }))
  const pass = (prefix: string, name: string, line: string) => {
    if (format === 'pretty') write(`${prefix} ${readable(line)}`)
    else if (line.startsWith('{')) write(line)
    else json(name, 'process.said', { line })
  }
  return {
    attach(name, stream) {
      const color = paint[attached++ % paint.length] ?? colors.cyan
      const prefix = color(name.padEnd(prefixCharacters))
      createInterface({ input: stream }).on('line', (line) => pass(prefix, name, line))
    },
    line: (name, line) => pass(colors.dim(name.padEnd(prefixCharacters)), name, line.trimEnd()),
    say(message, fields = {}) {
      if (format === 'json') json('stack', message, fields)
      else write(`${colors.bold('stack'.padEnd(prefixCharacters))} ${message}${describe(fields)}`)
    },
  }
}

function readable(line: string): string {
  const parsed = logLine.safeParse(line.startsWith('{') ? tryJson(line) : null)
  if (!parsed.success) return line
  const { level, time, msg, ...rest } = parsed.data
  const shown =
    level === 'error' || level === 'fatal'
      ? colors.red(level)
      : level === 'warn'
        ? colors.yellow(level)
        : colors.dim(level)
  return `${colors.dim(time.slice(11, 23))} ${shown} ${msg}${describe(rest)}`
}

function describe(fields: Readonly<Record<string, unknown>>): string {
  const parts = Object.entries(fields)
    .filter(([key, value]) => !hidden.has(key) && value !== undefined)
    .map(
      ([key, value]) =>
        `${colors.dim(`${key}=`)}${typeof value === 'string' ? value : JSON.stringify(value)}`,
    )
  return parts.length === 0 ? '' : ` ${parts.join(' ')}`
}

function tryJson(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return null
  }
}
