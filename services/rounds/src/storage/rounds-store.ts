import { BoundedMap } from '@pitboss/runtime/bounded-map'
import type { RoundState } from '../rules/round.ts'
import * as writes from './append-round.ts'
import * as due from './due-rounds.ts'
import * as book from './nonce-book.ts'
import type { RoundLists } from './round-lists.ts'
import * as reads from './round-streams.ts'

const rememberedMax = 20_000

export type RoundsStore = ReturnType<typeof createRoundsStore>

type ChargedRound = Pick<RoundState, 'id' | 'status' | 'stakes' | 'wins'>
type Given = Pick<reads.RoundStreams, 'lists' | 'work'> &
  Partial<Pick<reads.RoundStreams, 'noteState'>> & { readonly journal: reads.RoundsJournal }
type Asked<Read extends keyof RoundLists> = Parameters<RoundLists[Read]>

/** Rounds: streams of entries decide, list documents show. Nonces and clients' ids are claims. */
export function createRoundsStore({ journal, lists, work, noteState = () => undefined }: Given) {
  const streams: reads.RoundStreams = {
    ...{ ...journal, lists, work, noteState },
    ends: new BoundedMap(rememberedMax),
    met: new BoundedMap(rememberedMax),
  }
  return {
    insert: writes.insertRound.bind(null, streams),
    update: writes.updateRound.bind(null, streams),
    withdrawMovement: writes.withdrawMovement.bind(null, streams),
    remove: writes.removeRound.bind(null, streams),
    publishAgain: writes.publishAgain.bind(null, streams),
    killRequest: writes.killRequest.bind(null, streams),
    killMovement: writes.killMovement.bind(null, streams),

    find: reads.findRound.bind(null, streams),
    findAnywhere: reads.findAnywhere.bind(null, streams),
    findClaimed: reads.findClaimed.bind(null, streams),
    findRequest: reads.findRequest.bind(null, streams),
    listByTransaction: reads.listByTransaction.bind(null, streams),
    between: async (...asked: Asked<'between'>) => reads.roundsOf(streams, await lists.between(...asked)),
    list: async (...[scope, filters, page]: Asked<'list'>) =>
      reads.roundsOf(streams, await lists.list(scope, filters, page), filters.status),
    listSequence: async (...asked: Asked<'listSequence'>) =>
      reads.roundsOf(streams, await lists.listSequence(...asked)),
    /** What became of the stakes of these rounds; a round that is gone is missing. */
    charged: async (...asked: Asked<'withIds'>): Promise<ChargedRound[]> =>
      reads.roundsOf(streams, await lists.withIds(...asked)),
    show: reads.showRound.bind(null, streams),
    showUndone: journal.showUndone,
    confirmPrimary: lists.confirmPrimary,
    listSums: lists.listSums,
    endedSince: lists.endedSince,
    countUnfinished: lists.countUnfinished,
    unfinished: lists.unfinished,

    last: book.lastNonce.bind(null, streams),
    lastShown: book.lastShown.bind(null, streams),
    findLast: book.findLast.bind(null, streams),
    findUnfinished: book.findUnfinished.bind(null, streams),
    readNonce: book.readNonce.bind(null, streams),
    endSession: book.endSession.bind(null, streams),

    claim: due.claimRound.bind(null, streams),
    hasAskerExited: due.hasAskerExited.bind(null, streams),
    takeOver: due.takeOver.bind(null, streams),
    takeIn: due.takeIn.bind(null, streams),
    postpone: due.postpone.bind(null, streams),
    findDue: due.findDue.bind(null, streams),
  }
}
