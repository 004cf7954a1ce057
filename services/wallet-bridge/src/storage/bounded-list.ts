import { ServiceError } from '@pitboss/errors/service-error'
import { MongoServerError } from 'mongodb'

/** Bounds the work of one page at the database, in milliseconds. */
export const listMsMax = 5000
/** MongoDB's MaxTimeMSExpired. */
const timedOutCode = 50

/** The list, or what to ask instead. @throws ServiceError SERVICE_UNAVAILABLE when the list took too long */
export async function bounded<Found>(found: Promise<Found[]>): Promise<Found[]> {
  try {
    return await found
  } catch (cause) {
    if (!(cause instanceof MongoServerError) || cause.code !== timedOutCode) throw cause
    const message = 'The list takes too long; name a player, or a window by "from" and "to".'
    throw new ServiceError('SERVICE_UNAVAILABLE', { message, cause })
  }
}
