import { BoundedMap } from '@pitboss/runtime/bounded-map'
import type { RoundState } from '../rules/round.ts'
import {
  insertRound,
  killMovement,
  killRequest,
  publishAgain,
  removeRound,
  updateRound,
  withdrawMovement,
} from './append-round.ts'
import { claimRound, findDue, hasAskerExited, postpone, takeIn, takeOver } from './due-rounds.ts'
import { endSession, findLast, findUnfinished, lastNonce, lastShown, readNonce } from './nonce-book.ts'
import type { RoundLists } from './round-lists.ts'
import {
  findAnywhere,
  findClaimed,
  findRequest,
  findRound,
  listByTransaction,
  type RoundsJournal,
  roundsOf,
  type RoundStreams,
  showRound,
} from './round-streams.ts'

const rememberedMax = 20_000

export type RoundsStore = ReturnType<typeof createRoundsStore>

type ChargedRound = Pick<RoundState, 'id' | 'status' | 'stakes' | 'wins'>
type Given = Pick<RoundStreams, 'lists' | 'work'> &
  Partial<Pick<RoundStreams, 'noteState'>> & { readonly journal: RoundsJournal }
type Asked<Read extends keyof RoundLists> = Parameters<RoundLists[Read]>

/** Rounds: streams of entries decide, list documents show. Nonces and clients' ids are claims. */
export function createRoundsStore({ journal, lists, work, noteState = () => undefined }: Given) {
  const streams: RoundStreams = {
    ...{ ...journal, lists, work, noteState },
    ends: new BoundedMap(rememberedMax),
    met: new BoundedMap(rememberedMax),
  }
  return {
    insert: insertRound.bind(null, streams),
    update: updateRound.bind(null, streams),
    withdrawMovement: withdrawMovement.bind(null, streams),
    remove: removeRound.bind(null, streams),
    publishAgain: publishAgain.bind(null, streams),
    killRequest: killRequest.bind(null, streams),
    killMovement: killMovement.bind(null, streams),

    find: findRound.bind(null, streams),
    findAnywhere: findAnywhere.bind(null, streams),
    findClaimed: findClaimed.bind(null, streams),
    findRequest: findRequest.bind(null, streams),
    listByTransaction: listByTransaction.bind(null, streams),
    between: async (...asked: Asked<'between'>) => roundsOf(streams, await lists.between(...asked)),
    list: async (...[scope, filters, page]: Asked<'list'>) =>
      roundsOf(streams, await lists.list(scope, filters, page), filters.status),
    listSequence: async (...asked: Asked<'listSequence'>) =>
      roundsOf(streams, await lists.listSequence(...asked)),
    /** What became of the stakes of these rounds; a round that is gone is missing. */
    charged: async (...asked: Asked<'withIds'>): Promise<ChargedRound[]> =>
      roundsOf(streams, await lists.withIds(...asked)),
    show: showRound.bind(null, streams),
    showUndone: journal.showUndone,
    confirmPrimary: lists.confirmPrimary,
    listSums: lists.listSums,
    endedSince: lists.endedSince,
    countUnfinished: lists.countUnfinished,
    unfinished: lists.unfinished,

    last: lastNonce.bind(null, streams),
    lastShown: lastShown.bind(null, streams),
    findLast: findLast.bind(null, streams),
    findUnfinished: findUnfinished.bind(null, streams),
    readNonce: readNonce.bind(null, streams),
    endSession: endSession.bind(null, streams),

    claim: claimRound.bind(null, streams),
    hasAskerExited: hasAskerExited.bind(null, streams),
    takeOver: takeOver.bind(null, streams),
    takeIn: takeIn.bind(null, streams),
    postpone: postpone.bind(null, streams),
    findDue: findDue.bind(null, streams),
  }
}
