import type { opsListReturns } from '@pitboss/contracts/calls/rounds'
import type { Caller } from '@pitboss/contracts/caller'
import { type Page, type PageQuery, readPage } from '@pitboss/storage/read-page'
import type { z } from 'zod'
import { scopeKey } from '../../../storage/round-document.ts'
import type { ReturnsContext } from '../context.ts'
import { installationScope } from '../rules/watched-streams.ts'
import type { StreamDocument } from '../storage/return-document.ts'
import type { StreamFilters } from '../storage/returns-store.ts'

type OpsQuery = z.output<typeof opsListReturns.request>

/** The bytes of a presented stream and of one of its points, roughly. */
const [bytesOfStream, bytesOfPoint] = [800, 200]

export async function listReturns(
  { returns, cursors }: ReturnsContext,
  { scope }: Caller,
  query: PageQuery & StreamFilters,
): Promise<Page<StreamDocument>> {
  const filters = { game: query.game, currency: query.currency }
  return readPage({
    cursors,
    binding: { list: 'returns', scope, filters },
    query,
    read: (after, max) => returns.list(scopeKey(scope), filters, { after, max }),
    positionOf: ({ _id }) => _id,
    bytesOf: ({ points }) => bytesOfStream + points.length * bytesOfPoint,
  })
}

/** Lists streams of an account, or without one those of the whole installation, for operations. */
export async function listReturnsOf({ returns }: ReturnsContext, query: OpsQuery) {
  const { operatorId, environment, game, after, limit } = query
  const scope =
    operatorId === undefined ? installationScope(environment) : scopeKey({ operatorId, environment })
  return withNext(limit, await returns.list(scope, { game }, { after, max: limit + 1 }))
}

/** Lists alarms of every account, lifted ones too, for operations. */
export async function listReturnAlarms(
  { returns }: ReturnsContext,
  { after, limit }: Pick<OpsQuery, 'after' | 'limit'>,
) {
  return withNext(limit, await returns.listAlarms({ after, max: limit + 1 }))
}

function withNext<Item extends { _id: string }>(limit: number, found: readonly Item[]) {
  const items = found.slice(0, limit)
  return { items, next: found.length > limit ? (items.at(-1)?._id ?? null) : null }
}
