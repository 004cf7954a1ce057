import { errorCatalogue, isErrorCode } from '@pitboss/errors/catalogue'
import type { Mistake, RequestLogRow } from '@pitboss/contracts/objects/account'

/** Parts of paths behind which an id comes. */
const namesAnId: ReadonlySet<string> = new Set([
  ...['sessions', 'rounds', 'transactions', 'players', 'free-bets', 'events', 'webhook-deliveries', 'games'],
])

export type RefusedRequest = Pick<
  RequestLogRow,
  'request_id' | 'at' | 'method' | 'path' | 'status' | 'code' | 'answer'
>

/**
 * Refused requests as mistakes: those of one route, with one code and about the same field, are one. The most
 * frequent comes first; of equals the latest. Source: docs/contract.md, section 3, "Mistakes".
 * @param rows newest first
 */
export function groupMistakes(rows: readonly RefusedRequest[]): Mistake[] {
  const groups = Map.groupBy(rows, ({ method, path, code, answer }) =>
    JSON.stringify([method, routeOf(path), code, fieldOf(answer)]),
  )
  return [...groups.values()]
    .flatMap((same) => same.slice(0, 1).map((last) => mistakeOf(last, same.length)))
    .toSorted((a, b) => b.count - a.count || (a.last_at < b.last_at ? 1 : -1))
}

function mistakeOf(
  { request_id, at, method, path, status, code, answer }: RefusedRequest,
  count: number,
): Mistake {
  return {
    ...{ method, path: routeOf(path), status, code, field: fieldOf(answer), count },
    ...{ last_at: at, last_request_id: request_id },
    told: answer?.details[0]?.message ?? answer?.message ?? null,
    remedy: code !== null && isErrorCode(code) ? errorCatalogue[code].remedy : null,
  }
}

const fieldOf = (answer: RequestLogRow['answer']) => answer?.details[0]?.path ?? null

/** The path with `{id}` in the place of each id. */
function routeOf(path: string): string {
  const parts = path.split('/')
  return parts
    .map((part, at) => (namesAnId.has(parts[at - 1] ?? '') && part !== '' ? '{id}' : part))
    .join('/')
}
