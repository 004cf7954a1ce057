import type { Role } from '@pitboss/contracts/caller'
import { toEventEnvironment } from '@pitboss/contracts/primitives'
import { streamQuery, type TailKind, tailKind, tailFilters } from '@pitboss/contracts/objects/tail'
import { builders } from '@pitboss/contracts/endpoint'
import { ServiceError } from '@pitboss/errors/service-error'
import type { z } from 'zod'
import type { Identity } from '../access/identify.ts'
import type { Answer, AnswerDeps, Inbound } from '../http/inbound.ts'

type Query = z.output<typeof streamQuery>
const requestReaders: readonly Role[] = builders.dashboard
const names = Object.keys(tailFilters) as (keyof typeof tailFilters)[]

/** @throws ServiceError FORBIDDEN for requests where the role may not read them */
function requireReader(kinds: ReadonlySet<TailKind>, { actor }: Identity): void {
  if (actor.kind !== 'user') throw new ServiceError('UNAUTHORIZED')
  if (!kinds.has('requests') || requestReaders.includes(actor.role)) return
  throw new ServiceError('FORBIDDEN', {
    message: `The role ${actor.role} does not permit requests; they are for ${requestReaders.join(', ')}.`,
  })
}

/**
 * What happens in the account, as it happens. Source: docs/contract.md, section 3, "Stream".
 * @throws ServiceError FORBIDDEN for requests where the role may not read them
 */
export function createStream({ tails }: Pick<AnswerDeps, 'tails'>) {
  return async function stream(inbound: Inbound<unknown, Query>): Promise<Answer> {
    const { entry, raw, clientAddress, identity, query } = inbound
    const kinds = new Set(tailKind.options.filter((kind) => query.kinds.split(',').includes(kind)))
    if (identity === null) throw new ServiceError('UNAUTHORIZED')
    requireReader(kinds, identity)
    const headers = { 'x-accel-buffering': 'no' }
    if (raw.method === 'HEAD') return { status: 200, headers }
    // Only what a tail needs: the rest of the request is free.
    const data = tails.open({
      ...{ entry, raw, clientAddress, identity },
      environment: toEventEnvironment(query.environment ?? 'TEST'),
      kinds,
      permit: (reader) => requireReader(kinds, reader),
      matches: (_kind, record) => matches(record, query),
    })
    return { status: 200, headers, content: { type: 'text/event-stream; charset=utf-8', data } }
  }
}

/** Whether a record has every field that the query names, of itself or, an event, of its data. */
export function matches(record: unknown, query: Partial<Query>): boolean {
  return names.every((name) => {
    const wanted = query[name]
    if (wanted === undefined) return true
    const found = textOf(fieldOf(record, name) ?? fieldOf(fieldOf(record, 'data'), name))
    return name === 'path' ? found.startsWith(wanted) : found === wanted
  })
}

function fieldOf(record: unknown, name: string): unknown {
  return typeof record === 'object' && record !== null
    ? Object.entries(record).find(([key]) => key === name)?.[1]
    : undefined
}

function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}
