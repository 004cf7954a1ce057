import type { RequestOf } from '@pitboss/contracts/call'
import { type Caller, lookupScopes, type Scope } from '@pitboss/contracts/caller'
import type {
  opsCertainMovements,
  opsUnendedRounds,
  showStakeStanding,
  StakeStanding,
} from '@pitboss/contracts/calls/rounds'
import type { dashboardListRounds } from '@pitboss/contracts/endpoints/rounds'
import { ServiceError } from '@pitboss/errors/service-error'
import { readConfirmed } from '@pitboss/storage/confirm-primary'
import { readWindow } from '@pitboss/storage/created-within'
import { findInScopes } from '@pitboss/storage/find-in-scopes'
import { readPage } from '@pitboss/storage/read-page'
import type { RoundsContext } from '../context.ts'
import { roundBytes } from '../records/present-round.ts'
import { certainMovements } from '../rules/movement.ts'
import { standingOf } from '../rules/round.ts'

type CertainQuery = RequestOf<typeof opsCertainMovements>
type UnendedQuery = RequestOf<typeof opsUnendedRounds>
type RoundsQuery = Pick<RequestOf<typeof dashboardListRounds.call>, 'caller' | 'query'>

const unendedMax = 200
/** Rounds of a page of certain movements: each may have 400. */
const certainMax = 25
const openPhases = ['OPEN', 'PENDING', 'SETTLING'] as const

type Rounds = Pick<RoundsContext, 'rounds'>
type Reading = Pick<RoundsContext, 'rounds' | 'cursors'>

/** Finds a round, once lists show it as this does. @throws ServiceError ROUND_NOT_FOUND */
export async function findRound({ rounds }: Rounds, caller: Caller, roundId: string) {
  const find = (scope: Scope) => rounds.find(scope, roundId)
  const stored = await findInScopes(lookupScopes(caller), find, 'ROUND_NOT_FOUND')
  await rounds.show(roundId)
  return stored
}

export async function findAnyRound({ rounds }: Rounds, id: string) {
  const stored = await rounds.findAnywhere(id)
  if (stored === null) throw new ServiceError('ROUND_NOT_FOUND')
  return stored
}

/** The account's rounds that have not ended, those that lists do not show yet included. */
export async function countUnfinished({ rounds }: Rounds, scope: Scope) {
  await rounds.showUndone()
  return rounds.countUnfinished(scope)
}

/** What certainly ended in a page of rounds open or ended since `from`. @param after the last `next` */
export async function listCertain({ rounds }: Rounds, { scope, from, after }: CertainQuery) {
  if (after === null) await rounds.showUndone()
  const [phase = 'OPEN', at = '', id = ''] = after?.split(' ') ?? []
  const open = openPhases.find((one) => one === phase)
  const place = at === '' ? null : at
  const end = place === null ? null : { at: new Date(place), id }
  const found =
    open === undefined
      ? await rounds.endedSince(scope, new Date(from), { after: end, max: certainMax })
      : await rounds.list(scope, { status: open }, { before: place, max: certainMax })
  const last = found.length < certainMax ? undefined : found.at(-1)
  const data = found.map((round) => ({ round_id: round.id, movements: certainMovements(round) }))
  if (open === undefined) {
    const endedAt = last?.completedAt?.toISOString()
    return { data, next: last === undefined || endedAt === undefined ? null : `ended ${endedAt} ${last.id}` }
  }
  const following = openPhases[openPhases.indexOf(open) + 1] ?? 'ended'
  return { data, next: last === undefined ? following : `${open} ${last.id}` }
}

/** What is known of a stake; confirmed by the primary unless it was taken. */
export async function readStakeStanding({ rounds }: Rounds, asked: RequestOf<typeof showStakeStanding>) {
  const { scope, roundId, transactionId } = asked
  const read = async (): Promise<StakeStanding> => {
    const stored = await rounds.find(scope, roundId)
    return stored === null ? 'unknown' : standingOf(stored.round, transactionId)
  }
  const confirm = rounds.confirmPrimary
  return readConfirmed(read, { confirm, isEmpty: (standing) => standing !== 'taken' })
}

/** Rounds of an account that the game drives and that have not ended, newest first, for operations. */
export async function listUnended({ rounds }: Rounds, { scope, status, after: before }: UnendedQuery) {
  if (before === null) await rounds.showUndone()
  const page = await rounds.list(scope, { status }, { before, max: unendedMax })
  const next = page.length < unendedMax ? null : (page.at(-1)?.id ?? null)
  const found = page.filter(({ driver }) => driver === 'game')
  return { data: found.map(({ id, playerId, game }) => ({ round_id: id, player_id: playerId, game })), next }
}

export async function listRounds({ rounds, cursors }: Reading, { caller, query }: RoundsQuery) {
  const { scope } = caller
  const { limit, cursor, environment: _environment, ...filters } = query
  const { player_id: playerId, session_id: sessionId, game, status, currency } = filters
  const { client_transaction_id: clientTransactionId } = filters
  return readPage({
    cursors,
    binding: { list: 'rounds', scope, filters },
    query: { limit, cursor },
    read: (before, max) =>
      rounds.list(
        scope,
        { playerId, sessionId, clientTransactionId, game, status, currency, ...readWindow(filters) },
        { before, max },
      ),
    positionOf: ({ id }) => id,
    bytesOf: roundBytes,
  })
}

/** Answers once lists show the round of the answer or error. Source: docs/contract.md, section 12. */
export async function showFirst<Answer extends { readonly body: { readonly round_id: string } }>(
  { rounds }: Rounds,
  run: () => Promise<Answer>,
): Promise<Answer> {
  try {
    const answer = await run()
    await rounds.show(answer.body.round_id)
    return answer
  } catch (error) {
    const roundId = error instanceof ServiceError ? error.resource?.round_id : undefined
    if (roundId !== undefined) await rounds.show(roundId)
    throw error
  }
}

/** Takes a round's stake or free bet. Lists show a round that is refused here, since its nonce is used. */
export async function showRefused<Taken>({ rounds }: Rounds, roundId: string, take: () => Promise<Taken>) {
  try {
    return await take()
  } catch (error) {
    await rounds.show(roundId)
    throw error
  }
}
