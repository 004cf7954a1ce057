import type { Caller } from '@pitboss/contracts/caller'
import { type Page, type PageQuery, readPage } from '@pitboss/storage/read-page'
import { scopeKey } from '../../../storage/round-document.ts'
import type { ReturnsContext } from '../context.ts'
import { installationScope } from '../rules/watched-streams.ts'
import type { StreamDocument } from '../storage/return-document.ts'
import type { StreamFilters } from '../storage/returns-store.ts'

type OpsPage = { readonly after: string | null; readonly max: number }

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
    read: (after, max) => returns.list(scope, filters, { after, max }),
    positionOf: ({ _id }) => _id,
    bytesOf: ({ points }) => bytesOfStream + points.length * bytesOfPoint,
  })
}

export async function listReturnsOf(
  { returns }: ReturnsContext,
  {
    operatorId,
    environment,
    game,
  }: {
    readonly operatorId?: string | undefined
    readonly environment: 'SANDBOX' | 'LIVE'
    readonly game?: string | undefined
  },
  page: OpsPage,
) {
  const scope =
    operatorId === undefined ? installationScope(environment) : scopeKey({ operatorId, environment })
  return withNext(page, await returns.listOf(scope, { game }, { after: page.after, max: page.max + 1 }))
}

/** Lists alarms of every account, lifted ones too, for operations. */
export async function listReturnAlarms({ returns }: ReturnsContext, page: OpsPage) {
  return withNext(page, await returns.listAlarms({ after: page.after, max: page.max + 1 }))
}

function withNext<Item extends { _id: string }>({ max }: OpsPage, found: readonly Item[]) {
  const items = found.slice(0, max)
  return { items, next: found.length > max ? (items.at(-1)?._id ?? null) : null }
}
