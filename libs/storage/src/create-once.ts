import { MongoBulkWriteError, MongoServerError } from 'mongodb'

/**
 * Inserts `document`, or finds the one that was there first.
 * @param insert throws the database's duplicate key error when there is one already
 * @param find the one that was first; null when it is gone again, or when the key is another document's
 * @throws Error when the insert was refused and nothing is found
 */
export async function createOnce<Result>({
  document,
  insert,
  find,
  name,
}: {
  document: Result
  insert: () => Promise<unknown>
  find: () => Promise<Result | null>
  /** Name of the created object, for the error. */
  name: string
}): Promise<{ result: Result; created: boolean }> {
  if (await insertedFirst(insert)) return { result: document, created: true }
  const present = await find()
  if (present === null) throw new Error(`${name} was refused as a duplicate and is not there`)
  return { result: present, created: false }
}

/** Whether an insert was the first; false when a unique index has its value already. */
export async function insertedFirst(insert: () => Promise<unknown>): Promise<boolean> {
  try {
    await insert()
    return true
  } catch (error) {
    if (isDuplicateKey(error)) return false
    throw error
  }
}

/** Code of the database's duplicate key error. */
export const duplicateKey = 11_000

/** Whether a write failed because a unique index has that value already. */
export function isDuplicateKey(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === duplicateKey
}

/** Whether an unordered insert failed for duplicates alone: a majority has all others. */
export function isOnlyDuplicates(error: unknown): error is MongoBulkWriteError {
  if (!(error instanceof MongoBulkWriteError) || error.result.getWriteConcernError() !== undefined)
    return false
  const errors = error.result.getWriteErrors()
  return errors.length > 0 && errors.every(({ code }) => code === duplicateKey)
}
