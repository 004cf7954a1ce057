import { invalidField, ServiceError } from '@pitboss/errors/service-error'
import { createFairPlaces } from './fair-places.ts'

/** Places of one gateway for ledgers on their way; one of an account with several goes to one with none. */
const places = { allMax: 6, perAccountMax: 2, undisturbedMs: 60_000 }

export type LedgerPlaces = {
  /**
   * Takes a place for a ledger of the account, for `deadlineMs` at most.
   * @returns what ends the work, with the reason, and what gives the place back, also more than once
   * @throws ServiceError SERVICE_UNAVAILABLE when no place is free for the account
   */
  take(account: string): { readonly signal: AbortSignal; leave(): void }
}

/**
 * Creates the places of one way to send a ledger.
 * @param full said where no place is free
 * @param givenUp said to who loses a place to another account
 * @param late said to who takes longer than `deadlineMs`
 */
export function createLedgerPlaces({
  deadlineMs,
  full,
  givenUp,
  late,
}: {
  deadlineMs: number
  full: string
  givenUp: string
  late: string
}): LedgerPlaces {
  const atWork = createFairPlaces(places)
  return {
    take(account) {
      const ended = new AbortController()
      const leavePlace = atWork.take(account, () => ended.abort(busy(givenUp)))
      if (leavePlace === null) throw busy(full)
      const deadline = setTimeout(() => ended.abort(invalidField('body', late)), deadlineMs)
      return {
        signal: ended.signal,
        leave() {
          clearTimeout(deadline)
          leavePlace()
        },
      }
    },
  }
}

function busy(message: string): ServiceError {
  return new ServiceError('SERVICE_UNAVAILABLE', { message, retryAfterS: 10 })
}
