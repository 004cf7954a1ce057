import { shownInLine } from '@pitboss/contracts/acting-characters'
import colors from 'picocolors'
import type { LogRecord } from './log-record.ts'

type Fields = Readonly<Record<string, unknown>>

/** Fields that a person finds in the file. */
const hidden = new Set([
  'level',
  'time',
  'msg',
  'service',
  'pid',
  'err',
  'request_id',
  'traceparent',
  'trace_id',
  'span_id',
])
/** What goes well and belongs to something that has a line of its own. */
const left = new Set([
  'call.served',
  'gateway.listening',
  'nats.connected',
  'service.starting',
  'service.stopping',
  'fanout.taken',
  'fanout.left',
])
/** What the runner says of a process that is not there: for a person an error, whatever its level. */
const grave = new Set(['process.died', 'process.not-started'])
const valueCharacters = 60

const sentences: Readonly<Record<string, (fields: Fields) => string>> = {
  'request.served': ({ method, route, status, code, duration_ms }) => {
    const answer = `${text(status)}${typeof code === 'string' ? ` ${text(code)}` : ''}`
    return `${text(method)} ${text(route)} ${painted(status)(answer)} ${colors.dim(`${text(duration_ms)} ms`)}`
  },
  'service.started': () => 'is up',
  'service.stopped': () => 'has stopped',
  'process.died': ({ process, code, signal, restart_in_ms }) =>
    `${text(process)} died (${text(signal ?? `exit code ${text(code)}`)}); it starts again in ${text(restart_in_ms)} ms`,
}

/**
 * What one line of a log says to a person: the time of day, who, and what happened; a warning in yellow, an
 * error in red with its reason. Null for what is part of something that another line tells. `name` is who
 * wrote it, as it is to be shown.
 */
export function humanLine(name: string, record: LogRecord): string | null {
  const { level, time, msg } = record
  const isQuiet = level === 'info' || level === 'debug' || level === 'trace'
  if (isQuiet && left.has(msg)) return null
  const sentence = sentences[msg]?.(record) ?? `${plain(msg)}${describe(record)}`
  const start = `${colors.dim(time.slice(11, 19))} ${name}`
  if (level === 'warn') return `${start} ${colors.yellow(`! ${sentence}${reasonOf(record)}`)}`
  if (level === 'error' || level === 'fatal' || grave.has(msg))
    return `${start} ${colors.inverse(colors.red(' ERROR '))} ${colors.red(`${sentence}${reasonOf(record)}`)}`
  return `${start} ${sentence}`
}

/** `journal.list-failed` → `journal list failed`; a sentence stays as it is. */
function plain(msg: string): string {
  return /^[a-z-]+(\.[a-z-]+)+$/.test(msg) ? msg.replaceAll(/[.-]/g, ' ') : shownInLine(msg)
}

function describe(fields: Fields): string {
  const parts = Object.entries(fields)
    .filter(([key, value]) => !hidden.has(key) && value !== undefined && value !== null)
    .map(([key, value]) => `${key}=${short(text(value))}`)
  return parts.length === 0 ? '' : ` ${colors.dim(parts.join(' '))}`
}

/** The message of the error that a line carries, and of those that caused it. */
function reasonOf(fields: Fields): string {
  const reasons: string[] = []
  for (let error = fields.err; isError(error) && reasons.length < 3; error = error.cause)
    if (!reasons.includes(error.message)) reasons.push(error.message)
  return reasons.length === 0 ? '' : `: ${shownInLine(reasons.join(': '))}`
}

function isError(value: unknown): value is { message: string; cause?: unknown } {
  return (
    typeof value === 'object' && value !== null && 'message' in value && typeof value.message === 'string'
  )
}

function painted(status: unknown): (text: string) => string {
  if (typeof status !== 'number' || status >= 500) return colors.red
  return status >= 400 ? colors.yellow : colors.green
}

function text(value: unknown): string {
  return shownInLine(typeof value === 'string' ? value : JSON.stringify(value ?? null))
}

function short(value: string): string {
  return value.length > valueCharacters ? `${value.slice(0, valueCharacters - 1)}…` : value
}
