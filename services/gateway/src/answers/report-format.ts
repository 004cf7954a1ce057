import { reportSchema } from '@pitboss/contracts/endpoints/rounds'
import type { AnswerDeps, Handler } from '../http/inbound.ts'
import type { ForwardCall } from '../routes/route-entry.ts'
import { callService } from './forward.ts'

const columns = [
  'day',
  'game',
  'brand',
  'currency',
  'rounds',
  'players',
  'stakes',
  'payouts',
  'refunds',
  'ggr',
] as const

/** `reports/summary` as JSON, or as CSV for `Accept: text/csv`. */
export function reportFormat(deps: AnswerDeps, call: ForwardCall): Handler {
  return async (inbound) => {
    const { status, body } = await callService(deps, call, inbound)
    if (!wantsCsv(inbound.raw.headers.accept)) return { status, json: body }
    return {
      status,
      content: { type: 'text/csv; charset=utf-8', data: toCsv(reportSchema.parse(body).data) },
    }
  }
}

/** Whether the Accept header asks for CSV more than for JSON. */
function wantsCsv(accept: string | undefined): boolean {
  const weights = new Map<string, number>()
  for (const range of (accept ?? '').split(',')) {
    const [type, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
    weights.set(type ?? '', weight === undefined ? 1 : Number(weight) || 0)
  }
  const csv = weights.get('text/csv') ?? 0
  return csv > 0 && csv >= (weights.get('application/json') ?? 0)
}

type Row = ReturnType<typeof reportSchema.parse>['data'][number]

function toCsv(rows: readonly Row[]): string {
  const optional = new Set<string>(['day', 'game', 'brand'])
  const shown = columns.filter(
    (column) => !optional.has(column) || rows.some((row) => row[column] !== undefined),
  )
  const lines = rows.map((row) => shown.map((column) => field(row[column])).join(','))
  return `${[shown.join(','), ...lines].join('\r\n')}\r\n`
}

function field(value: string | number | null | undefined): string {
  const text = value === null || value === undefined ? '' : String(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
